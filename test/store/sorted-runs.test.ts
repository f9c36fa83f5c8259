/** Sorted runs by themselves: random commits compared with a plain sorted list, and the edges of their limits. */
import { describe, expect, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import {
  ACCOUNT_KEYS,
  type Column,
  EVENTS,
  STATE,
  TRANSACTION_INFOS,
} from '../../src/store/columns/columns.ts';
import { encodeBucketKey, encodeU64Key } from '../../src/store/columns/order-key.ts';
import { storeFileOf } from '../../src/store/sqlite/files.ts';
import {
  MAX_ENTRY_STATE_BYTES,
  MAX_ENTRY_VALUE_BYTES,
} from '../../src/store/sqlite/placed-values.ts';
import {
  Block,
  type Entry,
  entryBytes,
  MAX_BLOCK_BYTES,
  versionOf,
} from '../../src/store/sqlite/runs/block.ts';
import { MAX_RUN_BLOCKS } from '../../src/store/sqlite/runs/manifest.ts';
import { RunBuilder } from '../../src/store/sqlite/runs/run-builder.ts';
import { hashOf } from '../../src/store/sqlite/runs/run-filter.ts';
import {
  MAX_LOG_ENTRIES,
  RunWriter,
  type WritableRunRows,
} from '../../src/store/sqlite/runs/run-writer.ts';
import { SortedRuns, type SoughtKey } from '../../src/store/sqlite/runs/sorted-runs.ts';
import { SqliteDatabase } from '../../src/store/sqlite/sqlite-database.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { MAX_STATE_BYTES } from '../../src/store/sqlite/version-records.ts';
import { Random, testSeed } from '../random.ts';
import { temporaryDirectory } from './engines.ts';
import { findStored, storedIds } from './stored-rows.ts';

/** What SQLite keeps for sorted runs, in memory. */
class MemoryRows implements WritableRunRows {
  readonly blocks = new Map<number, Buffer>();
  readonly #log = new Map<number, Buffer>();
  #manifest: Buffer | undefined;

  readManifest = () => this.#manifest;
  readLog = (id: number) => this.#log.get(id);
  readBlock = (id: number) => this.blocks.get(id);
  clearLog = () => this.#log.clear();

  writeManifest(bytes: Buffer): void {
    this.#manifest = bytes;
  }

  writeLog(id: number, bytes: Buffer): void {
    expect(this.#log.has(id)).toBe(false);
    this.#log.set(id, bytes);
  }

  writeBlock(id: number, bytes: Buffer): void {
    this.blocks.set(id, bytes);
  }

  removeBlocks(from: number, to: number): number {
    const removed = [...this.blocks.keys()].filter((id) => id >= from && id < to);
    for (const id of removed) this.blocks.delete(id);
    return removed.length;
  }

  nextBlock(from: number): number | undefined {
    let next: number | undefined;
    for (const id of this.blocks.keys()) {
      if (id >= from && (next === undefined || id < next)) next = id;
    }
    return next;
  }
}

const SEED = testSeed('sorted runs');
const PARTITIONS = 3_000;
const VERSIONS = 400;
/** Runs of three sizes come to be with this many. */
const COMMITS = 3_200;
/** Entries of the smallest runs of the second and the third size. */
const SECOND_SIZE = 7 * MAX_LOG_ENTRIES;
const THIRD_SIZE = 63 * MAX_LOG_ENTRIES;
/** Eight of each of three sizes. */
const MOST_RUNS = 24;

function sought(key: Buffer): SoughtKey {
  const partitionBytes = 1 + 32;
  return { key, partitionBytes, hash: hashOf(key, partitionBytes) };
}

function keyOf(column: Column, partition: number, order: Uint8Array): Buffer {
  const head = Buffer.alloc(1 + 32, partition & 0xff);
  head[0] = column.number;
  // Many partitions begin alike, as no hashes would.
  head.writeUInt32BE(partition, 29);
  return Buffer.concat([head, order]);
}

function someKey(random: Random): Buffer {
  // Some partitions have most of the rows.
  const partition = random.below(random.below(6) === 0 ? 10 : PARTITIONS);
  const version = encodeU64Key(BigInt(random.below(VERSIONS)));
  if (random.below(3) > 0) return keyOf(STATE, partition, version);
  const path = Buffer.alloc(1 + random.below(random.pick([8, 40])), random.below(4));
  return keyOf(ACCOUNT_KEYS, partition, path);
}

/** The same rows as a plain list; keys as hex, which sorts as they do. */
class Model {
  readonly rows = new Map<string, Buffer>();
  readonly #partitions = new Map<string, Map<string, Buffer>>();

  apply(entries: readonly Entry[]): void {
    for (const { key, value } of entries) {
      const hex = key.toString('hex');
      const partition = this.#partition(key);
      if (value === undefined) {
        this.rows.delete(hex);
        partition.delete(hex);
      } else {
        this.rows.set(hex, value);
        partition.set(hex, value);
      }
    }
  }

  /** The rows of a partition, in order. */
  partitionOf(key: Buffer): [key: string, value: Buffer][] {
    return [...this.#partition(key)].sort(([one], [other]) => (one < other ? -1 : 1));
  }

  all(): [key: string, value: Buffer][] {
    return [...this.rows].sort(([one], [other]) => (one < other ? -1 : 1));
  }

  #partition(key: Buffer): Map<string, Buffer> {
    const name = key.toString('hex', 0, 33);
    let rows = this.#partitions.get(name);
    if (rows === undefined) {
      rows = new Map();
      this.#partitions.set(name, rows);
    }
    return rows;
  }
}

/** As texts, which are compared faster than lists. */
function shown(rows: Iterable<Entry>): string {
  let text = '';
  for (const { key, value } of rows) text += `${key.toString('hex')} ${value!.toString('hex')}\n`;
  return text;
}

function due(rows: readonly (readonly [key: string, value: Buffer])[]): string {
  let text = '';
  for (const [key, value] of rows) text += `${key} ${value.toString('hex')}\n`;
  return text;
}

/** What a writer or a reader answers, compared with the model, around a random key. */
function compare(runs: SortedRuns, model: Model, random: Random): void {
  const key = someKey(random);
  const hex = key.toString('hex');
  const wanted = sought(key);
  expect(runs.get(wanted)?.value).toEqual(model.rows.get(hex));
  const rows = model.partitionOf(key);
  const version = key[0] === STATE.number ? versionOf(key) : undefined;
  const last = runs.seekLast(wanted, version);
  const below = rows.filter(([name]) => name <= hex);
  expect(shown(last === undefined ? [] : [last])).toBe(due(below.slice(-1)));
  const other = someKey(random);
  const order = other.subarray(33);
  const end = Buffer.concat([key.subarray(0, 33), order]);
  const [from, to] = Buffer.compare(key, end) <= 0 ? [key, end] : [end, key];
  const [low, high] = [from.toString('hex'), to.toString('hex')];
  const inside = rows.filter(([name]) => name >= low && name <= high);
  const hash = random.below(2) === 0 ? wanted.hash : undefined;
  expect(shown(runs.walk({ from, to, reverse: false, hash }))).toBe(due(inside));
  expect(shown(runs.walk({ from, to, reverse: true, hash }))).toBe(due(inside.reverse()));
}

function compareAll(runs: SortedRuns, model: Model, reverse: boolean): void {
  const rows = model.all();
  if (reverse) rows.reverse();
  const walked = runs.walk({ from: Buffer.of(0), to: Buffer.of(0xff), reverse });
  // Without a text of all of them, which are hundreds of thousands.
  let at = 0;
  for (const { key, value } of walked) {
    const [name, stored] = rows[at] ?? ['', undefined];
    if (key.toString('hex') !== name || stored?.equals(value!) !== true) break;
    at += 1;
  }
  expect(at).toBe(rows.length);
  expect(walked.next().done).toBe(true);
}

/** Random changes, each key once, in order. */
function someEntries(count: number, model: Model, random: Random): Entry[] {
  const entries = new Map<string, Entry>();
  for (let made = 0; made < count; made += 1) {
    const key = someKey(random);
    const hex = key.toString('hex');
    const isDeleted = random.below(model.rows.has(hex) ? 3 : 30) === 0;
    const value = Buffer.alloc(random.below(12), random.below(256));
    entries.set(hex, { key, value: isDeleted ? undefined : value });
  }
  return [...entries.values()].sort((one, other) => Buffer.compare(one.key, other.key));
}

/** What a history has seen. */
class Witness {
  sizes = new Set<number>();
  merges = 0;
  mergesOfOldest = 0;
  mostRuns = 0;
  #before: readonly number[] = [];

  see({ runs }: SortedRuns): void {
    const numbers = runs.map(({ facts }) => facts.number);
    const gone = this.#before.filter((number) => !numbers.includes(number));
    if (gone.length > 0) this.merges += 1;
    if (gone.includes(this.#before.at(-1)!)) this.mergesOfOldest += 1;
    for (const { facts } of runs) {
      this.sizes.add(facts.entries < SECOND_SIZE ? 0 : facts.entries < THIRD_SIZE ? 1 : 2);
    }
    this.mostRuns = Math.max(this.mostRuns, runs.length);
    this.#before = numbers;
  }
}

/** Rows of runs that nothing uses are removed by commits that add nothing. */
function removeDead(rows: MemoryRows): RunWriter {
  // Without the merges that were begun.
  const writer = new RunWriter(rows);
  for (let commit = 0; commit < 200; commit += 1) writer.add([]);
  return writer;
}

describe('sorted runs', () => {
  test('answer as a sorted list does, whatever is put, deleted, merged and opened again', () => {
    const random = new Random(SEED);
    const rows = new MemoryRows();
    const model = new Model();
    const witness = new Witness();
    const reader = new SortedRuns(rows);
    let writer = new RunWriter(rows);
    for (let commit = 0; commit < COMMITS; commit += 1) {
      const isLarge = random.below(60) === 0;
      const count = isLarge ? random.below(6_000) : random.pick([0, 1, 20, 100, 200, 400]);
      const entries = someEntries(count, model, random);
      writer.add(entries);
      model.apply(entries);
      witness.see(writer.runs);
      if (random.below(3) === 0) compare(writer.runs, model, random);
      // One that has not looked for some commits reads what they have added to the log.
      if (random.below(4) === 0) {
        reader.refresh();
        compare(reader, model, random);
      }
      if (random.below(700) === 0) writer = new RunWriter(rows);
    }
    expect([...witness.sizes].sort()).toEqual([0, 1, 2]);
    expect(witness.merges).toBeGreaterThan(10);
    expect(witness.mergesOfOldest).toBeGreaterThan(1);
    expect(witness.mostRuns).toBeLessThanOrEqual(MOST_RUNS);
    writer = removeDead(rows);
    compareAll(writer.runs, model, false);
    reader.refresh();
    compareAll(reader, model, true);
    const used = new Set(writer.runs.runs.map(({ facts }) => facts.number));
    const left = [...rows.blocks.keys()].map((id) => Math.floor(id / MAX_RUN_BLOCKS));
    expect(left.filter((number) => !used.has(number))).toEqual([]);
  });
});

/** So many entries, in order. */
function numbered(count: number, from = 0): Entry[] {
  return Array.from({ length: count }, (_, at) => {
    const key = Buffer.concat([Buffer.of(EVENTS.number), Buffer.alloc(40)]);
    key.writeUInt32BE(from + at, 29);
    return { key, value: Buffer.of(0) };
  });
}

describe('limits', () => {
  test.each([
    [MAX_LOG_ENTRIES - 1, 0],
    [MAX_LOG_ENTRIES, 0],
    [MAX_LOG_ENTRIES + 1, 1],
  ])('%i entries: %i runs', (count, runs) => {
    for (const first of [0, 1, count - 1]) {
      const rows = new MemoryRows();
      const writer = new RunWriter(rows);
      writer.add(numbered(first));
      expect(writer.runs.runs).toHaveLength(0);
      writer.add(numbered(count - first, first));
      expect(writer.runs.runs).toHaveLength(runs);
      expect(writer.runs.recent).toHaveLength(runs === 0 ? count : 0);
      expect(rows.blocks.size > 0).toBe(runs > 0);
      const reader = new SortedRuns(rows);
      reader.refresh();
      const walked = reader.walk({ from: Buffer.of(0), to: Buffer.of(0xff), reverse: false });
      expect(shown(walked) === shown(numbered(count))).toBe(true);
    }
  });

  /** The blocks of a run whose entries take so many bytes in a block, with its head. */
  function blocksOf(bytes: number): Buffer[] {
    const rows = new MemoryRows();
    const builder = new RunBuilder(1, MAX_RUN_BLOCKS, 0, rows);
    const entries = numbered(3);
    let left = bytes - 6;
    for (const [at, { key }] of entries.entries()) {
      const most = at < 2 ? 1_000 : left - entryBytes(key.length, 0);
      builder.add({ key, value: Buffer.alloc(most, at) });
      left -= entryBytes(key.length, most);
    }
    expect(left).toBe(0);
    const { facts } = builder.finish();
    return Array.from({ length: facts.blocks }, (_, at) => rows.blocks.get(MAX_RUN_BLOCKS + at)!);
  }

  test('a block is full with the last byte that a page has room for', async () => {
    expect(blocksOf(MAX_BLOCK_BYTES - 1).map(({ length }) => length)).toEqual([
      MAX_BLOCK_BYTES - 1,
    ]);
    const [full, ...others] = blocksOf(MAX_BLOCK_BYTES);
    expect(others).toEqual([]);
    expect(full).toHaveLength(MAX_BLOCK_BYTES);
    expect(new Block(full!, MAX_RUN_BLOCKS).count).toBe(3);
    expect(blocksOf(MAX_BLOCK_BYTES + 1)).toHaveLength(2);
    const directory = temporaryDirectory();
    const store = await openSqliteStore({ directory });
    await store.close();
    const database = new SqliteDatabase(storeFileOf(directory), { readOnly: false });
    // The id takes as many bytes as any.
    const id = Number.MAX_SAFE_INTEGER;
    database.writeBlock(id, full!);
    database.checkpoint();
    database.close();
    expect(findStored(directory, 'blocks', id).length).toBe(MAX_BLOCK_BYTES);
  });

  /** How many blobs there are after a commit; the values are read back. */
  async function blobsAfter(
    rows: readonly (readonly [Column, Buffer, Buffer, Buffer])[],
  ): Promise<number> {
    const directory = temporaryDirectory();
    const store = await openSqliteStore({ directory });
    const batch = new Batch();
    for (const [column, partition, order, value] of rows)
      batch.put(column, partition, order, value);
    await store.commit(batch);
    for (const [column, partition, order, value] of rows) {
      expect(store.get(column, partition, order)).toEqual(value);
    }
    await store.close();
    return storedIds(directory, 'blobs').length;
  }

  const partition = Buffer.alloc(32, 7);
  const VERSION = 9n;
  const order = Buffer.from(encodeU64Key(VERSION));
  const key = encodeBucketKey(VERSION);
  const info = [
    TRANSACTION_INFOS,
    Buffer.from(key.partition),
    Buffer.from(key.order),
    Buffer.of(1),
  ] as const;

  test.each([
    [ACCOUNT_KEYS.name, MAX_ENTRY_VALUE_BYTES - 1, 0, ACCOUNT_KEYS],
    [ACCOUNT_KEYS.name, MAX_ENTRY_VALUE_BYTES, 0, ACCOUNT_KEYS],
    [ACCOUNT_KEYS.name, MAX_ENTRY_VALUE_BYTES + 1, 1, ACCOUNT_KEYS],
    [STATE.name, MAX_ENTRY_STATE_BYTES - 1, 0, STATE],
    [STATE.name, MAX_ENTRY_STATE_BYTES, 0, STATE],
    [STATE.name, MAX_ENTRY_STATE_BYTES + 1, 1, STATE],
  ] as const)('a value of %s of %i bytes: %i blobs', async (_, bytes, blobs, column) => {
    expect(await blobsAfter([[column, partition, order, Buffer.alloc(bytes, 5)]])).toBe(blobs);
  });

  test.each([
    [MAX_STATE_BYTES - 1, 0],
    [MAX_STATE_BYTES, 0],
    [MAX_STATE_BYTES + 1, 1],
  ])('%i bytes of state beside other rows of their version: %i blobs', async (bytes, blobs) => {
    const half = MAX_STATE_BYTES / 2;
    const values = [Buffer.alloc(half, 1), Buffer.alloc(bytes - half, 2)];
    const state = values.map((value, at) => [STATE, Buffer.alloc(32, at), order, value] as const);
    expect(await blobsAfter([...state, info])).toBe(blobs);
    expect(await blobsAfter([[STATE, partition, order, Buffer.alloc(bytes, 3)], info])).toBe(blobs);
  });
});
