/** Bytes that a disk has changed are noticed where they are read, and never answered. */
import { readFileSync } from 'node:fs';
import { open, type RootDatabase } from 'lmdb';
import { describe, expect, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import {
  type Column,
  MODULE_EVENTS,
  type RowKey,
  STATE,
  TRANSACTION_INFOS,
  TRANSACTIONS,
  VERSION_WRITES,
} from '../../src/store/columns/columns.ts';
import {
  decodeBucketKey,
  decodeU64Key,
  encodeBucketKey,
  encodeU64Key,
} from '../../src/store/columns/order-key.ts';
import { dataFileOf } from '../../src/store/lmdb/lmdb-file.ts';
import { openLmdbReader, openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { decodeManifest } from '../../src/store/lmdb/runs/run-manifest.ts';
import { generationKey, manifestKey, partKey } from '../../src/store/lmdb/runs/run-rows.ts';
import { STATE_SHAPE } from '../../src/store/lmdb/state-column.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { keyText, RowDamagedError } from '../../src/store/store-error.ts';
import { randomSource, testSeed } from '../random.ts';
import { temporaryDirectory } from './engines.ts';
import { findValue, flipBit, overwrite } from './lmdb-pages.ts';

const random = randomSource(testSeed());
const below = (most: number): number => Math.floor(random() * most);
const VERSION = encodeU64Key(7n);
const OTHER = encodeU64Key(9n);

interface SomeRow extends RowKey {
  readonly column: Column;
  readonly value: Buffer;
}

function stateRow(number: number, order: Buffer, value: Buffer): SomeRow {
  const partition = Buffer.alloc(32, number);
  partition.writeUInt32BE(number * 7_919, 0);
  return { column: STATE, partition, order, value };
}

const bucket = encodeBucketKey(7n);
const event = { ...bucket, order: Buffer.concat([bucket.order, Buffer.of(0, 0, 0, 3)]) };
const words = (text: string, times: number): Buffer => Buffer.from(text.repeat(times));
const ROWS: Readonly<Record<string, readonly SomeRow[]>> = {
  'a record': [
    { column: TRANSACTION_INFOS, ...bucket, value: words('info ', 9) },
    { column: TRANSACTIONS, ...bucket, value: words('a transaction ', 7) },
    { column: MODULE_EVENTS, ...event, value: words('an event ', 5) },
    { column: VERSION_WRITES, ...bucket, value: words('writes ', 6) },
    stateRow(1, VERSION, words('a value ', 4)),
    stateRow(2, VERSION, words('another value ', 4)),
  ],
  'a row apart from its record': [stateRow(3, VERSION, words('a long value ', 500))],
  'a row of a version without a record': [stateRow(4, OTHER, words('its value ', 8))],
};

async function storeWith(rows: readonly SomeRow[]): Promise<string> {
  const directory = temporaryDirectory();
  const store = await openLmdbStore({ directory });
  const batch = new Batch();
  for (const { column, partition, order, value } of rows) {
    batch.put(column, partition, order, value);
  }
  await store.commit(batch);
  await store.close();
  return directory;
}

/** How many rows cannot be read; all others must be right. */
async function refused(reader: StoreReader, rows: readonly SomeRow[]): Promise<number> {
  let count = 0;
  for (const { column, partition, order, value } of rows) {
    try {
      const row = await reader.seekLast(column, partition, order);
      expect(row).toEqual({ order, value });
      expect(await reader.get(column, partition, order)).toEqual(value);
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error)) throw error;
      expect(error).toMatchObject({ code: 'row_damaged', column: column.name });
      count += 1;
    }
  }
  return count;
}

describe('any byte that is another one', () => {
  test.each([
    ['a record', VERSION],
    ['a row apart from its record', Buffer.concat([VERSION, Buffer.of(0, 0, 0, 2)])],
    [
      'a row of a version without a record',
      Buffer.concat([stateRow(4, OTHER, OTHER).partition, OTHER]),
    ],
  ])('of %s is noticed by reads of that, and by no others', async (what, key) => {
    const all = Object.values(ROWS).flat();
    const directory = await storeWith(all);
    const { start, length } = findValue(directory, key);
    const reader = openLmdbReader({ directory });
    expect(await refused(reader, all)).toBe(0);
    for (let at = start; at < start + length; at += 1) {
      const bit = below(8);
      flipBit(directory, at, bit);
      expect(await refused(reader, all)).toBe(ROWS[what]!.length);
      expect(await refused(reader, ROWS[what]!)).toBe(ROWS[what]!.length);
      flipBit(directory, at, bit);
    }
    expect(await refused(reader, all)).toBe(0);
    await reader.close();
  });

  const BLOCK_ROWS = STATE_SHAPE.blockEntries;
  test.each([
    ['a block', partKey(STATE_SHAPE, 2, 1, 1), BLOCK_ROWS],
    ['first keys', partKey(STATE_SHAPE, 3, 1, 0), 4 * BLOCK_ROWS],
    ['a filter', partKey(STATE_SHAPE, 4, 1, 0), 4 * BLOCK_ROWS],
    [
      'the list of runs',
      { partition: Buffer.of(STATE.number, 1), order: Buffer.alloc(0) },
      4 * BLOCK_ROWS,
    ],
  ])('of %s of a sorted run is noticed by reads that need it', async (_, key, count) => {
    const rows = Array.from({ length: 4 * BLOCK_ROWS }, (_, number) => {
      return stateRow(number, OTHER, words(`value ${number} `, 3));
    });
    const directory = await storeWith(rows);
    const { start, length } = findValue(directory, Buffer.concat([key.partition, key.order]));
    for (let flips = 0; flips < 20; flips += 1) {
      const [at, bit] = [start + below(length), below(8)];
      flipBit(directory, at, bit);
      const reader = openLmdbReader({ directory });
      expect(await refused(reader, rows)).toBe(count);
      await reader.close();
      flipBit(directory, at, bit);
    }
  });
});

test('without the number of the last commit nothing is answered, until it is mended', async () => {
  const rows = Array.from({ length: 700 }, (_, number) =>
    stateRow(number, OTHER, words('row ', 2)),
  );
  const directory = await storeWith(rows);
  const root: RootDatabase<never, string> = open(directory, { noSubdir: false });
  const runs = root.openDB<Buffer, Buffer>({
    ...{ name: 'runs', encoding: 'binary', keyEncoding: 'binary' },
  });
  await runs.remove(Buffer.from(generationKey(STATE_SHAPE).partition));
  await root.close();
  const store = await openLmdbStore({ directory });
  expect(await refused(store, rows)).toBe(rows.length);
  expect(await store.examine!(() => undefined)).toHaveLength(1);
  await store.mend!();
  expect(await refused(store, rows)).toBe(0);
  expect(await store.examine!(() => undefined)).toEqual([]);
  await store.close();
});

describe('a value in the place of another', () => {
  /** Writes pages of one value over those of another. */
  function exchange(directory: string, from: Buffer, to: Buffer): void {
    const [source, target] = [findValue(directory, from), findValue(directory, to)];
    expect(source.length).toBe(target.length);
    const file = readFileSync(dataFileOf(directory));
    overwrite(directory, target.start, file.subarray(source.start, source.start + source.length));
  }

  test('of a record is noticed', async () => {
    const versions = [7n, 8n, 9n];
    const rows = versions.map((version) => {
      const value = Buffer.alloc(6_000, Number(version));
      for (let at = 0; at < value.length; at += 1) value[at] = below(256);
      return { column: TRANSACTIONS, ...encodeBucketKey(version), value };
    });
    const directory = await storeWith(rows);
    exchange(directory, encodeU64Key(8n), encodeU64Key(9n));
    const reader = openLmdbReader({ directory });
    expect(await refused(reader, rows)).toBe(1);
    expect(await refused(reader, rows.slice(2))).toBe(1);
    await reader.close();
  });

  test('of a block of a sorted run is noticed, and mended', async () => {
    const rows = Array.from({ length: 5 * STATE_SHAPE.blockEntries }, (_, number) =>
      stateRow(number, OTHER, words('row ', 2)),
    );
    const directory = await storeWith(rows);
    const [from, to] = [3, 1].map((block) => wholeKey(partKey(STATE_SHAPE, 2, 1, block)));
    exchange(directory, from!, to!);
    const store = await openLmdbStore({ directory });
    expect(await refused(store, rows)).toBe(STATE_SHAPE.blockEntries);
    const damages = await store.examine!(() => undefined);
    expect(damages.map(({ detail }) => detail)).toContain(
      'sorted run 1: block 1 is damaged or missing',
    );
    await store.mend!();
    await store.mend!();
    expect(await store.examine!(() => undefined)).toEqual([]);
    let lost = 0;
    for (const { column, partition, order, value } of rows) {
      const stored = await store.get(column, partition, order);
      if (stored === undefined) lost += 1;
      else expect(stored).toEqual(value);
    }
    expect(lost).toBe(STATE_SHAPE.blockEntries);
    await store.close();
  });

  test('of a part of a filter is noticed', async () => {
    const directory = temporaryDirectory();
    const store = await openLmdbStore({ directory });
    const rows = [0, 700].map((first) =>
      Array.from({ length: 700 }, (_, number) =>
        stateRow(first + number, encodeU64Key(BigInt(first)), words('row ', 2)),
      ),
    );
    for (const part of rows) {
      const batch = new Batch();
      for (const { column, partition, order, value } of part) {
        batch.put(column, partition, order, value);
      }
      await store.commit(batch);
    }
    await store.close();
    const [from, to] = [1, 2].map((run) => wholeKey(partKey(STATE_SHAPE, 4, run, 0)));
    exchange(directory, from!, to!);
    const reader = openLmdbReader({ directory });
    expect(await refused(reader, rows[1]!)).toBe(700);
    await reader.close();
  });
});

describe('scans', () => {
  /** Every row of a column, and in between the keys of those that are damaged. */
  async function scanned(reader: StoreReader, column: Column): Promise<string[]> {
    const found: string[] = [];
    let after: RowKey | undefined;
    for (;;) {
      try {
        const rows = await reader.scan(column, { after, maxRows: 3, maxBytes: 10_000 });
        if (rows.length === 0) return found;
        found.push(...rows.map((row) => keyText(row)));
        after = rows[rows.length - 1]!;
      } catch (error) {
        if (!(error instanceof RowDamagedError)) throw error;
        found.push(`damaged ${error.key}`);
        after = error.row;
      }
    }
  }

  test('go on behind a damaged record in every column that it has rows of', async () => {
    const rows: SomeRow[] = [];
    for (let version = 0; version < 20; version += 1) {
      const key = encodeBucketKey(BigInt(version));
      for (const column of [TRANSACTION_INFOS, TRANSACTIONS, VERSION_WRITES]) {
        rows.push({ column, ...key, value: words(`${column.name} ${version} `, 3) });
      }
      for (let index = 0; index < 4; index += 1) {
        const order = Buffer.concat([key.order, Buffer.of(0, 0, 0, index)]);
        rows.push({ column: MODULE_EVENTS, ...key, order, value: words(`event ${index} `, 3) });
      }
      const order = encodeU64Key(BigInt(version));
      for (const number of [1, 2])
        rows.push(stateRow(number, order, words(`value ${version} `, 2)));
    }
    const directory = await storeWith(rows);
    const isDamaged = (version: bigint): boolean => [0n, 5n, 6n, 19n].includes(version);
    for (const version of [0n, 5n, 6n, 19n]) {
      const { start, length } = findValue(directory, encodeU64Key(version));
      flipBit(directory, start + below(length), below(8));
    }
    const reader = openLmdbReader({ directory });
    for (const column of [TRANSACTION_INFOS, TRANSACTIONS, VERSION_WRITES, MODULE_EVENTS, STATE]) {
      const expected = new Set<string>();
      const own = rows.filter((row) => row.column === column);
      own.sort((a, b) => Buffer.compare(wholeKey(a), wholeKey(b)));
      for (const row of own) {
        const version =
          column === STATE
            ? decodeU64Key(Buffer.from(row.order))
            : decodeBucketKey(row.partition, row.order);
        const order = Buffer.concat([row.order.subarray(0, 2), Buffer.alloc(4, 0xff)]);
        const named = column === MODULE_EVENTS ? { partition: row.partition, order } : row;
        expected.add(isDamaged(version) ? `damaged ${keyText(named)}` : keyText(row));
      }
      expect(await scanned(reader, column)).toEqual([...expected]);
    }
    await reader.close();
  });
});

function wholeKey({ partition, order }: RowKey): Buffer {
  return Buffer.concat([partition, order]);
}

test('a store whose newest record is damaged is opened for writing, and the record made again', async () => {
  const rows = ROWS['a record']!;
  const directory = await storeWith(rows);
  const { start, length } = findValue(directory, VERSION);
  flipBit(directory, start + below(length), below(8));
  const store = await openLmdbStore({ directory });
  expect(await refused(store, rows)).toBe(rows.length);
  expect(await store.statistics()).toContainEqual({ column: TRANSACTIONS, rows: 0, bytes: 0 });
  const batch = new Batch().clearVersion(bucket);
  for (const { column, partition, order, value } of rows) {
    batch.put(column, partition, order, value);
  }
  await store.commit(batch);
  expect(await refused(store, rows)).toBe(0);
  await store.close();
});

test('commits go on where a merge meets a damaged block, which is mended, and its rows put again', async () => {
  const directory = temporaryDirectory();
  let store = await openLmdbStore({ directory });
  const rows: SomeRow[] = [];
  const commit = async (): Promise<void> => {
    const version = encodeU64Key(BigInt(rows.length));
    const more = Array.from({ length: 600 }, (_, number) => {
      return stateRow(rows.length + number, version, words(`row ${rows.length + number} `, 2));
    });
    const batch = new Batch();
    for (const row of more) batch.put(row.column, row.partition, row.order, row.value);
    rows.push(...more);
    await store.commit(batch);
  };
  for (let count = 0; count < 7; count += 1) await commit();
  await store.close();
  const { partition, order } = partKey(STATE_SHAPE, 2, 3, 1);
  const { start, length } = findValue(directory, Buffer.concat([partition, order]));
  flipBit(directory, start + below(length), below(8));
  store = await openLmdbStore({ directory });
  // Eight runs are merged.
  for (let count = 0; count < 6; count += 1) await commit();
  expect(await refused(store, rows)).toBe(STATE_SHAPE.blockEntries);
  const damages = await store.examine!(() => undefined);
  expect(damages.map(({ detail }) => detail)).toContain(
    'sorted run 3: block 1 is damaged or missing',
  );
  expect(await store.mend!()).toBeGreaterThan(0);
  const again = new Batch();
  for (const row of rows) {
    const value = await store.get(STATE, row.partition, row.order);
    if (value === undefined) again.put(STATE, row.partition, row.order, row.value);
    else expect(value).toEqual(row.value);
  }
  expect(again.size).toBe(STATE_SHAPE.blockEntries);
  // What is there is not what the list has counted.
  expect(await store.mend!()).toBeGreaterThan(0);
  await store.commit(again);
  for (let count = 0; count < 3; count += 1) await commit();
  await store.close();
  store = await openLmdbStore({ directory });
  for (let count = 0; count < 10; count += 1) await commit();
  expect(await refused(store, rows)).toBe(0);
  expect(await store.examine!(() => undefined)).toEqual([]);
  expect(await store.mend!()).toBe(0);
  await store.close();
});

test('newer runs are merged where a damaged one cannot be', async () => {
  const directory = temporaryDirectory();
  let store = await openLmdbStore({ directory });
  let commits = 0;
  const commit = async (): Promise<void> => {
    const version = encodeU64Key(BigInt(commits));
    const batch = new Batch();
    for (let number = 0; number < 600; number += 1) {
      const { partition, value } = stateRow(commits * 600 + number, version, words('row ', 2));
      batch.put(STATE, partition, version, value);
    }
    commits += 1;
    await store.commit(batch);
  };
  for (let count = 0; count < 7; count += 1) await commit();
  await store.close();
  const { partition, order } = partKey(STATE_SHAPE, 2, 3, 1);
  const { start, length } = findValue(directory, Buffer.concat([partition, order]));
  flipBit(directory, start + below(length), below(8));
  store = await openLmdbStore({ directory });
  for (let count = 0; count < 130; count += 1) await commit();
  await store.close();
  const root: RootDatabase<never, string> = open(directory, { noSubdir: false });
  const rows = root.openDB<Buffer, Buffer>({
    ...{ name: 'runs', encoding: 'binary', keyEncoding: 'binary' },
  });
  const stored = Uint8Array.from(rows.get(Buffer.from(manifestKey(STATE_SHAPE).partition))!);
  await root.close();
  const manifest = decodeManifest(STATE_SHAPE, {
    words: new Uint32Array(stored.buffer),
    count: stored.length / 4,
  });
  expect(manifest.rows).toBe(600 * commits);
  // Eight that cannot be merged; seven each of two sizes, those of the next, and two merges under way.
  expect(manifest.runs.length).toBeLessThan(40);
});

describe.each([
  ['a list of runs', manifestKey(STATE_SHAPE)],
  ['a block', partKey(STATE_SHAPE, 2, 1, 1)],
  ['first keys', partKey(STATE_SHAPE, 3, 1, 0)],
  ['a filter', partKey(STATE_SHAPE, 4, 1, 0)],
])('%s of a length that is no words', (_, { partition, order }) => {
  test.each([45, 2 ** 21])('%d bytes: it is damage that is mended', async (bytes) => {
    const rows = Array.from({ length: 700 }, (_, number) =>
      stateRow(number, OTHER, words('row ', 2)),
    );
    const directory = await storeWith(rows);
    const root: RootDatabase<never, string> = open(directory, { noSubdir: false });
    const runs = root.openDB<Buffer, Buffer>({
      ...{ name: 'runs', encoding: 'binary', keyEncoding: 'binary' },
    });
    await runs.put(Buffer.concat([partition, order]), Buffer.alloc(bytes));
    await root.close();
    const store = await openLmdbStore({ directory });
    expect(await refused(store, rows)).toBeGreaterThan(0);
    const damages = await store.examine!(() => undefined);
    expect(damages.length).toBeGreaterThan(0);
    for (const { column, isOfPages } of damages)
      expect([column, isOfPages]).toEqual([STATE, undefined]);
    expect(await store.mend!()).toBeGreaterThan(0);
    // What is there is not what the list has counted.
    await store.mend!();
    expect(await store.examine!(() => undefined)).toEqual([]);
    await store.close();
  });
});

test.each([
  ['more than 32 bits', [5, 3], 3 * 2 ** 32 + 6],
  ['no whole number', [0xffff_ffff, 0xffff_ffff], 1],
])('without their list runs go on from a generation of %s', async (_, generation, next) => {
  const rows = [stateRow(1, OTHER, words('row ', 2))];
  const directory = await storeWith(rows);
  const root: RootDatabase<never, string> = open(directory, { noSubdir: false });
  const runs = root.openDB<Buffer, Buffer>({
    ...{ name: 'runs', encoding: 'binary', keyEncoding: 'binary' },
  });
  const name = Buffer.from(generationKey(STATE_SHAPE).partition);
  await runs.remove(Buffer.from(manifestKey(STATE_SHAPE).partition));
  await runs.put(name, Buffer.from(Uint32Array.from(generation).buffer));
  await root.close();
  const store = await openLmdbStore({ directory });
  expect(await store.mend!()).toBeGreaterThan(0);
  expect(await store.get(STATE, rows[0]!.partition, OTHER)).toBeUndefined();
  await store.commit(new Batch().put(STATE, rows[0]!.partition, OTHER, rows[0]!.value));
  expect(await refused(store, rows)).toBe(0);
  await store.close();
  const again: RootDatabase<never, string> = open(directory, { noSubdir: false });
  const stored = again
    .openDB<Buffer, Buffer>({ ...{ name: 'runs', encoding: 'binary', keyEncoding: 'binary' } })
    .get(name)!;
  // The commit has made one more.
  expect(Number(stored.readBigUInt64LE())).toBe(next + 1);
  await again.close();
});
