/**
 * Repairing events of streams that module events were translated into: rows outside their version are needed for it.
 */
import { beforeAll, expect, test } from 'vitest';
import { FeedClient } from '../../src/ingest/feed/feed-client.ts';
import { interfaceBase } from '../../src/remote/node-url.ts';
import { Batch } from '../../src/store/batch.ts';
import {
  EVENTS,
  MODULE_EVENTS,
  TRANSACTIONS,
  VERSION_WRITES,
} from '../../src/store/columns/columns.ts';
import { decodeEventRow } from '../../src/store/columns/event-column.ts';
import { decodeU64Key, encodeBucketKey, encodeU64Key } from '../../src/store/columns/order-key.ts';
import { type Store, scanPages } from '../../src/store/store.ts';
import { copyRows } from '../../src/store/write/copy-rows.ts';
import { verifyLedger } from '../../src/verify/ledger.ts';
import { LedgerRepair, MAX_DAMAGES_AT_ONCE } from '../../src/verify/repair/repair.ts';
import { digests, sampleStore, upstreamOver } from '../ingest/feed-following.ts';
import { IS_LONG } from '../random.ts';
import { temporaryDirectory, temporarySqliteStore } from '../store/engines.ts';
import { flipInside } from '../store/stored-rows.ts';

/** Size at which the sample has begun to emit translated events. */
const COUNT = 3_000;
/** A repair that has to wait uses all of them. */
const MAX_ROUNDS = 3;
const TIMEOUTS = { silenceTimeoutMs: 5_000, totalTimeoutMs: 10_000 };

let sound: Store;
beforeAll(async () => {
  sound = await sampleStore(COUNT);
});

/** The newest event of a stream that a module event was translated into. */
async function translatedEvent(store: Store) {
  let found: { readonly partition: Buffer; readonly order: Buffer; readonly version: bigint };
  let newest = -1n;
  for await (const page of scanPages(store, EVENTS)) {
    for (const row of page) {
      const { version, index } = decodeEventRow(row.partition, row);
      const { partition, order } = encodeBucketKey(version);
      const place = Buffer.alloc(4);
      place.writeUInt32BE(index);
      const module = await store.get(MODULE_EVENTS, partition, Buffer.concat([order, place]));
      const isFirst = decodeU64Key(row.order) === 0n;
      if (module === undefined || isFirst || version < newest) continue;
      newest = version;
      found = { partition: row.partition, order: row.order, version };
    }
  }
  expect(newest).toBeGreaterThan(0n);
  return found!;
}

/** Repairs a store from a source with this oldest version. */
async function repairedFrom(store: Store, oldest: bigint) {
  const upstream = await upstreamOver(sound);
  upstream.settings.oldest = oldest;
  const client = new FeedClient(interfaceBase(upstream.url), 1, TIMEOUTS);
  const repair = new LedgerRepair(store, client, { onVersions: () => undefined });
  let report = await verifyLedger(store, { maxListed: MAX_DAMAGES_AT_ONCE });
  for (let round = 0; round < MAX_ROUNDS && report.damageCount > 0; round += 1) {
    await repair.repair(report);
    report = await verifyLedger(store, { maxListed: MAX_DAMAGES_AT_ONCE });
  }
  client.close();
  return { report, repaired: repair.repaired };
}

// In a short run the next test suffices, in which events wait too; each takes fifteen seconds of processor time.
test.runIf(IS_LONG)(
  'events that were translated are again, those that wait for others later',
  async () => {
    const store = await sampleStore(COUNT);
    const expected = await digests(store);
    const { partition, order, version } = await translatedEvent(store);
    await store.commit(new Batch().delete(EVENTS, partition, order));
    expect((await repairedFrom(store, 0n)).report.damages).toEqual([]);
    expect(await digests(store)).toEqual(expected);

    const before = encodeU64Key(decodeU64Key(order) - 1n);
    const batch = new Batch().delete(EVENTS, partition, order);
    await store.commit(batch.delete(EVENTS, partition, before));
    const first = await repairedFrom(store, version);
    expect(first.repaired).toMatchObject({ unavailable: 1 });
    expect(await store.get(EVENTS, partition, order)).toBeUndefined();
    expect(await store.get(EVENTS, partition, before)).toBeUndefined();
    expect((await repairedFrom(store, 0n)).report.damages).toEqual([]);
    expect(await digests(store)).toEqual(expected);
  },
);

test('a damaged record whose events wait for others is made again without them', async () => {
  const directory = temporaryDirectory();
  const made = await temporarySqliteStore(directory);
  await copyRows(sound, made, () => undefined);
  const expected = await digests(made);
  const { partition, order, version } = await translatedEvent(made);
  const before = encodeU64Key(decodeU64Key(order) - 1n);
  await made.commit(new Batch().delete(EVENTS, partition, before));
  await made.close();
  flipInside(directory, 'versions', Number(version));
  const store = await temporarySqliteStore(directory);
  const first = await repairedFrom(store, version);
  expect(first.repaired).toMatchObject({ unavailable: 1 });
  const key = encodeBucketKey(version);
  const stored = await sound.get(TRANSACTIONS, key.partition, key.order);
  expect(await store.get(TRANSACTIONS, key.partition, key.order)).toEqual(stored);
  expect(await store.get(VERSION_WRITES, key.partition, key.order)).toBeUndefined();
  expect((await repairedFrom(store, 0n)).report.damages).toEqual([]);
  expect(await digests(store)).toEqual(expected);
});
