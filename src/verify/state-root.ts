/** Compares the state with the root that the newest checkpoint states: every value counts, however old it is. */
import { checkpointUpTo, stateRootAt } from '../ingest/checkpoint.ts';
import { BcsError } from '../move/bcs/bcs-reader.ts';
import { LeafOrderError } from '../move/crypto/sparse-merkle.ts';
import { STATE } from '../store/columns/columns.ts';
import { isTransient, StoreError } from '../store/store-error.ts';
import type { VerifyContext } from './context.ts';

/** @returns the version at which the root was compared; `undefined` if no recent info states one */
export async function verifyStateRoot(
  { damages, store, view }: VerifyContext,
  onKeys: (keys: number) => void,
): Promise<bigint | undefined> {
  try {
    const checkpoint = await checkpointUpTo(view, view.head.version);
    if (checkpoint === undefined) return undefined;
    const { version, stateRoot } = checkpoint;
    const root = await stateRootAt(store, version, onKeys);
    if (!root.equals(stateRoot)) {
      const [found, stated] = [root.toString('hex'), stateRoot.toString('hex')];
      damages.column(STATE, `its root is ${found}, the transaction info says ${stated}`, version);
    }
    return version;
  } catch (error) {
    // Rows that cannot be read or do not decode are reported by the checks of the columns.
    if (error instanceof BcsError || error instanceof LeafOrderError) return undefined;
    if (error instanceof StoreError && !isTransient(error)) return undefined;
    throw error;
  }
}
