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
import { flipBit, overwrite } from './lmdb-pages.ts';

const FLAGS_AT = 18;
const LOWER_AT = 20;
const HEADER_BYTES = 24;
const NODE_HEADER_BYTES = 8;
const LEAF_FLAG = 2;
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

/** A leaf, and where the nodes of its rows begin in the file, by key. */
interface Leaf {
  readonly pageStart: number;
  readonly nodes: ReadonlyMap<string, number>;
}

/** The newest leaf whose first key this is, and that has as many rows. */
function leafOf(directory: string, firstKey: string, rows: number): Leaf {
  const file = readFileSync(dataFileOf(directory));
  let [newest, newestTransaction]: [Leaf | undefined, bigint] = [undefined, -1n];
  for (let pageStart = 0; pageStart < file.length; pageStart += PAGE_BYTES) {
    const page = file.subarray(pageStart, pageStart + PAGE_BYTES);
    const isNumbered = page.readBigUInt64LE(0) === BigInt(pageStart / PAGE_BYTES);
    if (!isNumbered || page.readUInt16LE(FLAGS_AT) !== LEAF_FLAG) continue;
    const nodes = new Map<string, number>();
    for (let at = 0; at < page.readUInt16LE(LOWER_AT); at += 2) {
      const node = HEADER_BYTES + page.readUInt16LE(HEADER_BYTES + at);
      const start = node + NODE_HEADER_BYTES;
      const key = page.toString('latin1', start, start + page.readUInt16LE(node + 6));
      nodes.set(key, pageStart + node);
    }
    const transaction = page.readBigUInt64LE(8);
    if (nodes.size !== rows || nodes.keys().next().value !== firstKey) continue;
    if (transaction <= newestTransaction) continue;
    [newest, newestTransaction] = [{ pageStart, nodes }, transaction];
  }
  return newest!;
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
    [
      'a page without rows',
      (at) => overwrite(at, identityOf(at).pageStart + LOWER_AT, Buffer.of(0, 0)),
    ],
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
    ['no database', (at) => overwrite(at, databasesOf(at).pageStart + LOWER_AT, Buffer.of(0, 0))],
    ['another name of the identity', (at) => flipRow(at, databasesOf(at), 'c01\0', 2, 3)],
    ['another name of the head', (at) => flipRow(at, databasesOf(at), 'c02\0', 2, 0)],
  ])('with %s in the list of databases is damaged, whoever opens it', async (_, spoil) => {
    await expectDamage(spoil);
  });

  test('with a page of the lock in the place of its head is not one that was never begun', async () => {
    const directory = await ledger();
    exchange(directory, headOf(directory), lockOf(directory).pageStart);
    const refusal = expect.objectContaining({ code: 'store_damaged' });
    expect(() => openLmdbReader({ directory })).toThrow(refusal);
    await expect(openLmdbStore({ directory })).rejects.toThrow(refusal);
  });
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
