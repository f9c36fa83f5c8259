/** Which modules load, by the feature flags on the chain (docs/spec/move.md §4.2). */

import { BcsError } from '../move/bcs/bcs-reader.ts';
import { DEFAULT_LOADER_LIMITS, type LoaderLimits } from '../move/modules/compiled.ts';
import { ADDRESS_ONE } from '../move/types/address.ts';
import { FEATURES_TAG } from '../move/types/framework-tag.ts';
import { physicalStateKey, resourceStateKey, stateKeyHash } from '../move/types/state-key.ts';
import { featuresCodec, isFeatureEnabled } from '../move/values/framework-resource.ts';
import type { StateReader } from './state-reader.ts';

/** State key hash of the feature flags. */
export const FEATURES_KEY_HASH = stateKeyHash(
  physicalStateKey(resourceStateKey(ADDRESS_ONE, FEATURES_TAG)),
);

/** Flags that raise the bytecode version, the highest first. */
const VERSION_FLAGS: readonly (readonly [flag: number, maxVersion: number])[] = [
  [106, 10],
  [102, 9],
  [86, 8],
  [40, 7],
  [5, 6],
];
const LOWEST_MAX_VERSION = 5;
/** Flag of the shorter identifiers. */
const LIMITED_IDENTIFIERS_FLAG = 38;
const LEGACY_MAX_IDENTIFIER_BYTES = 65_535;

/** The limits for modules of the state at a version; the defaults when the flags are missing or unreadable. */
export async function loaderLimitsAt(state: StateReader, version: bigint): Promise<LoaderLimits> {
  const value = await state(FEATURES_KEY_HASH, version);
  return value?.bytes === undefined ? DEFAULT_LOADER_LIMITS : loaderLimitsOf(value.bytes);
}

/** The limits that the bytes of `0x1::features::Features` set. */
function loaderLimitsOf(bytes: Uint8Array): LoaderLimits {
  let features: Uint8Array;
  try {
    features = featuresCodec.decode(bytes);
  } catch (error) {
    if (error instanceof BcsError) return DEFAULT_LOADER_LIMITS;
    throw error;
  }
  const raised = VERSION_FLAGS.find(([flag]) => isFeatureEnabled(features, flag));
  return {
    maxVersion: raised?.[1] ?? LOWEST_MAX_VERSION,
    maxIdentifierBytes: isFeatureEnabled(features, LIMITED_IDENTIFIERS_FLAG)
      ? DEFAULT_LOADER_LIMITS.maxIdentifierBytes
      : LEGACY_MAX_IDENTIFIER_BYTES,
  };
}
