/**
 * Transactions whose stored key hashes cannot be read: the hashes are computed from the keys, and the responses are the
 * same.
 */
import { expect, it, onTestFinished } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { buildApi } from '../../src/api/http/server.ts';
import { Batch } from '../../src/store/batch.ts';
import { VERSION_WRITES } from '../../src/store/columns/columns.ts';
import { encodeBucketKey } from '../../src/store/columns/order-key.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { temporaryDirectory } from '../store/engines.ts';
import { TestApi } from './client.ts';
import { LogLines } from './error-answers.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

const PATH = '/v1/transactions?start=0&limit=60';
/** Claims more keys than the row has. */
const CUT_SHORT = Buffer.of(200);

it('are shown all the same', async () => {
  const store = await openTestedStore({ directory: temporaryDirectory() });
  onTestFinished(async () => store.close());
  const writer = await LedgerWriter.open(store);
  for (const chunk of bulkChunks({ seed: 5, transactions: 60, accounts: 8 })) {
    await writer.append(chunk);
  }
  const answer = async () => {
    const log = new LogLines();
    const app = new TestApi(buildApi(openTestedLedger(store), apiSettings(NO_LOAD_BOUNDS), log));
    const { statusCode, bytes } = await app.request(PATH);
    await app.close();
    expect(log).toEqual(new LogLines());
    return [statusCode, bytes.toString()] as const;
  };
  const [status, sound] = await answer();
  expect([status, sound.includes('"state_key_hash"')]).toEqual([200, true]);
  const damage = new Batch();
  for (let version = 0n; version < 60n; version += 1n) {
    const { partition, order } = encodeBucketKey(version);
    if (await store.get(VERSION_WRITES, partition, order)) {
      damage.put(VERSION_WRITES, partition, order, CUT_SHORT);
    }
  }
  await store.commit(damage);
  expect(await answer()).toEqual([200, sound]);
});
