/** The cache of transactions as JSON: what it counts is what it holds. */
import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { Committer } from '../../src/ingest/committer.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { temporarySqliteStore } from '../store/engines.ts';

/** What else is reachable then: memory of the text that was written last, blocks and a record of the store. */
const OTHERS_BYTES = 256 * 1024;

/** Of buffers that are reachable. */
function bufferBytes(): number {
  // Collects everything else.
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
  // What is asked for again is cached: every other one, beside texts that are not. All of it fits into half of the
  // budget, so that none is dropped meanwhile.
  await ask(2);
  const before = { held: bufferBytes(), counted: countedBytes() };
  await ask(1);
  const counted = countedBytes() - before.counted;
  expect(counted).toBeGreaterThan(1_000_000);
  expect(bufferBytes() - before.held).toBeLessThan(counted + OTHERS_BYTES);
});
