/** Sorted runs against a model: puts and deletions in commits of many sizes, merges, failures, other readers. */
import { open, type RootDatabase } from 'lmdb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { STATE } from '../../src/store/columns/columns.ts';
import { encodeU64Key } from '../../src/store/columns/order-key.ts';
import { openLmdbReader, openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { addToFilter, filterWords, hashOf, mayHave } from '../../src/store/lmdb/runs/run-filter.ts';
import { decodeManifest, encodeManifest } from '../../src/store/lmdb/runs/run-manifest.ts';
import { runShape, writeKey } from '../../src/store/lmdb/runs/run-shape.ts';
import { randomSource, testSeed } from '../random.ts';
import { temporaryDirectory } from './engines.ts';

const random = randomSource(testSeed());
const below = (most: number): number => Math.floor(random() * most);
const SHAPE = runShape(STATE.number, STATE.partitionBytes, 8);

/** Partitions of which some share their first eight bytes, and some nearly all. */
function partitionOf(number: number): Buffer {
  const partition = Buffer.alloc(32, number % 7);
  partition.writeUInt16BE(number % 5 === 0 ? 9 : (number * 7919) % 65_536, 0);
  partition.writeUInt16BE(number, 30);
  return partition;
}

interface Model {
  /** By key in hex. */
  readonly rows: Map<string, Buffer>;
}

function sortedKeys({ rows }: Model): string[] {
  return [...rows.keys()].sort();
}

describe('sorted runs', () => {
  test('are the rows that a model has, whatever is put, deleted and merged', async () => {
    const directory = temporaryDirectory();
    let store = await openLmdbStore({ directory });
    onTestFinished(() => store.close());
    const other = openLmdbReader({ directory });
    onTestFinished(() => other.close());
    const model: Model = { rows: new Map() };
    let version = 1;
    for (let commit = 0; commit < 120; commit += 1) {
      const batch = new Batch();
      const size = [3, 40, 700, 2_500][below(4)]!;
      const isOld = random() < 0.3;
      if (random() < 0.2) {
        const partition = partitionOf(below(400));
        const to = encodeU64Key(BigInt(below(version + 1)));
        batch.deleteRange(STATE, partition, { to });
        const first = partition.toString('hex');
        const last = first + to.toString('hex');
        for (const key of sortedKeys(model)) {
          if (key.startsWith(first) && key <= last) model.rows.delete(key);
        }
      }
      for (let row = 0; row < size; row += 1) {
        const partition = partitionOf(row % 3 === 0 ? 0 : below(400));
        const order = encodeU64Key(BigInt(isOld ? below(version) : version + Math.floor(row / 4)));
        const key = Buffer.concat([partition, order]).toString('hex');
        if (random() < 0.2) {
          batch.delete(STATE, partition, order);
          model.rows.delete(key);
        } else {
          const value = Buffer.from(`${commit}-${row}`);
          batch.put(STATE, partition, order, value);
          model.rows.set(key, value);
        }
      }
      version += isOld ? 0 : Math.ceil(size / 4);
      await store.commit(batch);
      if (commit % 40 === 39) {
        await store.close();
        store = await openLmdbStore({ directory });
      }
      if (commit % 10 !== 9) continue;
      const keys = sortedKeys(model);
      const scanned = await store.scan(STATE, { maxRows: 10_000, maxBytes: 1e9 });
      expect(scanned.length).toBe(Math.min(keys.length, 10_000));
      for (const [at, row] of scanned.entries()) {
        expect(Buffer.concat([row.partition, row.order]).toString('hex')).toBe(keys[at]);
        expect(row.value).toEqual(model.rows.get(keys[at]!));
      }
      const [state] = (await store.statistics()).filter(({ column }) => column === STATE);
      expect(state!.rows).toBe(keys.length);
      await new Promise((resolve) => setTimeout(resolve, 5));
      for (let look = 0; look < 200; look += 1) {
        const partition = partitionOf(below(402));
        const asked = encodeU64Key(BigInt(below(version + 2)));
        const first = partition.toString('hex');
        const last = first + asked.toString('hex');
        const found = keys.findLast((key) => key.startsWith(first) && key <= last);
        for (const reader of [store, other]) {
          const row = await reader.seekLast(STATE, partition, asked);
          expect(row && first + row.order.toString('hex')).toBe(found);
          expect(row?.value).toEqual(found && model.rows.get(found));
        }
      }
      for (const reverse of [false, true]) {
        const partition = partitionOf(0);
        const query = { from: encodeU64Key(BigInt(below(version))), limit: 50, reverse };
        const rows = await store.range(STATE, partition, query);
        const from = partition.toString('hex') + query.from.toString('hex');
        const inside = keys.filter(
          (key) => key.startsWith(partition.toString('hex')) && key >= from,
        );
        const expected = (reverse ? inside.toReversed() : inside).slice(0, 50);
        expect(rows.map(({ order }) => partition.toString('hex') + order.toString('hex'))).toEqual(
          expected,
        );
      }
    }
  }, 240_000);

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
    const bytes = encodeManifest(manifest);
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    expect(decodeManifest(SHAPE, words)).toEqual(manifest);
    for (let end = 0; end < words.length; end += 1) {
      expect(() => decodeManifest(SHAPE, words.subarray(0, end))).toThrow(RangeError);
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
    for (const damaged of [Buffer.alloc(44), Buffer.alloc(45), undefined]) {
      const root: RootDatabase<never, string> = open(directory, { noSubdir: false });
      const runs = root.openDB<Buffer, Buffer>({
        ...{ name: 'runs', encoding: 'binary', keyEncoding: 'binary' },
      });
      const block = Buffer.of(STATE.number, 2, 0, 0, 0, 1, 0, 0, 0, 0);
      expect(runs.get(block)).toHaveLength(8_140);
      if (damaged === undefined) await runs.remove(block);
      else await runs.put(block, damaged);
      await root.close();
      const reader = openLmdbReader({ directory });
      expect(() => reader.scan(STATE, { maxRows: 10, maxBytes: 1_000 })).toThrow(
        expect.objectContaining({ code: 'store_damaged', column: 'state' }),
      );
      await reader.close();
      const again: RootDatabase<never, string> = open(directory, { noSubdir: false });
      const rows = again.openDB<Buffer, Buffer>({
        ...{ name: 'runs', encoding: 'binary', keyEncoding: 'binary' },
      });
      await rows.put(block, Buffer.alloc(8_140));
      await again.close();
    }
  });
});
