/** Damage that an index in sorted runs meets besides bytes of blocks: pages, and values in the place of others. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { open, type RootDatabase } from 'lmdb';
import { describe, expect, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import {
  type Column,
  type RowKey,
  STATE,
  TRANSACTION_HASHES,
  TRANSACTIONS,
} from '../../src/store/columns/columns.ts';
import { encodeBucketKey, encodeU64Key } from '../../src/store/columns/order-key.ts';
import { dataFileOf, PAGE_BYTES } from '../../src/store/lmdb/lmdb-file.ts';
import { copyLmdbStore, openLmdbReader, openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { manifestKey, partKey } from '../../src/store/lmdb/runs/run-rows.ts';
import { runShape } from '../../src/store/lmdb/runs/run-shape.ts';
import { STATE_SHAPE } from '../../src/store/lmdb/state-column.ts';
import { markOf } from '../../src/store/lmdb/stored-value.ts';
import { temporaryDirectory } from './engines.ts';
import { findRow, findValue, flipBit, type NodePlace, overwrite } from './lmdb-pages.ts';

const ORDER = encodeU64Key(9n);
const BUCKET = encodeBucketKey(7n);
const HASHES_SHAPE = runShape(TRANSACTION_HASHES);
const MARK_OF_STATE = markOf(wholeKey(manifestKey(STATE_SHAPE)));

interface SomeRow extends RowKey {
  readonly column: Column;
  readonly value: Buffer;
}

function stateRow(number: number, order = ORDER, value = Buffer.alloc(20, number)): SomeRow {
  const partition = Buffer.alloc(32);
  partition.writeUInt32BE(Math.imul(number, 2_654_435_761) >>> 0);
  return { column: STATE, partition, order, value };
}

function hashRow(number: number): SomeRow {
  const { column, partition, order } = { ...stateRow(number), column: TRANSACTION_HASHES };
  return { column, partition: partition.subarray(0, 8), order, value: Buffer.alloc(0) };
}

const RECORD: SomeRow = { column: TRANSACTIONS, ...BUCKET, value: Buffer.alloc(60, 1) };

function wholeKey({ partition, order }: RowKey): Buffer {
  return Buffer.concat([partition, order]);
}

/** A store with some rows, a commit for each part. */
async function storeWith(...parts: readonly (readonly SomeRow[])[]): Promise<string> {
  const directory = temporaryDirectory();
  const store = await openLmdbStore({ directory });
  for (const rows of parts) {
    const batch = new Batch();
    for (const { column, partition, order, value } of rows) {
      batch.put(column, partition, order, value);
    }
    await store.commit(batch);
  }
  await store.close();
  return directory;
}

const many = (count: number, first = 0): SomeRow[] =>
  Array.from({ length: count }, (_, number) => stateRow(first + number));

/** Changes rows of a database, past everything that makes them. */
async function changeRows(
  directory: string,
  name: string,
  change: (rows: {
    get(key: Buffer): Buffer | undefined;
    put(key: Buffer, value: Uint8Array): Promise<boolean>;
  }) => Promise<void>,
): Promise<void> {
  const root: RootDatabase<never, string> = open(directory, { noSubdir: false });
  await change(
    root.openDB<Buffer, Buffer>({ ...{ name, encoding: 'binary', keyEncoding: 'binary' } }),
  );
  await root.close();
}

/** A store of some rows in which the list of runs of state is the last row of its page. */
async function splitBehindList(rows: readonly SomeRow[]): Promise<string> {
  const [list, next] = [manifestKey(STATE_SHAPE), partKey(STATE_SHAPE, 2, 0, 0)];
  for (let behind = 25; behind < 50; behind += 1) {
    const from = await storeWith(rows);
    await changeRows(from, 'runs', async (runs) => {
      const all: Promise<boolean>[] = [];
      const put = (column: number, run: number, count: number): void => {
        for (let part = 0; part < count; part += 1) {
          const key = partKey({ ...STATE_SHAPE, column }, 2, run, part);
          all.push(runs.put(wholeKey(key), Buffer.alloc(100)));
        }
      };
      // Rows of no run: enough that a page is cut in its middle, then some pages in front of the next list.
      put(STATE.number, 0, behind);
      put(0, 0, 45);
      put(STATE.number, 99, 200);
      await Promise.all(all);
    });
    const directory = temporaryDirectory();
    // Without pages that are free, which have old rows.
    await copyLmdbStore(from, directory, () => undefined);
    const [one, other] = [list, next].map((key) => findRow(directory, wholeKey(key)).pageStart);
    if (one !== other) return directory;
  }
  throw new Error('no such store');
}

/** Makes the page above a leaf name one that is not in the file. */
function loseNextPage(directory: string, { pageStart }: NodePlace): void {
  const file = readFileSync(dataFileOf(directory));
  const number = Buffer.alloc(6);
  number.writeUIntLE(pageStart / PAGE_BYTES, 0, 6);
  for (let page = 0; page < file.length; page += PAGE_BYTES) {
    if (file.readUInt16LE(page + 18) !== 1) continue;
    const at = file.indexOf(number, page + 26);
    if (at < 0 || at > page + PAGE_BYTES) continue;
    overwrite(directory, at, Buffer.alloc(6, 0x7f));
    return;
  }
  throw new Error('no page is above it');
}

test('only the column whose index has lost a page is named', async () => {
  const hash = hashRow(1);
  const directory = await splitBehindList([stateRow(1), hash, RECORD]);
  const { start, length } = findValue(directory, wholeKey(manifestKey(STATE_SHAPE)));
  flipBit(directory, start + length - 1, 3);
  loseNextPage(directory, findRow(directory, wholeKey(partKey(STATE_SHAPE, 2, 0, 0))));
  const store = await openLmdbStore({ directory });
  const refusal = expect.objectContaining({ code: 'store_damaged' });
  for (let round = 0; round < 2; round += 1) {
    expect(await store.examine!(() => undefined)).toEqual([
      expect.objectContaining({ column: STATE, isOfPages: true }),
    ]);
    await expect(store.mend!()).rejects.toEqual(refusal);
    expect(store.get(TRANSACTION_HASHES, hash.partition, hash.order)).toEqual(hash.value);
  }
  await store.close();
});

describe('a page of another database in the place of the only one of an index', () => {
  test.each([
    ['a record', encodeU64Key(7n)],
    ['the format', Buffer.of(0)],
  ])('is damage, not absence: %s', async (_, key) => {
    const rows = [stateRow(1), hashRow(1)];
    const directory = await storeWith([...rows, RECORD]);
    const from = findRow(directory, key).pageStart;
    const to = findRow(directory, wholeKey(manifestKey(STATE_SHAPE))).pageStart;
    expect(from).not.toBe(to);
    overwrite(directory, to, readFileSync(dataFileOf(directory)).subarray(from, from + PAGE_BYTES));
    const refusal = expect.objectContaining({ code: 'store_damaged' });
    const store = await openLmdbStore({ directory });
    for (const { column, partition, order } of rows) {
      expect(() => store.get(column, partition, order)).toThrow(refusal);
      expect(() => store.scan(column, { maxRows: 1, maxBytes: 1 })).toThrow(refusal);
      expect(store.get(TRANSACTIONS, BUCKET.partition, BUCKET.order)).toEqual(RECORD.value);
    }
    const damages = await store.examine!(() => undefined);
    expect(damages).toContainEqual(expect.objectContaining({ column: STATE, isOfPages: true }));
    // Writing to such a page would free the one that it was copied from.
    await expect(store.mend!()).rejects.toEqual(refusal);
    await store.close();
  });

  test('an index that was never written is empty', async () => {
    for (const rows of [[stateRow(1)], [hashRow(1)], [RECORD]]) {
      const reader = openLmdbReader({ directory: await storeWith(rows) });
      for (const column of [STATE, TRANSACTION_HASHES]) {
        const found = await reader.scan(column, { maxRows: 5, maxBytes: 1_000 });
        expect(found).toHaveLength(rows[0]!.column === column ? 1 : 0);
      }
      await reader.close();
    }
  });
});

describe('what was stored before there were marks', () => {
  test('is read; first keys of another run are not believed', async () => {
    const parts = [many(700), many(700, 700)];
    const directory = await storeWith(...parts);
    const keys = [1, 2].map((run) => partKey(STATE_SHAPE, 3, run, 0));
    const manifest = manifestKey(STATE_SHAPE);
    const values: Buffer[] = [];
    await changeRows(directory, 'runs', async (rows) => {
      for (const key of [...keys, manifest]) {
        const value = unmarked(rows.get(wholeKey(key))!);
        values.push(value);
        await rows.put(wholeKey(key), value);
      }
    });
    let store = await openLmdbStore({ directory });
    for (const row of parts.flat()) {
      expect(store.get(STATE, row.partition, row.order)).toEqual(row.value);
    }
    await store.close();
    await changeRows(directory, 'runs', async (rows) => {
      await rows.put(wholeKey(keys[0]!), values[1]!);
      await rows.put(wholeKey(keys[1]!), values[0]!);
    });
    store = await openLmdbStore({ directory });
    expect(await store.examine!(() => undefined)).toHaveLength(2);
    expect(await store.mend!()).toBeGreaterThan(0);
    for (const row of parts.flat()) {
      expect(store.get(STATE, row.partition, row.order)).toEqual(row.value);
    }
    expect(await store.examine!(() => undefined)).toEqual([]);
    await store.close();
  });
});

/** The value of a row of runs, with a checksum that has no mark. */
function unmarked(value: Buffer): Buffer {
  const whole = Buffer.from(value);
  const end = whole.length - 4;
  whole.writeUInt32LE(crc32(whole.subarray(0, end)), end);
  return whole;
}

test('a list of runs in the place of another one is noticed', async () => {
  const rows = [stateRow(1), hashRow(1)];
  const directory = await storeWith(rows);
  await changeRows(directory, 'runs', async (runs) => {
    const list = runs.get(wholeKey(manifestKey(STATE_SHAPE)))!;
    // Without entries it fits both.
    const words = new Uint32Array(list.buffer.slice(list.byteOffset, list.byteOffset + 40));
    words.fill(0, 3);
    const empty = Buffer.from(words.buffer);
    empty.writeUInt32LE((crc32(empty.subarray(0, 36)) ^ MARK_OF_STATE) >>> 0, 36);
    for (const shape of [STATE_SHAPE, HASHES_SHAPE]) {
      await runs.put(wholeKey(manifestKey(shape)), empty);
    }
  });
  const reader = openLmdbReader({ directory });
  expect(await reader.get(STATE, rows[0]!.partition, ORDER)).toBeUndefined();
  expect(() => reader.get(TRANSACTION_HASHES, rows[1]!.partition, ORDER)).toThrow(
    expect.objectContaining({ code: 'row_damaged', column: 'transaction_hashes' }),
  );
  await reader.close();
});

describe.each([
  ['without a record', 'state', [stateRow(1), stateRow(2)]],
  [
    'apart from its record',
    'state_by_version',
    [1, 2].map((number) => stateRow(number, encodeU64Key(7n), randomBytes(9_000))),
  ],
])('a row of state %s', (_, name, rows) => {
  const keyOf = (index: number): Buffer =>
    name === 'state'
      ? wholeKey(rows[index]!)
      : Buffer.concat([encodeU64Key(7n), Buffer.of(0, 0, 0, index)]);

  test('in the place of another one is noticed, and read where it was stored before there were marks', async () => {
    const directory = await storeWith([...rows, RECORD]);
    const read = async (index: number): Promise<unknown> => {
      const reader = openLmdbReader({ directory });
      try {
        return await reader.get(STATE, rows[index]!.partition, rows[index]!.order);
      } finally {
        await reader.close();
      }
    };
    expect(await read(1)).toEqual(rows[1]!.value);
    await changeRows(directory, name, async (stored) => {
      await stored.put(keyOf(1), stored.get(keyOf(0))!);
    });
    expect(await read(0)).toEqual(rows[0]!.value);
    await expect(read(1)).rejects.toMatchObject({ code: 'row_damaged', column: 'state' });
    await changeRows(directory, name, async (stored) => {
      const old = Buffer.from(stored.get(keyOf(0))!);
      old.writeUInt32LE(crc32(old.subarray(5)), 1);
      await stored.put(keyOf(0), old);
    });
    expect(await read(0)).toEqual(rows[0]!.value);
  });
});
