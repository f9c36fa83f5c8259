/** Stores that have lost the page of their format or of their head: damage, not a folder without a ledger. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { type Column, HEAD, IDENTITY, TRANSACTIONS } from '../../src/store/columns/columns.ts';
import { HEAD_KEY } from '../../src/store/columns/head.ts';
import { LEDGER_IDENTITY } from '../../src/store/columns/identity-column.ts';
import { encodeBucketKey, encodeU64Key } from '../../src/store/columns/order-key.ts';
import { dataFileOf, PAGE_BYTES } from '../../src/store/lmdb/lmdb-file.ts';
import {
  copyLmdbStore,
  openLmdbReader,
  openLmdbStore,
  openLmdbUpgrade,
} from '../../src/store/lmdb/lmdb-store.ts';
import { temporaryDirectory } from './engines.ts';
import { findRow, type NodePlace, overwrite, spoilPage } from './lmdb-pages.ts';

const VERSION = 7n;
const HEAD_VALUE = Buffer.from('the bytes of a head');

/** A store with a ledger's first rows, and the place of one of them. */
async function storeWith(column: Column): Promise<{ directory: string; place: NodePlace }> {
  const directory = temporaryDirectory();
  const store = await openLmdbStore({ directory });
  const hash = Buffer.alloc(32, 1);
  const { partition, order } = encodeBucketKey(VERSION);
  const first = new Batch().put(TRANSACTIONS, partition, order, Buffer.from('a value'));
  LEDGER_IDENTITY.put(first, undefined, {
    chainId: 4,
    genesisWaypointHash: hash,
    keepsTransactions: true,
  });
  await store.commit(first.put(HEAD, HEAD_KEY.partition, HEAD_KEY.order, HEAD_VALUE));
  await store.close();
  // Only the column of identities has a second row.
  const ofIdentity = findRow(directory, LEDGER_IDENTITY.keyOf().partition);
  return { directory, place: column === IDENTITY ? ofIdentity : placeOf(directory, HEAD_VALUE) };
}

function placeOf(directory: string, value: Buffer): NodePlace {
  const nodeStart = readFileSync(dataFileOf(directory)).lastIndexOf(value);
  return { pageStart: nodeStart - (nodeStart % PAGE_BYTES), nodeStart };
}

function pageOfRecords(directory: string): Buffer {
  const { pageStart } = findRow(directory, encodeU64Key(VERSION));
  return pageAt(directory, pageStart);
}

function pageAt(directory: string, start: number): Buffer {
  return readFileSync(dataFileOf(directory)).subarray(start, start + PAGE_BYTES);
}

const DAMAGES: readonly (readonly [string, (directory: string, place: NodePlace) => void])[] = [
  [
    'a page of others in its place',
    (directory, { pageStart }) => overwrite(directory, pageStart, pageOfRecords(directory)),
  ],
  [
    'nothing in its place',
    (directory, { pageStart }) => overwrite(directory, pageStart, Buffer.alloc(PAGE_BYTES)),
  ],
  ['a page of no kind in its place', spoilPage],
];

describe.each([IDENTITY, HEAD])('the page of $name', (column) => {
  test.each(DAMAGES)('with %s: the store is damaged, and nothing is written', async (_, spoil) => {
    const { directory, place } = await storeWith(column);
    spoil(directory, place);
    const page = pageAt(directory, place.pageStart);
    const damaged = expect.objectContaining({ code: 'store_damaged' });
    expect(() => openLmdbReader({ directory })).toThrow(damaged);
    await expect(openLmdbStore({ directory })).rejects.toThrow(damaged);
    await expect(openLmdbUpgrade({ directory }, [])).rejects.toThrow(damaged);
    const copied = copyLmdbStore(directory, temporaryDirectory(), () => undefined);
    await expect(copied).rejects.toThrow(damaged);
    expect(pageAt(directory, place.pageStart)).toEqual(page);
  });
});
