/**
 * Points of BLS12-381 and signatures, read and verified as in the reference's library: keys in G1, signatures in G2
 * (docs/spec/vm.md §6.9). Encodings are those of Zcash, which standards call "compressed" and "uncompressed".
 */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { productOfPairings } from './pairing.ts';
import {
  type AffinePoint,
  coordinatesOf,
  type G1Point,
  type G2Point,
  type PointGroup,
  pointGroups,
  pointOf,
} from './points.ts';
import { bytesOfInteger, integerOfBytes, type YieldTurn } from './turns.ts';

const { G1, G2, fields } = bls12_381;
const { Fp2, Fp12 } = fields;

const COMPRESSED = 0x80;
const INFINITY = 0x40;
const LARGER = 0x20;
const FLAGS = COMPRESSED | INFINITY | LARGER;

const SIGNATURE_DOMAIN = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_';
const POSSESSION_DOMAIN = 'BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_';

/** Integers are written big-endian. */
export const BLS_GROUPS = pointGroups(bls12_381, [4n, Fp2.fromBigTuple([4n, 4n])], {
  readInteger: (bytes) => integerOfBytes(bytes.toReversed()),
  writeInteger: (value, size) => bytesOfInteger(value, size).reverse(),
  isHighFirst: true,
});

/** A point on the curve, in any subgroup; undefined for bytes that do not encode one. */
export function readPoint<Field, Point>(
  group: PointGroup<Field, Point>,
  bytes: Uint8Array,
): Point | undefined {
  const first = bytes[0] ?? 0;
  const isCompressed = (first & COMPRESSED) !== 0;
  const isLarger = (first & LARGER) !== 0;
  if (bytes.length !== group.size * (isCompressed ? 1 : 2)) return undefined;
  if (isLarger && !isCompressed) return undefined;
  const coordinates = new Uint8Array(bytes);
  coordinates[0] = first & ~FLAGS;
  const isInfinity = (first & INFINITY) !== 0;
  return pointOf(group, coordinates, { isCompressed, isInfinity, isLarger });
}

export function writePoint<Field, Point extends AffinePoint<Field>>(
  group: PointGroup<Field, Point>,
  point: Point,
  isCompressed: boolean,
): Uint8Array {
  const { bytes, flags } = coordinatesOf(group, point, isCompressed);
  if (isCompressed) bytes[0]! |= COMPRESSED;
  if (flags.isInfinity) bytes[0]! |= INFINITY;
  if (isCompressed && flags.isLarger) bytes[0]! |= LARGER;
  return bytes;
}

/** A point of G1 in any subgroup, such as a public key. */
export function readKey(bytes: Uint8Array): G1Point | undefined {
  return readPoint(BLS_GROUPS.G1, bytes);
}

/** A point of G2 in any subgroup, such as a signature. */
export function readSignature(bytes: Uint8Array): G2Point | undefined {
  return readPoint(BLS_GROUPS.G2, bytes);
}

/** Whether a point is in the right subgroup, and not the one at infinity. */
export function isInSubgroup(point: G1Point | G2Point): boolean {
  return !point.is0() && point.isTorsionFree();
}

export function sumOfKeys(keys: readonly G1Point[]): Uint8Array {
  const sum = keys.reduce((left, right) => left.add(right), G1.Point.ZERO as G1Point);
  return writePoint(BLS_GROUPS.G1, sum, true);
}

export function sumOfSignatures(signatures: readonly G2Point[]): Uint8Array {
  const sum = signatures.reduce((left, right) => left.add(right), G2.Point.ZERO as G2Point);
  return writePoint(BLS_GROUPS.G2, sum, true);
}

/** Verifies a sum of signatures, one per key and message. Keys are not checked for their subgroup. */
export async function isSumOfSignatures(
  signature: G2Point,
  keys: readonly G1Point[],
  messages: readonly Uint8Array[],
  yieldTurn: YieldTurn,
  domain = SIGNATURE_DOMAIN,
): Promise<boolean> {
  if (!signature.isTorsionFree()) return false;
  if (keys.length === 0 || keys.length !== messages.length) return false;
  const pairs: { g1: G1Point; g2: G2Point }[] = [];
  for (const [index, key] of keys.entries()) {
    await yieldTurn();
    if (key.is0()) return false;
    pairs.push({ g1: key, g2: G2.hashToCurve(messages[index]!, { DST: domain }) as G2Point });
  }
  if (!signature.is0()) pairs.push({ g1: G1.Point.BASE.negate(), g2: signature });
  return Fp12.eql(await productOfPairings(bls12_381, pairs, yieldTurn), Fp12.ONE);
}

/** Whether a signature proves that somebody has the secret of a key: it signs the key itself. */
export async function isProofOfPossession(
  proof: G2Point,
  key: G1Point,
  yieldTurn: YieldTurn,
): Promise<boolean> {
  if (!isInSubgroup(key)) return false;
  const message = writePoint(BLS_GROUPS.G1, key, true);
  return isSumOfSignatures(proof, [key], [message], yieldTurn, POSSESSION_DOMAIN);
}
