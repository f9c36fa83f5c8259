/** Points of the groups of pairing curves, and the common parts of their encodings. */
import type { bls12_381 } from '@noble/curves/bls12-381.js';
import type { Curve } from './pairing.ts';

export type G1Point = InstanceType<typeof bls12_381.G1.Point>;
export type G2Point = InstanceType<typeof bls12_381.G2.Point>;
type Fp2Value = ReturnType<typeof bls12_381.fields.Fp2.add>;

interface FieldOperations<Field> {
  add(left: Field, right: Field): Field;
  mul(left: Field, right: Field): Field;
  sqr(value: Field): Field;
  /** @throws Error for a value without a root */
  sqrt(value: Field): Field;
  neg(value: Field): Field;
  eql(left: Field, right: Field): boolean;
}

/** The points of y² = x³ + b, and how their coordinates are written. */
export interface PointGroup<Field, Point> {
  readonly field: FieldOperations<Field>;
  readonly b: Field;
  readonly points: {
    readonly ZERO: Point;
    fromAffine(point: { readonly x: Field; readonly y: Field }): Point;
  };
  /** Bytes of a coordinate. */
  readonly size: number;
  isLarger(y: Field): boolean;
  read(bytes: Uint8Array): Field | undefined;
  write(value: Field): Uint8Array;
}

/** How a curve's library writes an element of the smallest field, and one of the next larger field. */
interface CoordinateFormat {
  readInteger(bytes: Uint8Array): bigint;
  writeInteger(value: bigint, size: number): Uint8Array;
  /** The order of the two integers of an element of the larger field. */
  readonly isHighFirst: boolean;
}

export interface PointGroups {
  readonly G1: PointGroup<bigint, G1Point>;
  readonly G2: PointGroup<Fp2Value, G2Point>;
}

export function pointGroups(
  { G1, G2, fields }: Curve,
  b: readonly [g1: bigint, g2: Fp2Value],
  { readInteger, writeInteger, isHighFirst }: CoordinateFormat,
): PointGroups {
  const { Fp, Fp2 } = fields;
  const size = Fp.BYTES;
  const isLarger = (y: bigint): boolean => y > (Fp.ORDER - 1n) / 2n;
  const read = (bytes: Uint8Array): bigint | undefined => {
    const value = readInteger(bytes);
    return value < Fp.ORDER ? value : undefined;
  };
  return {
    G1: {
      field: Fp,
      b: b[0],
      points: G1.Point,
      size,
      isLarger,
      read,
      write: (value) => writeInteger(value, size),
    },
    G2: {
      field: Fp2,
      b: b[1],
      points: G2.Point,
      size: 2 * size,
      isLarger: ({ c0, c1 }) => isLarger(c1 === 0n ? c0 : c1),
      read: (bytes) => {
        const [first, second] = [read(bytes.subarray(0, size)), read(bytes.subarray(size))];
        if (first === undefined || second === undefined) return undefined;
        return Fp2.fromBigTuple(isHighFirst ? [second, first] : [first, second]);
      },
      write: ({ c0, c1 }) => {
        const bytes = new Uint8Array(2 * size);
        bytes.set(writeInteger(isHighFirst ? c1 : c0, size));
        bytes.set(writeInteger(isHighFirst ? c0 : c1, size), size);
        return bytes;
      },
    },
  };
}

/** The flags in the highest bits of an encoding. */
interface PointFlags {
  readonly isCompressed: boolean;
  readonly isInfinity: boolean;
  /** Whether y is the larger one of the two. */
  readonly isLarger: boolean;
}

/**
 * A point on the curve, in any subgroup; undefined for bytes that are not an encoding of one.
 * @param coordinates without flags
 */
export function pointOf<Field, Point>(
  group: PointGroup<Field, Point>,
  coordinates: Uint8Array,
  { isCompressed, isInfinity, isLarger }: PointFlags,
): Point | undefined {
  const { field, b, points, size } = group;
  if (isInfinity) {
    return !isLarger && coordinates.every((byte) => byte === 0) ? points.ZERO : undefined;
  }
  const x = group.read(coordinates.subarray(0, size));
  if (x === undefined) return undefined;
  const square = field.add(field.mul(field.sqr(x), x), b);
  if (!isCompressed) {
    const y = group.read(coordinates.subarray(size));
    const isOnCurve = y !== undefined && field.eql(field.sqr(y), square);
    return isOnCurve ? points.fromAffine({ x, y }) : undefined;
  }
  const y = rootOf(field, square);
  if (y === undefined) return undefined;
  return points.fromAffine({ x, y: group.isLarger(y) === isLarger ? y : field.neg(y) });
}

function rootOf<Field>(field: FieldOperations<Field>, square: Field): Field | undefined {
  try {
    return field.sqrt(square);
  } catch {
    return undefined;
  }
}

export interface AffinePoint<Field> {
  is0(): boolean;
  toAffine(): { readonly x: Field; readonly y: Field };
}

/** The coordinates without flags, and the flags. */
export function coordinatesOf<Field, Point extends AffinePoint<Field>>(
  group: PointGroup<Field, Point>,
  point: Point,
  isCompressed: boolean,
): { readonly bytes: Uint8Array; readonly flags: PointFlags } {
  const bytes = new Uint8Array(group.size * (isCompressed ? 1 : 2));
  const isInfinity = point.is0();
  if (isInfinity) return { bytes, flags: { isCompressed, isInfinity, isLarger: false } };
  const { x, y } = point.toAffine();
  bytes.set(group.write(x));
  if (!isCompressed) bytes.set(group.write(y), group.size);
  return { bytes, flags: { isCompressed, isInfinity, isLarger: group.isLarger(y) } };
}
