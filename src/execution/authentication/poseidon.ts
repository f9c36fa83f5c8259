/**
 * Poseidon over the scalars of BN254 with the parameters of circomlib, and how bytes become scalars
 * (docs/spec/vm.md §9.1).
 */
import { grainGenConstants, type PoseidonFn, poseidon } from '@noble/curves/abstract/poseidon.js';
import { bn254 } from '@noble/curves/bn254.js';
import { integerOfBytes } from '../../vm/natives/crypto/turns.ts';
import { VmError } from '../../vm/status/status.ts';

const { Fr } = bn254.fields;
const MAX_SCALARS = 16;
/** Bytes that fit into a scalar. */
const SCALAR_BYTES = 31;
const FULL_ROUNDS = 8;
/** Indexed by the number of scalars that are hashed, from 1. */
const PARTIAL_ROUNDS = [56, 57, 56, 60, 60, 63, 64, 63, 60, 66, 60, 65, 70, 60, 64, 68];

/** Keyed by the number of scalars that are hashed. Generating the constants takes up to 100 ms. */
const permutations = new Map<number, PoseidonFn>();

/** @throws VmError INVALID_SIGNATURE for no scalars or too many */
export function hashScalars(scalars: readonly bigint[]): bigint {
  const count = scalars.length;
  if (count === 0 || count > MAX_SCALARS) throw new VmError('INVALID_SIGNATURE');
  let permutation = permutations.get(count);
  if (permutation === undefined) {
    const form = {
      Fp: Fr,
      t: count + 1,
      roundsFull: FULL_ROUNDS,
      roundsPartial: PARTIAL_ROUNDS[count - 1]!,
      sboxPower: 5,
    };
    permutation = poseidon({ ...form, ...grainGenConstants(form) });
    permutations.set(count, permutation);
  }
  return permutation([0n, ...scalars])[0]!;
}

/** The scalar of some bytes, little-endian. */
export function scalarOf(bytes: Uint8Array): bigint {
  return Fr.create(integerOfBytes(bytes));
}

/**
 * Bytes packed into scalars and padded with zeros, followed by their number.
 * @throws VmError INVALID_SIGNATURE for more than `maxBytes`
 */
export function paddedScalars(bytes: Uint8Array, maxBytes: number): bigint[] {
  if (bytes.length > maxBytes || maxBytes > MAX_SCALARS * SCALAR_BYTES) {
    throw new VmError('INVALID_SIGNATURE');
  }
  const scalars = Array.from({ length: Math.ceil(maxBytes / SCALAR_BYTES) }, (_, index) =>
    scalarOf(bytes.subarray(index * SCALAR_BYTES, (index + 1) * SCALAR_BYTES)),
  );
  return [...scalars, BigInt(bytes.length)];
}

/** The hash of a string. @throws VmError INVALID_SIGNATURE for more than `maxBytes` */
export function hashText(text: string, maxBytes: number): bigint {
  return hashScalars(paddedScalars(Buffer.from(text), maxBytes));
}

/** The scalar of at most 31 bytes. @throws VmError INVALID_SIGNATURE */
export function scalarOfFew(bytes: Uint8Array): bigint {
  if (bytes.length > SCALAR_BYTES) throw new VmError('INVALID_SIGNATURE');
  return scalarOf(bytes);
}

/** 32 bytes, little-endian. */
export function scalarBytes(scalar: bigint): Buffer {
  return Buffer.from(Fr.toBytes(scalar)).reverse();
}
