/**
 * One LMDB store and several processes: readers follow, a second writer is refused, a killed one
 * loses nothing.
 */
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hashedPhysicalKey } from '../../src/move/types/state-key.ts';
import { type Head, readHead } from '../../src/store/columns/head.ts';
import { openLmdbReader, openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import { openView } from '../../src/store/view.ts';
import { LedgerWriter } from '../../src/store/writer.ts';
import { randomSource, testSeed } from '../random.ts';
import { compileStoreProcess, type StoreProcess, startStoreProcess } from './child/start.ts';
import { chunk, plainChunk, resourceKey, transaction, write } from './chunks.ts';
import { temporaryDirectory } from './engines.ts';

describe('processes', () => {
  let compiled: ReturnType<typeof compileStoreProcess>;
  beforeAll(() => {
    compiled = compileStoreProcess();
  });
  afterAll(() => compiled.remove());
  const start = (role: string, directory: string): StoreProcess =>
    startStoreProcess(compiled.script, role, directory);

  test('readers see each new head at once, whole', async () => {
    const directory = temporaryDirectory();
    const store = await openLmdbStore({ directory });
    const writer = await LedgerWriter.open(store);
    const next = (version: number) =>
      chunk(version, [
        transaction(version, { writes: [write(resourceKey(version % 20, 'A'), `${version}`)] }),
      ]);
    await writer.append(next(0));
    const readers = [start('read', directory), start('read', directory)];
    for (const reader of readers) expect(await reader.line()).toBe('open');
    for (let version = 0; version < 30; version += 1) {
      if (version > 0) await writer.append(next(version));
      for (const reader of readers) {
        expect(await reader.ask('?')).toBe(`head ${version} state ${version}`);
      }
    }
    await store.close();
    for (const reader of readers) reader.child.stdin!.end();
  });

  test('a head is the newest one, however long the turn of the event loop', async () => {
    const directory = temporaryDirectory();
    const append = () => execFileSync(process.execPath, [compiled.script, 'append', directory]);
    append();
    const store = openLmdbReader({ directory });
    onTestFinished(() => store.close());
    for (let version = 0n; version < 4n; version += 1n) {
      // Nothing of the engine's own can run between these: the turn does not end.
      const before = readHead(store) as Head;
      append();
      const after = readHead(store) as Head;
      expect([before.version, after.version]).toEqual([version, version + 1n]);
    }
  });

  test('a second writer is refused, until the first has gone', async () => {
    const directory = temporaryDirectory();
    const store = await openLmdbStore({ directory });
    const refusedHere = start('hold', directory);
    expect(await refusedHere.line()).toMatch(
      new RegExp(`^error store_locked .* is being written by process ${process.pid}: `),
    );
    await expect(openLmdbStore({ directory })).rejects.toThrow(
      expect.objectContaining({ code: 'store_locked', pid: process.pid }),
    );
    await store.close();
    const holder = start('hold', directory);
    expect(await holder.line()).toBe('open');
    await expect(openLmdbStore({ directory })).rejects.toThrow(
      expect.objectContaining({ code: 'store_locked', pid: holder.child.pid }),
    );
    await holder.end('SIGKILL');
    const taken = await openLmdbStore({ directory });
    await (await LedgerWriter.open(taken)).append(plainChunk(0, 1));
    await taken.close();
  });

  test('kill -9 while committing: what was acknowledged is there, nothing by halves', async () => {
    const directory = temporaryDirectory();
    const random = randomSource(testSeed());
    let acknowledged = -1;
    for (let round = 0; round < 6; round += 1) {
      const writer = start('write', directory);
      expect(await writer.line()).toBe(`open ${acknowledged}`);
      const enough = 3 + Math.floor(random() * 20);
      for (let count = 0; count < enough; count += 1) {
        acknowledged = Number((await writer.line()).split(' ')[1]);
      }
      await new Promise((resolve) => setTimeout(resolve, random() * 20));
      const unread = await writer.end('SIGKILL');
      const last = unread.at(-1);
      if (last?.startsWith('acknowledged ')) acknowledged = Number(last.split(' ')[1]);
      const version = await checkLedger(directory);
      expect(version).toBeGreaterThanOrEqual(acknowledged);
      acknowledged = version;
    }
  });
});

/** Everything up to the head must be there, and nothing above it. Gives the head's version. */
async function checkLedger(directory: string): Promise<number> {
  const store = openLmdbReader({ directory });
  try {
    const view = await openView(store);
    const version = Number(view.head.version);
    const transactions = await view.transactions(0n, version + 100);
    expect(transactions).toHaveLength(version + 1);
    transactions.forEach((bytes, index) => {
      expect(bytes.equals(transaction(index).transaction!)).toBe(true);
    });
    for (let key = 0; key < 20; key += 1) {
      const last = version - ((((version - key) % 20) + 20) % 20);
      const entry = await view.state(hashedPhysicalKey(resourceKey(key, 'A')));
      expect(entry?.bytes?.toString()).toBe(last < 0 ? undefined : `${last}`);
    }
    const statistics = await store.statistics();
    const rows = Object.fromEntries(statistics.map(({ column, rows: n }) => [column.name, n]));
    const all = version + 1;
    expect(rows).toMatchObject({ transactions: all, transaction_infos: all, state: all });
    return version;
  } finally {
    await store.close();
  }
}
