import { defineTable, toMany, toOne } from './table.ts';

export const TRANSACTION_TABLES = [
  defineTable('account_transactions', {
    key: ['account_address', 'transaction_version'],
    columns: { account_address: 'text', transaction_version: 'bigint' },
    relations: {
      user_transaction: toOne('user_transactions', { transaction_version: 'version' }),
      delegated_staking_activities: toMany('delegated_staking_activities', {
        transaction_version: 'transaction_version',
      }),
      fungible_asset_activities: toMany('fungible_asset_activities', {
        transaction_version: 'transaction_version',
      }),
      token_activities_v2: toMany('token_activities_v2', {
        transaction_version: 'transaction_version',
      }),
    },
    hasAggregate: true,
  }),
  defineTable('user_transactions', {
    key: ['version'],
    columns: {
      block_height: 'bigint',
      entry_function_contract_address: 'text?',
      entry_function_function_name: 'text?',
      entry_function_id_str: 'text',
      entry_function_module_name: 'text?',
      epoch: 'bigint',
      expiration_timestamp_secs: 'timestamp',
      gas_unit_price: 'numeric',
      max_gas_amount: 'numeric',
      parent_signature_type: 'text',
      sender: 'text',
      sequence_number: 'bigint?',
      timestamp: 'timestamp',
      version: 'bigint',
    },
    hasAggregate: true,
  }),
  defineTable('block_metadata_transactions', {
    key: ['version'],
    columns: {
      block_height: 'bigint',
      epoch: 'bigint',
      failed_proposer_indices: 'jsonb',
      id: 'text',
      previous_block_votes_bitvec: 'jsonb',
      proposer: 'text',
      round: 'bigint',
      timestamp: 'timestamp',
      version: 'bigint',
    },
  }),
  defineTable('signatures', {
    key: ['transaction_version', 'multi_agent_index', 'multi_sig_index', 'is_sender_primary'],
    columns: {
      is_sender_primary: 'boolean',
      multi_agent_index: 'bigint',
      multi_sig_index: 'bigint',
      public_key: 'text',
      public_key_indices: 'jsonb',
      signature: 'text',
      signer: 'text',
      threshold: 'bigint',
      transaction_block_height: 'bigint',
      transaction_version: 'bigint',
      type: 'text',
    },
  }),
  defineTable('events', {
    key: ['transaction_version', 'event_index'],
    columns: {
      account_address: 'text',
      creation_number: 'bigint',
      data: 'jsonb',
      event_index: 'bigint',
      indexed_type: 'text',
      sequence_number: 'bigint',
      transaction_block_height: 'bigint',
      transaction_version: 'bigint',
      type: 'text',
    },
  }),
  defineTable('auth_key_account_addresses', {
    key: ['account_address'],
    columns: {
      account_address: 'text',
      auth_key: 'text',
      is_auth_key_used: 'boolean',
      last_transaction_version: 'bigint',
    },
    hasAggregate: true,
  }),
  defineTable('public_key_auth_keys', {
    key: ['auth_key', 'public_key', 'public_key_type'],
    columns: {
      account_public_key: 'text?',
      auth_key: 'text',
      is_public_key_used: 'boolean',
      last_transaction_version: 'bigint',
      public_key: 'text',
      public_key_type: 'text',
      signature_type: 'text',
    },
    hasAggregate: true,
  }),
  defineTable('ledger_infos', { key: ['chain_id'], columns: { chain_id: 'bigint' } }),
  defineTable('processor_status', {
    key: ['processor'],
    columns: {
      last_success_version: 'bigint',
      last_transaction_timestamp: 'timestamp?',
      last_updated: 'timestamp',
      processor: 'text',
    },
  }),
  defineTable('indexer_status', {
    key: ['db'],
    columns: { db: 'text', is_indexer_up: 'boolean' },
  }),
];
