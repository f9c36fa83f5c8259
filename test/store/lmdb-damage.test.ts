/** Damaged pages of an LMDB store: a read that meets one is refused, and all other reads go on. */
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { STATE, TRANSACTIONS } from '../../src/store/columns/columns.ts';
import { encodeBucketKey, encodeU64Key } from '../../src/store/columns/order-key.ts';
import { dataFileOf, PAGE_BYTES } from '../../src/store/lmdb/lmdb-file.ts';
import { openLmdbReader, openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { partKey } from '../../src/store/lmdb/runs/run-rows.ts';
import { STATE_SHAPE } from '../../src/store/lmdb/state-column.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { temporaryDirectory } from './engines.ts';
import { findRow, overwrite, spoilPage } from './lmdb-pages.ts';

const ROWS = 3_000;
const ORDER = encodeU64Key(1n);
const damaged = expect.objectContaining({ code: 'store_damaged', column: 'state' });

function partitionOf(row: number): Buffer {
  const partition = Buffer.alloc(32);
  partition.writeUInt32BE(row);
  return partition;
}

function keyOf(row: number): Buffer {
  return Buffer.concat([partitionOf(row), ORDER]);
}

/** A store of many pages with rows from 0 on, and the reader of it. */
async function readerOf(spoil: (directory: string) => void): Promise<StoreReader> {
  const directory = temporaryDirectory();
  const store = await openLmdbStore({ directory });
  const batch = new Batch();
  for (let row = 0; row < ROWS; row += 1) {
    batch.put(STATE, partitionOf(row), ORDER, Buffer.alloc(60, row));
  }
  await store.commit(batch);
  await store.close();
  spoil(directory);
  return openLmdbReader({ directory });
}

/** Which rows are refused; all others must be right. */
async function refusedRows(reader: StoreReader): Promise<number[]> {
  const refused: number[] = [];
  for (let row = 0; row < ROWS; row += 1) {
    try {
      const value = await reader.get(STATE, partitionOf(row), ORDER);
      expect(value?.equals(Buffer.alloc(60, row))).toBe(true);
      const last = await reader.seekLast(STATE, partitionOf(row), ORDER);
      expect(last?.order).toEqual(ORDER);
    } catch (error) {
      expect(error).toEqual(damaged);
      refused.push(row);
    }
  }
  return refused;
}

describe('a page of no kind', () => {
  test('is refused to each read that needs it, and no other', async () => {
    const reader = await readerOf((directory) =>
      spoilPage(directory, findRow(directory, keyOf(1_500))),
    );
    const refused = await refusedRows(reader);
    expect(refused).toContain(1_500);
    expect(refused.length).toBeLessThan(200);
    // Neighbours: those of one page.
    expect(refused.at(-1)! - refused[0]!).toBeLessThan(refused.length + 2);
    expect(await refusedRows(reader)).toEqual(refused);
    await reader.close();
  });

  test('is refused to ranges that begin in it, however often', async () => {
    const reader = await readerOf((directory) =>
      spoilPage(directory, findRow(directory, keyOf(1_500))),
    );
    const scan = { maxRows: 500, maxBytes: 1_000_000 };
    for (let round = 0; round < 300; round += 1) {
      expect(await reader.scan(STATE, scan)).toHaveLength(500);
      const after = { partition: partitionOf(1_499), order: ORDER };
      expect(() => reader.scan(STATE, { ...scan, after })).toThrow(damaged);
      expect(() => reader.range(STATE, partitionOf(1_500), { limit: 1 })).toThrow(damaged);
    }
    await reader.close();
  });
});

describe('a store of sorted runs or of records with a page of no kind', () => {
  const bucket = encodeBucketKey(7n);
  const refusal = expect.objectContaining({ code: 'store_damaged' });

  /** A store of a record and of state, with a page that is spoiled. */
  async function spoiled(name: Buffer): Promise<string> {
    const directory = temporaryDirectory();
    const store = await openLmdbStore({ directory });
    const batch = new Batch().put(TRANSACTIONS, bucket.partition, bucket.order, Buffer.alloc(60));
    for (let row = 0; row < ROWS; row += 1) {
      batch.put(STATE, partitionOf(row), ORDER, Buffer.alloc(60, row));
    }
    await store.commit(batch);
    await store.close();
    spoilPage(directory, findRow(directory, name));
    return directory;
  }

  test('is opened; reads of state are refused, and no others', async () => {
    const { partition, order } = partKey(STATE_SHAPE, 2, 1, 1);
    const directory = await spoiled(Buffer.concat([partition, order]));
    const store = await openLmdbStore({ directory });
    for (let round = 0; round < 3; round += 1) {
      expect(() => store.get(STATE, partitionOf(5), ORDER)).toThrow(refusal);
      expect(await store.get(TRANSACTIONS, bucket.partition, bucket.order)).toHaveLength(60);
      const more = new Batch().put(STATE, partitionOf(9_999), ORDER, Buffer.alloc(60));
      await expect(store.commit(more)).rejects.toEqual(refusal);
      expect(await store.get(TRANSACTIONS, bucket.partition, bucket.order)).toHaveLength(60);
    }
    expect(await store.examine!(() => undefined)).toContainEqual(
      expect.objectContaining({ column: STATE, isOfPages: true }),
    );
    await expect(store.mend!()).rejects.toEqual(refusal);
    await store.close();
  });

  test('is opened where the newest record is on it', async () => {
    const directory = await spoiled(encodeU64Key(7n));
    const store = await openLmdbStore({ directory });
    expect(() => store.get(TRANSACTIONS, bucket.partition, bucket.order)).toThrow(refusal);
    expect(await store.get(STATE, partitionOf(5), ORDER)).toEqual(Buffer.alloc(60, 5));
    await store.close();
  });
});

/** Metas as the engine begins with them: those of a new store have no transaction. */
function newMetas(): Buffer {
  const metas = Buffer.alloc(2 * PAGE_BYTES);
  for (const start of [0, PAGE_BYTES]) {
    metas.writeUInt32LE(0xbeef_c0de, start + 24);
    metas.writeUInt32LE(2, start + 28);
    metas.writeUInt32LE(PAGE_BYTES, start + 48);
  }
  return metas;
}

test.each([
  ['no meta', Buffer.alloc(2 * PAGE_BYTES)],
  [
    'a page behind no metas',
    Buffer.concat([Buffer.alloc(2 * PAGE_BYTES), Buffer.alloc(PAGE_BYTES, 1)]),
  ],
  ['the first meta', newMetas().subarray(0, PAGE_BYTES)],
  ['a sector', newMetas().subarray(0, 512)],
  ['sectors of a page', Buffer.concat([newMetas().subarray(0, PAGE_BYTES), Buffer.alloc(1_024)])],
  ['both metas, and not their pages', newMetas().subarray(0, PAGE_BYTES + 512)],
  ['the second meta', Buffer.concat([Buffer.alloc(PAGE_BYTES), newMetas().subarray(PAGE_BYTES)])],
])('a file whose first write was cut off after %s is made again', async (_, bytes) => {
  const directory = temporaryDirectory();
  writeFileSync(dataFileOf(directory), bytes);
  const missing = expect.objectContaining({ code: 'store_not_found' });
  expect(() => openLmdbReader({ directory })).toThrow(missing);
  const store = await openLmdbStore({ directory });
  await store.commit(new Batch().put(STATE, partitionOf(1), ORDER, Buffer.of(1)));
  await store.close();
  const reader = openLmdbReader({ directory });
  expect(await reader.get(STATE, partitionOf(1), ORDER)).toEqual(Buffer.of(1));
  await reader.close();
});

describe('a length that no row has', () => {
  // The index names a row that the engine does not find under its key.
  const missing = expect.objectContaining({ code: 'row_damaged', column: 'state' });
  test.each([
    ['of a key', 6, Buffer.of(0xff, 0xff), missing],
    ['of a value', 0, Buffer.of(0xff, 0xff, 0xff, 0xff), damaged],
  ])('%s is refused', async (_, at, bytes, error) => {
    const reader = await readerOf((directory) => {
      overwrite(directory, findRow(directory, keyOf(0)).nodeStart + at, bytes);
    });
    expect(() => reader.scan(STATE, { maxRows: 5, maxBytes: 10_000 })).toThrow(error);
    const after = { partition: partitionOf(20), order: ORDER };
    expect(await reader.scan(STATE, { maxRows: 5, maxBytes: 10_000, after })).toHaveLength(5);
    await reader.close();
  });
});
