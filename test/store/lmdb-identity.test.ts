/** A store whose pages that name it are damaged: it is never taken for a folder without a ledger. */
import { readFileSync } from 'node:fs';
import { open, type RootDatabase } from 'lmdb';
import { describe, expect, test } from 'vitest';
import { readHead } from '../../src/store/columns/head.ts';
import { dataFileOf, PAGE_BYTES } from '../../src/store/lmdb/lmdb-file.ts';
import {
  copyLmdbStore,
  openLmdbReader,
  openLmdbSnapshot,
  openLmdbStore,
  openLmdbUpgrade,
} from '../../src/store/lmdb/lmdb-store.ts';
import { OLD_COLUMNS } from '../../src/store/upgrade/upgrade.ts';
import { LedgerWriter } from '../../src/store/writer.ts';
import { plainChunk } from './chunks.ts';
import { temporaryDirectory } from './engines.ts';
import {
  emptyPage,
  flipBit,
  type Leaf,
  leavesOf,
  NODE_HEADER_BYTES,
  overwrite,
  spoilPage,
} from './lmdb-pages.ts';

const damage = expect.objectContaining({
  code: expect.stringMatching(/^(?:store|row)_damaged$/),
  message: expect.stringMatching(/damaged.*do not make a ledger over it; put a backup/),
});

async function ledger(): Promise<string> {
  const directory = temporaryDirectory();
  const store = await openLmdbStore({ directory });
  await (await LedgerWriter.open(store)).append(plainChunk(0, 3));
  await store.close();
  return directory;
}

/** The newest leaf whose first key this is, and that has as many rows. */
function leafOf(directory: string, firstKey: string, rows: number): Leaf {
  return leavesOf(directory)
    .filter(({ nodes }) => nodes.size === rows && nodes.keys().next().value === firstKey)
    .reduce((newest, leaf) => (leaf.transaction > newest.transaction ? leaf : newest));
}

/** Format and ledger. */
const identityOf = (directory: string): Leaf => leafOf(directory, '\0', 2);
const headOf = (directory: string): Leaf => leafOf(directory, '\0', 1);
const lockOf = (directory: string): Leaf => leafOf(directory, 'lock', 1);
/** The list of databases. */
const databasesOf = (directory: string): Leaf => leafOf(directory, 'c01\0', 19);

/** Puts a page in the place of another one, as a write that went astray does. */
function exchange(directory: string, to: Leaf, from: number): void {
  const page = readFileSync(dataFileOf(directory)).subarray(from, from + PAGE_BYTES);
  overwrite(directory, to.pageStart, page);
}

/** Flips a bit in the first byte of a row's key, or of its value. */
function flipRow(directory: string, { nodes }: Leaf, key: string, at: number, bit: number): void {
  flipBit(directory, nodes.get(key)! + NODE_HEADER_BYTES + at, bit);
}

describe('a ledger', () => {
  test.each<[string, (directory: string) => void]>([
    ['zeros', (at) => overwrite(at, identityOf(at).pageStart, Buffer.alloc(PAGE_BYTES))],
    ['a page of the head', (at) => exchange(at, identityOf(at), headOf(at).pageStart)],
    ['the list of databases', (at) => exchange(at, identityOf(at), databasesOf(at).pageStart)],
    ['a page without rows', (at) => emptyPage(at, identityOf(at))],
    ['a page of no kind', (at) => spoilPage(at, identityOf(at))],
    ['another key of the format', (at) => flipRow(at, identityOf(at), '\0', 0, 6)],
    ['another key of the chain', (at) => flipRow(at, identityOf(at), '\x01', 0, 6)],
    ['a format that none is', (at) => flipRow(at, identityOf(at), '\0', 2, 4)],
    ['a format of no fork', (at) => flipRow(at, identityOf(at), '\0', 4, 3)],
  ])('with %s where its identity is, is damaged, whoever opens it', async (_, spoil) => {
    await expectDamage(spoil);
  });

  test.each<[string, (directory: string) => void]>([
    ['zeros', (at) => overwrite(at, databasesOf(at).pageStart, Buffer.alloc(PAGE_BYTES))],
    ['a page of the lock', (at) => exchange(at, databasesOf(at), lockOf(at).pageStart)],
    ['no database', (at) => emptyPage(at, databasesOf(at))],
    ['another name of the identity', (at) => flipRow(at, databasesOf(at), 'c01\0', 2, 3)],
    ['another name of the head', (at) => flipRow(at, databasesOf(at), 'c02\0', 2, 0)],
  ])('with %s in the list of databases is damaged, whoever opens it', async (_, spoil) => {
    await expectDamage(spoil);
  });

  test.each<[string, (directory: string) => void]>([
    ['zeros', (at) => overwrite(at, headOf(at).pageStart, Buffer.alloc(PAGE_BYTES))],
    ['a page of the lock', (at) => exchange(at, headOf(at), lockOf(at).pageStart)],
    ['a page of no kind', (at) => spoilPage(at, headOf(at))],
  ])(
    'with %s where its head is, is damaged, and not one that was never begun',
    async (_, spoil) => {
      await expectDamage(spoil);
    },
  );
});

async function expectDamage(spoil: (directory: string) => void): Promise<void> {
  const directory = await ledger();
  spoil(directory);
  const before = readFileSync(dataFileOf(directory));
  for (let round = 0; round < 2; round += 1) {
    expect(() => openLmdbReader({ directory })).toThrow(damage);
    expect(() => openLmdbSnapshot({ directory })).toThrow(damage);
    await expect(openLmdbStore({ directory })).rejects.toThrow(damage);
    await expect(openLmdbUpgrade({ directory }, OLD_COLUMNS)).rejects.toThrow(damage);
    const copied = copyLmdbStore(directory, temporaryDirectory(), () => undefined);
    await expect(copied).rejects.toThrow(damage);
  }
  expect(readFileSync(dataFileOf(directory)).equals(before)).toBe(true);
}

test('a store whose making was cut off after any of its databases is made again', async () => {
  for (const names of [[], ['writer'], ['writer', 'c02'], ['writer', 'c01', 'c02', 'runs']]) {
    const directory = temporaryDirectory();
    const root: RootDatabase<never, string> = open(directory, { noSubdir: false });
    for (const name of names) {
      const useVersions = name === 'writer';
      root.openDB({ name, encoding: 'binary', keyEncoding: 'binary', useVersions });
    }
    await root.close();
    const missing = expect.objectContaining({ code: 'store_not_found' });
    expect(() => openLmdbReader({ directory })).toThrow(missing);
    const store = await openLmdbStore({ directory });
    await (await LedgerWriter.open(store)).append(plainChunk(0, 3));
    await store.close();
    const reader = openLmdbReader({ directory });
    expect(await readHead(reader)).toMatchObject({ version: 2n });
    await reader.close();
  }
});
