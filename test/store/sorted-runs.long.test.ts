/** Sorted runs alone: random commits compared with a plain sorted list. */
import { describe, expect, test } from 'vitest';
import { ACCOUNT_KEYS, type Column, STATE } from '../../src/store/columns/columns.ts';
import { encodeU64Key } from '../../src/store/columns/order-key.ts';
import { type Entry, entryOf } from '../../src/store/sqlite/runs/block.ts';
import { MAX_RUN_BLOCKS } from '../../src/store/sqlite/runs/manifest.ts';
import { MAX_LOG_ENTRIES, RunWriter } from '../../src/store/sqlite/runs/run-writer.ts';
import { SortedRuns } from '../../src/store/sqlite/runs/sorted-runs.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import { MemoryRows, shown } from './memory-rows.ts';

const SEED = testSeed('sorted runs');
const PARTITIONS = 3_000;
const VERSIONS = 400;
/** Commits between two comparisons, on average. */
const COMPARE_EVERY = roundsOf('COMPARE_EVERY', 30, 3);
/** About this many commits produce runs of three sizes. */
const COMMITS = 3_200;
/** Entries of the smallest runs of the second and the third size. */
const SECOND_SIZE = 7 * MAX_LOG_ENTRIES;
const THIRD_SIZE = 63 * MAX_LOG_ENTRIES;
/** Eight of each of three sizes. */
const MOST_RUNS = 24;

function keyOf(column: Column, partition: number, order: Uint8Array): Buffer {
  const head = Buffer.alloc(1 + 32, partition & 0xff);
  head[0] = column.number;
  // Many partitions begin alike, unlike hashes.
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

function due(rows: readonly (readonly [key: string, value: Buffer])[]): string {
  let text = '';
  for (const [key, value] of rows) text += `${key} ${value.toString('hex')}\n`;
  return text;
}

/** Compares the results of a writer or a reader around a random key with the model. */
function compare(runs: SortedRuns, model: Model, random: Random): void {
  const key = someKey(random);
  const hex = key.toString('hex');
  expect(runs.get(key)?.value).toEqual(model.rows.get(hex));
  const rows = model.partitionOf(key);
  const last = runs.seekLast(key);
  const below = rows.filter(([name]) => name <= hex);
  expect(shown(last === undefined ? [] : [last])).toBe(due(below.slice(-1)));
  const other = someKey(random);
  const order = other.subarray(33);
  const end = Buffer.concat([key.subarray(0, 33), order]);
  const [from, to] = Buffer.compare(key, end) <= 0 ? [key, end] : [end, key];
  const [low, high] = [from.toString('hex'), to.toString('hex')];
  const inside = rows.filter(([name]) => name >= low && name <= high);
  expect(shown(runs.walk({ from, to, reverse: false }))).toBe(due(inside));
  expect(shown(runs.walk({ from, to, reverse: true }))).toBe(due(inside.reverse()));
}

function compareAll(runs: SortedRuns, model: Model, reverse: boolean): void {
  const rows = model.all();
  if (reverse) rows.reverse();
  const walked = runs.walk({ from: Buffer.of(1), to: Buffer.of(0xff), reverse });
  // Without a text of all rows, because there are hundreds of thousands.
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
    entries.set(hex, entryOf(key, isDeleted ? undefined : value));
  }
  return [...entries.values()].sort((one, other) => Buffer.compare(one.key, other.key));
}

/** Facts about a history. */
class Witness {
  sizes = new Set<number>();
  merges = 0;
  mergesOfOldest = 0;
  mostRuns = 0;
  #countsRuns = true;
  #before: readonly number[] = [];

  /** Merges do not outlive their writer, so small runs remain between large ones until all are merged. */
  seeReopened(): void {
    this.#countsRuns = false;
  }

  see({ runs }: SortedRuns): void {
    const numbers = runs.map(({ facts }) => facts.number);
    const gone = this.#before.filter((number) => !numbers.includes(number));
    if (gone.length > 0) this.merges += 1;
    if (gone.includes(this.#before.at(-1)!)) {
      this.mergesOfOldest += 1;
      this.#countsRuns = true;
    }
    for (const { facts } of runs) {
      this.sizes.add(facts.entries < SECOND_SIZE ? 0 : facts.entries < THIRD_SIZE ? 1 : 2);
    }
    if (this.#countsRuns) this.mostRuns = Math.max(this.mostRuns, runs.length);
    this.#before = numbers;
  }
}

/** Commits that add nothing remove rows of unused runs. */
function removeDead(rows: MemoryRows): RunWriter {
  // A new writer, without the merges that have begun.
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
    for (let commit = 0; commit < COMMITS || witness.sizes.size < 3; commit += 1) {
      const isLarge = random.below(60) === 0;
      const count = isLarge ? random.below(6_000) : random.pick([0, 1, 20, 100, 200, 400]);
      const entries = someEntries(count, model, random);
      writer.add(entries);
      model.apply(entries);
      witness.see(writer.runs);
      if (random.below(COMPARE_EVERY) === 0) compare(writer.runs, model, random);
      // A reader that was not refreshed for some commits reads what they have added to the log.
      if (random.below(COMPARE_EVERY) === 0) {
        reader.refresh();
        compare(reader, model, random);
      }
      if (random.below(700) === 0) {
        writer = new RunWriter(rows);
        witness.seeReopened();
      }
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
