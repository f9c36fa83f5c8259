/** The cache of transactions as JSON: what it counts is what it holds. */
import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { Committer } from '../../src/ingest/committer.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { temporarySqliteStore } from '../store/engines.ts';

/** Of buffers that are reachable. */
function bufferBytes(): number {
  // Collects everything else.
  queryObjects(LedgerWriter as never, { format: 'count' });
  return process.memoryUsage().arrayBuffers;
}

test('transactions are alone in their memory', async () => {
  const writer = await LedgerWriter.open(await temporarySqliteStore());
  await new Committer(writer).pushAll(bulkChunks({ seed: 1, accounts: 50, transactions: 2_000 }));
  const ledger = openLedger(writer.reader);
  const countedBytes = () => ledger.cacheSizes().find(({ name }) => name === 'transactions')!.bytes;
  /** Twice: what is asked for again is cached. */
  const ask = async (first: number, end: number): Promise<void> => {
    for (let version = first; version < end; version += 1) {
      const { history } = await ledger.view();
      const item = await history.transaction(BigInt(version), '');
      await history.renderer.render(item);
      await history.renderer.render(item);
    }
  };
  await ask(1, 500);
  const before = { held: bufferBytes(), counted: countedBytes() };
  await ask(500, 2_000);
  const counted = countedBytes() - before.counted;
  expect(counted).toBeGreaterThan(1_000_000);
  expect(bufferBytes() - before.held).toBeLessThan(counted);
});
