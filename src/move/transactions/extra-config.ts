/** What orderless and encrypted payloads add to their executable (docs/spec/ledger.md §3.4). */

import type { BcsReader } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import type { Address } from '../types/address.ts';

/** How much more than the usual limits is asked for, in percent. */
export interface LimitMultipliers {
  readonly executionPercent: bigint;
  readonly ioPercent: bigint;
}

/** On which ground higher limits are asked for. */
export type TransactionLimitsRequest =
  | { readonly kind: 'stakePoolOwner'; readonly multipliers: LimitMultipliers }
  | {
      readonly kind: 'delegatedVoter' | 'delegationPoolDelegator';
      readonly poolAddress: Address;
      readonly multipliers: LimitMultipliers;
    };

interface ExtraConfigV1 {
  readonly multisigAddress: Address | undefined;
  readonly replayProtectionNonce: bigint | undefined;
}

export type ExtraConfig =
  | ({ readonly kind: 'v1' } & ExtraConfigV1)
  | ({
      readonly kind: 'v2';
      readonly limitsRequest: TransactionLimitsRequest | undefined;
    } & ExtraConfigV1);

const REQUEST_KINDS = ['stakePoolOwner', 'delegatedVoter', 'delegationPoolDelegator'] as const;

/** Reads the extra configuration. @throws BcsError */
export function readExtraConfig(reader: BcsReader): ExtraConfig {
  const variant = reader.variant(2, 'TransactionExtraConfig');
  const multisigAddress = reader.option((inner) => inner.address());
  const replayProtectionNonce = reader.option((inner) => inner.u64());
  if (variant === 0) return { kind: 'v1', multisigAddress, replayProtectionNonce };
  const limitsRequest = reader.option(readLimitsRequest);
  return { kind: 'v2', multisigAddress, replayProtectionNonce, limitsRequest };
}

/** Writes the extra configuration. */
export function writeExtraConfig(writer: BcsWriter, config: ExtraConfig): void {
  writer.uleb32(config.kind === 'v1' ? 0 : 1);
  writer.option(config.multisigAddress, (inner, address) => inner.address(address));
  writer.option(config.replayProtectionNonce, (inner, nonce) => inner.u64(nonce));
  if (config.kind === 'v2') writer.option(config.limitsRequest, writeLimitsRequest);
}

function readLimitsRequest(reader: BcsReader): TransactionLimitsRequest {
  const kind = REQUEST_KINDS[reader.variant(REQUEST_KINDS.length, 'TransactionLimitsRequest')]!;
  if (kind === 'stakePoolOwner') return { kind, multipliers: readMultipliers(reader) };
  const poolAddress = reader.address();
  return { kind, poolAddress, multipliers: readMultipliers(reader) };
}

function writeLimitsRequest(writer: BcsWriter, request: TransactionLimitsRequest): void {
  writer.uleb32(REQUEST_KINDS.indexOf(request.kind));
  if (request.kind !== 'stakePoolOwner') writer.address(request.poolAddress);
  writer.uleb32(0).u64(request.multipliers.executionPercent).u64(request.multipliers.ioPercent);
}

function readMultipliers(reader: BcsReader): LimitMultipliers {
  reader.variant(1, 'LimitMultipliers');
  const executionPercent = reader.u64();
  return { executionPercent, ioPercent: reader.u64() };
}
