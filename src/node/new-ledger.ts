/** Making a ledger in a folder that has none. */
import { openLmdbStore } from '../store/lmdb/lmdb-store.ts';
import { StoreError } from '../store/store-error.ts';
import { LedgerWriter } from '../store/writer.ts';
import { NodeError } from './node-error.ts';
import { refuseUsedFolder } from './settings/data-folder.ts';

/**
 * Runs `fill` with the writer of a new, empty ledger in the folder and closes the store after it, whatever happens.
 * @throws NodeError `ledger_exists`, `data_not_usable`; what `fill` throws
 */
export async function withNewLedger<T>(
  dataFolder: string,
  fill: (writer: LedgerWriter) => Promise<T>,
): Promise<T> {
  refuseUsedFolder(dataFolder);
  try {
    const store = await openLmdbStore({ directory: dataFolder });
    try {
      const writer = await LedgerWriter.open(store);
      if (writer.head !== undefined) {
        throw new NodeError(
          'ledger_exists',
          `${dataFolder} holds a ledger already: give an absent or empty folder`,
        );
      }
      return await fill(writer);
    } finally {
      await store.close();
    }
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause;
    throw new NodeError('data_not_usable', cause.message, { cause });
  }
}
