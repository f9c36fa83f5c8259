/** Finds versions whose transaction info states the root of the state after them (docs/spec/backup.md §2). */
import { StateRootBuilder } from '../move/crypto/sparse-merkle.ts';
import { TransactionInfo } from '../move/transactions/transaction-info.ts';
import { stateValueHash } from '../move/types/state-value.ts';
import { liveState, type StateReads } from '../store/read/live-state.ts';
import type { StoreView } from '../store/read/view.ts';

/**
 * Maximum number of versions that are searched for a checkpoint: the size of the largest block committed as a whole.
 */
export const MAX_CHECKPOINT_DISTANCE = 20_000;
const INFOS_AT_ONCE = 256;

export interface Checkpoint {
  readonly version: bigint;
  /** BCS of the TransactionInfo. */
  readonly info: Buffer;
  readonly stateRoot: Buffer;
}

/**
 * The newest version up to `version` whose info states a root; `undefined` when none of the last
 * MAX_CHECKPOINT_DISTANCE retained ones does. @throws BcsError for an info that does not decode
 */
export async function checkpointUpTo(
  view: StoreView,
  version: bigint,
): Promise<Checkpoint | undefined> {
  const { oldestVersion } = view.head;
  const farthest = version - BigInt(MAX_CHECKPOINT_DISTANCE) + 1n;
  const lowest = farthest > oldestVersion ? farthest : oldestVersion;
  for (let last = version; last >= lowest; last -= BigInt(INFOS_AT_ONCE)) {
    const from = last - BigInt(INFOS_AT_ONCE) + 1n;
    const first = from > lowest ? from : lowest;
    const infos = await view.transactionInfos(first, Number(last - first) + 1);
    for (const [index, info] of [...infos.entries()].reverse()) {
      const { stateCheckpointHash } = TransactionInfo.decode(info);
      if (stateCheckpointHash === undefined) continue;
      return { version: first + BigInt(index), info, stateRoot: stateCheckpointHash };
    }
  }
  return undefined;
}

/**
 * The root of the state at a version, computed from every value: about 5 µs each.
 * @param onKeys gets the number of keys so far
 * @throws RowDamagedError
 */
export async function stateRootAt(
  store: StateReads,
  version: bigint,
  onKeys: (keys: number) => void = () => undefined,
): Promise<Buffer> {
  const root = new StateRootBuilder();
  for await (const page of liveState(store, version)) {
    for (const value of page) root.add(value.keyHash, stateValueHash(value));
    onKeys(root.count);
  }
  return root.rootHash();
}
