/** Pruned starts are refused in the same way for every kind of history, however the ledger was created. */
import { expect, it, onTestFinished } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { buildApi } from '../../src/api/http/server.ts';
import { padAddress } from '../../src/move/types/address.ts';
import { Batch } from '../../src/store/batch.ts';
import { EVENTS } from '../../src/store/columns/columns.ts';
import { encodeStreamId } from '../../src/store/columns/event-column.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import type { Store } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { newBackup } from '../ingest/backup/backup-chain.ts';
import { restored } from '../ingest/backup/restoring.ts';
import { temporaryDirectory } from '../store/engines.ts';
import { TestApi } from './client.ts';
import { LogLines } from './error-answers.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

function served(store: Store): TestApi {
  const log = new LogLines();
  const app = new TestApi(buildApi(openTestedLedger(store), apiSettings(NO_LOAD_BOUNDS), log));
  onTestFinished(async () => {
    await app.close();
    await store.close();
    expect(log).toEqual(new LogLines());
  });
  return app;
}

it('of the transactions of an account', async () => {
  const store = await openTestedStore({ directory: temporaryDirectory() });
  const writer = await LedgerWriter.open(store);
  for (const chunk of bulkChunks({ seed: 5, transactions: 400, accounts: 20 })) {
    await writer.append(chunk);
  }
  const app = served(store);
  const [newest] = (await app.request('/v1/transactions?limit=50'))
    .json<{ type: string; sender: string; sequence_number: string }[]>()
    .filter(({ type }) => type === 'user_transaction');
  const path = `/v1/accounts/${newest!.sender}/transactions`;
  const from = async (start: string | bigint) => {
    const { statusCode, json } = await app.request(`${path}?start=${start}&limit=100`);
    return [statusCode, json()];
  };
  const [status, all] = await from('0');
  expect([status, all[0].sequence_number]).toEqual([200, '0']);
  await new Pruner(writer, { graceMs: 0, restFactor: 0 }).run({ versions: 60 });
  const { oldestVersion } = writer.head!;
  const retained = all.filter(
    ({ version }: { version: string }) => BigInt(version) >= oldestVersion,
  );
  const first = BigInt(retained[0].sequence_number);
  expect(first).toBeGreaterThan(0n);
  const refused = (start: bigint) => ({
    message: `Transaction ${start} of ${newest!.sender} has been pruned`,
    error_code: 'version_pruned',
    vm_error_code: null,
  });
  expect(await from(0n)).toEqual([410, refused(0n)]);
  expect(await from(first - 1n)).toEqual([410, refused(first - 1n)]);
  expect(await from(first)).toEqual([200, retained]);
  expect(await from(BigInt(all.at(-1).sequence_number) + 1n)).toEqual([200, []]);
  expect((await app.request(path)).json()).toEqual(retained);
  // An account that has sent nothing.
  expect((await app.request('/v1/accounts/0x7777/transactions?start=0')).json()).toEqual([]);
});

interface Handle {
  readonly counter: string;
  readonly guid: { readonly id: { readonly addr: string; readonly creation_num: string } };
}

/** The event handles in some JSON. */
function handlesIn(json: unknown): Handle[] {
  if (typeof json !== 'object' || json === null) return [];
  const own = 'counter' in json && 'guid' in json ? [json as Handle] : [];
  return [...own, ...Object.values(json).flatMap(handlesIn)];
}

it('of streams that ended before the state that a ledger began with, as of those that went on', async () => {
  const store = await openTestedStore({ directory: temporaryDirectory() });
  await restored(newBackup({ snapshotEpochs: [1, 2], transactionsPerBackup: 1_000 }), store);
  // The epochs of this chain continued; on a longer one many streams did not.
  const epochs = encodeStreamId({ address: padAddress('1'), creationNumber: 2n });
  await store.commit(new Batch().deleteRange(EVENTS, epochs));
  const app = served(store);
  let refused = 0;
  let ended = 0;
  const { json } = await app.request('/v1/accounts/0x1/resources');
  for (const { counter, guid } of handlesIn(json())) {
    const { addr, creation_num: number } = guid.id;
    const path = `/v1/accounts/${addr}/events/${number}`;
    const page = (await app.request(path)).json();
    const fromZero = await app.request(`${path}?start=0`);
    if (counter === '0') expect([page, fromZero.json()]).toEqual([[], []]);
    if (fromZero.statusCode === 200) {
      expect(fromZero.json()[0]?.sequence_number ?? counter).toBe('0');
      continue;
    }
    expect(fromZero.statusCode).toBe(410);
    const { message } = fromZero.json<{ message: string }>();
    const [, text, firstKept] = /^(.*; the first kept one is )(\d+)$/.exec(message)!;
    expect(text).toBe(
      `Event 0 of stream ${number} of ${addr} has been pruned; the first kept one is `,
    );
    const kept = await app.request(`${path}?start=${firstKept}`);
    expect(kept.json()[0]?.sequence_number ?? counter).toBe(firstKept);
    const before = await app.request(`${path}?start=${BigInt(firstKept!) - 1n}`);
    expect(before.statusCode).toBe(410);
    refused += 1;
    if (page.length === 0) ended += 1;
  }
  expect(ended).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(ended);
  // A stream that never existed.
  expect((await app.request('/v1/accounts/0x1/events/999?start=0')).json()).toEqual([]);
});
