/**
 * The store for a single machine, in SQLite. Any number of processes can read it, one can write it. A commit settles
 * when it is on disk. The tables are described in docs/data-layout.md.
 */
import { existsSync, statfsSync, statSync } from 'node:fs';
import { copyFile as copyPlainFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Batch } from '../batch.ts';
import { HEAD, IDENTITY, TRANSACTION_INFOS } from '../columns/columns.ts';
import { LEDGER_LAYOUT, type StoreLayout } from '../columns/fork-columns.ts';
import { HEAD_KEY } from '../columns/head.ts';
import { checkFormat, FORMAT } from '../columns/identity-column.ts';
import type { Store, StoreReader, StoreSnapshot } from '../store.ts';
import { RowDamagedError, StoreError } from '../store-error.ts';
import {
  type CommitAnswer,
  type CommitFailure,
  type CommitThread,
  copyFile,
  copyInThread,
  openCommitThread,
  SqliteCommitter,
} from './committer.ts';
import {
  makeFolders,
  moveIntoPlace,
  newStoreFile,
  removeStoreFile,
  replaceStoreFile,
  storeFileOf,
  syncToDisk,
  unfinishedFiles,
} from './files.ts';
import { packBatch } from './packed-batch.ts';
import { checkSqliteVersion, SqliteDatabase } from './sqlite-database.ts';
import { SqliteReads } from './sqlite-reads.ts';
import { isPageDamage, isSqliteError, reasonOf } from './stored-value.ts';
import { lastKeyOf } from './version-records.ts';
import { WriterLock } from './writer-lock.ts';

interface SqliteStoreOptions {
  /** The folder of the store, which contains nothing else. */
  readonly directory: string;
  readonly layout?: StoreLayout | undefined;
}

interface NewStoreOptions extends SqliteStoreOptions {
  /** Whether to resume an earlier attempt, and to keep this one after a failure so that it can be resumed. */
  readonly resumes?: boolean | undefined;
  /** Writes the file of the store and closes it. If absent, the store starts empty. */
  readonly writeFile?: WriteFile | undefined;
}

export type WriteFile = (path: string) => Promise<void>;

const DISK_IS_FULL = ['ENOSPC', 'EDQUOT'];

/** If a commit fails without a clear reason and less than this is free, the disk is reported as full. */
const NEARLY_FULL_BYTES = 16 * 1024 * 1024;
const REMEDY =
  'do not make a ledger over it; put a backup in its place, or make it again in another folder';

/** Opens a store for reading, which any number of processes can do. @throws StoreError `store_not_found` and others */
export function openSqliteReader({ directory, layout }: SqliteStoreOptions): StoreReader {
  return openReads(storeFileOf(directory), directory, layout);
}

/** Opens the current state of a store; later commits do not change it. @throws StoreError as `openSqliteReader` */
export function openSqliteSnapshot({ directory, layout }: SqliteStoreOptions): StoreSnapshot {
  return openReads(storeFileOf(directory), directory, layout, true);
}

/**
 * Opens a store for writing, and creates it if it does not exist.
 * @throws StoreError `store_locked` when another process writes it, `store_format_mismatch`, `store_foreign`.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { directory, layout = LEDGER_LAYOUT } = options;
  const lock = lockFolder(directory);
  try {
    const path = storeFileOf(directory);
    if (!existsSync(path)) {
      const made = newStoreFile(directory);
      createStoreFile(made, layout);
      moveIntoPlace(made, directory);
    }
    return await openWriting(path, directory, layout, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Creates a store in a folder that has none, or one without a head. The store appears only when `work` is done: a
 * process that ends earlier leaves none.
 * @throws StoreError `store_locked` when another process writes or creates one there, `store_exists`; errors of `work`
 */
export async function makeSqliteStore<T>(
  { directory, layout = LEDGER_LAYOUT, resumes = false, writeFile }: NewStoreOptions,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const lock = lockFolder(directory);
  let path: string | undefined;
  try {
    assertNoLedger(directory, layout);
    path = resumes ? resumable(directory, layout) : undefined;
    for (const other of unfinishedFiles(directory)) if (other !== path) removeStoreFile(other);
    if (path === undefined) {
      path = newStoreFile(directory);
      if (writeFile === undefined) createStoreFile(path, layout);
      else await writeDurably(path, writeFile);
    }
    const store = await openWriting(path, directory, layout);
    const result = await work(store).finally(() => store.close());
    moveIntoPlace(path, directory);
    return result;
  } catch (error) {
    if (path !== undefined && !resumes) removeStoreFile(path);
    throw error;
  } finally {
    lock.release();
  }
}

/** @throws StoreError `store_full`; errors of the system */
async function writeDurably(path: string, writeFile: WriteFile): Promise<void> {
  try {
    await writeFile(path);
    syncToDisk(path);
  } catch (cause) {
    if (!DISK_IS_FULL.includes(String((cause as NodeJS.ErrnoException).code))) throw cause;
    const folder = dirname(path);
    const freeBytes = freeBytesAt(folder);
    const message = `no room for a ledger: ${freeBytes} bytes are free where ${folder} lies; make room and try again`;
    throw new StoreError('store_full', message, { freeBytes });
  }
}

export function removeUnfinished(directory: string): void {
  if (unfinishedFiles(directory).length === 0) return;
  const lock = lockFolder(directory);
  for (const path of unfinishedFiles(directory)) removeStoreFile(path);
  lock.release();
}

/**
 * Writes a copy of a store's current state, without free pages, while others read and write it.
 * @param onBegin gets the approximate size of the copy in bytes
 * @throws StoreError as `openSqliteReader`; `store_full`, `store_io`
 */
export async function copySqliteFile(
  from: string,
  path: string,
  onBegin: (neededBytes: number) => void,
  layout = LEDGER_LAYOUT,
): Promise<void> {
  // Refuses to copy a file that cannot be opened as a store.
  await openSqliteReader({ directory: from, layout }).close();
  const source = openFile(storeFileOf(from), from, true);
  const neededBytes = source.fileBytes().used;
  source.close();
  const folder = dirname(path);
  const freeBytes = freeBytesAt(folder);
  if (freeBytes < neededBytes) throw noRoomForCopy(folder, neededBytes, freeBytes);
  onBegin(neededBytes);
  const failure = await copyFile(storeFileOf(from), path);
  if (failure === undefined) return;
  if (failure.kind === 'full') throw noRoomForCopy(folder, neededBytes, freeBytesAt(folder));
  const message = `copying ${from} failed (${failure.message}): check the disks, and daybook verify`;
  throw new StoreError('store_io', message);
}

/** Does the same for a small store, without another thread. @throws StoreError `store_full`, `store_io` */
export function copySmallSqliteFile(from: string, path: string): void {
  const failure = copyInThread(storeFileOf(from), path);
  if (failure === undefined) return;
  const code = failure.kind === 'full' ? 'store_full' : 'store_io';
  throw new StoreError(code, `copying ${from} failed: ${failure.message}`);
}

/**
 * Replaces a store that nobody has open by a copy of another store's file. If the process is killed, either the old or
 * the new store is in place.
 * @throws StoreError `store_locked` when another process writes it; errors of the system
 */
export async function replaceSqliteStore(directory: string, from: string): Promise<void> {
  const lock = lockFolder(directory);
  const made = newStoreFile(directory);
  try {
    await copyPlainFile(from, made);
    syncToDisk(made);
    replaceStoreFile(made, directory);
  } catch (error) {
    removeStoreFile(made);
    throw error;
  } finally {
    lock.release();
  }
}

function noRoomForCopy(to: string, neededBytes: number, freeBytes: number): StoreError {
  return new StoreError(
    'store_full',
    `no room for a copy of ${neededBytes} bytes: ${freeBytes} are free where ${to} lies; make room and try again`,
    { neededBytes, freeBytes },
  );
}

function freeBytesAt(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** @throws StoreError `store_locked`, `store_io` */
function lockFolder(directory: string): WriterLock {
  try {
    makeFolders(directory);
    return new WriterLock(directory);
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    const message = `${directory} cannot be written: ${reasonOf(cause)}`;
    throw new StoreError('store_io', message, { cause });
  }
}

function createStoreFile(path: string, { format }: StoreLayout): void {
  const database = new SqliteDatabase(path, { readOnly: false });
  database.create();
  database.close();
  const committer = new SqliteCommitter(path);
  const batch = new Batch();
  FORMAT.put(batch, undefined, format);
  committer.commit(packBatch(batch));
  committer.answer('close');
}

/** @throws StoreError `store_exists` for a folder whose store has a head; others when it cannot be opened */
function assertNoLedger(directory: string, layout: StoreLayout): void {
  const path = storeFileOf(directory);
  if (!existsSync(path)) return;
  const reads = openReads(path, directory, layout);
  try {
    if (reads.get(HEAD, HEAD_KEY.partition, HEAD_KEY.order) === undefined) return;
  } finally {
    void reads.close();
  }
  throw new StoreError('store_exists', `${directory} holds a ledger already`);
}

/** The file of an unfinished store that can be opened. */
function resumable(directory: string, layout: StoreLayout): string | undefined {
  return unfinishedFiles(directory).find((path) => {
    try {
      void openReads(path, directory, layout).close();
      return true;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return false;
    }
  });
}

/** @throws StoreError `store_not_found`, `store_damaged`, `store_foreign`, `store_format_mismatch` and others */
function openReads(
  path: string,
  directory: string,
  layout: StoreLayout = LEDGER_LAYOUT,
  isSnapshot = false,
): SqliteReads {
  const database = openFile(path, directory, true);
  const reads = new SqliteReads(database, layout, directory, isSnapshot);
  try {
    checkLayout(reads, directory, layout);
    return reads;
  } catch (error) {
    void reads.close();
    throw error;
  }
}

async function openWriting(
  path: string,
  directory: string,
  layout: StoreLayout,
  lock?: WriterLock,
): Promise<Store> {
  const database = openFile(path, directory, false);
  const store = new SqliteStore(database, layout, directory, openCommitThread(path), lock);
  try {
    checkLayout(store, directory, layout);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

function openFile(path: string, directory: string, readOnly: boolean): SqliteDatabase {
  checkSqliteVersion();
  if (!existsSync(path)) {
    throw new StoreError('store_not_found', `there is no ledger in ${directory}: make one first`);
  }
  let database: SqliteDatabase | undefined;
  try {
    database = new SqliteDatabase(path, { readOnly });
    if (database.isStore()) return database;
  } catch (error) {
    database?.close();
    if (isPageDamage(error)) throw damaged(directory, reasonOf(error), error);
    if (!isSqliteError(error)) throw error;
    const message = `the store in ${directory} cannot be opened: ${reasonOf(error)}`;
    throw new StoreError('store_io', message, { cause: error });
  }
  database.close();
  if (statSync(path).size === 0) throw damaged(directory, 'its file is empty');
  throw new StoreError(
    'store_foreign',
    `${directory} holds files that are not a Daybook store: choose another folder`,
  );
}

/** @throws StoreError `store_damaged`, `store_format_mismatch`, `store_is_fork`, `store_not_fork`; RowDamagedError */
function checkLayout(reads: SqliteReads, directory: string, { format }: StoreLayout): void {
  try {
    const read = ({ partition, order }: { partition: Uint8Array; order: Uint8Array }) =>
      reads.get(IDENTITY, partition, order);
    if (checkFormat(read, directory, format)) return;
  } catch (error) {
    if (error instanceof RowDamagedError) {
      const detail = `what names the store in ${directory} is not what was stored: ${REMEDY}`;
      throw new RowDamagedError(IDENTITY, error.row, detail, { cause: error });
    }
    throw error;
  }
  throw damaged(directory, 'its format is missing');
}

function damaged(directory: string, detail: string, cause?: unknown): StoreError {
  const message = `the store in ${directory} is damaged (${detail}): ${REMEDY}`;
  return new StoreError('store_damaged', message, { cause });
}

class SqliteStore extends SqliteReads implements Store {
  readonly #thread: CommitThread;
  readonly #lock: WriterLock | undefined;
  readonly #pending = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(
    database: SqliteDatabase,
    layout: StoreLayout,
    where: string,
    thread: CommitThread,
    lock: WriterLock | undefined,
  ) {
    super(database, layout, where);
    this.#thread = thread;
    this.#lock = lock;
  }

  async commit(batch: Batch): Promise<void> {
    this.#assertWritable();
    if (batch.size === 0) return;
    const pieces = packBatch(batch);
    const transferList = pieces.map(({ buffer }) => buffer);
    await this.#answer(this.#thread.send(pieces, transferList), batch.byteLength);
  }

  async repair(): Promise<number> {
    this.#assertWritable();
    return await this.#answer(this.#thread.send('repair'), 0);
  }

  override async close(): Promise<void> {
    this.#closing ??= this.#end();
    await this.#closing;
  }

  async #end(): Promise<void> {
    await Promise.allSettled(this.#pending);
    // The thread closes last, so that it can copy the whole log into the file.
    await super.close();
    await this.#thread.send('close').catch(() => undefined);
    await this.#thread.close();
    this.#lock?.release();
  }

  #assertWritable(): void {
    if (this.#closing !== undefined) {
      throw new StoreError('store_closed', `the store ${this.where} is closed`);
    }
  }

  /** @returns how many places were repaired @throws StoreError */
  async #answer(sent: Promise<CommitAnswer>, batchBytes: number): Promise<number> {
    this.#pending.add(sent);
    try {
      const answer = await sent;
      if ('kind' in answer) throw this.#failure(answer, batchBytes);
      return answer.repaired;
    } finally {
      this.#pending.delete(sent);
      this.endRead();
    }
  }

  #failure({ kind, version, message }: CommitFailure, batchBytes: number): Error {
    if (kind === 'refused') return new RangeError(message);
    const freeBytes = freeBytesAt(this.where);
    const isFull = freeBytes < Math.max(NEARLY_FULL_BYTES, batchBytes);
    if (kind === 'full' || (kind === 'io' && isFull)) {
      return new StoreError(
        'store_full',
        `no room for a commit of ${batchBytes} bytes: ${freeBytes} are free where ${this.where} lies;` +
          ' nothing of it was stored, make room and try again',
        { batchBytes, freeBytes },
      );
    }
    if (version !== undefined) {
      const key = lastKeyOf(0, version);
      const row = { partition: key.subarray(0, 6), order: key.subarray(6) };
      return new RowDamagedError(TRANSACTION_INFOS, row, message);
    }
    if (kind === 'damaged') {
      return new StoreError(
        'store_damaged',
        `what a commit changes in ${this.where} is damaged: ${message}`,
      );
    }
    return new StoreError(
      'store_io',
      `a commit to ${this.where} failed (${message}): nothing of it was stored; check the disk`,
    );
  }
}
