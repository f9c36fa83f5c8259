/** The cache of transactions as JSON: the size that it counts is the memory that it holds. */
import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { Committer } from '../../src/ingest/committer.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { temporarySqliteStore } from '../store/engines.ts';

/** Other reachable memory at that point: the last written text, blocks and a record of the store. */
const OTHERS_BYTES = 256 * 1024;

/** Bytes of all reachable buffers. */
function bufferBytes(): number {
  // Collects all garbage.
  queryObjects(LedgerWriter as never, { format: 'count' });
  return process.memoryUsage().arrayBuffers;
}

test('transactions are alone in their memory', async () => {
  const writer = await LedgerWriter.open(await temporarySqliteStore());
  await new Committer(writer).pushAll(bulkChunks({ seed: 1, accounts: 50, transactions: 1_700 }));
  const ledger = openLedger(writer.reader);
  const countedBytes = () => ledger.cacheSizes().find(({ name }) => name === 'transactions')!.bytes;
  const ask = async (step: number): Promise<void> => {
    for (let version = 2; version < 1_600; version += step) {
      const { history } = await ledger.view();
      await history.renderer.render(await history.transaction(BigInt(version), ''));
    }
  };
  // A repeated read is cached: every other version, beside ones that are not. All fit into half of the budget, so that
  // none is dropped meanwhile.
  await ask(2);
  const before = { held: bufferBytes(), counted: countedBytes() };
  await ask(1);
  const counted = countedBytes() - before.counted;
  expect(counted).toBeGreaterThan(1_000_000);
  expect(bufferBytes() - before.held).toBeLessThan(counted + OTHERS_BYTES);
});
