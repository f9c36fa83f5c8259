/** Compares the root of the state at each checkpoint of a ledger, from the writes of its versions. */
import { decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { StateTree } from '../../move/crypto/state-tree.ts';
import {
  readOnChainData,
  type TransactionOnChainData,
} from '../../move/transactions/transaction.ts';
import { writtenValue } from '../../move/transactions/write-set.ts';
import { hashedStateKey } from '../../move/types/state-key.ts';
import { stateValueHash } from '../../move/types/state-value.ts';
import { stateTreeAt } from '../../store/read/live-state.ts';
import type { StoreView } from '../../store/read/view.ts';
import type { StoreReader } from '../../store/store.ts';
import { nextTurn } from '../../yield-budget.ts';
import type { Difference } from './replay.ts';

/** Values of the state that a walk holds, at most: about 200 MB. */
export const MAX_WALKED_VALUES = 500_000;
const VERSIONS_AT_ONCE = 64;

interface ComparedRoots {
  readonly version: bigint;
  readonly compared: number;
  readonly difference: Difference | undefined;
}

/**
 * Goes from version to version, part by part. It ends after the first different root, or if the state has too many
 * values.
 * @param first the version to begin with: all state before it exists
 */
export async function* compareRoots(
  store: StoreReader,
  view: StoreView,
  first: bigint,
  maxValues = MAX_WALKED_VALUES,
): AsyncGenerator<ComparedRoots> {
  const tree = first === 0n ? new StateTree() : await stateTreeAt(store, first - 1n, maxValues);
  if (tree === undefined) return;
  for (let from = first; from <= view.head.version; from += BigInt(VERSIONS_AT_ONCE)) {
    const items = await view.transactions(from, VERSIONS_AT_ONCE);
    let compared = 0;
    for (const [place, bytes] of items.entries()) {
      const { changes, info } = decodeBcs(bytes, readOnChainData).data;
      const version = from + BigInt(place);
      const difference = rootDifference(tree, { version, changes, info });
      if (info.stateCheckpointHash !== undefined) compared += 1;
      if (difference === undefined) continue;
      yield { version, compared, difference };
      return;
    }
    yield { version: from + BigInt(items.length) - 1n, compared, difference: undefined };
    if (items.length < VERSIONS_AT_ONCE || tree.count > maxValues) return;
    await nextTurn();
  }
}

/** Writes what a version has written, and compares the root where the version states one. */
export function rootDifference(
  tree: StateTree,
  { version, changes, info }: Pick<TransactionOnChainData, 'version' | 'changes' | 'info'>,
): Difference | undefined {
  for (const { key, op } of changes.writes) {
    const value = writtenValue(op);
    tree.set(hashedStateKey(key).hash, value && stateValueHash(value));
  }
  if (info.stateCheckpointHash === undefined) return undefined;
  const root = tree.rootHash();
  if (root.equals(info.stateCheckpointHash)) return undefined;
  const detail = `the root of the state after it is ${root.toString('hex')}`;
  return { version, isOpen: false, detail };
}
