/** Puts all events of a transaction. */
import type { RowSink } from '../rows/row-buffer.ts';
import { fullAddress, type TransactionFacts } from './transaction-facts.ts';

/** Maximum number of characters of a type in the index. */
const INDEXED_CHARACTERS = 300;

export function events(facts: TransactionFacts, rows: RowSink): void {
  facts.events.forEach(({ guid, sequence_number, type, data }, index) => {
    rows.put('events', {
      transaction_version: facts.version,
      event_index: index,
      transaction_block_height: facts.blockHeight,
      account_address: fullAddress(guid.account_address),
      creation_number: guid.creation_number,
      sequence_number,
      type,
      indexed_type: type.slice(0, INDEXED_CHARACTERS),
      data,
    });
  });
}
