/** `daybook verify`: examines the ledger of a folder. */
import { VerifyError, verifyFolder as verifyStore } from '../verify/folder.ts';
import type { VerifyProgress, VerifyReport } from '../verify/ledger.ts';
import { NodeError } from './node-error.ts';
import { emptyStoreError, hasStore, openStoreReader } from './open-store.ts';

export { DAMAGE_REMEDY } from '../verify/folder.ts';
export type { VerifyProgress, VerifyReport };

/** @throws NodeError `no_ledger`, `data_not_usable`; `damaged` when the ledger cannot be read to its end */
export async function verifyFolder(
  dataFolder: string,
  onProgress: (progress: VerifyProgress) => void,
): Promise<VerifyReport> {
  // Throws the node's error for a folder without a ledger.
  if (!hasStore(dataFolder)) await openStoreReader(dataFolder).close();
  try {
    return await verifyStore(dataFolder, onProgress);
  } catch (cause) {
    if (!(cause instanceof VerifyError)) throw cause;
    if (cause.code === 'ledger_empty') throw emptyStoreError(dataFolder);
    throw new NodeError(cause.code, cause.message, { cause });
  }
}
