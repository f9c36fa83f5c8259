/** Where an LMDB store has the values of state: in records of versions, apart from them, or in rows of their own. */
import { open, type RootDatabase } from 'lmdb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { STATE, TRANSACTIONS } from '../../src/store/columns/columns.ts';
import { encodeBucketKey, encodeU64Key } from '../../src/store/columns/order-key.ts';
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import type { Store } from '../../src/store/store.ts';
import { randomSource, testSeed } from '../random.ts';
import { temporaryDirectory } from './engines.ts';
import { findValue, flipBit } from './lmdb-pages.ts';

const MAX_STATE_BYTES = 4_096;
const random = randomSource(testSeed());
const hashOf = (number: number): Buffer => Buffer.alloc(32, number);
const bytesOf = (count: number): Buffer => {
  return Buffer.from(Array.from({ length: count }, () => Math.floor(random() * 256)));
};

async function temporaryStore(): Promise<{ readonly store: Store; readonly directory: string }> {
  const directory = temporaryDirectory();
  const store = await openLmdbStore({ directory });
  onTestFinished(() => store.close());
  return { store, directory };
}

function versionWith(version: number, values: readonly Buffer[]): Batch {
  const batch = new Batch();
  const { partition, order } = encodeBucketKey(BigInt(version));
  batch.put(TRANSACTIONS, partition, order, Buffer.from('a transaction'));
  for (const [number, value] of values.entries()) {
    batch.put(STATE, hashOf(number), encodeU64Key(BigInt(version)), value);
  }
  return batch;
}

/** Rows in the databases of state, besides those in records. */
async function rowsOutside(directory: string) {
  const root = open({ path: directory, readOnly: true });
  try {
    const count = (name: string) => root.openDB({ name }).getStats() as { entryCount: number };
    return { apart: count('state_by_version').entryCount, own: count('state').entryCount };
  } finally {
    await root.close();
  }
}

describe('values of state', () => {
  test.each([
    [MAX_STATE_BYTES - 1, 0],
    [MAX_STATE_BYTES, 0],
    [MAX_STATE_BYTES + 1, 1],
  ])('%i bytes of one version leave %i rows apart from its record', async (bytes, apart) => {
    const { store, directory } = await temporaryStore();
    const values = [bytesOf(1_000), bytesOf(bytes - 1_100), bytesOf(100)];
    await store.commit(versionWith(7, values));
    expect(await rowsOutside(directory)).toEqual({ apart, own: 0 });
    for (const [number, value] of values.entries()) {
      const row = await store.seekLast(STATE, hashOf(number), encodeU64Key(9n));
      expect(row).toEqual({ order: encodeU64Key(7n), value });
    }
  });

  test('that are larger do not keep smaller ones out of the record', async () => {
    const { store, directory } = await temporaryStore();
    await store.commit(versionWith(7, [bytesOf(MAX_STATE_BYTES + 1), bytesOf(10)]));
    expect(await rowsOutside(directory)).toEqual({ apart: 1, own: 0 });
  });

  test('of a version without a record have rows of their own', async () => {
    const { store, directory } = await temporaryStore();
    const value = bytesOf(10);
    await store.commit(new Batch().put(STATE, hashOf(1), encodeU64Key(7n), value));
    expect(await rowsOutside(directory)).toEqual({ apart: 0, own: 1 });
    expect(await store.get(STATE, hashOf(1), encodeU64Key(7n))).toEqual(value);
  });

  test('are replaced and deleted where they are', async () => {
    const { store, directory } = await temporaryStore();
    const version = encodeU64Key(7n);
    await store.commit(versionWith(7, [bytesOf(100), bytesOf(5_000), bytesOf(6_000)]));
    const [first, second] = [bytesOf(200), bytesOf(300)];
    const changes = new Batch().put(STATE, hashOf(0), version, first);
    changes.put(STATE, hashOf(1), version, second);
    await store.commit(changes.deleteRange(STATE, hashOf(2), {}));
    expect(await rowsOutside(directory)).toEqual({ apart: 1, own: 0 });
    expect(await store.get(STATE, hashOf(0), version)).toEqual(first);
    expect(await store.get(STATE, hashOf(1), version)).toEqual(second);
    expect(await store.get(STATE, hashOf(2), version)).toBeUndefined();
    await store.commit(new Batch().deleteRange(STATE, hashOf(1), {}));
    expect(await rowsOutside(directory)).toEqual({ apart: 0, own: 0 });
  });

  test.each(['is lost', 'is damaged'])(
    'are put again where the record of their version %s, and one of them is not in the index',
    async (what) => {
      const directory = temporaryDirectory();
      const values = [bytesOf(10), bytesOf(20), bytesOf(30)];
      let store = await openLmdbStore({ directory });
      await store.commit(versionWith(7, values.slice(0, 2)));
      await store.close();
      const name = encodeU64Key(7n);
      if (what === 'is damaged') {
        const { start, length } = findValue(directory, name);
        flipBit(directory, start + length - 1, 0);
      } else {
        const root: RootDatabase<never, string> = open(directory, { noSubdir: false });
        const raw = { encoding: 'binary', keyEncoding: 'binary' } as const;
        await root.openDB<Buffer, Buffer>({ name: 'versions', ...raw }).remove(name);
        await root.close();
      }
      store = await openLmdbStore({ directory });
      onTestFinished(() => store.close());
      await store.commit(versionWith(7, values).clearVersion(encodeBucketKey(7n)));
      for (const [number, value] of values.entries()) {
        expect(await store.get(STATE, hashOf(number), name)).toEqual(value);
      }
    },
  );
});
