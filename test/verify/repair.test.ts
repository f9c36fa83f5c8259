/** Repairing a ledger in LMDB from a real node on loopback: any damage of any column that follows from its versions. */
import { beforeAll, expect, test } from 'vitest';
import { Committer } from '../../src/ingest/committer.ts';
import { repairFolder } from '../../src/node/repair.ts';
import { sampleChunks } from '../../src/sample/sample.ts';
import { Batch } from '../../src/store/batch.ts';
import {
  COLUMNS,
  type Column,
  HEAD,
  IDENTITY,
  PRUNING,
  type ScannedRow,
  TRANSACTION_INFOS,
  VERSION_WRITES,
} from '../../src/store/columns/columns.ts';
import { encodeBucketKey } from '../../src/store/columns/order-key.ts';
import { openLmdbReader, openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import type { Store } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/writer.ts';
import { digests, sampleStore, upstreamOver } from '../ingest/feed-following.ts';
import { randomSource, testSeed } from '../random.ts';
import { temporaryDirectory } from '../store/engines.ts';
import { findRow, overwrite, spoilPage } from '../store/lmdb-pages.ts';

const TRANSACTIONS = 400;
const SAMPLE = { seed: 5, accounts: 20, transactions: TRANSACTIONS };
const NOT_REPAIRED: readonly Column[] = [IDENTITY, HEAD, PRUNING];

/** A ledger in LMDB, damaged by a batch. */
async function damagedLedger(harm: (store: Store, batch: Batch) => Promise<void>) {
  const directory = temporaryDirectory();
  const store = await openLmdbStore({ directory });
  await new Committer(await LedgerWriter.open(store)).pushAll(sampleChunks(SAMPLE));
  const batch = new Batch();
  await harm(store, batch);
  await store.commit(batch);
  await store.close();
  return directory;
}

async function digestsOf(directory: string): Promise<Record<string, string>> {
  const reader = openLmdbReader({ directory });
  try {
    return await digests(reader);
  } finally {
    await reader.close();
  }
}

async function repaired(directory: string, url: string) {
  return await repairFolder(directory, url, () => undefined);
}

let sound: Store;
let expected: Record<string, string>;
beforeAll(async () => {
  sound = await sampleStore(TRANSACTIONS, SAMPLE);
  expected = await digests(sound);
});

type Harm = (
  batch: Batch,
  column: Column,
  row: ScannedRow,
  below: (most: number) => number,
) => void;
const HARMS: Readonly<Record<string, Harm>> = {
  'flipped bits': (batch, column, { partition, order, value }, below) => {
    const damaged = Buffer.from(value.length === 0 ? [0] : value);
    damaged[below(damaged.length)]! ^= 1 << below(8);
    batch.put(column, partition, order, damaged);
  },
  'missing rows': (batch, column, { partition, order }) => {
    batch.delete(column, partition, order);
  },
  'rows that nobody wrote': (batch, column, { partition, order, value }, below) => {
    const other = Buffer.from(partition);
    other[below(other.length)]! ^= 1 << below(8);
    batch.put(column, other, order, value);
  },
};

test.each(Object.entries(HARMS))('%s in every column are repaired', async (_, harm) => {
  const random = randomSource(testSeed());
  const below = (most: number): number => Math.floor(random() * most);
  const directory = await damagedLedger(async (store, batch) => {
    for (const column of COLUMNS.filter((one) => !NOT_REPAIRED.includes(one))) {
      const rows = await store.scan(column, { maxRows: 10_000, maxBytes: 1e9 });
      for (let count = 0; count < 3 && rows.length > 0; count += 1) {
        harm(batch, column, rows[below(rows.length)]!, below);
      }
    }
  });
  const upstream = await upstreamOver(sound);
  const { report, damagesBefore } = await repaired(directory, upstream.url);
  expect(report.damages).toEqual([]);
  expect(damagesBefore).toBeGreaterThan(0);
  expect(await digestsOf(directory)).toEqual(expected);
});

/** A ledger in which the infos of some versions are missing. */
function withoutInfos(versions: readonly bigint[]): Promise<string> {
  return damagedLedger(async (_, batch) => {
    for (const version of versions) {
      const { partition, order } = encodeBucketKey(version);
      batch.delete(TRANSACTION_INFOS, partition, order);
    }
  });
}

test('a record whose index cannot be read is replaced', async () => {
  const directory = await damagedLedger(async () => undefined);
  const { partition, order } = encodeBucketKey(101n);
  const key = Buffer.concat([partition, order]);
  const { nodeStart } = findRow(directory, key);
  overwrite(directory, nodeStart + 8 + key.length, Buffer.alloc(6, 0xff));
  const upstream = await upstreamOver(sound);
  const { report } = await repaired(directory, upstream.url);
  expect(report.damages).toEqual([]);
  expect(await digestsOf(directory)).toEqual(expected);
});

test('a source of another history or chain, or of wrong bytes, writes nothing', async () => {
  const directory = await withoutInfos([50n, 51n, 200n]);
  const before = await digestsOf(directory);
  const other = await upstreamOver(await sampleStore(TRANSACTIONS, { ...SAMPLE, seed: 6 }));
  const chain = await upstreamOver(sound);
  chain.settings.chainId = 77;
  const wrong = await upstreamOver(sound);
  wrong.settings.misbehave = (request, response, page) => {
    if (!request.url!.includes('start=200')) return false;
    page[page.length >> 1]! ^= 1;
    response.setHeader('content-type', 'application/x-bcs');
    response.end(page);
    return true;
  };
  const pruned = await upstreamOver(sound);
  pruned.settings.oldest = 100n;
  for (const { url } of [other, chain, wrong, pruned]) {
    await expect(repaired(directory, url)).rejects.toThrow(
      expect.objectContaining({ code: 'damaged' }),
    );
    expect(await digestsOf(directory)).toEqual(before);
  }
});

test('nothing is written where the engine cannot walk its pages', async () => {
  const directory = await damagedLedger(async () => undefined);
  const { partition, order } = encodeBucketKey(101n);
  spoilPage(directory, findRow(directory, Buffer.concat([partition, order])));
  const upstream = await upstreamOver(sound);
  const outcome = await repaired(directory, upstream.url).catch((error: unknown) => error);
  expect(outcome).toMatchObject({ code: 'damaged' });
  expect(upstream.pages).toEqual([]);
});

test('a pruned ledger is repaired', async () => {
  const directory = temporaryDirectory();
  const store = await openLmdbStore({ directory });
  const writer = await LedgerWriter.open(store);
  await new Committer(writer).pushAll(sampleChunks(SAMPLE));
  await new Pruner(writer, { graceMs: 0, restFactor: 0 }).run({ versions: 150 });
  const before = await digests(store);
  const batch = new Batch();
  for (const version of [writer.head!.version, writer.head!.version - 50n]) {
    const { partition, order } = encodeBucketKey(version);
    batch.delete(TRANSACTION_INFOS, partition, order);
    batch.delete(VERSION_WRITES, partition, order);
  }
  await store.commit(batch);
  await store.close();
  const upstream = await upstreamOver(sound);
  const { report, damagesBefore } = await repaired(directory, upstream.url);
  expect(damagesBefore).toBeGreaterThan(0);
  expect(report.damages).toEqual([]);
  expect(await digestsOf(directory)).toEqual(before);
});
