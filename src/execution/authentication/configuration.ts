/** What a chain allows keyless accounts (docs/spec/vm.md §9.1). */
import type { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import type { EphemeralPublicKey } from '../../move/crypto/public-key.ts';
import { paddedScalars } from './poseidon.ts';

/** Limit for the name of the application that a token is for. */
export const MAX_AUDIENCE_BYTES = 120;

/** `0x1::keyless_account::Configuration`. */
export interface Configuration {
  readonly overrideAudiences: readonly string[];
  readonly maxSignatures: number;
  readonly maxHorizonSecs: bigint;
  /** An Ed25519 key that must have signed each proof. */
  readonly trainingWheelsKey: Buffer | undefined;
  readonly maxEphemeralKeyBytes: number;
  readonly maxIssuerBytes: number;
  readonly maxExtraFieldBytes: number;
  readonly maxHeaderBytes: number;
}

export function readConfiguration(reader: BcsReader): Configuration {
  return {
    overrideAudiences: reader.vector(1, (inner) => inner.string()),
    maxSignatures: reader.u16(),
    maxHorizonSecs: reader.u64(),
    trainingWheelsKey: reader.option((inner) => inner.bytes()),
    maxEphemeralKeyBytes: reader.u16(),
    maxIssuerBytes: reader.u16(),
    maxExtraFieldBytes: reader.u16(),
    maxHeaderBytes: reader.u32(),
  };
}

/** @throws VmError INVALID_SIGNATURE */
export function ephemeralKeyScalars(
  { kind, bytes }: EphemeralPublicKey,
  { maxEphemeralKeyBytes }: Configuration,
): bigint[] {
  const encoded = encodeBcs((writer) => writer.uleb32(kind === 'ed25519' ? 0 : 1).bytes(bytes));
  return paddedScalars(encoded, maxEphemeralKeyBytes);
}
