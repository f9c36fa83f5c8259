/** Batches of new versions, whose rows LMDB takes as they are put, against batches that keep all rows. */
import { open } from 'lmdb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import {
  ACCOUNT_TRANSACTIONS,
  COLUMNS,
  type Column,
  MODULE_EVENTS,
  STATE,
  TRANSACTION_HASHES,
  TRANSACTION_INFOS,
  TRANSACTIONS,
  VERSION_WRITES,
} from '../../src/store/columns/columns.ts';
import { moduleEventOrder } from '../../src/store/columns/event-column.ts';
import { bucketKeyOf, encodeU64Key } from '../../src/store/columns/order-key.ts';
import { orderByVersion } from '../../src/store/columns/transaction-index-column.ts';
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { type Store, scanPages } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/writer.ts';
import { randomSource, testSeed } from '../random.ts';
import { chunk, resourceKey, transaction, write } from './chunks.ts';
import { temporaryDirectory, temporaryLmdbStore } from './engines.ts';

const TAKEN_COLUMNS: readonly Column[] = [
  ...[TRANSACTION_INFOS, TRANSACTIONS, MODULE_EVENTS, VERSION_WRITES],
  ...[STATE, TRANSACTION_HASHES, ACCOUNT_TRANSACTIONS],
];

const random = randomSource(testSeed());
const below = (most: number): number => Math.floor(random() * most);
const bytesOf = (count: number): Buffer => {
  return Buffer.from(Array.from({ length: count }, () => below(256)));
};
const keyOf = (name: number): Buffer => Buffer.alloc(32, name);

/** Puts what a version may have, in the order in which chunks have it. */
function putVersion(batches: readonly Batch[], number: number): void {
  const version = encodeU64Key(BigInt(number));
  const key = bucketKeyOf(version);
  const { partition, order } = key;
  const put = (column: Column, ...row: [Buffer, Buffer, Buffer]): void => {
    for (const batch of batches) batch.put(column, ...row);
  };
  put(TRANSACTION_INFOS, partition, order, bytesOf(20));
  put(TRANSACTIONS, partition, order, bytesOf(below(50) === 0 ? 70_000 : below(300)));
  put(TRANSACTION_HASHES, bytesOf(8), version, Buffer.alloc(0));
  const valueBytes = below(10) === 0 ? 3 : 8;
  put(ACCOUNT_TRANSACTIONS, keyOf(below(5)), orderByVersion(BigInt(number)), bytesOf(valueBytes));
  for (let index = below(4); index > 0; index -= 1) {
    put(STATE, keyOf(10 * index + below(5)), version, bytesOf(below(4) === 0 ? 3_000 : below(200)));
  }
  for (let index = 0; index < below(4); index += 1) {
    put(MODULE_EVENTS, partition, moduleEventOrder(key, index), bytesOf(below(60)));
  }
  if (below(5) > 0) put(VERSION_WRITES, partition, order, bytesOf(40));
}

async function rowsOf(store: Store) {
  const rows: unknown[] = [];
  for (const column of COLUMNS) {
    for await (const page of scanPages(store, column)) {
      for (const { partition, order, value } of page) {
        rows.push(`${column.name} ${[partition, order, value].map((b) => b.toString('hex'))}`);
      }
    }
  }
  return rows;
}

/** Every key and value of every database, as the engine has them. */
async function databasesIn(directory: string) {
  const root = open({ path: directory, readOnly: true, encoding: 'binary', keyEncoding: 'binary' });
  try {
    return ['versions', 'state', 'state_by_version', 'runs', 'unfit'].map((name) => {
      const database = root.openDB({ name, encoding: 'binary', keyEncoding: 'binary' });
      return [...database.getRange({})].map(({ key, value }) => {
        return `${(key as Buffer).toString('hex')} ${(value as Buffer).toString('hex')}`;
      });
    });
  } finally {
    await root.close();
  }
}

function takenFrom(batch: Batch): boolean {
  return batch.size > 0 && batch.rows.every(({ column }) => !TAKEN_COLUMNS.includes(column));
}

describe('a batch of new versions', () => {
  test('is stored as one that keeps its rows is, byte for byte', async () => {
    const places = [temporaryDirectory(), temporaryDirectory()];
    const stores = await Promise.all(places.map((directory) => openLmdbStore({ directory })));
    for (let first = 0; first < 400; first += 100) {
      const batches = [new Batch(), stores[1]!.batchOfNewVersions!()];
      for (let version = first; version < first + 100; version += 1) putVersion(batches, version);
      expect(takenFrom(batches[1]!)).toBe(true);
      expect(batches[1]!.size).toBe(batches[0]!.size);
      expect(batches[1]!.byteLength).toBe(batches[0]!.byteLength);
      await Promise.all(stores.map((store, index) => store.commit(batches[index]!)));
    }
    await Promise.all(stores.map((store) => store.close()));
    const [kept, taken] = await Promise.all(places.map((directory) => databasesIn(directory)));
    // Rows of state of their own are those of versions without a record.
    expect(kept!.map((rows) => rows.length > 0)).toEqual([true, false, true, true, true]);
    expect(taken).toEqual(kept);
  });

  test('may have versions that are stored, in any order, and deletions', async () => {
    const [kept, taking] = [await temporaryLmdbStore(), await temporaryLmdbStore()];
    let next = 0;
    for (let commit = 0; commit < 60; commit += 1) {
      const batches = [new Batch(), taking.batchOfNewVersions!()];
      for (let change = below(8); change >= 0; change -= 1) {
        const known = below(2) === 0 ? below(next + 1) : Math.max(0, next - 1 - below(3));
        const version = encodeU64Key(BigInt(known));
        const { partition, order } = bucketKeyOf(version);
        const kind = below(12);
        for (const batch of batches) {
          if (kind === 0) batch.delete(STATE, keyOf(10 + (known % 5)), version);
          if (kind === 1) batch.put(STATE, keyOf(10 + (known % 5)), version, Buffer.from('new'));
          if (kind === 2) batch.put(STATE, keyOf(40), version, Buffer.from('one more'));
          if (kind === 3) batch.put(TRANSACTION_INFOS, partition, order, Buffer.from('another'));
          if (kind === 4) batch.deleteRange(STATE, keyOf(21), { to: version });
        }
        if (kind === 5) putVersion(batches, known);
        if (kind > 5) putVersion(batches, next);
        if (kind > 5) next += 1 + below(2);
      }
      await Promise.all([kept.commit(batches[0]!), taking.commit(batches[1]!)]);
      expect(await rowsOf(taking)).toEqual(await rowsOf(kept));
    }
  });

  test('that was committed is stored again where it is', async () => {
    const store = await temporaryLmdbStore();
    const batch = store.batchOfNewVersions!();
    for (let version = 0; version < 50; version += 1) putVersion([batch], version);
    await store.commit(batch);
    const rows = await rowsOf(store);
    await store.commit(batch);
    expect(await rowsOf(store)).toEqual(rows);
  });

  test('comes with a deletion of others: a later batch that changes its versions knows them', async () => {
    const store = await temporaryLmdbStore();
    const version = encodeU64Key(0n);
    const { partition, order } = bucketKeyOf(version);
    const first = new Batch().deleteRange(STATE, keyOf(2), { to: version });
    await store.commit(first.put(TRANSACTION_INFOS, partition, order, Buffer.from('info')));
    const later = new Batch().put(TRANSACTION_INFOS, partition, order, Buffer.from('another'));
    await store.commit(later.put(STATE, keyOf(1), version, Buffer.from('value')));
    expect(store.get(STATE, keyOf(1), version)).toEqual(Buffer.from('value'));
  });

  test('is what a chunk is written with', async () => {
    const store = await openLmdbStore({ directory: temporaryDirectory() });
    onTestFinished(() => store.close());
    const batches: Batch[] = [];
    const commit = store.commit.bind(store);
    store.commit = (batch) => {
      batches.push(batch);
      return commit(batch);
    };
    const writer = await LedgerWriter.open(store);
    const key = resourceKey(1, 'Counter');
    for (const version of [0, 1]) {
      const written = transaction(version, { writes: [write(key, `${version}`)] });
      await writer.append(chunk(version, [written]));
    }
    expect(batches.map(takenFrom)).toEqual([true, true]);
  });
});
