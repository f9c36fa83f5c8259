/** Reading state values, as the parts of the ledger ask for them; StoreView.state is one. */
import type { MaybePromise } from '../maybe-promise.ts';
import type { StateEntry } from '../store/columns/state-column.ts';

/**
 * What stands under a state key after a version; `undefined` when nothing does.
 * @param keyHash state key hash, 32 bytes (docs/spec/ledger.md §5.1)
 */
export type StateReader = (
  keyHash: Uint8Array,
  version: bigint,
) => MaybePromise<StateEntry | undefined>;
