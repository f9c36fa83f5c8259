/** `daybook verify`: verifies a ledger and says what to do about its damage. */
import { isStoreError, isTransient, RowDamagedError, StoreError } from '../store/store-error.ts';
import { type VerifyProgress, type VerifyReport, verifyLedger } from '../verify/ledger.ts';
import type { Repaired } from '../verify/repair/repair.ts';
import { NodeError } from './node-error.ts';
import { asNodeError, emptyStoreError, openStoreReader } from './open-store.ts';

export type { VerifyProgress, VerifyReport };

/** What to do about damage that another node cannot repair. */
const REPLACE =
  'put a good copy of the folder in its place, ' +
  'or create the ledger again (daybook init, daybook follow)';

/** What to do about the damage of a report. */
export function remedyOf({ damages, prunedMeanwhile }: VerifyReport, repaired?: Repaired): string {
  if (prunedMeanwhile) {
    return 'the ledger was pruned meanwhile: stop the node that prunes and verify again';
  }
  if (damages.some(({ isOfEngine }) => isOfEngine === true)) {
    return `the engine cannot walk its own pages, so nothing can be repaired in place: ${REPLACE}`;
  }
  if (repaired === undefined) {
    return `repair it from another node (daybook verify --repair --from URL), ${REPLACE}`;
  }
  if (repaired.unavailable > 0) {
    const count = repaired.unavailable;
    const versions = count === 1 ? '1 damaged version' : `${count} damaged versions`;
    return `the source does not have ${versions}: repair from a node that has them, or ${REPLACE}`;
  }
  return `what is left cannot be repaired from another node: ${REPLACE}`;
}

/**
 * Verifies a ledger; readers and a writer may continue meanwhile.
 * @throws NodeError `no_ledger`, `data_not_usable`; `damaged` when the ledger cannot be read to its end
 */
export async function verifyFolder(
  data: string,
  onProgress: (progress: VerifyProgress) => void,
  maxListed?: number,
): Promise<VerifyReport> {
  const store = await openStoreReader(data);
  try {
    return await verifyLedger(store, onProgress, maxListed);
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause;
    if (isStoreError(cause, 'ledger_empty')) throw emptyStoreError(data);
    if (isTransient(cause)) throw asNodeError(cause);
    const isRow = cause instanceof RowDamagedError;
    const message = `${isRow ? '' : 'the store cannot be read: '}${cause.message}; ${REPLACE}`;
    throw new NodeError('damaged', message, { cause });
  } finally {
    await store.close();
  }
}
