/** Checks that the validators of an epoch have signed a ledger info (docs/spec/backup.md §4.3). */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { isBitSet } from '../bcs/bits.ts';
import { domainSeed } from '../crypto/hash.ts';
import { MoveError } from '../errors.ts';
import type { SignedLedgerInfo } from './ledger-info.ts';
import type { EpochState, ValidatorPower } from './waypoint.ts';

/** Signatures are points of G2, keys of G1. */
const scheme = bls12_381.longSignatures;
const DOMAIN = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_';

type KeyPoint = ReturnType<typeof scheme.aggregatePublicKeys>;

/**
 * Why a ledger info is not signed by a quorum:
 * - `signers_malformed`: the bitmask does not fit the number of validators;
 * - `no_quorum`: the signers have too little power;
 * - `not_signed`: the signature is missing;
 * - `signature_wrong`: the signature is not that of the signers.
 */
type SignatureErrorCode = 'signers_malformed' | 'no_quorum' | 'not_signed' | 'signature_wrong';

export class SignatureError extends MoveError<SignatureErrorCode> {}

/**
 * Checks signatures of successive epochs. Decoding a key costs as much as checking a signature, and most keys stay the
 * same from epoch to epoch, so the decoded keys of the last validators are retained.
 */
export class ValidatorSignatures {
  #keys = new Map<string, KeyPoint>();

  /** @throws SignatureError unless validators with a quorum of the power have signed */
  check(validators: EpochState['validators'], signed: SignedLedgerInfo): void {
    const signers = signersOf(validators, signed.signers);
    checkPower(validators, signers);
    if (signed.signature === undefined) {
      throw new SignatureError('not_signed', 'the ledger info has no signature');
    }
    const message = Buffer.concat([domainSeed('LedgerInfo'), signed.infoBytes]);
    const isValid = falseIfThrows(() => {
      const key = scheme.aggregatePublicKeys(this.#decoded(signers));
      return scheme.verify(signed.signature!, scheme.hash(message, DOMAIN_BYTES), key);
    });
    if (isValid) return;
    const detail = `the signature is not that of the ${signers.length} validators it names`;
    throw new SignatureError('signature_wrong', detail);
  }

  #decoded(signers: readonly ValidatorPower[]): KeyPoint[] {
    const keys = new Map<string, KeyPoint>();
    for (const { consensusKey } of signers) {
      const name = consensusKey.toString('latin1');
      keys.set(name, this.#keys.get(name) ?? decodeKey(consensusKey));
    }
    this.#keys = keys;
    return signers.map(({ consensusKey }) => keys.get(consensusKey.toString('latin1'))!);
  }
}

const DOMAIN_BYTES = Buffer.from(DOMAIN, 'ascii');

/** @throws Error for bytes that are not a point of the group */
function decodeKey(bytes: Uint8Array): KeyPoint {
  return bls12_381.G1.Point.fromBytes(bytes);
}

/** The library throws for bytes that are not a point, points outside the group, and infinity. */
function falseIfThrows(verify: () => boolean): boolean {
  try {
    return verify();
  } catch {
    return false;
  }
}

function signersOf(
  validators: EpochState['validators'],
  bitmask: Uint8Array,
): readonly ValidatorPower[] {
  const count = validators.length;
  const byteLength = Math.ceil(count / 8);
  if (bitmask.length !== byteLength) {
    const detail = `the bitmask has ${bitmask.length} bytes, not ${byteLength} for ${count} validators`;
    throw new SignatureError('signers_malformed', detail);
  }
  for (let index = count; index < byteLength * 8; index += 1) {
    if (!isBitSet(bitmask, index)) continue;
    const detail = `the bitmask names validator ${index} of ${count}`;
    throw new SignatureError('signers_malformed', detail);
  }
  return validators.filter((_, index) => isBitSet(bitmask, index));
}

function checkPower(
  validators: EpochState['validators'],
  signers: readonly ValidatorPower[],
): void {
  const total = powerOf(validators);
  const signed = powerOf(signers);
  const quorum = (total * 2n) / 3n + 1n;
  if (signed >= quorum) return;
  const detail = `the signers have power ${signed} of ${total}, a quorum is ${quorum}`;
  throw new SignatureError('no_quorum', detail);
}

function powerOf(validators: readonly ValidatorPower[]): bigint {
  return validators.reduce((sum, { votingPower }) => sum + votingPower, 0n);
}
