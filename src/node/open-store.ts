/** Opening the store in a data folder, with failures in words that say what to do. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openLmdbReader } from '../store/lmdb-store.ts';
import type { StoreReader } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';
import { NodeError } from './node-error.ts';

/** Opens the store for reading. @throws NodeError `no_ledger`, `data_not_usable` */
export function openStoreReader(dataFolder: string): StoreReader {
  if (!existsSync(join(dataFolder, 'data.mdb'))) {
    throw new NodeError(
      'no_ledger',
      `there is no ledger in ${dataFolder}; make one: ` +
        `daybook init --data ${dataFolder} --genesis FILE --waypoint FILE`,
    );
  }
  try {
    return openLmdbReader({ directory: dataFolder });
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause;
    throw new NodeError('data_not_usable', cause.message, { cause });
  }
}
