/** Objects and their owners. */
import type { RowSink } from '../rows/row-buffer.ts';
import {
  fullAddress,
  OBJECT_CORE,
  OBJECT_GROUP,
  type TransactionFacts,
} from './transaction-facts.ts';

export function objects({ version, writes, deletions }: TransactionFacts, rows: RowSink): void {
  for (const { address, type, data, stateKeyHash } of writes) {
    if (type !== OBJECT_CORE) continue;
    rows.put('current_objects', {
      object_address: address,
      owner_address: fullAddress(data.owner),
      state_key_hash: stateKeyHash,
      allow_ungated_transfer: data.allow_ungated_transfer,
      last_guid_creation_num: data.guid_creation_num,
      last_transaction_version: version,
      is_deleted: false,
    });
  }
  for (const { address, type } of deletions) {
    if (type !== OBJECT_GROUP) continue;
    // The row keeps the last owner.
    rows.change(
      'current_objects',
      { object_address: address },
      { is_deleted: true, last_transaction_version: version },
    );
  }
}
