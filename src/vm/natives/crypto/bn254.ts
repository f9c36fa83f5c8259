/** Points of BN254 as in the reference's library: little-endian, flags in the highest bits of the last byte. */
import { bn254 } from '@noble/curves/bn254.js';
import {
  type AffinePoint,
  coordinatesOf,
  type PointGroup,
  pointGroups,
  pointOf,
} from './points.ts';
import { bytesOfInteger, integerOfBytes } from './turns.ts';

const { Fp2 } = bn254.fields;

const INFINITY = 0x40;
const LARGER = 0x80;

/** 3 / (9 + u), the constant of the curve over the larger field. */
const TWIST = Fp2.div(Fp2.fromBigTuple([3n, 0n]), Fp2.fromBigTuple([9n, 1n]));

export const BN_GROUPS = pointGroups(bn254, [3n, TWIST], {
  readInteger: integerOfBytes,
  writeInteger: bytesOfInteger,
  isHighFirst: false,
});

/** A point on the curve; undefined for bytes that are not its encoding. */
export function readBnPoint<Field, Point>(
  group: PointGroup<Field, Point>,
  bytes: Uint8Array,
  isCompressed: boolean,
): Point | undefined {
  const end = bytes.length - 1;
  const last = bytes[end]!;
  // A slice of a Buffer would share its memory.
  const coordinates = new Uint8Array(bytes);
  coordinates[end] = last & ~(INFINITY | LARGER);
  const isInfinity = (last & INFINITY) !== 0;
  return pointOf(group, coordinates, { isCompressed, isInfinity, isLarger: (last & LARGER) !== 0 });
}

export function writeBnPoint<Field, Point extends AffinePoint<Field>>(
  group: PointGroup<Field, Point>,
  point: Point,
  isCompressed: boolean,
): Uint8Array {
  const { bytes, flags } = coordinatesOf(group, point, isCompressed);
  const end = bytes.length - 1;
  if (flags.isInfinity) bytes[end]! |= INFINITY;
  if (flags.isLarger) bytes[end]! |= LARGER;
  return bytes;
}
