/**
 * The store on one machine: LMDB. Reads are answered at once from mapped pages, in as many processes as wanted; one
 * process writes. Commits run on the engine's own thread and settle when they are on disk.
 */
import { statfsSync, truncateSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { open, type RootDatabase } from 'lmdb';
import { Batch, MAX_BATCH_BYTES } from '../batch.ts';
import { type Column, IDENTITY, type StoredRow } from '../columns/columns.ts';
import { LEDGER_LAYOUT, type StoreLayout } from '../columns/fork-columns.ts';
import { FORMAT, FORMAT_KEY } from '../columns/identity-column.ts';
import type { ScanBounds, Store, StoreReader, StoreSnapshot } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { withKeyRoom } from './key-room.ts';
import { type LmdbBatch, type VersionSpan, writtenBatch } from './lmdb-batch.ts';
import {
  type LmdbColumns,
  openLedgerColumns,
  openOwnColumns,
  snapshotColumns,
} from './lmdb-columns.ts';
import { dataFileOf, inspectDataFile, makeFolders, PAGE_BYTES } from './lmdb-file.ts';
import { damaged, foreign, isMade, openingFailure } from './lmdb-identity.ts';
import { LmdbReads, type ReadableColumn, reason } from './lmdb-reads.ts';
import { LmdbWriterLock } from './lmdb-writer-lock.ts';
import { NewVersions } from './new-versions.ts';
import { outdatedRows, UnindexedState, withOutdated } from './outdated-columns.ts';
import type { RunColumn } from './run-column.ts';
import type { RunExamination } from './runs/run-examination.ts';
import { RunWriter, writeRuns } from './runs/run-writer.ts';
import { isStoredDamage } from './stored-value.ts';
import { highestRecord } from './version-columns.ts';

/** Address space a store begins with: nothing is allocated, and growing it while others read is rare. */
const DEFAULT_MAP_SIZE_BYTES = 64 * 1024 ** 3;
/** Most named databases; columns and the writer's lock must fit. */
const MAX_DATABASES = 64;
/** Maximum number of processes and threads that read at the same time. */
const MAX_READERS = 512;

interface LmdbStoreOptions {
  /** The folder of the store and of nothing else. */
  readonly directory: string;
  /** Initial address space in bytes; grows automatically. */
  readonly mapSizeBytes?: number | undefined;
  /** What the store is, or is to be; absent: a ledger. */
  readonly layout?: StoreLayout | undefined;
}

/** A disk with less free space than this is called full when a commit fails without a reason. */
const NEARLY_FULL_BYTES = 16 * 1024 * 1024;
/** Maximum wait for LMDB to report the cause of a failed commit. */
const FAILURE_CAUSE_TIMEOUT_MS = 1_000;
const ERRNO_NO_SPACE = 28;
const ERRNO_IO = 5;

/** Opens a store for reading, which any number of processes can do. @throws StoreError `store_not_found` and others */
export function openLmdbReader(options: LmdbStoreOptions): StoreReader {
  const { root, columns, layout } = openForReading(options);
  return new LmdbReads(root, columns.readable, options.directory, layout);
}

/**
 * Opens a store as it is now: until it is closed, a writer cannot use again the pages that it frees.
 * @throws StoreError as `openLmdbReader`
 */
export function openLmdbSnapshot(options: LmdbStoreOptions): StoreSnapshot {
  const { root, columns, layout } = openForReading(options);
  const transaction = root.useReadTransaction();
  const seen = snapshotColumns(columns.readable, transaction);
  const reads = new LmdbReads(root, seen, options.directory, layout);
  return {
    scan: (column, query) => reads.scan(column, query),
    statistics: () => reads.statistics(),
    close: async () => {
      transaction.done();
      await reads.close();
    },
  };
}

function isWithoutStore(directory: string): boolean {
  const kind = inspectDataFile(directory);
  return kind === 'absent' || kind === 'unmade';
}

/** @throws StoreError `store_not_found` and others */
function openForReading(options: LmdbStoreOptions) {
  const { directory, layout = LEDGER_LAYOUT } = options;
  if (isWithoutStore(directory)) throw notFound(directory);
  const root = openRoot(options, true);
  try {
    if (!isMade(root, directory, layout.format, false)) throw notFound(directory);
    const columns = openLayout(root, layout, false);
    if (columns === undefined) throw foreign(directory);
    return { root, columns, layout };
  } catch (error) {
    void root.close();
    throw openingFailure(error, directory);
  }
}

/**
 * Opens a store for writing, and creates it if it does not exist.
 * @throws StoreError `store_locked` when another process writes it, `store_format_mismatch`, `store_foreign`.
 */
export async function openLmdbStore(options: LmdbStoreOptions): Promise<Store> {
  return openForWriting(options, undefined);
}

/**
 * Opens a store for an upgrade: also one of an older format.
 * @param oldColumns columns that older formats have
 * @throws StoreError as `openLmdbStore`; `store_not_found`; `store_in_use` while another process reads: it would miss
 *   what is converted.
 */
export async function openLmdbUpgrade(
  options: LmdbStoreOptions,
  oldColumns: readonly Column[],
): Promise<Store> {
  if (isWithoutStore(options.directory)) throw notFound(options.directory);
  return openForWriting(options, oldColumns);
}

/**
 * Copies a store as it is now into a folder without one, leaving out free pages; others may read and write it
 * meanwhile. Nobody holds the writer lock of the copy.
 * @param onBegin gets about how many bytes the copy will have
 * @throws StoreError as `openLmdbReader`; `store_full`, `store_io`
 */
export async function copyLmdbStore(
  from: string,
  to: string,
  onBegin: (neededBytes: number) => void,
): Promise<void> {
  const reader = openLmdbReader({ directory: from });
  const neededBytes = (await reader.statistics()).reduce((sum, { bytes }) => sum + bytes, 0);
  await reader.close();
  const freeBytes = freeBytesAt(to);
  if (freeBytes < neededBytes) throw noRoomForCopy(to, neededBytes, freeBytes);
  onBegin(neededBytes);
  const root = openRoot({ directory: from }, true);
  try {
    await root.backup(to, true);
  } catch (cause) {
    // The engine's error has no code.
    if (freeBytesAt(to) < NEARLY_FULL_BYTES) throw noRoomForCopy(to, neededBytes, freeBytes, cause);
    const message = `copying ${from} failed (${reason(cause)}): check the disks, and daybook verify`;
    throw new StoreError('store_io', message, { cause });
  } finally {
    await root.close();
  }
  const copy = openRoot({ directory: to }, false);
  LmdbWriterLock.clear(copy);
  await copy.close();
}

function noRoomForCopy(to: string, neededBytes: number, freeBytes: number, cause?: unknown) {
  return new StoreError(
    'store_full',
    `no room for a copy of ${neededBytes} bytes: ${freeBytes} are free where ${to} lies; make room and try again`,
    { cause, neededBytes, freeBytes },
  );
}

function freeBytesAt(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** @param oldColumns for an upgrade */
async function openForWriting(
  options: LmdbStoreOptions,
  oldColumns: readonly Column[] | undefined,
): Promise<Store> {
  const { directory, layout = LEDGER_LAYOUT } = options;
  const root = openRoot(options, false);
  let lock: LmdbWriterLock | undefined;
  try {
    // Nothing is written until the folder is known to be ours or empty, and no other process writes.
    isMade(root, directory, layout.format, oldColumns !== undefined);
    lock = LmdbWriterLock.acquire(root, directory);
    if (oldColumns !== undefined) refuseReaders(root, directory);
    const present = openLayout(root, layout, true);
    if (present === undefined) throw foreign(directory);
    const columns =
      oldColumns === undefined
        ? present
        : withOutdated(root, withColumns(root, present, oldColumns));
    const store = new LmdbStore(root, columns, directory, layout, lock);
    if (store.get(IDENTITY, FORMAT_KEY.partition, FORMAT_KEY.order) === undefined) {
      const batch = new Batch();
      FORMAT.put(batch, undefined, layout.format);
      await store.commit(batch);
    }
    return store;
  } catch (error) {
    lock?.release();
    await root.close();
    throw openingFailure(error, directory);
  }
}

/** The columns of a store of the present format. */
function openLayout(
  root: RootDatabase<never, string>,
  layout: StoreLayout,
  create: boolean,
): LmdbColumns | undefined {
  const openAll = layout === LEDGER_LAYOUT ? openLedgerColumns : openOwnColumns;
  return openAll(root, layout.columns, create);
}

/** With columns that only older formats have. */
function withColumns(
  root: RootDatabase<never, string>,
  present: LmdbColumns,
  oldColumns: readonly Column[],
): LmdbColumns {
  const { own } = openOwnColumns(root, oldColumns, true)!;
  return {
    ...present,
    readable: new Map([...present.readable, ...own]),
    own: new Map([...present.own, ...own]),
  };
}

class LmdbStore extends LmdbReads implements Store {
  readonly #lock: LmdbWriterLock;
  readonly #databases: LmdbColumns;
  /** By the number of the column. */
  readonly #runWriters = new Map<number, RunWriter>();
  /** The highest version that has a record or a row of state, or will have one when all commits have settled. */
  #highestVersion: Uint8Array | undefined;
  /** Settles, never rejects, when all commits begun so far have settled. */
  #lastCommit: Promise<void> = Promise.resolve();
  /** While a ledger is upgraded. */
  #unindexed: UnindexedState | undefined;
  #hasFailed = false;
  #released = false;

  constructor(
    root: RootDatabase<never, string>,
    databases: LmdbColumns,
    directory: string,
    layout: StoreLayout,
    lock: LmdbWriterLock,
  ) {
    super(root, databases.readable, directory, layout);
    this.#lock = lock;
    this.#databases = databases;
    const { records, state, indexed = new Map<number, RunColumn>() } = databases;
    for (const { column, runs } of state === undefined ? [] : [state, ...indexed.values()]) {
      this.#runWriters.set(column.number, new RunWriter(runs));
    }
    this.#highestVersion = highestOf(records && highestRecord(records), state?.highestVersion());
    this.readAfresh();
  }

  async commit(batch: Batch): Promise<void> {
    this.assertOpen();
    if (batch.size === 0) return;
    const { written, changesStored } = writtenBatch(this.#databases, batch, (versions) =>
      this.#noteVersions(versions),
    );
    const done = this.#commitInOrder(batch, written, changesStored);
    // Without a value: that would have in it what the commit before has settled with, back to the first.
    this.#lastCommit = Promise.allSettled([this.#lastCommit, done]).then(() => undefined);
    await done;
  }

  batchOfNewVersions(): Batch {
    return new Batch(MAX_BATCH_BYTES, NewVersions.of(this.#databases));
  }

  override async close(): Promise<void> {
    await this.#lastCommit;
    if (!this.#released) {
      this.#released = true;
      this.#lock.release();
    }
    await super.close();
  }

  async outdatedRows(bounds: ScanBounds): Promise<readonly StoredRow[]> {
    const { outdated, state } = this.#databases;
    if (outdated === undefined || state === undefined) return [];
    this.#unindexed ??= new UnindexedState(state);
    return await outdatedRows(outdated, this.#unindexed, bounds);
  }

  async mend(): Promise<number> {
    await this.#lastCommit;
    let count = 0;
    const { readable, state } = this.#databases;
    for (const column of readable.values()) {
      const changes = (await this.#examined(column))?.changes;
      if (changes === undefined || changes.put.length === 0) continue;
      const bytes = changes.put.reduce((sum, { value }) => sum + value.length, 0);
      await this.#commit(bytes, () => writeRuns(state!.runs.database, changes));
      count += changes.put.length + changes.removed.length;
    }
    return count;
  }

  async #examined(column: ReadableColumn): Promise<RunExamination | undefined> {
    try {
      return await column.examine?.(() => undefined);
    } catch (cause) {
      throw this.#damageMet(cause, 'an index');
    }
  }

  /** The error of the store for damage that was met outside a read; any other error as it is. */
  #damageMet(cause: unknown, what: string): unknown {
    if (!isStoredDamage(cause)) return cause;
    this.readAfresh();
    const message = `${what} in ${this.directory} is damaged: ${reason(cause)}`;
    return new StoreError('store_damaged', message, { cause });
  }

  /** Notes a batch's versions as stored. @returns whether any may have a record or a row of state already */
  #noteVersions({ lowestVersion: lowest, highestVersion: highest }: VersionSpan): boolean {
    if (lowest === undefined || highest === undefined) return false;
    const before = this.#highestVersion;
    this.#highestVersion = highestOf(before, highest);
    return before !== undefined && Buffer.compare(lowest, before) <= 0;
  }

  async #commitInOrder(batch: Batch, written: LmdbBatch, changesStored: boolean): Promise<void> {
    const before = this.#lastCommit;
    try {
      if (changesStored) {
        await before;
        await written.prepareChange((...range) => this.orders(...range));
      } else {
        await written.prepareNew();
        await before;
      }
      await written.prepareRuns(this.#runWriters);
    } catch (cause) {
      throw this.#damageMet(cause, 'what a commit changes');
    }
    await this.#commit(batch.byteLength, () => written.write());
  }

  async #commit(batchBytes: number, write: () => void): Promise<void> {
    let stored: boolean;
    try {
      // After a failure the engine may refuse every transaction; its thread would then never answer.
      if (this.#hasFailed) this.#lock.probe();
      stored = await this.#lock.commit(write);
    } catch (error) {
      this.#hasFailed = true;
      throw await this.#commitFailure(error, batchBytes);
    }
    this.#hasFailed = false;
    if (!stored) {
      throw new StoreError(
        'store_lock_lost',
        `another process has taken over writing ${this.directory}: ` +
          'nothing was stored, stop this process',
      );
    }
  }

  async #commitFailure(error: unknown, batchBytes: number): Promise<StoreError> {
    const cause = await causeOfFailure(error);
    const errno = (cause as { code?: unknown }).code;
    const freeBytes = freeBytesAt(this.directory);
    // A write that is cut short by a full disk comes out of the engine as an I/O error.
    const nearlyFull = freeBytes < Math.max(NEARLY_FULL_BYTES, batchBytes);
    if (errno === ERRNO_NO_SPACE || (errno === ERRNO_IO && nearlyFull)) {
      return new StoreError(
        'store_full',
        `no room for a commit of ${batchBytes} bytes: ${freeBytes} are free where ${this.directory} lies;` +
          ' nothing of it was stored, make room and try again',
        { cause, batchBytes, freeBytes },
      );
    }
    return new StoreError(
      'store_io',
      `a commit to ${this.directory} failed (${reason(cause)}): nothing of it was stored, check the disk`,
      { cause },
    );
  }
}

function highestOf(...versions: readonly (Uint8Array | undefined)[]): Uint8Array | undefined {
  let highest: Uint8Array | undefined;
  for (const version of versions) {
    if (version === undefined) continue;
    if (highest === undefined || Buffer.compare(version, highest) > 0) highest = version;
  }
  return highest;
}

/** LMDB rejects with a general error first and reports the cause in a separate promise. */
async function causeOfFailure(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<unknown> };
  if (commitError === undefined) return error;
  const cause = commitError.then(
    () => error,
    (reason: unknown) => reason,
  );
  return Promise.race([cause, sleep(FAILURE_CAUSE_TIMEOUT_MS, error, { ref: false })]);
}

function openRoot(options: LmdbStoreOptions, readOnly: boolean): RootDatabase<never, string> {
  const { directory, mapSizeBytes = DEFAULT_MAP_SIZE_BYTES } = options;
  const kind = inspectDataFile(directory);
  if (kind === 'foreign') throw foreign(directory);
  if (kind === 'damaged') throw damaged(directory, 'it is cut short');
  try {
    if (!readOnly) makeFolders(directory);
    // The engine takes an empty file for a new one.
    if (!readOnly && kind === 'unmade') truncateSync(dataFileOf(directory));
    const options = {
      readOnly,
      mapSize: mapSizeBytes,
      pageSize: PAGE_BYTES,
      maxDbs: MAX_DATABASES,
      maxReaders: MAX_READERS,
      noSubdir: false,
      // A commit is on disk before anybody sees it. The library's default shows it first and flushes afterwards; it
      // was not measurably faster.
      ...(readOnly ? {} : { overlappingSync: false }),
      // With event-turn batching, a failed commit leaves a rejected promise that cannot be caught.
      eventTurnBatching: false,
    };
    const root: RootDatabase<never, string> = withKeyRoom(() => open(directory, options));
    // Killed readers would otherwise hold their pages forever.
    root.readerCheck();
    return root;
  } catch (error) {
    const message = `${directory} cannot be opened: ${reason(error)}`;
    throw new StoreError('store_io', message, { cause: error });
  }
}

/** The engine's list of readers has a heading, then a line for each that begins with its process id. */
function refuseReaders(root: RootDatabase<never, string>, directory: string): void {
  for (const [, text] of root.readerList().matchAll(/^\s*(\d+)\s/gm)) {
    const pid = Number(text);
    if (pid === process.pid) continue;
    const message = `${directory} is being read by process ${pid}: stop it first`;
    throw new StoreError('store_in_use', message, { pid });
  }
}

function notFound(directory: string): StoreError {
  return new StoreError('store_not_found', `there is no ledger in ${directory}: make one first`);
}
