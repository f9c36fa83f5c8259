import { defineTable } from './table.ts';

export const STATE_TABLES = [
  defineTable('current_objects', {
    key: ['object_address'],
    indexes: [['owner_address']],
    columns: {
      allow_ungated_transfer: 'boolean',
      is_deleted: 'boolean',
      last_guid_creation_num: 'numeric',
      last_transaction_version: 'bigint',
      object_address: 'text',
      owner_address: 'text',
      state_key_hash: 'text',
    },
  }),
  defineTable('table_items', {
    key: ['transaction_version', 'write_set_change_index'],
    hasNewRowsOnly: true,
    indexes: [['table_handle', 'transaction_version']],
    columns: {
      decoded_key: 'jsonb',
      decoded_value: 'jsonb?',
      key: 'text',
      table_handle: 'text',
      transaction_version: 'bigint',
      write_set_change_index: 'bigint',
    },
  }),
  defineTable('current_table_items', {
    key: ['table_handle', 'key_hash'],
    columns: {
      decoded_key: 'jsonb',
      decoded_value: 'jsonb?',
      is_deleted: 'boolean',
      key: 'text',
      key_hash: 'text',
      last_transaction_version: 'bigint',
      table_handle: 'text',
    },
  }),
  defineTable('table_metadatas', {
    key: ['handle'],
    columns: { handle: 'text', key_type: 'text', value_type: 'text' },
    // The account whose resource contains the table.
    hidden: { owner_address: 'text' },
  }),
];
