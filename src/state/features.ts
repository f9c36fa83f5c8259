/**
 * The feature flags of the chain, and the limits for loading modules that follow from them (docs/spec/move.md §4.2).
 */
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import { BcsError } from '../move/bcs/bcs-reader.ts';
import { DEFAULT_LOADER_LIMITS, type LoaderLimits } from '../move/modules/compiled.ts';
import { ADDRESS_ONE } from '../move/types/address.ts';
import { FEATURES_TAG } from '../move/types/framework-tag.ts';
import { hashedStateKey, resourceStateKey } from '../move/types/state-key.ts';
import { featuresCodec, isFeatureEnabled } from '../move/values/framework-resource.ts';
import type { StateEntry } from '../store/columns/state-column.ts';
import type { PruningGuard } from './pruning-guard.ts';

const FEATURES_KEY = hashedStateKey(resourceStateKey(ADDRESS_ONE, FEATURES_TAG));

/** Flags that raise the bytecode version, the highest first. */
const VERSION_FLAGS: readonly (readonly [flag: number, maxVersion: number])[] = [
  [106, 10],
  [102, 9],
  [86, 8],
  [40, 7],
  [5, 6],
];
const LOWEST_MAX_VERSION = 5;
const LIMITED_IDENTIFIERS_FLAG = 38;
const LEGACY_MAX_IDENTIFIER_BYTES = 65_535;

/** The reference's flag DEFAULT_ACCOUNT_RESOURCE: accounts can exist without a resource. */
export const DEFAULT_ACCOUNT_FLAG = 91;

/** The feature flags at a version; `undefined` if they are missing or do not decode. */
export function featuresAt(
  guard: PruningGuard,
  version: bigint,
): MaybePromise<Uint8Array | undefined> {
  return andThen(featuresEntry(guard, version), featuresIn);
}

function featuresEntry(guard: PruningGuard, version: bigint): MaybePromise<StateEntry | undefined> {
  return guard.state(ADDRESS_ONE, FEATURES_KEY, version);
}

function featuresIn(entry: StateEntry | undefined): Uint8Array | undefined {
  if (entry?.bytes === undefined) return undefined;
  try {
    return featuresCodec.decode(entry.bytes);
  } catch (error) {
    if (error instanceof BcsError) return undefined;
    throw error;
  }
}

export interface VersionedLimits {
  readonly limits: LoaderLimits;
  /** The limits have been the same since this version. */
  readonly sinceVersion: bigint;
}

export function loaderLimitsAt(
  guard: PruningGuard,
  version: bigint,
): MaybePromise<VersionedLimits> {
  return andThen(featuresEntry(guard, version), (entry) => {
    const features = featuresIn(entry);
    return {
      limits: features
        ? loaderLimitsOf((flag) => isFeatureEnabled(features, flag))
        : DEFAULT_LOADER_LIMITS,
      // Missing flags say nothing about earlier versions.
      sinceVersion: entry?.version ?? version,
    };
  });
}

export function loaderLimitsOf(isEnabled: (flag: number) => boolean): LoaderLimits {
  const newestFlag = VERSION_FLAGS.find(([flag]) => isEnabled(flag));
  return {
    maxVersion: newestFlag?.[1] ?? LOWEST_MAX_VERSION,
    maxIdentifierBytes: isEnabled(LIMITED_IDENTIFIERS_FLAG)
      ? DEFAULT_LOADER_LIMITS.maxIdentifierBytes
      : LEGACY_MAX_IDENTIFIER_BYTES,
  };
}
