/**
 * Points of BLS12-381 and their signatures as the reference's library reads and verifies them: keys in G1, signatures
 * in G2 (docs/spec/vm.md §6.9). Encodings are those of Zcash, which standards call "compressed" and "uncompressed".
 */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { productOfPairings } from './pairing.ts';
import type { GiveWay } from './turns.ts';

const { G1, G2, fields } = bls12_381;
const { Fp, Fp2, Fp12 } = fields;

type G1Point = InstanceType<typeof G1.Point>;
type G2Point = InstanceType<typeof G2.Point>;
type Fp2Value = ReturnType<typeof Fp2.add>;

const FIELD_BYTES = 48;
const COMPRESSED = 0x80;
const INFINITY = 0x40;
const LARGER = 0x20;
const FLAGS = COMPRESSED | INFINITY | LARGER;

const SIGNATURE_DOMAIN = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_';
const POSSESSION_DOMAIN = 'BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_';

/** What the codecs of both groups need to know about their fields. */
interface Group<Field, Point> {
  /** Of a coordinate, in bytes. */
  readonly size: number;
  readonly zero: Point;
  readonly fromAffine: (x: Field, y: Field) => Point;
  /** The y of an x, either of two; undefined where there is none. */
  readonly solve: (x: Field) => Field | undefined;
  readonly negate: (y: Field) => Field;
  readonly isLarger: (y: Field) => boolean;
  readonly isOnCurve: (x: Field, y: Field) => boolean;
  readonly read: (bytes: Uint8Array) => Field | undefined;
  readonly write: (value: Field) => Uint8Array;
}

function readFp(bytes: Uint8Array): bigint | undefined {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value < Fp.ORDER ? value : undefined;
}

const isLargerFp = (y: bigint): boolean => y > (Fp.ORDER - 1n) / 2n;

function rootOf<Field>(root: () => Field): Field | undefined {
  try {
    return root();
  } catch {
    return undefined;
  }
}

const curveFp = (x: bigint): bigint => Fp.add(Fp.mul(Fp.sqr(x), x), 4n);
const FOUR_FOUR = Fp2.fromBigTuple([4n, 4n]);
const curveFp2 = (x: Fp2Value): Fp2Value => Fp2.add(Fp2.mul(Fp2.sqr(x), x), FOUR_FOUR);

export const G1_GROUP: Group<bigint, G1Point> = {
  size: FIELD_BYTES,
  zero: G1.Point.ZERO,
  fromAffine: (x, y) => G1.Point.fromAffine({ x, y }),
  solve: (x) => rootOf(() => Fp.sqrt(curveFp(x))),
  negate: (y) => Fp.neg(y),
  isLarger: isLargerFp,
  isOnCurve: (x, y) => Fp.eql(Fp.sqr(y), curveFp(x)),
  read: readFp,
  write: (value) => Fp.toBytes(value),
};

export const G2_GROUP: Group<Fp2Value, G2Point> = {
  size: 2 * FIELD_BYTES,
  zero: G2.Point.ZERO,
  fromAffine: (x, y) => G2.Point.fromAffine({ x, y }),
  solve: (x) => rootOf(() => Fp2.sqrt(curveFp2(x))),
  negate: (y) => Fp2.neg(y),
  isLarger: ({ c0, c1 }) => (c1 === 0n ? isLargerFp(c0) : isLargerFp(c1)),
  isOnCurve: (x, y) => Fp2.eql(Fp2.sqr(y), curveFp2(x)),
  read: (bytes) => {
    const c1 = readFp(bytes.subarray(0, FIELD_BYTES));
    const c0 = readFp(bytes.subarray(FIELD_BYTES));
    return c0 === undefined || c1 === undefined ? undefined : Fp2.fromBigTuple([c0, c1]);
  },
  write: ({ c0, c1 }) => {
    const bytes = new Uint8Array(2 * FIELD_BYTES);
    bytes.set(Fp.toBytes(c1));
    bytes.set(Fp.toBytes(c0), FIELD_BYTES);
    return bytes;
  },
};

/** A point on the curve, in whatever subgroup; undefined for bytes that are not its encoding. */
export function readPoint<Field, Point>(
  group: Group<Field, Point>,
  bytes: Uint8Array,
): Point | undefined {
  const first = bytes[0] ?? 0;
  const isCompressed = (first & COMPRESSED) !== 0;
  if (bytes.length !== group.size * (isCompressed ? 1 : 2)) return undefined;
  const plain = bytes.slice();
  plain[0] = first & ~FLAGS;
  if ((first & INFINITY) !== 0) {
    return (first & LARGER) === 0 && plain.every((byte) => byte === 0) ? group.zero : undefined;
  }
  const x = group.read(plain.subarray(0, group.size));
  if (x === undefined) return undefined;
  if (!isCompressed) {
    const y = group.read(plain.subarray(group.size));
    const isPoint = y !== undefined && (first & LARGER) === 0 && group.isOnCurve(x, y);
    return isPoint ? group.fromAffine(x, y) : undefined;
  }
  const y = group.solve(x);
  if (y === undefined) return undefined;
  const isLarger = (first & LARGER) !== 0;
  return group.fromAffine(x, group.isLarger(y) === isLarger ? y : group.negate(y));
}

interface AffinePoint<Field> {
  is0(): boolean;
  toAffine(): { readonly x: Field; readonly y: Field };
}

export function writePoint<Field, Point extends AffinePoint<Field>>(
  group: Group<Field, Point>,
  point: Point,
  isCompressed: boolean,
): Uint8Array {
  const bytes = new Uint8Array(group.size * (isCompressed ? 1 : 2));
  const compressed = isCompressed ? COMPRESSED : 0;
  if (point.is0()) {
    bytes[0] = compressed | INFINITY;
    return bytes;
  }
  const { x, y } = point.toAffine();
  bytes.set(group.write(x));
  if (!isCompressed) bytes.set(group.write(y), group.size);
  else if (group.isLarger(y)) bytes[0]! |= LARGER;
  bytes[0]! |= compressed;
  return bytes;
}

/** Whether some bytes are a public key: a point of the right subgroup, and not the one at infinity. */
export function isBlsKey(bytes: Uint8Array): boolean {
  const point = readPoint(G1_GROUP, bytes);
  return point !== undefined && !point.is0() && point.isTorsionFree();
}

export function isBlsSignature(bytes: Uint8Array): boolean {
  const point = readPoint(G2_GROUP, bytes);
  return point !== undefined && !point.is0() && point.isTorsionFree();
}

/** The sum of points, compressed; undefined when there are none or one of them is not a point. */
export async function sumOfKeys(
  keys: readonly Uint8Array[],
  giveWay: GiveWay,
): Promise<Uint8Array | undefined> {
  let sum: G1Point = G1.Point.ZERO;
  for (const bytes of keys) {
    await giveWay();
    const point = readPoint(G1_GROUP, bytes);
    if (point === undefined) return undefined;
    sum = sum.add(point);
  }
  return keys.length === 0 ? undefined : writePoint(G1_GROUP, sum, true);
}

export async function sumOfSignatures(
  signatures: readonly Uint8Array[],
  giveWay: GiveWay,
): Promise<Uint8Array | undefined> {
  let sum: G2Point = G2.Point.ZERO;
  for (const bytes of signatures) {
    await giveWay();
    const point = readPoint(G2_GROUP, bytes);
    if (point === undefined) return undefined;
    sum = sum.add(point);
  }
  return signatures.length === 0 ? undefined : writePoint(G2_GROUP, sum, true);
}

/** The signatures of messages by keys, one for each, added up. Keys are not checked for their subgroup. */
export async function isSumOfSignatures(
  signatureBytes: Uint8Array,
  keys: readonly Uint8Array[],
  messages: readonly Uint8Array[],
  giveWay: GiveWay,
  domain = SIGNATURE_DOMAIN,
): Promise<boolean> {
  const signature = readPoint(G2_GROUP, signatureBytes);
  if (signature === undefined || !signature.isTorsionFree()) return false;
  if (keys.length === 0 || keys.length !== messages.length) return false;
  const pairs: { g1: G1Point; g2: G2Point }[] = [];
  for (const [index, bytes] of keys.entries()) {
    await giveWay();
    const key = readPoint(G1_GROUP, bytes);
    if (key === undefined || key.is0()) return false;
    pairs.push({ g1: key, g2: G2.hashToCurve(messages[index]!, { DST: domain }) as G2Point });
  }
  if (!signature.is0()) pairs.push({ g1: G1.Point.BASE.negate(), g2: signature });
  return Fp12.eql(await productOfPairings(bls12_381, pairs, giveWay), Fp12.ONE);
}

/** Whether a signature proves that somebody has the secret of a key: it signs the key itself. */
export async function isProofOfPossession(
  proof: Uint8Array,
  key: Uint8Array,
  giveWay: GiveWay,
): Promise<boolean> {
  const point = readPoint(G1_GROUP, key);
  if (point === undefined || point.is0() || !point.isTorsionFree()) return false;
  const message = writePoint(G1_GROUP, point, true);
  return isSumOfSignatures(proof, [key], [message], giveWay, POSSESSION_DOMAIN);
}
