/**
 * A look at a data file must tell one that was cut short from one that is whole and yet shorter
 * than its last page says: the engine reserves pages at the end that it has not written (seen after
 * 69 commits of some megabytes each). SEED repeats a run.
 */
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { STATE } from '../../src/store/columns/columns.ts';
import { encodeU64Key } from '../../src/store/columns/order-key.ts';
import { inspectDataFile, PAGE_BYTES } from '../../src/store/lmdb/lmdb-file.ts';
import { openLmdbReader, openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { randomSource, testSeed } from '../random.ts';
import { temporaryDirectory } from './engines.ts';

const FREE_ROOT_AT = 88;
const LAST_PAGE_AT = 144;
const TRANSACTION_AT = 152;
const ROUNDS = 40;

test('whole files are taken whatever was written and deleted, cut ones are not', async () => {
  const random = randomSource(testSeed());
  const below = (most: number) => Math.floor(random() * most);
  const directory = temporaryDirectory();
  const copy = join(directory, 'copy');
  mkdirSync(copy);
  for (let round = 0; round < ROUNDS; round += 1) {
    const store = await openLmdbStore({ directory: join(directory, 'store') });
    const batch = new Batch();
    for (let change = 0; change < 200; change += 1) {
      const key = Buffer.alloc(32, below(64));
      const order = encodeU64Key(BigInt(below(40)));
      if (below(3) === 0) batch.delete(STATE, key, order);
      else batch.put(STATE, key, order, Buffer.alloc([10, 900, 9_000, 60_000][below(4)]!, round));
    }
    await store.commit(batch);
    await store.close();
    const file = join(directory, 'store', 'data.mdb');
    expect(inspectDataFile(join(directory, 'store')), `round ${round}`).toBe('lmdb');
    await openLmdbReader({ directory: join(directory, 'store') }).close();
    copyFileSync(file, join(copy, 'data.mdb'));
    const { size } = statSync(file);
    truncateSync(join(copy, 'data.mdb'), Math.floor(size / 2 / PAGE_BYTES) * PAGE_BYTES);
    expect(inspectDataFile(copy), `round ${round}, cut`).toBe('damaged');
  }
});

/** A store with pages that were freed, and the bytes of its file. */
async function storeWithFreePages(directory: string): Promise<Buffer> {
  const store = await openLmdbStore({ directory });
  for (let round = 0; round < 4; round += 1) {
    const batch = new Batch();
    for (let key = 0; key < 300; key += 1) {
      batch.put(
        STATE,
        Buffer.alloc(32, key % 97),
        encodeU64Key(BigInt(key)),
        Buffer.alloc(500, round),
      );
    }
    await store.commit(batch);
  }
  await store.close();
  return readFileSync(join(directory, 'data.mdb'));
}

/** Where the meta page that counts begins. */
function newestMeta(file: Buffer): number {
  const transaction = (at: number) => file.readBigUInt64LE(at + TRANSACTION_AT);
  return transaction(PAGE_BYTES) > transaction(0) ? PAGE_BYTES : 0;
}

/** Where the longest list of free pages in the root leaf begins: a count, then page numbers. */
function longestFreeList(file: Buffer): number {
  const page = Number(file.readBigUInt64LE(newestMeta(file) + FREE_ROOT_AT)) * PAGE_BYTES;
  expect(file.readUInt16LE(page + 18) & 2, 'a leaf').toBe(2);
  const lists: number[] = [];
  for (let at = 0; at < file.readUInt16LE(page + 20); at += 2) {
    const node = page + 24 + file.readUInt16LE(page + 24 + at);
    if ((file.readUInt16LE(node + 4) & 1) === 0) lists.push(node + 8 + file.readUInt16LE(node + 6));
  }
  const count = (list: number) => Number(file.readBigInt64LE(list));
  const longest = lists.reduce((one, other) => (count(other) > count(one) ? other : one));
  expect(count(longest)).toBeGreaterThan(2);
  return longest;
}

/**
 * Makes a file say that it has more pages than it has, as the engine does; the list of free pages
 * names some of them.
 */
function reserve(whole: Buffer, reserved: number, listed: number): Buffer {
  const file = Buffer.from(whole);
  const pages = BigInt(file.length / PAGE_BYTES);
  file.writeBigUInt64LE(pages - 1n + BigInt(reserved), newestMeta(file) + LAST_PAGE_AT);
  const list = longestFreeList(file);
  file.writeBigInt64LE(BigInt(-listed), list + 8);
  file.writeBigInt64LE(pages, list + 16);
  return file;
}

test('pages that are reserved and free may be missing, others not', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'data.mdb');
  const whole = await storeWithFreePages(directory);
  const most = (512 * 1024 * 1024) / PAGE_BYTES;
  for (const [reserved, listed, kind] of [
    [0, 4, 'lmdb'],
    [3, 4, 'lmdb'],
    [4, 4, 'lmdb'],
    [5, 4, 'damaged'],
    [2, 0, 'damaged'],
    [most, most, 'lmdb'],
    [most + 1, most + 1, 'damaged'],
  ] as const) {
    writeFileSync(path, reserve(whole, reserved, listed));
    expect(inspectDataFile(directory), `${reserved} reserved, ${listed} listed`).toBe(kind);
    if (kind === 'lmdb') {
      const reader = openLmdbReader({ directory });
      expect((await reader.scan(STATE, { maxRows: 1_000, maxBytes: 1e9 })).length).toBe(300);
      await reader.close();
    }
  }
});

test('a list of free pages that makes no sense is damage, and no harm', async () => {
  const random = randomSource(testSeed());
  const below = (most: number) => Math.floor(random() * most);
  const directory = temporaryDirectory();
  const whole = await storeWithFreePages(directory);
  const file = reserve(whole, 4, 0);
  const root = Number(file.readBigUInt64LE(newestMeta(file) + FREE_ROOT_AT)) * PAGE_BYTES;
  for (let run = 0; run < 300; run += 1) {
    const damaged = Buffer.from(file);
    for (let times = 1 + below(8); times > 0; times -= 1) {
      damaged[root + below(PAGE_BYTES)] = below(256);
    }
    writeFileSync(join(directory, 'data.mdb'), damaged);
    expect(['damaged', 'lmdb']).toContain(inspectDataFile(directory));
  }
});
