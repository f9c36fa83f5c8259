/** What only an LMDB store has: its folder, its format, its lock, its disk. */
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import {
  IDENTITY,
  STATE,
  STORE_FORMAT_VERSION,
  TRANSACTIONS,
} from '../../src/store/columns/columns.ts';
import { FORMAT_KEY } from '../../src/store/columns/identity-column.ts';
import { encodeBucketKey, encodeU64Key } from '../../src/store/columns/order-key.ts';
import { openLmdbReader, openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts';
import {
  decodeProcessIdentity,
  encodeProcessIdentity,
  isRunning,
  ownIdentity,
} from '../../src/store/lmdb/lmdb-writer-lock.ts';
import type { Store } from '../../src/store/store.ts';
import { openView } from '../../src/store/view.ts';
import { LedgerWriter } from '../../src/store/writer.ts';
import { verifyLedger } from '../../src/verify/ledger.ts';
import { randomSource, testSeed } from '../random.ts';
import { chunk, plainChunk, resourceKey, transaction, write } from './chunks.ts';
import { temporaryDirectory, temporaryLmdbStore } from './engines.ts';

const hash = (fill: number): Buffer => Buffer.alloc(32, fill);

const random = randomSource(testSeed());
/** What compression does not make shorter. */
const INCOMPRESSIBLE = Buffer.from(Array.from({ length: 2_000 }, () => Math.floor(random() * 256)));

function putMany(store: Store, first: number, count: number, valueBytes: number): Promise<void> {
  const batch = new Batch();
  for (let version = first; version < first + count; version += 1) {
    batch.put(
      STATE,
      hash(version % 251),
      encodeU64Key(BigInt(version)),
      INCOMPRESSIBLE.subarray(0, valueBytes),
    );
  }
  return store.commit(batch);
}

async function setFormat(directory: string, value: Buffer): Promise<void> {
  const store = await openLmdbStore({ directory });
  const { partition, order } = FORMAT_KEY;
  await store.commit(new Batch().put(IDENTITY, partition, order, value));
  await store.close();
}

describe('opening', () => {
  test('a ledger survives closing and opening', async () => {
    const directory = temporaryDirectory();
    const store = await openLmdbStore({ directory });
    const writer = await LedgerWriter.open(store);
    await writer.append(plainChunk(0, 3));
    const { head } = writer;
    await store.close();
    const again = await temporaryLmdbStore(directory);
    expect((await LedgerWriter.open(again)).head).toEqual(head);
  });

  test('closing waits for the commits under way', async () => {
    const directory = temporaryDirectory();
    const store = await openLmdbStore({ directory });
    const commit = putMany(store, 0, 5_000, 100);
    await store.close();
    await commit;
    const again = await temporaryLmdbStore(directory);
    expect((await again.statistics()).find(({ column }) => column === STATE)?.rows).toBe(5_000);
  });

  test('a reader needs a store', async () => {
    const missing = expect.objectContaining({ code: 'store_not_found' });
    const directory = temporaryDirectory();
    expect(() => openLmdbReader({ directory })).toThrow(missing);
    expect(() => openLmdbReader({ directory: join(directory, 'not', 'there') })).toThrow(missing);
    expect(readdirSync(directory)).toEqual([]);
    const made = open(directory, { noSubdir: false });
    await made.close();
    expect(() => openLmdbReader({ directory })).toThrow(missing);
  });

  test.each([
    [STORE_FORMAT_VERSION + 1, /newer Daybook/],
    [STORE_FORMAT_VERSION - 1, /run daybook upgrade/],
    [2, /older Daybook/],
  ])('format %i is refused and left alone', async (format, remedy) => {
    const directory = temporaryDirectory();
    const value = Buffer.alloc(4);
    value.writeUInt32LE(format);
    await setFormat(directory, value);
    const mismatch = expect.objectContaining({
      code: 'store_format_mismatch',
      found: format,
      expected: STORE_FORMAT_VERSION,
      message: expect.stringMatching(remedy),
    });
    await expect(openLmdbStore({ directory })).rejects.toThrow(mismatch);
    await expect(openLmdbStore({ directory })).rejects.toThrow(mismatch);
    expect(() => openLmdbReader({ directory })).toThrow(mismatch);
  });

  test('a transaction that does not expand is a damaged row', async () => {
    const directory = temporaryDirectory();
    const store = await openLmdbStore({ directory });
    const writer = await LedgerWriter.open(store);
    await writer.append(plainChunk(0, 3));
    await store.close();
    const root = open<never, string>(directory, { noSubdir: false });
    const damaged = root.openDB<Buffer, Buffer>({
      name: 'versions',
      encoding: 'binary',
      keyEncoding: 'binary',
    });
    // An index of one byte, for 9 bytes of the column with place 1; then a block that ends early.
    await damaged.put(
      Buffer.of(0, 0, 0, 0, 0, 0, 0, 1),
      Buffer.of(1, (9 << 2) | 1, 1, 9, 0, 0x40, 1),
    );
    await root.close();
    const reader = openLmdbReader({ directory });
    const { partition, order } = encodeBucketKey(1n);
    const named = { code: 'row_damaged', column: 'transactions', key: '000000000000/0001' };
    expect(() => reader.get(TRANSACTIONS, partition, order)).toThrow(
      expect.objectContaining(named),
    );
    expect(() => reader.range(TRANSACTIONS, partition, { limit: 3 })).toThrow(
      expect.objectContaining({ code: 'row_damaged', column: 'transactions' }),
    );
    const { damages } = await verifyLedger(reader);
    const { column, key } = named;
    expect(damages).toContainEqual(expect.objectContaining({ column, key, version: 1n }));
    await reader.close();
  });

  test('a damaged format row is said', async () => {
    const directory = temporaryDirectory();
    await setFormat(directory, Buffer.of(1));
    await expect(openLmdbStore({ directory })).rejects.toThrow(
      expect.objectContaining({ code: 'row_damaged', column: 'identity' }),
    );
  });

  test('files that are something else are refused and left alone', async () => {
    const foreign = expect.objectContaining({ code: 'store_foreign' });
    const other = temporaryDirectory();
    const environment = open(other, { noSubdir: false });
    const named = environment.openDB({ name: 'theirs' });
    await named.put('key', 'value');
    await environment.close();
    await expect(openLmdbStore({ directory: other })).rejects.toThrow(foreign);
    expect(() => openLmdbReader({ directory: other })).toThrow(foreign);
    for (const bytes of [1, 31, 32, 20_000]) {
      const garbage = temporaryDirectory();
      writeFileSync(join(garbage, 'data.mdb'), Buffer.alloc(bytes, 0x41));
      await expect(openLmdbStore({ directory: garbage })).rejects.toThrow(foreign);
      expect(() => openLmdbReader({ directory: garbage })).toThrow(foreign);
    }
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, 'text');
    await expect(openLmdbStore({ directory: file })).rejects.toThrow(
      expect.objectContaining({ code: 'store_io' }),
    );
  });

  test('a store whose creation was killed halfway is one that does not exist yet', async () => {
    const directory = temporaryDirectory();
    const root = open(directory, {
      encoding: 'binary',
      noSubdir: false,
      pageSize: 8192,
      maxDbs: 64,
    });
    root.openDB({ name: 'writer', encoding: 'binary', keyEncoding: 'binary', useVersions: true });
    await root.close();
    const missing = expect.objectContaining({ code: 'store_not_found' });
    expect(() => openLmdbReader({ directory })).toThrow(missing);
    await (await openLmdbStore({ directory })).close();
  });

  test('an empty data file is a store not made yet', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'data.mdb'), '');
    expect(() => openLmdbReader({ directory })).toThrow(
      expect.objectContaining({ code: 'store_not_found' }),
    );
    await putMany(await temporaryLmdbStore(directory), 0, 1, 1);
  });

  test('a small map grows', async () => {
    const directory = temporaryDirectory();
    const store = await openLmdbStore({ directory, mapSizeBytes: 256 * 1024 });
    onTestFinished(() => store.close());
    for (let round = 0; round < 8; round += 1) await putMany(store, round * 1_000, 1_000, 2_000);
    const state = (await store.statistics()).find(({ column }) => column === STATE)!;
    expect(state.rows).toBe(8_000);
    expect(state.bytes).toBeGreaterThan(16_000_000);
    expect(await store.get(STATE, hash(1), encodeU64Key(1n))).toHaveLength(2_000);
  });

  test('space of deleted rows is used again', async () => {
    const store = await temporaryLmdbStore();
    const sizes: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      await putMany(store, 0, 2_000, 1_000);
      const batch = new Batch();
      for (let version = 0; version < 2_000; version += 1) {
        batch.delete(STATE, hash(version % 251), encodeU64Key(BigInt(version)));
      }
      await store.commit(batch);
      const all = await store.statistics();
      sizes.push(all.reduce((sum, { bytes }) => sum + bytes, 0));
    }
    expect(Math.max(...sizes)).toBeLessThan(1_000_000);
  });
});

describe('a folder that is not there', () => {
  test('is made with those above it', async () => {
    const directory = join(temporaryDirectory(), 'a', 'b', 'c');
    const store = await openLmdbStore({ directory });
    onTestFinished(() => store.close());
    expect(readdirSync(directory)).toContain('data.mdb');
  });

  test.skipIf(process.platform !== 'linux')(
    'and cannot be made is an error (Linux: /proc)',
    async () => {
      await expect(openLmdbStore({ directory: '/proc/none/below' })).rejects.toMatchObject({
        code: 'store_io',
        message: expect.stringContaining('/proc/none/below cannot be opened: ENOENT'),
      });
    },
  );
});

describe('the writer’s lock', () => {
  test('process identities: both directions, and who lives', () => {
    const own = ownIdentity();
    expect(decodeProcessIdentity(encodeProcessIdentity(own))).toEqual(own);
    expect(isRunning(own)).toBe(true);
    expect(isRunning({ ...own, startTicks: '' })).toBe(true);
    expect(isRunning({ ...own, bootId: '' })).toBe(true);
    expect(isRunning({ ...own, pid: 2 ** 22 + 1, startTicks: '' })).toBe(false);
    if (own.bootId !== '') expect(isRunning({ ...own, bootId: 'another' })).toBe(false);
    if (own.startTicks !== '') expect(isRunning({ ...own, startTicks: '1' })).toBe(false);
  });

  test('who has lost the lock writes nothing more', async () => {
    const directory = temporaryDirectory();
    const store = await openLmdbStore({ directory });
    const writer = await LedgerWriter.open(store);
    await writer.append(plainChunk(0, 1));
    // As a process does that cannot see this one: it takes the lock's row for a dead writer's.
    const intruder = open(directory, { noSubdir: false });
    const lock = intruder.openDB({
      ...{ name: 'writer', encoding: 'binary', keyEncoding: 'binary', useVersions: true },
    });
    await lock.put(Buffer.from('lock'), encodeProcessIdentity(ownIdentity()), 42);
    await expect(writer.append(plainChunk(1, 1))).rejects.toThrow(
      expect.objectContaining({ code: 'store_lock_lost' }),
    );
    expect((await openView(store)).head.version).toBe(0n);
    await store.close();
    expect(lock.getEntry(Buffer.from('lock'))?.version).toBe(42);
    await intruder.close();
  });
});

describe('a failing disk', () => {
  test.skipIf(process.getuid?.() !== 0)(
    'full: said so, nothing stored, reads go on, resumes with room (skipped without root)',
    async (context) => {
      const disk = smallFileSystem();
      if (disk === undefined) return context.skip('this process may not mount a file system');
      onTestFinished(disk.unmount);
      const store = await openLmdbStore({ directory: disk.directory });
      const writer = await LedgerWriter.open(store);
      const key = resourceKey(1, 'A');
      const big = (version: number) => {
        const writes = [write(key, `${version}`.padEnd(400_000))];
        return chunk(version, [transaction(version, { writes })]);
      };
      let version = 0;
      let failure: unknown;
      for (; failure === undefined && version < 100; version += 1) {
        await writer.append(big(version)).catch((error: unknown) => {
          failure = error;
        });
      }
      const failed = version - 1;
      expect(failure).toMatchObject({ code: 'store_full', batchBytes: expect.any(Number) });
      await expect(writer.append(big(failed))).rejects.toThrow(
        expect.objectContaining({ code: 'store_full' }),
      );
      const view = await openView(store);
      expect(view.head.version).toBe(BigInt(failed - 1));
      expect(await view.transactions(0n, 100)).toHaveLength(failed);
      disk.resize('64m');
      expect((await writer.append(big(failed))).head.version).toBe(BigInt(failed));
      await store.close();
    },
  );
});

/** A small file system of its own; `undefined` where this process may not mount one. */
function smallFileSystem():
  | { readonly directory: string; resize(size: string): void; unmount(): void }
  | undefined {
  const directory = temporaryDirectory();
  const mount = (...options: string[]) =>
    execFileSync('mount', [...options, directory], { stdio: 'ignore' });
  try {
    mount('-t', 'tmpfs', '-o', 'size=8m', 'tmpfs');
  } catch {
    return undefined;
  }
  return {
    directory,
    resize: (size) => mount('-o', `remount,size=${size}`),
    unmount: () => {
      execFileSync('umount', ['-l', directory], { stdio: 'ignore' });
    },
  };
}
