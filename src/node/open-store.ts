/** Opens the store in a data folder, or creates one; errors are NodeErrors that say what to do. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { dataFileOf, lockFileOf, STORE_FILE } from '../store/lmdb/lmdb-file.ts';
import {
  copyLmdbStore,
  openLmdbReader,
  openLmdbStore,
  openLmdbUpgrade,
} from '../store/lmdb/lmdb-store.ts';
import type { Store, StoreReader } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { OLD_COLUMNS } from '../store/upgrade/upgrade.ts';
import { LedgerWriter } from '../store/writer.ts';
import { NodeError, reasonOf } from './node-error.ts';

/** The folder in a data folder where a new ledger is made; its file is moved when it is complete. */
const UNFINISHED_FOLDER = 'unfinished';

export function hasStore(dataFolder: string): boolean {
  return existsSync(dataFileOf(dataFolder));
}

export function storeFileBytes(dataFolder: string): number {
  return statSync(dataFileOf(dataFolder)).size;
}

/** Opens the store for reading. @throws NodeError `no_ledger`, `data_not_usable` */
export function openStoreReader(dataFolder: string): StoreReader {
  if (!hasStore(dataFolder)) throw noLedgerError(dataFolder);
  try {
    return openLmdbReader({ directory: dataFolder });
  } catch (cause) {
    throw asNodeError(cause);
  }
}

/** Opens the store for writing; creates it if it does not exist. @throws NodeError `data_not_usable` */
export async function openStoreWriter(dataFolder: string): Promise<Store> {
  try {
    return await openLmdbStore({ directory: dataFolder });
  } catch (cause) {
    throw asNodeError(cause);
  }
}

/** Runs `work` with a reader, then closes it. @throws NodeError `no_ledger`, `data_not_usable`; what `work` throws */
export async function withReader<T>(
  dataFolder: string,
  work: (store: StoreReader) => Promise<T>,
): Promise<T> {
  return await closing(openStoreReader(dataFolder), work);
}

/** Runs `work` with the writer of a store, then closes it. @throws NodeError `data_not_usable`; what `work` throws */
export async function withWriter<T>(
  dataFolder: string,
  work: (writer: LedgerWriter) => Promise<T>,
): Promise<T> {
  const store = await openStoreWriter(dataFolder);
  return await closing(store, async () => work(await LedgerWriter.open(store)));
}

/**
 * Runs `work` with a store that may be of an older format, then closes it.
 * @throws NodeError `no_ledger`, `data_not_usable`; what `work` throws
 */
export async function withStoreToUpgrade<T>(
  dataFolder: string,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  if (!hasStore(dataFolder)) throw noLedgerError(dataFolder);
  let store: Store;
  try {
    store = await openLmdbUpgrade({ directory: dataFolder }, OLD_COLUMNS);
  } catch (cause) {
    throw asNodeError(cause);
  }
  return await closing(store, work);
}

/**
 * Runs `work` with the writer of a new, empty ledger, which the folder contains when `work` is done, not before:
 * whatever ends this process meanwhile leaves no ledger. The folder may be the root of a volume, so its file is moved
 * and not the folder.
 * @param work may put a data file of its own in the place of the writer's
 * @throws NodeError `ledger_exists`, `data_not_usable`; what `work` throws
 */
export async function withNewLedger<T>(
  dataFolder: string,
  work: (writer: LedgerWriter, making: string) => Promise<T>,
): Promise<T> {
  refuseUsedFolder(dataFolder);
  await removeEmptyStore(dataFolder);
  const making = join(dataFolder, UNFINISHED_FOLDER);
  await removeUnfinished(making);
  let hasBegun = false;
  try {
    const result = await withWriter(making, (writer) => {
      hasBegun = true;
      return work(writer, making);
    });
    syncToDisk(dataFileOf(making));
    if (hasStore(dataFolder)) throw ledgerExistsError(dataFolder);
    renameSync(lockFileOf(making), lockFileOf(dataFolder));
    // Last: from now on there is a ledger.
    renameSync(dataFileOf(making), dataFileOf(dataFolder));
    syncToDisk(dataFolder);
    return result;
  } finally {
    // Otherwise it is another process's.
    if (hasBegun) rmSync(making, { recursive: true, force: true });
  }
}

/**
 * Makes a new ledger that is a copy of another one as it is now, while others read and write that.
 * @param onBegin gets a function that tells how many bytes are copied, and about how many will be
 * @returns what `examine` returns for the copy
 * @throws NodeError `no_ledger`, `ledger_exists`, `data_not_usable`
 */
export async function copyStore<T>(
  from: string,
  to: string,
  onBegin: (copiedBytes: () => number, neededBytes: number) => void,
  examine: (copy: StoreReader) => Promise<T>,
): Promise<T> {
  if (!hasStore(from)) throw noLedgerError(from);
  return await withNewLedger(to, async (_writer, making) => {
    // The store of that writer only keeps other processes away.
    const copying = join(making, 'copy');
    mkdirSync(copying);
    const copiedBytes = () => (hasStore(copying) ? storeFileBytes(copying) : 0);
    await copyLmdbStore(from, copying, (neededBytes) => onBegin(copiedBytes, neededBytes));
    const found = await withReader(copying, examine);
    renameSync(dataFileOf(copying), dataFileOf(making));
    return found;
  });
}

function syncToDisk(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Removes a store without a ledger, as following leaves one that never began. @throws NodeError `ledger_exists` */
async function removeEmptyStore(dataFolder: string): Promise<void> {
  if (!hasStore(dataFolder)) return;
  await withWriter(dataFolder, async ({ head }) => {
    if (head !== undefined) throw ledgerExistsError(dataFolder);
  });
  rmSync(dataFileOf(dataFolder));
}

/** Removes what a killed process left. @throws NodeError `data_not_usable` when a living one is making a ledger */
async function removeUnfinished(making: string): Promise<void> {
  if (!existsSync(making)) return;
  try {
    await withWriter(making, async () => undefined);
  } catch (error) {
    const { cause } = error as NodeError;
    if (cause instanceof StoreError && cause.code === 'store_locked') throw error;
  }
  rmSync(making, { recursive: true, force: true });
}

function ledgerExistsError(dataFolder: string): NodeError {
  const message = `${dataFolder} holds a ledger already: give an absent or empty folder`;
  return new NodeError('ledger_exists', message);
}

async function closing<S extends StoreReader, T>(
  store: S,
  work: (store: S) => Promise<T>,
): Promise<T> {
  try {
    return await work(store);
  } catch (cause) {
    throw asNodeError(cause);
  } finally {
    await store.close();
  }
}

/**
 * Accepts a folder that is absent or empty, or that holds a store (whether it has a ledger is for the writer to see:
 * a start that was cut off leaves one without).
 * @throws NodeError `data_not_usable`
 */
export function refuseUsedFolder(dataFolder: string): void {
  if (!existsSync(dataFolder)) return;
  let names: string[];
  try {
    names = readdirSync(dataFolder);
  } catch (cause) {
    const message = `cannot use ${dataFolder}: ${reasonOf(cause)}`;
    throw new NodeError('data_not_usable', message, { cause });
  }
  const others = names.filter((name) => !STORE_FILE.test(name) && name !== UNFINISHED_FOLDER);
  if (others.length === 0) return;
  throw new NodeError(
    'data_not_usable',
    `${dataFolder} is not empty (it holds ${others.slice(0, 3).join(', ')}): give an absent or empty folder`,
  );
}

/** The error for a folder without a store. */
export function noLedgerError(dataFolder: string): NodeError {
  const isUnfinished = existsSync(join(dataFolder, UNFINISHED_FOLDER));
  const why = isUnfinished ? ': a command that was to make one was cut off, or is at work' : '';
  return new NodeError(
    'no_ledger',
    `there is no ledger in ${dataFolder}${why}; make one: ` +
      `daybook init --data ${dataFolder} --genesis FILE --waypoint FILE, ` +
      `or of a sample: daybook sample --data ${dataFolder}`,
  );
}

/** The error for a store in which no ledger was ever committed, because making it was cut off. */
export function emptyStoreError(dataFolder: string): NodeError {
  return new NodeError(
    'no_ledger',
    `the store in ${dataFolder} holds no ledger yet: a command that was to make one was cut off, run it again`,
  );
}

/** A failure of the store as a NodeError; any other failure unchanged. */
export function asNodeError(cause: unknown): unknown {
  if (!(cause instanceof StoreError)) return cause;
  const code = cause.code === 'store_not_found' ? 'no_ledger' : 'data_not_usable';
  return new NodeError(code, cause.message, { cause });
}
