/** Listeners of many different streams: for a new head, only streams with new records are read. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { buildApi } from '../../src/api/http/server.ts';
import {
  changedKeys,
  eventsKey,
  HEADS_KEY,
  MAX_SCANNED_VERSIONS,
  typeKey,
} from '../../src/api/push/sources.ts';
import { TimeShare } from '../../src/api/push/time-share.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { MaybePromise } from '../../src/maybe-promise.ts';
import { VERSION_WRITES } from '../../src/store/columns/columns.ts';
import { encodeBucketKey } from '../../src/store/columns/order-key.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import { RowDamagedError, StoreError } from '../../src/store/store-error.ts';
import type { Chunk, ChunkModuleEvent, ChunkTransaction } from '../../src/store/write/chunk.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { Random, testSeed } from '../random.ts';
import { AnsweringLater } from '../store/answering-later.ts';
import { address, block, chunk, streamEvent, transaction } from '../store/chunks.ts';
import { TestApi } from './client.ts';
import { LogLines } from './error-answers.ts';
import { EventClient } from './event-client.ts';
import { apiSettings } from './settings.ts';
import { openTestedStore } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

const TYPE = '0x1::transaction_fee::FeeStatement';
const TYPED = `/v1/events/by_type/${encodeURIComponent(TYPE)}`;
const STREAMS = 12;
const CREATION_NUMBER = 9;

/** On demand it fails reads of versions' writes; it also counts reads of streams. */
class FailingStore extends AnsweringLater {
  failure: StoreError | undefined;
  failures = 0;

  countOf(what: string): number {
    return this.reads.filter((read) => read === what).length;
  }

  protected override later<T>(what: string, read: () => MaybePromise<T>): Promise<T> {
    if (this.failure === undefined || what !== 'range version_writes') {
      return super.later(what, read);
    }
    this.failures += 1;
    return Promise.reject(this.failure);
  }
}

const SAMPLE: readonly Chunk[] = [
  ...bulkChunks({ seed: 3, transactions: 400, accounts: 30, chunkTransactions: 100 }),
];
const FEE = SAMPLE.flatMap(({ transactions }) => transactions)
  .flatMap(({ events }) => events)
  .filter((event): event is ChunkModuleEvent => event.kind === 'module')
  .find(({ typeTag }) => Buffer.from(typeTag).includes('FeeStatement'))!;

async function openSample() {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-push-many-'));
  const stored = await openTestedStore({ directory });
  const store = new FailingStore(stored);
  const writer = await LedgerWriter.open(stored);
  for (const one of SAMPLE) await writer.append(one);
  onTestFinished(async () => {
    await stored.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const lengths = new Map<number, number>();
  return {
    ...{ store, writer },
    event(account: number) {
      const number = lengths.get(account) ?? 0;
      lengths.set(account, number + 1);
      const data = Buffer.alloc(8, number);
      return { ...streamEvent(0x7000 + account, CREATION_NUMBER, number), data };
    },
    /** Appends a block with one version for each list of events. */
    async append(...versions: ChunkTransaction['events'][]): Promise<void> {
      const { version, blockHeight } = writer.head!;
      const first = Number(version) + 1;
      const all = versions.map((events, at) => transaction(first + at, { events }));
      const blocks = [block(Number(blockHeight) + 1, first)];
      await writer.append(chunk(first, all, { blocks }));
    },
  };
}

/** Listeners of some streams, of a type and of heads. */
async function listened() {
  const sample = await openSample();
  const { store, writer } = sample;
  const log = new LogLines();
  const app = new TestApi(buildApi(openLedger(store), apiSettings(NO_LOAD_BOUNDS), log));
  const base = `http://127.0.0.1:${await app.port()}`;
  const paths = Array.from(
    { length: STREAMS },
    (_, at) => `/v1/accounts/0x${address(0x7000 + at)}/events/${CREATION_NUMBER}`,
  );
  const clients = [...paths, `${TYPED}?start=${writer.head!.version + 1n}`, '/v1/-/heads'].map(
    (path) => new EventClient(base + path),
  );
  onTestFinished(async () => {
    for (const client of clients) client.close();
    await app.close();
  });
  for (const { opened } of clients) expect((await opened).status).toBe(200);
  const streams = clients.slice(0, STREAMS);
  const [typed, heads] = clients.slice(STREAMS);
  await heads!.until(1);
  return { ...sample, log, streams, typed: typed!, heads: heads! };
}

test('a version costs reads of the streams that it touches, whatever else is listened to', async () => {
  const { store, streams, typed, heads, event, append } = await listened();
  // A late listener reads by itself until it has joined the hub.
  await append([event(0)]);
  await streams[0]!.until(1);
  const random = new Random(testSeed('many'));
  const got = streams.map((_, at) => (at === 0 ? 1 : 0));
  const before = {
    streams: store.countOf('range events'),
    types: store.countOf('range event_types'),
  };
  for (let version = 1; version <= 30; version += 1) {
    const at = random.below(STREAMS);
    await append([event(at)]);
    got[at]! += 1;
    await streams[at]!.until(got[at]!);
    await heads.until(version + 2);
    expect(store.countOf('range events') - before.streams).toBe(version);
  }
  expect(store.countOf('range event_types')).toBe(before.types);
  await append([FEE, event(1)]);
  await typed.until(1);
  expect(store.countOf('range event_types')).toBe(before.types + 1);
  // With at least as many versions at once as there are channels, all channels are read.
  const all = store.countOf('range events');
  let expected = 0;
  for (const [versions, reads] of [
    [STREAMS + 1, 1],
    [STREAMS + 2, STREAMS],
  ] as const) {
    await append(...Array.from({ length: versions - 1 }, () => []), [event(2)]);
    got[2]! += 1;
    await streams[2]!.until(got[2]!);
    // Each sweep ends before the next one begins.
    await append([event(3)]);
    got[3]! += 1;
    await streams[3]!.until(got[3]!);
    expected += reads + 1;
    expect(store.countOf('range events') - all).toBe(expected);
  }
  for (const { events } of streams) {
    expect(events.map(({ id }) => id)).toEqual(events.map((_, number) => String(number)));
  }
});

test('a stream that was quiet while pruning came has missed nothing', async () => {
  const { store, writer, streams, typed, heads, event, append } = await listened();
  for (let version = 0; version < 3; version += 1) {
    await append([event(0)]);
    await streams[0]!.until(version + 1);
    await heads.until(version + 2);
  }
  await new Pruner(writer, { graceMs: 0, restFactor: 0 }).run({ versions: 1 });
  expect(writer.head!.oldestVersion).toBe(writer.head!.version);
  await append([FEE]);
  await append([event(1)], [FEE]);
  await Promise.all([typed.until(2), streams[1]!.until(1)]);
  expect(typed.events.map(({ type }) => type)).toEqual(['message', 'message']);
  expect(streams[1]!.events.map(({ id }) => id)).toEqual(['0']);
  expect(store.failures).toBe(0);
});

const DAMAGE = new RowDamagedError(VERSION_WRITES, encodeBucketKey(1n), 'of this test');
const OUTAGE = new StoreError('store_timeout', 'of this test');

test.each([DAMAGE, OUTAGE])(
  'nothing is missed where the new versions cannot be read: %s',
  async (failure) => {
    const { store, streams, typed, event, append } = await listened();
    await append([event(0)]);
    await streams[0]!.until(1);
    store.failure = failure;
    await append([event(1)]);
    if (failure === DAMAGE) await streams[1]!.until(1);
    while (store.failures === 0) await new Promise(setImmediate);
    store.failure = failure === DAMAGE ? failure : undefined;
    await append([event(2), FEE]);
    await Promise.all([streams[1]!.until(1), streams[2]!.until(1), typed.until(1)]);
    for (const client of [streams[1]!, streams[2]!, typed]) {
      expect(client.events.map(({ type }) => type)).toEqual(['message']);
    }
  },
);

test('what versions touch is all that they emitted', async () => {
  const { store } = await openSample();
  const random = new Random(testSeed('touched'));
  const view = await openLedger(store).view();
  const { version: head } = view.state;
  for (let turn = 0; turn < 20; turn += 1) {
    const above = BigInt(random.below(Number(head)));
    const emitted = SAMPLE.flatMap(({ firstVersion, transactions }) =>
      transactions.filter((_, at) => firstVersion + BigInt(at) > above),
    ).flatMap(({ events, translatedEvents = [] }) => [...events, ...translatedEvents]);
    const keys = emitted.map((event) =>
      event.kind === 'stream' ? eventsKey(event) : typeKey(event.typeTag),
    );
    expect(await changedKeys(view, above, new TimeShare())).toEqual(new Set([HEADS_KEY, ...keys]));
  }
  expect(await changedKeys(view, head, new TimeShare())).toEqual(new Set([HEADS_KEY]));
});

test('so many versions and module events are looked at, and no more', async () => {
  const { store, append } = await openSample();
  const most = Number(MAX_SCANNED_VERSIONS);
  await append(...Array.from({ length: most + 1 }, () => []));
  const ledger = openLedger(store);
  const touched = async (versions: number) => {
    const view = await ledger.view();
    return await changedKeys(view, view.state.version - BigInt(versions), new TimeShare());
  };
  expect(await touched(most - 1)).toEqual(new Set([HEADS_KEY]));
  expect(await touched(most)).toEqual(new Set([HEADS_KEY]));
  expect(await touched(most + 1)).toBeUndefined();
  for (const [count, isTold] of [
    [1_023, true],
    [1_024, false],
    [1_025, false],
  ] as const) {
    await append(Array.from({ length: count }, () => FEE));
    const expected = isTold ? new Set([HEADS_KEY, typeKey(FEE.typeTag)]) : undefined;
    expect(await touched(1)).toEqual(expected);
  }
  await append(...Array.from({ length: 20 }, () => Array.from({ length: 100 }, () => FEE)));
  expect(await touched(20)).toEqual(new Set([HEADS_KEY, typeKey(FEE.typeTag)]));
});

test('nothing is said of versions that are pruned', async () => {
  const { store, writer, append } = await openSample();
  await append([], []);
  const view = await openLedger(store).view();
  const { version } = view.state;
  await new Pruner(writer, { graceMs: 0, restFactor: 0 }).run({ versions: 1 });
  const pruned = await openLedger(store).view();
  expect(pruned.state.oldestVersion).toBe(version - 1n);
  for (const one of [view, pruned]) {
    expect(await changedKeys(one, version - 3n, new TimeShare())).toBeUndefined();
    expect(await changedKeys(one, version - 2n, new TimeShare())).toEqual(new Set([HEADS_KEY]));
  }
});
