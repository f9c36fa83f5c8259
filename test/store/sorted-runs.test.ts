/** Sorted runs against a model: puts and deletions in commits of many sizes, merges, failures, other readers. */
import { setTimeout } from 'node:timers/promises';
import { open, type RootDatabase } from 'lmdb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { type Row, STATE } from '../../src/store/columns/columns.ts';
import { encodeU64Key } from '../../src/store/columns/order-key.ts';
import { openLmdbReader, openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { addToFilter, filterWords, hashOf, mayHave } from '../../src/store/lmdb/runs/run-filter.ts';
import { decodeManifest, encodeManifest } from '../../src/store/lmdb/runs/run-manifest.ts';
import { sealed } from '../../src/store/lmdb/runs/run-rows.ts';
import { runShape, writeKey } from '../../src/store/lmdb/runs/run-shape.ts';
import { StoredValueError } from '../../src/store/lmdb/stored-value.ts';
import { type StoreReader, scanPages } from '../../src/store/store.ts';
import { randomSource, testSeed } from '../random.ts';
import { temporaryDirectory } from './engines.ts';

const random = randomSource(testSeed());
const below = (most: number): number => Math.floor(random() * most);
const SHAPE = runShape(STATE);

/** Partitions of which some share their first eight bytes, and some nearly all. */
function partitionOf(number: number): Buffer {
  const partition = Buffer.alloc(32, number % 7);
  partition.writeUInt16BE(number % 5 === 0 ? 9 : (number * 7919) % 65_536, 0);
  partition.writeUInt16BE(number, 30);
  return partition;
}

/** What the store should have, by partition and order in hex. */
class Model {
  readonly #orders = new Map<string, Map<string, Buffer>>();

  put(partition: Buffer, order: Buffer, value: Buffer): void {
    const name = partition.toString('hex');
    const orders = this.#orders.get(name) ?? new Map<string, Buffer>();
    this.#orders.set(name, orders.set(order.toString('hex'), value));
  }

  delete(partition: Buffer, order: Buffer): void {
    this.#orders.get(partition.toString('hex'))?.delete(order.toString('hex'));
  }

  deleteUpTo(partition: Buffer, to: Buffer): void {
    const orders = this.#orders.get(partition.toString('hex'));
    for (const order of orders?.keys() ?? []) {
      if (order <= to.toString('hex')) orders!.delete(order);
    }
  }

  /** The rows of a partition as text, in their order. */
  rowsOf(partition: Buffer): readonly string[] {
    const orders = this.#orders.get(partition.toString('hex')) ?? [];
    return [...orders]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([order, value]) => `${order} ${value}`);
  }

  /** All rows as text, in their order. */
  all(): string[] {
    const rows: string[] = [];
    for (const name of [...this.#orders.keys()].sort()) {
      for (const row of this.rowsOf(Buffer.from(name, 'hex'))) rows.push(`${name} ${row}`);
    }
    return rows;
  }
}

function textOf({ order, value }: Row): string {
  return `${order.toString('hex')} ${value}`;
}

async function allRows(store: StoreReader): Promise<string[]> {
  const rows: string[] = [];
  for await (const page of scanPages(store, STATE)) {
    for (const row of page) rows.push(`${row.partition.toString('hex')} ${textOf(row)}`);
  }
  return rows;
}

/** A random change of many rows, of new versions or of old ones. @returns the version after it */
function change(model: Model, batch: Batch, commit: number, version: number): number {
  const size = [3, 40, 700, 2_500][below(4)]!;
  const isOld = random() < 0.3;
  if (random() < 0.2) {
    const partition = partitionOf(below(400));
    const to = encodeU64Key(BigInt(below(version + 1)));
    batch.deleteRange(STATE, partition, { to });
    model.deleteUpTo(partition, to);
  }
  for (let row = 0; row < size; row += 1) {
    const partition = partitionOf(row % 3 === 0 ? 0 : below(400));
    const order = encodeU64Key(BigInt(isOld ? below(version) : version + Math.floor(row / 4)));
    if (random() < 0.2) {
      batch.delete(STATE, partition, order);
      model.delete(partition, order);
    } else {
      const value = Buffer.from(`${commit}-${row}`);
      batch.put(STATE, partition, order, value);
      model.put(partition, order, value);
    }
  }
  return isOld ? version : version + Math.ceil(size / 4);
}

/** Random reads of one partition: single rows, the last at or below an order, ranges with and without bounds. */
async function compareReads(reader: StoreReader, model: Model, version: number): Promise<void> {
  const partition = partitionOf(below(3) === 0 ? 0 : below(402));
  const expected = model.rowsOf(partition);
  for (let look = 0; look < 12; look += 1) {
    const order = encodeU64Key(BigInt(below(version + 2)));
    const upTo = expected.filter((row) => row.slice(0, 16) <= order.toString('hex'));
    const last = await reader.seekLast(STATE, partition, order);
    expect(last && textOf(last)).toBe(upTo.at(-1));
    const value = await reader.get(STATE, partition, order);
    const row = value && textOf({ order, value });
    expect(row).toBe(
      upTo.at(-1)?.startsWith(order.toString('hex')) === true ? upTo.at(-1) : undefined,
    );
    const from = look % 2 === 0 ? encodeU64Key(BigInt(below(version))) : undefined;
    const to = look % 3 === 0 ? undefined : order;
    const [reverse, limit] = [random() < 0.5, 1 + below(look < 6 ? 5 : 400)];
    const rows = await reader.range(STATE, partition, { from, to, reverse, limit });
    const inside = (to === undefined ? expected : upTo).filter(
      (one) => from === undefined || one.slice(0, 16) >= from.toString('hex'),
    );
    const due = (reverse ? inside.toReversed() : inside).slice(0, limit);
    expect(rows.map(textOf)).toEqual(due);
  }
}

describe('sorted runs', () => {
  test('are the rows that a model has, whatever is put, deleted and merged', async () => {
    const directory = temporaryDirectory();
    let store = await openLmdbStore({ directory });
    onTestFinished(() => store.close());
    const other = openLmdbReader({ directory });
    onTestFinished(() => other.close());
    const model = new Model();
    let version = 1;
    for (let commit = 0; commit < 120; commit += 1) {
      const batch = new Batch();
      version = change(model, batch, commit, version);
      await store.commit(batch);
      // Merges that are not done are forgotten.
      if (below(8) === 0) {
        await store.close();
        store = await openLmdbStore({ directory });
      }
      if (commit % 10 !== 9) continue;
      const rows = model.all();
      expect((await allRows(store)).join('\n') === rows.join('\n')).toBe(true);
      const [state] = (await store.statistics()).filter(({ column }) => column === STATE);
      expect(state!.rows).toBe(rows.length);
      // Another process sees a commit a turn of its event loop later.
      await setTimeout(5);
      for (let look = 0; look < 8; look += 1) {
        for (const reader of [store, other]) await compareReads(reader, model, version);
      }
    }
  }, 240_000);

  test('of many entries in one commit, and others get turns while they are sorted', async () => {
    const directory = temporaryDirectory();
    const store = await openLmdbStore({ directory });
    onTestFinished(() => store.close());
    const batch = new Batch();
    const rows: string[] = [];
    for (let row = 0; row < 70_000; row += 1) {
      const partition = partitionOf(below(60_000));
      const order = encodeU64Key(BigInt(row));
      const value = Buffer.from(String(row));
      batch.put(STATE, partition, order, value);
      rows.push(`${partition.toString('hex')} ${textOf({ order, value })}`);
    }
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await store.commit(batch);
    isDone = true;
    // For making, sorting and writing some at a time, twice each.
    expect(turns).toBeGreaterThan(20);
    expect((await allRows(store)).join('\n') === rows.sort().join('\n')).toBe(true);
  });

  test('a filter has everything that was added, and little else', () => {
    const filter = new Uint32Array(filterWords(2_000));
    const keyOf = (number: number): Uint32Array => {
      const key = new Uint32Array(SHAPE.entryWords);
      writeKey(SHAPE, { partition: partitionOf(number), order: encodeU64Key(0n) }, key, 0);
      return key;
    };
    for (let number = 0; number < 2_000; number += 1) addToFilter(SHAPE, filter, keyOf(number), 0);
    const has = (number: number): boolean => mayHave(filter, hashOf(SHAPE, keyOf(number), 0));
    let wrong = 0;
    for (let number = 0; number < 2_000; number += 1) {
      expect(has(number)).toBe(true);
      wrong += Number(has(number + 2_000));
    }
    expect(wrong).toBeLessThan(100);
  });

  test('a manifest both ways; bytes that are none are refused', () => {
    const run = { id: 3, entries: 700, blocks: 4, filterWords: 16, highestOrder: [0, 9] };
    const dead = { id: 1, blocks: 2, parts: 1 };
    const manifest = {
      ...{ generation: 2 ** 33 + 1, nextRun: 5, rows: 2 ** 34 + 2, runs: [run, { ...run, id: 2 }] },
      ...{ unfinished: [dead], dead: [dead, dead] },
      inline: Uint32Array.from({ length: 2 * SHAPE.entryWords }, (_, at) => at),
    };
    const bytes = encodeManifest(SHAPE, manifest);
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    expect(decodeManifest(SHAPE, { words, count: words.length })).toEqual(manifest);
    for (let count = 0; count < words.length; count += 1) {
      expect(() => decodeManifest(SHAPE, { words, count })).toThrow(StoredValueError);
      // With the right checksum.
      const short = Uint32Array.from(words);
      sealed(short, count);
      const cut = () => decodeManifest(SHAPE, { words: short, count: count + 1 });
      if (count < words.length - 1) expect(cut).toThrow(StoredValueError);
    }
    for (let at = 0; at < words.length; at += 1) {
      const flipped = Uint32Array.from(words);
      flipped[at]! ^= 1 << below(32);
      expect(() => decodeManifest(SHAPE, { words: flipped, count: words.length })).toThrow(
        StoredValueError,
      );
    }
  });

  test('a block that is missing or short is damage', async () => {
    const directory = temporaryDirectory();
    const store = await openLmdbStore({ directory });
    const batch = new Batch();
    for (let row = 0; row < 1_000; row += 1) {
      batch.put(STATE, partitionOf(row), encodeU64Key(1n), Buffer.from('value'));
    }
    await store.commit(batch);
    await store.close();
    for (const damaged of [Buffer.alloc(44), Buffer.alloc(45), Buffer.alloc(8_144), undefined]) {
      const root: RootDatabase<never, string> = open(directory, { noSubdir: false });
      const runs = root.openDB<Buffer, Buffer>({
        ...{ name: 'runs', encoding: 'binary', keyEncoding: 'binary' },
      });
      const block = Buffer.of(STATE.number, 2, 0, 0, 0, 1, 0, 0, 0, 0);
      const sound = runs.get(block)!;
      expect(sound).toHaveLength(8_144);
      if (damaged === undefined) await runs.remove(block);
      else await runs.put(block, damaged);
      await root.close();
      const reader = openLmdbReader({ directory });
      expect(() => reader.scan(STATE, { maxRows: 10, maxBytes: 1_000 })).toThrow(
        expect.objectContaining({ code: 'row_damaged', column: 'state' }),
      );
      await reader.close();
      const again: RootDatabase<never, string> = open(directory, { noSubdir: false });
      const rows = again.openDB<Buffer, Buffer>({
        ...{ name: 'runs', encoding: 'binary', keyEncoding: 'binary' },
      });
      await rows.put(block, sound);
      await again.close();
    }
  });
});
