/** Small ledgers with rows in sorted runs, as in large ledgers, and not only in the log. */
import { Batch } from '../../src/store/batch.ts';
import { TRANSACTION_HASHES } from '../../src/store/columns/columns.ts';
import { encodeU64Key } from '../../src/store/columns/order-key.ts';
import { MAX_LOG_ENTRIES } from '../../src/store/sqlite/runs/run-writer.ts';
import type { Store } from '../../src/store/store.ts';

/** No transaction's hash begins like this. */
const PARTITION = Buffer.alloc(8, 0xfe);

/** Moves the log of a store into a run: extra rows fill the log, and a second run deletes them. */
export async function moveIntoRun(store: Store): Promise<void> {
  const puts = new Batch();
  const deletions = new Batch();
  for (let at = 0n; at <= MAX_LOG_ENTRIES; at += 1n) {
    puts.put(TRANSACTION_HASHES, PARTITION, encodeU64Key(at), Buffer.alloc(0));
    deletions.delete(TRANSACTION_HASHES, PARTITION, encodeU64Key(at));
  }
  await store.commit(puts);
  await store.commit(deletions);
}
