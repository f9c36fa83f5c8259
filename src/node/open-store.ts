/** Opens the store in a data folder, or makes one; failures are NodeErrors that tell what to do. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openLmdbReader, openLmdbStore } from '../store/lmdb/lmdb-store.ts';
import type { Store, StoreReader } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { LedgerWriter } from '../store/writer.ts';
import { NodeError, reasonOf } from './node-error.ts';

/** Files of a store; version 0.1 may have left an empty `kept-pages-…` when it was killed. */
const OWN_FILE = /^(?:(?:data|lock)\.mdb|kept-pages-[0-9a-f]{16})$/;

/** Whether there is a store in the folder. */
export function hasStore(dataFolder: string): boolean {
  return existsSync(join(dataFolder, 'data.mdb'));
}

/** Opens the store for reading. @throws NodeError `no_ledger`, `data_not_usable` */
export function openStoreReader(dataFolder: string): StoreReader {
  if (!hasStore(dataFolder)) {
    throw new NodeError(
      'no_ledger',
      `there is no ledger in ${dataFolder}; make one: ` +
        `daybook init --data ${dataFolder} --genesis FILE --waypoint FILE`,
    );
  }
  try {
    return openLmdbReader({ directory: dataFolder });
  } catch (cause) {
    throw asNodeError(cause);
  }
}

/** Opens the store for writing. @throws NodeError `data_not_usable` */
export async function openStoreWriter(dataFolder: string): Promise<Store> {
  try {
    return await openLmdbStore({ directory: dataFolder });
  } catch (cause) {
    throw asNodeError(cause);
  }
}

/**
 * Runs `fill` with the writer of a new, empty ledger in the folder, then closes the store, whatever happens.
 * @throws NodeError `ledger_exists`, `data_not_usable`; what `fill` throws
 */
export async function withNewLedger<T>(
  dataFolder: string,
  fill: (writer: LedgerWriter) => Promise<T>,
): Promise<T> {
  refuseUsedFolder(dataFolder);
  const store = await openStoreWriter(dataFolder);
  try {
    const writer = await LedgerWriter.open(store);
    if (writer.head !== undefined) {
      throw new NodeError(
        'ledger_exists',
        `${dataFolder} holds a ledger already: give an absent or empty folder`,
      );
    }
    return await fill(writer);
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
    throw new NodeError('data_not_usable', `cannot use ${dataFolder}: ${reasonOf(cause)}`, {
      cause,
    });
  }
  const others = names.filter((name) => !OWN_FILE.test(name));
  if (others.length === 0) return;
  throw new NodeError(
    'data_not_usable',
    `${dataFolder} is not empty (it holds ${others.slice(0, 3).join(', ')}): give an absent or empty folder`,
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
  if (cause.code === 'store_not_found') return new NodeError('no_ledger', cause.message, { cause });
  return new NodeError('data_not_usable', cause.message, { cause });
}
