// Durable commits of a sample ledger to a new store.
import { fileURLToPath } from 'node:url';
import { bundleForNow } from '../../scripts/bundle.mjs';
import { bulkChunks } from '../bulk-ledger/bulk-ledger.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const fileOf = await bundleForNow(ROOT, [
  ...['store/sqlite/sqlite-store.ts', 'store/write/writer.ts', 'store/sqlite/commit-worker.ts'],
]);
const { openSqliteStore } = await import(fileOf('sqlite-store'));
const { LedgerWriter } = await import(fileOf('writer'));

/**
 * Commits a sample ledger to a new store, chunk by chunk, each on disk before the next; only commits are timed.
 * @returns rates per second, and `processorUs` per transaction
 */
export async function commitChunks(directory, transactions, chunkTransactions, accounts = 2_000) {
  const store = await openSqliteStore({ directory });
  const total = { ms: 0, processorUs: 0, transactions: 0, commits: 0 };
  try {
    const writer = await LedgerWriter.open(store);
    const options = { transactions, chunkTransactions, seed: 1, accounts };
    for (const chunk of bulkChunks(options)) {
      const [startedMs, before] = [performance.now(), process.cpuUsage()];
      await writer.append(chunk);
      // Genesis is not a typical chunk.
      if (chunk.firstVersion === 0n) continue;
      total.ms += performance.now() - startedMs;
      const { user, system } = process.cpuUsage(before);
      total.processorUs += user + system;
      total.transactions += chunk.transactions.length;
      total.commits += 1;
    }
  } finally {
    await store.close();
  }
  const perSecond = (count) => count / (total.ms / 1_000);
  return {
    transactions: perSecond(total.transactions),
    commits: perSecond(total.commits),
    processorUs: total.processorUs / total.transactions,
  };
}
