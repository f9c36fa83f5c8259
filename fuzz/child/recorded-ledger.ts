/** The ledger whose writes are recorded. */
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import type { Chunk } from '../../src/store/write/chunk.ts';

const CONTENTS = { transactions: 80, accounts: 10, chunkTransactions: 20 };

export function recordedChunks(seed: number): Generator<Chunk, void, undefined> {
  return bulkChunks({ seed, ...CONTENTS });
}
