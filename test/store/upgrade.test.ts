/** Upgrades: a store that an older program made becomes what this program would have made, wherever it is cut off. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { Committer } from '../../src/ingest/committer.ts';
import { ChunkAssembler } from '../../src/ingest/feed/chunk-assembler.ts';
import { PageVerifier } from '../../src/ingest/feed/page-verifier.ts';
import { transactionsBcs } from '../../src/ledger/history.ts';
import { openStoreReader, openStoreWriter, withStoreToUpgrade } from '../../src/node/open-store.ts';
import { sampleChunks } from '../../src/sample/sample.ts';
import { Batch } from '../../src/store/batch.ts';
import {
  COLUMNS,
  type Column,
  EVENT_TYPES,
  MODULE_EVENTS,
  STORE_FORMAT_VERSION,
  TRANSACTION_HASHES,
  TRANSACTION_INFOS,
  TRANSACTIONS,
} from '../../src/store/columns/columns.ts';
import { FORMAT } from '../../src/store/columns/identity-column.ts';
import { encodeBucketKey } from '../../src/store/columns/order-key.ts';
import { columnDigest } from '../../src/store/digest.ts';
import { openLmdbReader, openLmdbStore, openLmdbUpgrade } from '../../src/store/lmdb/lmdb-store.ts';
import { Pruner } from '../../src/store/pruning/prune.ts';
import { type Store, type StoreReader, scanPages } from '../../src/store/store.ts';
import { fromFormat3, OLD_TRANSACTIONS } from '../../src/store/upgrade/from-format-3.ts';
import { fromFormat4 } from '../../src/store/upgrade/from-format-4.ts';
import { putAgain } from '../../src/store/upgrade/put-again.ts';
import { OLD_COLUMNS, upgradeStore } from '../../src/store/upgrade/upgrade.ts';
import { LedgerWriter } from '../../src/store/writer.ts';
import { verifyLedger } from '../../src/verify/ledger.ts';
import { NO_POSTGRES } from '../postgres/cluster.ts';
import { newPostgresLocation } from '../postgres/shared.ts';
import { chunk, transaction } from './chunks.ts';
import { temporaryDirectory } from './engines.ts';
import { MemoryStore } from './memory-store.ts';
import { downgrade, type OldFormat, unpackOldStore } from './old-formats.ts';

const SMALL_PART = { maxRows: 16, maxBytes: 1e9 };
const SMALL_PARTS = [
  fromFormat3(SMALL_PART),
  fromFormat4(SMALL_PART),
  putAgain(5, { maxRows: 150, maxBytes: 1e9 }),
  putAgain(6, { maxRows: 60, maxBytes: 1e9 }),
];
const OLD_FORMATS: readonly OldFormat[] = [3, 4, 5, 6];

async function digestsOf(store: StoreReader): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const column of COLUMNS) {
    digests[column.name] = (await columnDigest(store, column)).digest.toString('hex');
  }
  return digests;
}

/** The same ledger as this program makes it from the transactions of the old store. */
async function madeDirectly(directory: string): Promise<StoreReader> {
  const old = await openLmdbUpgrade({ directory }, OLD_COLUMNS);
  const items: Buffer[] = [];
  for (const column of [OLD_TRANSACTIONS, TRANSACTIONS]) {
    for await (const page of scanPages(old, column)) {
      for (const { value } of page) items.push(value);
    }
  }
  await old.close();
  const start = { nextVersion: 0n, frozenRoots: [], trustedRoots: [], waypoint: undefined };
  const page = new PageVerifier(start).verify(
    new Uint8Array(Buffer.concat(transactionsBcs(items))),
  );
  const assembler = new ChunkAssembler(0n, true);
  assembler.add(page, true);
  const writer = await LedgerWriter.open(new MemoryStore());
  await new Committer(writer).pushAll([assembler.takeChunk()!]);
  return writer.reader;
}

/** A store whose process dies at a commit: the first `commits` ones are made. */
function dying(store: Store, commits: number): Store {
  let left = commits;
  return Object.assign(Object.create(store) as Store, {
    get: store.get.bind(store),
    getMany: store.getMany.bind(store),
    scan: store.scan.bind(store),
    outdatedRows: store.outdatedRows?.bind(store),
    commit: async (batch: Batch) => {
      if (left === 0) throw new Error('killed');
      left -= 1;
      await store.commit(batch);
    },
  });
}

const UNFINISHED = ' to 7, this program reads format 7: run daybook upgrade --data ';
const refusal = (text: string) =>
  expect.objectContaining({
    code: 'store_format_mismatch',
    message: expect.stringContaining(text),
  });

describe.each(OLD_FORMATS)('a store of format %i', (format) => {
  let expected: Record<string, string>;
  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'daybook-store-'));
    unpackOldStore(format, directory);
    expected = await digestsOf(await madeDirectly(directory));
    rmSync(directory, { recursive: true });
  });

  function temporaryFolder(): string {
    const directory = temporaryDirectory();
    unpackOldStore(format, directory);
    return directory;
  }

  test('is refused with the way out', async () => {
    const directory = temporaryFolder();
    const text =
      `${directory} holds store format ${format}, this program reads format 7: ` +
      `run daybook upgrade --data ${directory}`;
    expect(() => openLmdbReader({ directory })).toThrow(refusal(text));
    await expect(openLmdbStore({ directory })).rejects.toThrow(refusal(text));
  });

  test('becomes what this program makes', async () => {
    const directory = temporaryFolder();
    const store = await openLmdbUpgrade({ directory }, OLD_COLUMNS);
    expect(await upgradeStore(store)).toBe(format);
    expect(await upgradeStore(store)).toBe(STORE_FORMAT_VERSION);
    await store.close();
    const reader = openLmdbReader({ directory });
    expect(await digestsOf(reader)).toEqual(expected);
    expect(await verifyLedger(reader)).toMatchObject({ damages: [], damageCount: 0 });
    await reader.close();
  });

  test('cut off at any commit, it is refused until the upgrade is done', async () => {
    let commits = 0;
    for (let isDone = false; !isDone; commits += 1) {
      const directory = temporaryFolder();
      const store = await openLmdbUpgrade({ directory }, OLD_COLUMNS);
      isDone = await upgradeStore(dying(store, commits), undefined, SMALL_PARTS).then(
        () => true,
        () => false,
      );
      await store.close();
      if (!isDone && commits > 0) {
        expect(() => openLmdbReader({ directory })).toThrow(refusal(UNFINISHED));
        await expect(openLmdbStore({ directory })).rejects.toThrow(refusal(UNFINISHED));
      }
      const again = await openLmdbUpgrade({ directory }, OLD_COLUMNS);
      await upgradeStore(again, undefined, SMALL_PARTS);
      expect(await digestsOf(again)).toEqual(expected);
      await again.close();
    }
    // The first mark, one after each step, and parts of 16 rows.
    expect(commits).toBeGreaterThan(6);
  });

  test('reports how far it is', async () => {
    const store = await openLmdbUpgrade({ directory: temporaryFolder() }, OLD_COLUMNS);
    const steps: number[] = [];
    const reported: bigint[] = [];
    const onProgress = (from: number, below: bigint) => {
      steps.push(from);
      if (from === format) reported.push(below);
    };
    await upgradeStore(store, onProgress, SMALL_PARTS);
    await store.close();
    // The step from 5 brings state to its present place at once.
    const worked = format === 6 ? [6] : [3, 4, 5].filter((one) => one >= format);
    expect([...new Set(steps)]).toEqual(worked);
    expect(reported.length).toBeGreaterThan(3);
    expect(reported).toEqual(reported.toSorted((one, other) => Number(one - other)));
  });

  test.runIf(format < 5)('with a damaged module event stays as it is', async () => {
    const directory = temporaryFolder();
    const store = await openLmdbUpgrade({ directory }, OLD_COLUMNS);
    const [row] = await store.scan(MODULE_EVENTS, { maxRows: 1, maxBytes: 1 });
    const { partition, order } = row!;
    await store.commit(new Batch().put(MODULE_EVENTS, partition, order, Buffer.of(1)));
    const damaged = { code: 'row_damaged', column: 'module_events' };
    await expect(upgradeStore(store)).rejects.toThrow(expect.objectContaining(damaged));
    expect(await store.scan(EVENT_TYPES, { maxRows: 1, maxBytes: 1 })).toEqual([]);
    await store.close();
  });

  test('has one writer', async () => {
    const directory = temporaryFolder();
    const first = await openLmdbUpgrade({ directory }, OLD_COLUMNS);
    const locked = expect.objectContaining({ code: 'store_locked' });
    await expect(openLmdbUpgrade({ directory }, OLD_COLUMNS)).rejects.toThrow(locked);
    await first.close();
  });
});

describe('a store of format 3', () => {
  test('without an info is damaged, and stays as it is', async () => {
    const directory = temporaryDirectory();
    unpackOldStore(3, directory);
    const store = await openLmdbUpgrade({ directory }, OLD_COLUMNS);
    const { partition, order } = encodeBucketKey(20n);
    await store.commit(new Batch().delete(TRANSACTION_INFOS, partition, order));
    const damaged = { code: 'row_damaged', column: 'transaction_infos', key: '000000000000/0014' };
    await expect(upgradeStore(store)).rejects.toThrow(expect.objectContaining(damaged));
    const rows = (column: Column) => store.scan(column, { maxRows: 99, maxBytes: 1e9 });
    expect((await rows(OLD_TRANSACTIONS)).length).toBeGreaterThan(60);
    await store.close();
  });
});

const PLACES = [
  ['LMDB', async () => temporaryDirectory()],
  ...(NO_POSTGRES === '' ? [['PostgreSQL', newPostgresLocation] as const] : []),
] as const;

const OLD_PLACES = PLACES.flatMap(([place, newPlace]) =>
  OLD_FORMATS.map((format) => [format, place, newPlace] as const),
);

describe.each(OLD_PLACES)('a pruned store of format %i in %s', (format, _, newPlace) => {
  async function pruned(writer: LedgerWriter, versions: number): Promise<void> {
    await new Pruner(writer, { graceMs: 0, restFactor: 0 }).run({ versions });
  }

  async function makeOld() {
    const data = await newPlace();
    const store = await openStoreWriter(data);
    const writer = await LedgerWriter.open(store);
    for (const part of sampleChunks({ seed: 5, transactions: 300, accounts: 20 })) {
      await writer.append(part);
    }
    await pruned(writer, 200);
    const before = await digestsOf(store);
    await store.close();
    await downgrade(data, format);
    return { data, before };
  }

  test('becomes what it was, and is pruned further', async () => {
    const { data, before } = await makeOld();
    await withStoreToUpgrade(data, async (store) => {
      expect(await upgradeStore(store, undefined, SMALL_PARTS)).toBe(format);
      expect(await digestsOf(store)).toEqual(before);
    });
    const reopened = await openStoreWriter(data);
    const rowsIn = async (column: Column) =>
      (await reopened.statistics()).find((one) => one.column === column)!.rows;
    const versions = await rowsIn(TRANSACTION_INFOS);
    expect(await rowsIn(TRANSACTION_HASHES)).toBe(versions);
    await pruned(await LedgerWriter.open(reopened), 20);
    const left = await rowsIn(TRANSACTION_INFOS);
    expect(left).toBeLessThan(versions);
    expect(await rowsIn(TRANSACTION_HASHES)).toBe(left);
    expect(await verifyLedger(reopened)).toMatchObject({ damages: [], damageCount: 0 });
    await reopened.close();
  });

  test('cut off again and again, is refused until the upgrade is done', async () => {
    const { data, before } = await makeOld();
    let attempts = 0;
    for (let isDone = false; !isDone; attempts += 1) {
      const way =
        attempts < 2
          ? `holds store format ${format}, this program reads format 7: run daybook upgrade --data `
          : UNFINISHED;
      await expect(openStoreReader(data)).rejects.toThrow(way);
      await expect(openStoreWriter(data)).rejects.toThrow(way);
      await withStoreToUpgrade(data, async (store) => {
        isDone = await upgradeStore(dying(store, attempts), undefined, SMALL_PARTS).then(
          () => true,
          () => false,
        );
      });
    }
    // The first mark is made each time, then one more part; the last mark ends it. Here nothing is in old places.
    expect(attempts).toBeGreaterThan(format >= 5 ? 2 : 5);
    const reader = await openStoreReader(data);
    expect(await digestsOf(reader)).toEqual(before);
    await reader.close();
  });
});

describe('other stores', () => {
  async function formatted(format: number): Promise<string> {
    const directory = temporaryDirectory();
    const store = await openLmdbStore({ directory });
    const batch = new Batch();
    FORMAT.put(batch, undefined, format);
    await store.commit(batch);
    await store.close();
    return directory;
  }

  test.each([
    [2, 'use the older Daybook that wrote it, or build the store again'],
    [8, 'install the newer Daybook that wrote it'],
  ])('format %i is refused, also by an upgrade', async (format, remedy) => {
    const directory = await formatted(format);
    const text = `${directory} holds store format ${format}, this program reads format 7: ${remedy}`;
    expect(() => openLmdbReader({ directory })).toThrow(refusal(text));
    await expect(openLmdbUpgrade({ directory }, OLD_COLUMNS)).rejects.toThrow(refusal(text));
  });

  test('no store is none after it', async () => {
    const directory = temporaryDirectory();
    const absent = expect.objectContaining({ code: 'store_not_found' });
    await expect(openLmdbUpgrade({ directory }, OLD_COLUMNS)).rejects.toThrow(absent);
  });

  test.each(OLD_FORMATS)('of format %i without events only the number changes', async (format) => {
    const directory = temporaryDirectory();
    const store = await openLmdbStore({ directory });
    const writer = await LedgerWriter.open(store);
    const { identity, ...genesis } = chunk(0, [{ ...transaction(0), transaction: undefined }]);
    await writer.append({ ...genesis, identity: { ...identity!, keepsTransactions: false } });
    const before = await digestsOf(store);
    await store.close();
    await downgrade(directory, format);
    const upgraded = await openLmdbUpgrade({ directory }, OLD_COLUMNS);
    expect(await upgradeStore(upgraded)).toBe(format);
    expect(await digestsOf(upgraded)).toEqual(before);
    await upgraded.close();
  });
});
