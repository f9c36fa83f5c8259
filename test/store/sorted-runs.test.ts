/** Edge cases of the limits of sorted runs; sorted-runs.long.test.ts has random commits. */
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
import { Block, type Entry, entryOf, MAX_BLOCK_BYTES } from '../../src/store/sqlite/runs/block.ts';
import { MAX_RUN_BLOCKS } from '../../src/store/sqlite/runs/manifest.ts';
import { RunBuilder } from '../../src/store/sqlite/runs/run.ts';
import { MAX_LOG_ENTRIES, RunWriter } from '../../src/store/sqlite/runs/run-writer.ts';
import { SortedRuns } from '../../src/store/sqlite/runs/sorted-runs.ts';
import { SqliteDatabase } from '../../src/store/sqlite/sqlite-database.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { MAX_STATE_BYTES } from '../../src/store/sqlite/version-records.ts';
import { temporaryDirectory } from './engines.ts';
import { MemoryRows, shown } from './memory-rows.ts';
import { findStored, storedIds } from './stored-rows.ts';

/** `count` entries, in order. */
function numbered(count: number, from = 0): Entry[] {
  return Array.from({ length: count }, (_, at) => {
    const key = Buffer.concat([Buffer.of(EVENTS.number), Buffer.alloc(40)]);
    key.writeUInt32BE(from + at, 29);
    return entryOf(key, Buffer.of(0));
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
      const walked = reader.walk({ from: Buffer.of(1), to: Buffer.of(0xff), reverse: false });
      expect(shown(walked) === shown(numbered(count))).toBe(true);
    }
  });

  /** Including the position of the entry, which the block stores in two bytes. */
  function bytesInBlock({ at, end }: Entry): number {
    return end - at + 2;
  }

  /** The blocks of a run whose entries take `bytes` in a block, including its header. */
  function blocksOf(bytes: number): Buffer[] {
    const rows = new MemoryRows();
    const builder = new RunBuilder(1, 0, rows);
    const entries = numbered(3);
    let left = bytes - 6;
    for (const [at, { key }] of entries.entries()) {
      const most = at < 2 ? 1_000 : left - bytesInBlock(entryOf(key, undefined));
      const entry = entryOf(key, Buffer.alloc(most, at));
      builder.add(entry);
      left -= bytesInBlock(entry);
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
    // No id takes more bytes.
    const id = Number.MAX_SAFE_INTEGER;
    database.write('blocks', id, full!);
    database.checkpoint();
    database.close();
    expect(findStored(directory, 'blocks', id).length).toBe(MAX_BLOCK_BYTES);
  });

  /** Number of blobs after a commit; also reads the values back. */
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
