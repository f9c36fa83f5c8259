/** Columns whose values are in sorted runs, against the model of an engine. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import {
  ACCOUNT_TRANSACTIONS,
  type Column,
  TRANSACTION_HASHES,
  TRANSACTION_INFOS,
} from '../../src/store/columns/columns.ts';
import { encodeBucketKey, encodeU64Key } from '../../src/store/columns/order-key.ts';
import { openLmdbReader, openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import type { Store, StoreReader } from '../../src/store/store.ts';
import { randomSource, testSeed } from '../random.ts';
import { temporaryDirectory } from './engines.ts';
import { MemoryStore } from './memory-store.ts';

const random = randomSource(testSeed());
const below = (most: number): number => Math.floor(random() * most);

/** Partitions of which some share their first bytes, or all but the last. */
function partitionOf({ partitionBytes }: Column, number: number): Buffer {
  const partition = Buffer.alloc(partitionBytes, number % 3);
  partition.writeUInt16BE(number % 2 === 0 ? 9 : (number * 7919) % 65_536, 0);
  partition.writeUInt16BE(number, partitionBytes - 2);
  return partition;
}

/** An order of nine bytes begins with a byte of its own. */
function orderOf({ orderBytes }: Column, number: number): Buffer {
  const order = encodeU64Key(BigInt(number) * (number % 11 === 0 ? 2n ** 40n : 1n));
  return orderBytes[0] === 8 ? order : Buffer.concat([Buffer.of(number % 3), order]);
}

/** Mostly of the length that entries have. */
function valueFor(column: Column, number: number): Buffer {
  if (number % 50 === 7) return Buffer.from(`another length: ${number}`);
  return column === TRANSACTION_HASHES ? Buffer.alloc(0) : encodeU64Key(BigInt(number) ** 5n);
}

function randomKey(column: Column, most: number) {
  const partition = partitionOf(column, random() < 0.3 ? 0 : below(60));
  return { partition, order: orderOf(column, below(most)) };
}

async function expectSame(column: Column, engine: StoreReader, model: StoreReader, most: number) {
  const same = async <T>(read: (store: StoreReader) => T): Promise<void> => {
    expect(await read(engine)).toEqual(await read(model));
  };
  for (let look = 0; look < 25; look += 1) {
    const { partition, order } = randomKey(column, most);
    const to = orderOf(column, below(most));
    await same((store) => store.get(column, partition, order));
    await same((store) => store.seekLast(column, partition, order));
    for (const reverse of [false, true]) {
      await same((store) => store.range(column, partition, { limit: 25, reverse }));
      await same((store) => store.range(column, partition, { from: order, limit: 25, reverse }));
      await same((store) => store.range(column, partition, { to, limit: 400, reverse }));
      await same((store) => {
        return store.rangeMany(column, [{ partition, from: order, to, limit: 9, reverse }]);
      });
    }
  }
  let after = randomKey(column, most);
  for (let page = 0; page < 3; page += 1) {
    const query = { after, maxRows: 700, maxBytes: 1e6 };
    await same((store) => store.scan(column, query));
    after = (await model.scan(column, query)).at(-1) ?? after;
  }
  const rows = async (store: StoreReader): Promise<number> =>
    (await store.statistics()).find((one) => one.column === column)!.rows;
  expect(await rows(engine)).toBe(await rows(model));
}

async function commitTo(stores: readonly Store[], fill: (batch: Batch) => void): Promise<void> {
  for (const store of stores) {
    const batch = new Batch();
    fill(batch);
    await store.commit(batch);
  }
}

describe.each([TRANSACTION_HASHES, ACCOUNT_TRANSACTIONS])('$name', (column) => {
  test('is what the model has, whatever is put, deleted and merged', async () => {
    const directory = temporaryDirectory();
    const model = new MemoryStore();
    let store = await openLmdbStore({ directory });
    onTestFinished(() => store.close());
    const other = openLmdbReader({ directory });
    onTestFinished(() => other.close());
    const most = 3_000;
    for (let commit = 0; commit < 20; commit += 1) {
      const size = [3, 60, 700, 2_500][below(4)]!;
      const range = random() < 0.2 ? randomKey(column, most) : undefined;
      const changes = Array.from({ length: size }, () => {
        const isDeleted = random() < 0.25;
        return { ...randomKey(column, most), number: below(1_000), isDeleted };
      });
      await commitTo([store, model], (batch) => {
        if (range !== undefined) batch.deleteRange(column, range.partition, { to: range.order });
        for (const { partition, order, number, isDeleted } of changes) {
          if (isDeleted) batch.delete(column, partition, order);
          else batch.put(column, partition, order, valueFor(column, number));
        }
      });
      if (commit % 12 === 11) {
        await store.close();
        store = await openLmdbStore({ directory });
      }
      if (commit % 6 !== 5) continue;
      await expectSame(column, store, model, most);
      // Another process sees a commit with its next turn.
      await new Promise((resolve) => setTimeout(resolve, 5));
      await expectSame(column, other, model, most);
    }
  }, 240_000);

  test('rows that are deleted take room only until their runs are merged', async () => {
    const store = await openLmdbStore({ directory: temporaryDirectory() });
    onTestFinished(() => store.close());
    const statistics = async () => (await store.statistics()).find((one) => one.column === column)!;
    const commitPart = async (part: number, isDeleted: boolean): Promise<void> => {
      const batch = new Batch();
      for (let row = part * 1_000; row < (part + 1) * 1_000; row += 1) {
        const key = { partition: partitionOf(column, row % 601), order: orderOf(column, row) };
        if (isDeleted) batch.delete(column, key.partition, key.order);
        else batch.put(column, key.partition, key.order, valueFor(column, 1));
      }
      await store.commit(batch);
    };
    for (let part = 0; part < 40; part += 1) await commitPart(part, false);
    const full = await statistics();
    expect(full.rows).toBe(40_000);
    for (let part = 0; part < 39; part += 1) await commitPart(part, true);
    for (let part = 40; part < 43; part += 1) await commitPart(part, false);
    const left = await statistics();
    expect(left.rows).toBe(4_000);
    expect(left.bytes).toBeLessThan(full.bytes / 2);
  });

  test('rows of new versions are counted without a look at what is there', async () => {
    const store = await openLmdbStore({ directory: temporaryDirectory() });
    onTestFinished(() => store.close());
    const model = new MemoryStore();
    for (let version = 0; version < 6_000; version += 1_500) {
      await commitTo([store, model], (batch) => {
        for (let row = version; row < version + 1_500; row += 1) {
          const { partition, order } = encodeBucketKey(BigInt(row));
          batch.put(TRANSACTION_INFOS, partition, order, Buffer.of(1));
          const key = { partition: partitionOf(column, row % 60), order: orderOf(column, row) };
          batch.put(column, key.partition, key.order, valueFor(column, 1));
          batch.put(column, key.partition, key.order, valueFor(column, row));
        }
      });
      await expectSame(column, store, model, 7_000);
    }
  });
});
