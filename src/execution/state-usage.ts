/**
 * The size of the state at a version, as the reference counts it. The chain states it at the beginning of each epoch,
 * and writes since then are added (docs/spec/vm.md §6.12).
 */
import { BcsReader } from '../move/bcs/bcs-reader.ts';
import type { WriteSetEntry } from '../move/transactions/write-set.ts';
import { ADDRESS_ONE } from '../move/types/address.ts';
import { frameworkTag } from '../move/types/framework-tag.ts';
import { hashedStateKey, resourceStateKey } from '../move/types/state-key.ts';
import type { PruningGuard } from '../state/pruning-guard.ts';
import type { StateUsage } from '../vm/world.ts';
import { nextTurn } from '../yield-budget.ts';
import { keySize } from './storage-fees.ts';

const USAGE_KEY = hashedStateKey(
  resourceStateKey(ADDRESS_ONE, frameworkTag('state_storage', 'StateStorageUsage')),
);

/** The size of the state after a version. */
export interface CountedState {
  readonly version: bigint;
  readonly usage: StateUsage;
}

/** Versions whose writes are counted before others get their turn. */
const VERSIONS_PER_TURN = 64n;

interface UsageCount {
  /** The writes of a version; rejects if they are not stored. */
  writesOf(version: bigint): Promise<readonly WriteSetEntry[]>;
  /** Writes of earlier versions are not counted: they are not all available here. */
  readonly firstVersion?: bigint;
  /** If more versions would have to be counted, none is: the usage is the chain's last statement. */
  readonly maxVersions?: number;
  /** A known count at an earlier version, or at this one. */
  readonly counted?: CountedState | undefined;
  /** Yields to other tasks. It may throw to end the count. */
  yieldTurn?(): Promise<void>;
}

/** The usage after a version. */
export async function stateUsageAt(
  guard: PruningGuard,
  version: bigint,
  {
    writesOf,
    firstVersion = 0n,
    maxVersions = Number.POSITIVE_INFINITY,
    counted,
    yieldTurn = nextTurn,
  }: UsageCount,
): Promise<StateUsage> {
  const recorded = await guard.state(ADDRESS_ONE, USAGE_KEY, version);
  let items = 0n;
  let bytes = 0n;
  if (recorded?.bytes !== undefined) {
    const reader = new BcsReader(recorded.bytes);
    reader.u64();
    items = reader.u64();
    bytes = reader.u64();
  }
  // A version states the size before itself.
  const since = recorded?.version ?? 0n;
  let first = since > firstVersion ? since : firstVersion;
  if (counted !== undefined && counted.version >= since) {
    ({ items, bytes } = counted.usage);
    first = counted.version + 1n;
  }
  if (version - first >= maxVersions) return { items, bytes };
  for (let at = first; at <= version; at += 1n) {
    if (at % VERSIONS_PER_TURN === 0n) await yieldTurn();
    for (const { key, op } of await writesOf(at)) {
      const before =
        at === 0n ? undefined : await guard.state(undefined, hashedStateKey(key), at - 1n);
      const size = keySize(key);
      if (before?.bytes !== undefined) {
        items -= 1n;
        bytes -= BigInt(size + before.bytes.length);
      }
      if (op.kind === 'deletion') continue;
      items += 1n;
      bytes += BigInt(size + op.bytes.length);
    }
  }
  return { items, bytes };
}
