/** Points of BN254 as the reference's library writes them: lowest byte first, flags in the highest bits of the last. */
import { bn254 } from '@noble/curves/bn254.js';
import { bytesOfInteger, integerOfBytes } from './integers.ts';

const { Fp, Fp2 } = bn254.fields;
type Fp2Value = ReturnType<typeof Fp2.add>;
type G1Point = InstanceType<typeof bn254.G1.Point>;
type G2Point = InstanceType<typeof bn254.G2.Point>;

const FIELD_BYTES = 32;
const INFINITY = 0x40;
const LARGER = 0x80;

interface Group<Field, Point> {
  readonly size: number;
  readonly zero: Point;
  readonly fromAffine: (x: Field, y: Field) => Point;
  /** The square of y. */
  readonly curve: (x: Field) => Field;
  readonly sqrt: (square: Field) => Field;
  readonly negate: (y: Field) => Field;
  readonly eql: (left: Field, right: Field) => boolean;
  readonly sqr: (y: Field) => Field;
  /** Whether y is the larger one of the two. */
  readonly isLarger: (y: Field) => boolean;
  readonly read: (bytes: Uint8Array) => Field | undefined;
  readonly write: (value: Field) => Uint8Array;
}

function readFp(bytes: Uint8Array): bigint | undefined {
  const value = integerOfBytes(bytes);
  return value < Fp.ORDER ? value : undefined;
}

const isLargerFp = (y: bigint): boolean => y > Fp.ORDER / 2n;
/** 3 / (9 + u), the constant of the curve over the larger field. */
const TWIST = Fp2.div(Fp2.fromBigTuple([3n, 0n]), Fp2.fromBigTuple([9n, 1n]));

export const BN254_G1: Group<bigint, G1Point> = {
  size: FIELD_BYTES,
  zero: bn254.G1.Point.ZERO,
  fromAffine: (x, y) => bn254.G1.Point.fromAffine({ x, y }),
  curve: (x) => Fp.add(Fp.mul(Fp.sqr(x), x), 3n),
  sqrt: (square) => Fp.sqrt(square),
  negate: (y) => Fp.neg(y),
  eql: (left, right) => Fp.eql(left, right),
  sqr: (y) => Fp.sqr(y),
  isLarger: isLargerFp,
  read: readFp,
  write: (value) => bytesOfInteger(value, FIELD_BYTES),
};

export const BN254_G2: Group<Fp2Value, G2Point> = {
  size: 2 * FIELD_BYTES,
  zero: bn254.G2.Point.ZERO,
  fromAffine: (x, y) => bn254.G2.Point.fromAffine({ x, y }),
  curve: (x) => Fp2.add(Fp2.mul(Fp2.sqr(x), x), TWIST),
  sqrt: (square) => Fp2.sqrt(square),
  negate: (y) => Fp2.neg(y),
  eql: (left, right) => Fp2.eql(left, right),
  sqr: (y) => Fp2.sqr(y),
  isLarger: ({ c0, c1 }) => (c1 === 0n ? isLargerFp(c0) : isLargerFp(c1)),
  read: (bytes) => {
    const c0 = readFp(bytes.subarray(0, FIELD_BYTES));
    const c1 = readFp(bytes.subarray(FIELD_BYTES));
    return c0 === undefined || c1 === undefined ? undefined : Fp2.fromBigTuple([c0, c1]);
  },
  write: ({ c0, c1 }) => {
    const bytes = new Uint8Array(2 * FIELD_BYTES);
    bytes.set(bytesOfInteger(c0, FIELD_BYTES));
    bytes.set(bytesOfInteger(c1, FIELD_BYTES), FIELD_BYTES);
    return bytes;
  },
};

/** A point on the curve; undefined for bytes that are not its encoding. */
export function readBnPoint<Field, Point>(
  group: Group<Field, Point>,
  bytes: Uint8Array,
  isCompressed: boolean,
): Point | undefined {
  const last = bytes[bytes.length - 1]!;
  const [isInfinity, isLarger] = [(last & INFINITY) !== 0, (last & LARGER) !== 0];
  const plain = bytes.slice();
  plain[bytes.length - 1] = last & ~(INFINITY | LARGER);
  if (isInfinity) {
    return !isLarger && plain.every((byte) => byte === 0) ? group.zero : undefined;
  }
  const x = group.read(plain.subarray(0, group.size));
  if (x === undefined) return undefined;
  if (!isCompressed) {
    const y = group.read(plain.subarray(group.size));
    const isPoint = y !== undefined && group.eql(group.sqr(y), group.curve(x));
    return isPoint ? group.fromAffine(x, y) : undefined;
  }
  const y = rootOf(group, group.curve(x));
  if (y === undefined) return undefined;
  return group.fromAffine(x, group.isLarger(y) === isLarger ? y : group.negate(y));
}

function rootOf<Field>({ sqrt }: Group<Field, unknown>, square: Field): Field | undefined {
  try {
    return sqrt(square);
  } catch {
    return undefined;
  }
}

interface AffinePoint<Field> {
  is0(): boolean;
  toAffine(): { readonly x: Field; readonly y: Field };
}

export function writeBnPoint<Field, Point extends AffinePoint<Field>>(
  group: Group<Field, Point>,
  point: Point,
  isCompressed: boolean,
): Uint8Array {
  const bytes = new Uint8Array(group.size * (isCompressed ? 1 : 2));
  if (point.is0()) {
    bytes[bytes.length - 1] = INFINITY;
    return bytes;
  }
  const { x, y } = point.toAffine();
  bytes.set(group.write(x));
  if (!isCompressed) bytes.set(group.write(y), group.size);
  if (group.isLarger(y)) bytes[bytes.length - 1]! |= LARGER;
  return bytes;
}
