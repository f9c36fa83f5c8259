/** The size of pages is the environment's own: new ones have ours, those that are there keep theirs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { expect, it } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { STATE, TRANSACTIONS } from '../../src/store/columns/columns.ts';
import { encodeBucketKey, encodeU64Key } from '../../src/store/columns/order-key.ts';
import { inspectDataFile, PAGE_BYTES } from '../../src/store/lmdb/lmdb-file.ts';
import { openLmdbReader, openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { temporaryDirectory } from './engines.ts';

const PAGE_SIZE_AT = 48;
const KEY = Buffer.alloc(32, 7);

function pageSizeOf(directory: string): number {
  return readFileSync(join(directory, 'data.mdb')).readUInt32LE(PAGE_SIZE_AT);
}

/** Values below, at and above what fits in pages of either size, and one of many pages. */
const LENGTHS = [0, 1, 1_900, 2_100, 3_900, 4_100, 8_200, 100_000];

async function writeAll(directory: string, from: number): Promise<void> {
  const store = await openLmdbStore({ directory });
  const batch = new Batch();
  for (const [index, length] of LENGTHS.entries()) {
    const version = BigInt(from + index);
    const { partition, order } = encodeBucketKey(version);
    batch.put(TRANSACTIONS, partition, order, Buffer.alloc(length, index));
    batch.put(STATE, KEY, encodeU64Key(version), Buffer.alloc(length + 1, index));
  }
  await store.commit(batch);
  await store.close();
}

async function expectAll(directory: string, from: number): Promise<void> {
  const reader = openLmdbReader({ directory });
  for (const [index, length] of LENGTHS.entries()) {
    const version = BigInt(from + index);
    const { partition, order } = encodeBucketKey(version);
    expect(await reader.get(TRANSACTIONS, partition, order)).toEqual(Buffer.alloc(length, index));
    const state = await reader.seekLast(STATE, KEY, encodeU64Key(version));
    expect(state?.value).toEqual(Buffer.alloc(length + 1, index));
  }
  await reader.close();
}

it('makes pages of our size', async () => {
  const directory = temporaryDirectory();
  await writeAll(directory, 0);
  expect(pageSizeOf(directory)).toBe(PAGE_BYTES);
  expect(inspectDataFile(directory)).toBe('lmdb');
  await expectAll(directory, 0);
});

it.each([4096, 16_384])('goes on with a store of pages of %d bytes', async (pageSize) => {
  const directory = temporaryDirectory();
  // As a program with another page size leaves it in its first moment.
  await open(directory, { pageSize, maxDbs: 64, noSubdir: false }).close();
  await writeAll(directory, 0);
  await writeAll(directory, 1_000);
  expect(pageSizeOf(directory)).toBe(pageSize);
  expect(inspectDataFile(directory)).toBe('lmdb');
  await expectAll(directory, 0);
  await expectAll(directory, 1_000);
});
