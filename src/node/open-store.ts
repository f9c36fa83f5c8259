/** Opening the store in a data folder, with failures in words that say what to do. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openLmdbReader, openLmdbStore } from '../store/lmdb/lmdb-store.ts';
import type { Store, StoreReader } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { NodeError } from './node-error.ts';

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

/** What to say of a store in which no ledger was ever committed: its making was cut off. */
export function emptyStoreError(dataFolder: string): NodeError {
  return new NodeError(
    'no_ledger',
    `the store in ${dataFolder} holds no ledger yet: a command that was to make one was cut off, run it again`,
  );
}

/** A failure of the store in words of the node; any other failure as it is. */
export function asNodeError(cause: unknown): unknown {
  if (!(cause instanceof StoreError)) return cause;
  if (cause.code === 'store_not_found') return new NodeError('no_ledger', cause.message, { cause });
  return new NodeError('data_not_usable', cause.message, { cause });
}
