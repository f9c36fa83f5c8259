/** Examining the ledger of a folder in this process. */

import { RowDamagedError, StoreError } from '../store/store-error.ts';
import { type VerifyProgress, type VerifyReport, verifyLedger } from '../verify/verify-ledger.ts';
import { NodeError } from './node-error.ts';
import { emptyStoreError, openStoreReader } from './open-store.ts';

/**
 * Opens the store and examines it; may be killed by an engine that reads damaged pages.
 * @throws NodeError `no_ledger`, `data_not_usable`, `damaged` when nothing can be examined
 */
export async function verifyHere(
  dataFolder: string,
  onProgress: (progress: VerifyProgress) => void,
): Promise<VerifyReport> {
  const store = openStoreReader(dataFolder);
  try {
    return await verifyLedger(store, onProgress);
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause;
    if (cause.code === 'ledger_empty') throw emptyStoreError(dataFolder);
    const isRow = cause instanceof RowDamagedError;
    const message = `${isRow ? '' : 'the store cannot be read: '}${cause.message}`;
    throw new NodeError('damaged', message, { cause });
  } finally {
    await store.close();
  }
}
