/** Items of tables. */
import { createHash } from 'node:crypto';
import type { RowSink } from '../rows/row-buffer.ts';
import type { TransactionFacts } from './transaction-facts.ts';

export function tableItems(facts: TransactionFacts, rows: RowSink): void {
  for (const { handle, keyType, valueType, owner } of facts.newTables) {
    rows.put('table_metadatas', {
      handle,
      key_type: keyType,
      value_type: valueType,
      owner_address: owner,
    });
  }
  for (const { handle, key, value, index, decoded } of facts.tableWrites) {
    const item = {
      table_handle: handle,
      key,
      // A key of an unknown type is shown as its bytes.
      decoded_key: decoded?.key ?? key,
      decoded_value: decoded?.value ?? null,
    };
    rows.put('table_items', {
      ...item,
      transaction_version: facts.version,
      write_set_change_index: index,
    });
    rows.put('current_table_items', {
      ...item,
      key_hash: createHash('sha256').update(key).digest('hex'),
      is_deleted: value === undefined,
      last_transaction_version: facts.version,
    });
  }
}
