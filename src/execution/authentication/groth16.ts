/** Groth16 proofs over BN254 with one public input (docs/spec/vm.md §9.1). */
import { bn254 } from '@noble/curves/bn254.js';
import { decodeBcs } from '../../move/bcs/bcs-reader.ts';
import type { Groth16Proof } from '../../move/crypto/public-key.ts';
import { BN_GROUPS, readBnPoint } from '../../vm/natives/crypto/bn254.ts';
import { type PointPair, productOfPairings } from '../../vm/natives/crypto/pairing.ts';
import type { G1Point, G2Point } from '../../vm/natives/crypto/points.ts';
import type { YieldTurn } from '../../vm/natives/crypto/turns.ts';
import { tryDecode } from './jwks.ts';

export interface VerificationKey {
  readonly alpha: G1Point;
  readonly beta: G2Point;
  readonly gamma: G2Point;
  readonly delta: G2Point;
  readonly inputs: readonly [G1Point, G1Point];
}

const { G1, G2 } = BN_GROUPS;

function g1Of(bytes: Uint8Array): G1Point | undefined {
  return bytes.length === G1.size ? readBnPoint(G1, bytes, true) : undefined;
}

function g2Of(bytes: Uint8Array): G2Point | undefined {
  if (bytes.length !== G2.size) return undefined;
  const point = readBnPoint(G2, bytes, true);
  return point?.isTorsionFree() === true ? point : undefined;
}

/** @param bytes of a `0x1::keyless_account::Groth16VerificationKey`. @returns undefined if they are not a key */
export function readVerificationKey(bytes: Uint8Array): VerificationKey | undefined {
  const parts =
    tryDecode(() =>
      decodeBcs(bytes, (reader) => [
        ...[reader.bytes(), reader.bytes(), reader.bytes(), reader.bytes()],
        ...reader.vector(1, (inner) => inner.bytes()),
      ]),
    ) ?? [];
  const [alpha, first, second] = [parts[0], parts[4], parts[5]].map((part) => part && g1Of(part));
  const [beta, gamma, delta] = parts.slice(1, 4).map(g2Of);
  const isWhole = alpha && beta && gamma && delta && first && second && parts.length === 6;
  return isWhole ? { alpha, beta, gamma, delta, inputs: [first, second] } : undefined;
}

/** Whether a proof is valid for a public input. */
export async function isProofOf(
  { a, b, c }: Groth16Proof,
  input: bigint,
  { alpha, beta, gamma, delta, inputs }: VerificationKey,
  yieldTurn: YieldTurn,
): Promise<boolean> {
  const [left, right, rest] = [g1Of(a), g2Of(b), g1Of(c)];
  if (left === undefined || right === undefined || rest === undefined) return false;
  const [first, second] = inputs;
  const pairs: readonly { readonly g1: G1Point; readonly g2: G2Point }[] = [
    { g1: left.negate(), g2: right },
    { g1: alpha, g2: beta },
    { g1: first.add(second.multiplyUnsafe(input)), g2: gamma },
    { g1: rest, g2: delta },
  ];
  const finite: readonly PointPair[] = pairs.filter(({ g1, g2 }) => !g1.is0() && !g2.is0());
  const { Fp12 } = bn254.fields;
  return Fp12.eql(await productOfPairings(bn254, finite, yieldTurn), Fp12.ONE);
}
