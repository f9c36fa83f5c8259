/**
 * How much state there is at a version, as the reference counts it: the chain states it at the beginning of each epoch,
 * and what was written since then is added (docs/spec/vm.md §6.12).
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

/** How much state there was after a version. */
export interface CountedState {
  readonly version: bigint;
  readonly usage: StateUsage;
}

/** Versions whose writes are counted before others get their turn. */
const VERSIONS_PER_TURN = 64n;

interface UsageCount {
  /** The writes of a version; rejects where they are not stored. */
  writesOf(version: bigint): Promise<readonly WriteSetEntry[]>;
  /** What earlier versions wrote is not counted: nobody here has all of it. */
  readonly firstVersion?: bigint;
  /** Where more versions would have to be counted, none is: the usage is what the chain stated last. */
  readonly maxVersions?: number;
  /** What is known of an earlier version, or of this one. */
  readonly counted?: CountedState | undefined;
  /** Lets others go on. It may throw to end the count. */
  giveTurn?(): Promise<void>;
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
    giveTurn = nextTurn,
  }: UsageCount,
): Promise<StateUsage> {
  const stated = await guard.state(ADDRESS_ONE, USAGE_KEY, version);
  let items = 0n;
  let bytes = 0n;
  if (stated?.bytes !== undefined) {
    const reader = new BcsReader(stated.bytes);
    reader.u64();
    items = reader.u64();
    bytes = reader.u64();
  }
  // What a version states is how much there was before it.
  const since = stated?.version ?? 0n;
  let first = since > firstVersion ? since : firstVersion;
  if (counted !== undefined && counted.version >= since) {
    ({ items, bytes } = counted.usage);
    first = counted.version + 1n;
  }
  if (version - first >= maxVersions) return { items, bytes };
  for (let at = first; at <= version; at += 1n) {
    if (at % VERSIONS_PER_TURN === 0n) await giveTurn();
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
