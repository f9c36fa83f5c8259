/**
 * The store on one machine: LMDB. Reads are answered at once from mapped pages, in as many
 * processes as wanted; one process writes. Commits run on the engine's own thread and settle when
 * they are on disk. Layout of the environment: lmdb-columns.ts; the writer's lock:
 * lmdb-writer-lock.ts.
 */
import { statfsSync } from 'node:fs';
import type { RootDatabase } from 'lmdb';
import { Batch, type BatchOperation } from '../batch.ts';
import { IDENTITY } from '../columns/columns.ts';
import { checkFormat, FORMAT_KEY, putFormat } from '../columns/identity-column.ts';
import type { Store, StoreReader } from '../store.ts';
import { StoreError, StoreFullError } from '../store-error.ts';
import { type LmdbColumn, openColumn, openColumns, openEnvironment } from './lmdb-columns.ts';
import { inspectDataFile, makeFolders } from './lmdb-file.ts';
import { LmdbReads } from './lmdb-reads.ts';
import { LmdbWriterLock } from './lmdb-writer-lock.ts';

/**
 * Address space a store begins with: nothing is allocated, and growing it while others read is
 * rare.
 */
export const DEFAULT_MAP_SIZE_BYTES = 64 * 1024 ** 3;

/** Where a store lies. */
export interface LmdbStoreOptions {
  /** The folder of the store and of nothing else. */
  readonly directory: string;
  /** Address space to begin with, in bytes; grows by itself. */
  readonly mapSizeBytes?: number | undefined;
}

/** A disk with less room than this is called full when a commit fails without saying why. */
const NEARLY_FULL_BYTES = 16 * 1024 * 1024;
/** How long the engine may take to tell the cause of a failed commit. */
const FAILURE_CAUSE_TIMEOUT_MS = 1_000;
const ERRNO_NO_SPACE = 28;
const ERRNO_IO = 5;
/** LMDB's codes of pages that are missing or are not of the kind they should be, and of what follows from that. */
const DAMAGE_CODES: readonly number[] = [-30797, -30796, -30795, -30782];

/**
 * Opens a store for reading: any number of processes may. @throws StoreError `store_not_found` and
 * others.
 */
export function openLmdbReader(options: LmdbStoreOptions): StoreReader {
  const { directory } = options;
  if (inspectDataFile(directory) === 'absent') throw notFound(directory);
  const root = openRoot(options, true);
  try {
    const identity = openColumn(root, IDENTITY, false);
    if (identity === undefined) throw rootIsEmpty(root) ? notFound(directory) : foreign(directory);
    if (!checkFormat(identity.get(FORMAT_KEY), directory)) throw notFound(directory);
    const columns = openColumns(root, false);
    if (columns === undefined) throw foreign(directory);
    return new LmdbReads(root, columns, directory);
  } catch (error) {
    void root.close();
    throw openingFailure(error, directory);
  }
}

/**
 * Opens a store for writing, and makes it when there is none.
 * @throws StoreLockedError when another process writes it, StoreFormatError, StoreError
 *   `store_foreign`.
 */
export async function openLmdbStore(options: LmdbStoreOptions): Promise<Store> {
  const { directory } = options;
  const root = openRoot(options, false);
  let lock: LmdbWriterLock | undefined;
  try {
    const identity = openColumn(root, IDENTITY, false);
    // Nothing is written before it is clear that the folder is ours or empty, and that nobody else
    // writes.
    const ours = identity !== undefined || rootIsEmpty(root);
    if (!ours) throw foreign(directory);
    if (identity !== undefined) checkFormat(identity.get(FORMAT_KEY), directory);
    lock = LmdbWriterLock.acquire(root, directory);
    const columns = openColumns(root, true);
    if (columns === undefined) throw foreign(directory);
    const store = new LmdbStore(root, columns, directory, lock);
    if (store.get(IDENTITY, FORMAT_KEY.partition, FORMAT_KEY.order) === undefined) {
      const batch = new Batch();
      putFormat(batch);
      await store.commit(batch);
    }
    return store;
  } catch (error) {
    lock?.release();
    await root.close();
    throw openingFailure(error, directory);
  }
}

class LmdbStore extends LmdbReads implements Store {
  readonly #columns: ReadonlyMap<number, LmdbColumn>;
  readonly #lock: LmdbWriterLock;
  readonly #directory: string;
  /** Settles, never rejects, when all commits begun so far have settled. */
  #lastCommit: Promise<unknown> = Promise.resolve();
  #hasFailed = false;
  #released = false;

  constructor(
    root: RootDatabase<never, string>,
    columns: ReadonlyMap<number, LmdbColumn>,
    directory: string,
    lock: LmdbWriterLock,
  ) {
    super(root, columns, directory);
    this.#columns = columns;
    this.#directory = directory;
    this.#lock = lock;
  }

  async commit(batch: Batch): Promise<void> {
    this.assertOpen();
    if (batch.size === 0) return;
    const done = this.#commit(batch);
    this.#lastCommit = Promise.allSettled([this.#lastCommit, done]);
    await done;
  }

  override async close(): Promise<void> {
    await this.#lastCommit;
    if (!this.#released) {
      this.#released = true;
      this.#lock.release();
    }
    await super.close();
  }

  async #commit(batch: Batch): Promise<void> {
    let stored: boolean;
    try {
      // After a failure the engine may refuse every transaction; its thread would then never
      // answer.
      if (this.#hasFailed) this.#lock.probe();
      stored = await this.#lock.commit(() => {
        for (const operation of batch.rows) this.#apply(operation);
        for (const operation of batch.published) this.#apply(operation);
      });
    } catch (error) {
      this.#hasFailed = true;
      throw await this.#commitFailure(error, batch);
    }
    this.#hasFailed = false;
    if (!stored) {
      throw new StoreError(
        'store_lock_lost',
        `another process has taken over writing ${this.#directory}: ` +
          'nothing was stored, stop this process',
      );
    }
  }

  #apply(operation: BatchOperation): void {
    const { column, value } = operation;
    const database = this.#columns.get(column.number);
    if (database === undefined) throw new RangeError(`no column ${column.number}`);
    // A change has the parts of its key itself.
    if (value === undefined) database.remove(operation);
    else database.put(operation, value);
  }

  async #commitFailure(error: unknown, batch: Batch): Promise<StoreError> {
    const cause = await causeOfFailure(error);
    const errno = (cause as { code?: unknown }).code;
    const freeBytes = freeBytesOf(this.#directory);
    // A write that is cut short by a full disk comes out of the engine as an I/O error.
    const nearlyFull = freeBytes < Math.max(NEARLY_FULL_BYTES, batch.byteLength);
    if (errno === ERRNO_NO_SPACE || (errno === ERRNO_IO && nearlyFull)) {
      return new StoreFullError(this.#directory, batch.byteLength, freeBytes, { cause });
    }
    const detail = cause instanceof Error ? cause.message : String(cause);
    return new StoreError(
      'store_io',
      `a commit to ${this.#directory} failed (${detail}): nothing of it was stored, check the disk`,
      { cause },
    );
  }
}

/** The engine rejects with a general error first and tells the cause in a promise of its own. */
async function causeOfFailure(error: unknown): Promise<unknown> {
  const commitError: unknown = (error as { commitError?: unknown }).commitError;
  if (!(commitError instanceof Promise)) return error;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<unknown>((resolve) => {
    timer = setTimeout(resolve, FAILURE_CAUSE_TIMEOUT_MS, error);
  });
  const cause = commitError.then(
    () => error,
    (reason: unknown) => reason,
  );
  try {
    return await Promise.race([cause, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function freeBytesOf(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

function openRoot(options: LmdbStoreOptions, readOnly: boolean): RootDatabase<never, string> {
  const { directory, mapSizeBytes = DEFAULT_MAP_SIZE_BYTES } = options;
  const kind = inspectDataFile(directory);
  if (kind === 'foreign') throw foreign(directory);
  if (kind === 'damaged') throw damaged(directory, 'it is cut short');
  try {
    if (!readOnly) makeFolders(directory);
    const root = openEnvironment({ directory, readOnly, mapSizeBytes });
    // Readers that died without a word would keep pages from being used again.
    root.readerCheck();
    return root;
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new StoreError('store_io', `${directory} cannot be opened: ${detail}`, { cause: error });
  }
}

/** Whether an environment has no named database at all. */
function rootIsEmpty(root: RootDatabase<never, string>): boolean {
  return (root.getStats() as { readonly entryCount: number }).entryCount === 0;
}

function notFound(directory: string): StoreError {
  return new StoreError('store_not_found', `there is no ledger in ${directory}: make one first`);
}

/**
 * The engine's own word on a page that is none of the kind it should be, as an error of the store.
 */
function openingFailure(error: unknown, directory: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const { code } = error as { code?: unknown };
  if (typeof code !== 'number' || !DAMAGE_CODES.includes(code)) return error;
  return damaged(directory, error.message, { cause: error });
}

function damaged(directory: string, detail: string, options?: ErrorOptions): StoreError {
  return new StoreError(
    'store_damaged',
    `the store in ${directory} is damaged (${detail}): copy it again or make it anew`,
    options,
  );
}

function foreign(directory: string): StoreError {
  return new StoreError(
    'store_foreign',
    `${directory} holds files that are no Daybook store: choose another folder`,
  );
}
