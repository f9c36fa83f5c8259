/**
 * The structures that `0x1::crypto_algebra` computes with (docs/spec/vm.md §6.11): the fields and groups of BLS12-381
 * and of BN254, and how their elements are written.
 */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import { BLS_GROUPS, readPoint, writePoint } from './bls12381.ts';
import { BN_GROUPS, readBnPoint, writeBnPoint } from './bn254.ts';
import { type Curve, type Fp12Value, type PointPair, productOfPairings } from './pairing.ts';
import type { AffinePoint, PointGroup, PointGroups } from './points.ts';
import { bytesOfInteger, integerOfBytes, type YieldTurn } from './turns.ts';

/** The operations on the elements of a structure; absent ones are not defined for it. */
export interface Structure<T = unknown> {
  /** Structures with the same value share elements. */
  readonly elements: string;
  /** Size of an element in the reference's memory, in bytes. */
  readonly sizeBytes: number;
  readonly zero: T;
  readonly one: T;
  readonly order: bigint;
  add(left: T, right: T): T;
  neg(value: T): T;
  eql(left: T, right: T): boolean;
  double?(value: T): T;
  mul?(left: T, right: T): T;
  /** Undefined for an element without an inverse. */
  inv?(value: T): T | undefined;
  ofInteger?(value: bigint): T;
  times?(value: T, scalar: bigint): T;
}

export interface Format<T = unknown> {
  readonly structure: string;
  readonly byteLength: number;
  /** @param bytes as many as the format has */
  read(bytes: Uint8Array): T | undefined;
  /** Whether an element that was read is in the structure; absent if reading checks that. */
  isMember?(value: T): boolean;
  write(value: T): Uint8Array;
}

interface Field<T> {
  readonly ZERO: T;
  readonly ONE: T;
  add(left: T, right: T): T;
  neg(value: T): T;
  eql(left: T, right: T): boolean;
  mul(left: T, right: T): T;
  inv(value: T): T;
  is0(value: T): boolean;
}

function fieldStructure<T>(
  field: Field<T>,
  facts: Pick<Structure<T>, 'elements' | 'sizeBytes' | 'order' | 'ofInteger'>,
): Structure<T> {
  return {
    ...facts,
    zero: field.ZERO,
    one: field.ONE,
    add: (left, right) => field.add(left, right),
    neg: (value) => field.neg(value),
    eql: (left, right) => field.eql(left, right),
    mul: (left, right) => field.mul(left, right),
    inv: (value) => (field.is0(value) ? undefined : field.inv(value)),
  };
}

interface GroupPoint<P> {
  add(other: P): P;
  negate(): P;
  double(): P;
  equals(other: P): boolean;
  multiplyUnsafe(scalar: bigint): P;
}

function groupStructure<P extends GroupPoint<P>>(
  points: { readonly ZERO: P; readonly BASE: P },
  facts: Pick<Structure<P>, 'elements' | 'sizeBytes' | 'order'>,
): Structure<P> {
  return {
    ...facts,
    zero: points.ZERO,
    one: points.BASE,
    add: (left, right) => left.add(right),
    neg: (value) => value.negate(),
    eql: (left, right) => left.equals(right),
    double: (value) => value.double(),
    times: (value, scalar) => value.multiplyUnsafe(scalar),
  };
}

/** Integers below a bound, little-endian or big-endian. */
function integerFormat(structure: string, order: bigint, isLowestFirst: boolean): Format<bigint> {
  const inOrder = (bytes: Uint8Array) => (isLowestFirst ? bytes : bytes.toReversed());
  return {
    structure,
    byteLength: SCALAR_BYTES,
    read: (bytes) => {
      const value = integerOfBytes(inOrder(bytes));
      return value < order ? value : undefined;
    },
    write: (value) => inOrder(bytesOfInteger(value, SCALAR_BYTES)),
  };
}

const SCALAR_BYTES = 32;
/** Coefficients of an element of the field of degree 12. */
const COEFFICIENTS = 12;

/** The coefficients in the smallest field, each little-endian. */
function towerFormat(structure: string, { fields }: Curve): Format<Fp12Value> {
  const { Fp, Fp12 } = fields;
  const size = Fp.BYTES;
  return {
    structure,
    byteLength: COEFFICIENTS * size,
    read: (bytes) => {
      const values = Array.from({ length: COEFFICIENTS }, (_, index) =>
        integerOfBytes(bytes.subarray(index * size, (index + 1) * size)),
      );
      if (values.some((value) => value >= Fp.ORDER)) return undefined;
      return Fp12.fromBigTwelve(values as unknown as Parameters<typeof Fp12.fromBigTwelve>[0]);
    },
    write: ({ c0, c1 }) => {
      const bytes = new Uint8Array(COEFFICIENTS * size);
      const pairs = [c0, c1].flatMap((half) => [half.c0, half.c1, half.c2]);
      const values = pairs.flatMap((pair) => [pair.c0, pair.c1]);
      for (const [index, value] of values.entries()) {
        bytes.set(bytesOfInteger(value, size), index * size);
      }
      return bytes;
    },
  };
}

export interface PairingCurve {
  readonly flag: number;
  readonly structures: ReadonlyMap<string, Structure>;
  readonly formats: ReadonlyMap<string, Format>;
  isInTarget(value: unknown): boolean;
  /** The product of the pairings of pairs, none of which has a point at infinity. */
  pairing(pairs: readonly PointPair[], yieldTurn: YieldTurn): Promise<unknown>;
}

interface CurveFacts {
  readonly flag: number;
  /** Sizes of elements of the smallest field, in bytes. */
  readonly fieldBytes: number;
  readonly points: PointCodec;
}

function pairingCurve(curve: Curve, { flag, fieldBytes, points }: CurveFacts): PairingCurve {
  const { Fp, Fp12, Fr } = curve.fields;
  const order = Fr.ORDER;
  const scalars = fieldStructure<bigint>(Fr, {
    elements: 'Fr',
    sizeBytes: SCALAR_BYTES,
    order,
    ofInteger: (value) => Fr.create(value),
  });
  const tower = fieldStructure<Fp12Value>(Fp12, {
    elements: 'Fq12',
    sizeBytes: COEFFICIENTS * fieldBytes,
    order: Fp.ORDER ** BigInt(COEFFICIENTS),
    ofInteger: (value) => {
      const rest = new Array<bigint>(COEFFICIENTS - 1).fill(0n);
      const values = [Fp.create(value), ...rest];
      return Fp12.fromBigTwelve(values as unknown as Parameters<typeof Fp12.fromBigTwelve>[0]);
    },
  });
  const { G1, G2 } = curve;
  let one: Fp12Value | undefined;
  const target: Structure<Fp12Value> = {
    elements: 'Fq12',
    sizeBytes: tower.sizeBytes,
    order,
    zero: Fp12.ONE,
    get one() {
      one ??= curve.pairingBatch([{ g1: G1.Point.BASE, g2: G2.Point.BASE }] as Parameters<
        typeof curve.pairingBatch
      >[0]);
      return one;
    },
    add: (left, right) => Fp12.mul(left, right),
    neg: (value) => Fp12.inv(value),
    eql: (left, right) => Fp12.eql(left, right),
    double: (value) => Fp12.sqr(value),
    times: (value, scalar) => Fp12.pow(value, scalar),
  };
  const isInTarget = (value: unknown) => Fp12.eql(Fp12.pow(value as Fp12Value, order), Fp12.ONE);
  const towers = towerFormat('Fq12', curve);
  const targets: Format<Fp12Value> = {
    ...towers,
    structure: 'Gt',
    isMember: isInTarget,
  };
  return {
    flag,
    structures: new Map<string, Structure>([
      ['Fr', scalars as Structure],
      ['Fq12', tower as Structure],
      ['G1', pointStructure(G1.Point, 'G1', 3 * fieldBytes, order)],
      ['G2', pointStructure(G2.Point, 'G2', 6 * fieldBytes, order)],
      ['Gt', target as Structure],
    ]),
    formats: new Map<string, Format>([
      ['FormatFrLsb', integerFormat('Fr', order, true) as Format],
      ['FormatFrMsb', integerFormat('Fr', order, false) as Format],
      ['FormatFq12LscLsb', towers as Format],
      ['FormatGt', targets as Format],
      ...pointFormats(points),
    ]),
    isInTarget,
    pairing: (pairs, yieldTurn) => productOfPairings(curve, pairs, yieldTurn),
  };
}

function pointStructure(
  points: unknown,
  elements: string,
  sizeBytes: number,
  order: bigint,
): Structure {
  type AnyPoint = GroupPoint<AnyPoint>;
  const { ZERO, BASE } = points as { readonly ZERO: AnyPoint; readonly BASE: AnyPoint };
  return groupStructure<AnyPoint>({ ZERO, BASE }, { elements, sizeBytes, order }) as Structure;
}

interface SubgroupPoint extends AffinePoint<unknown> {
  isTorsionFree(): boolean;
}

interface PointCodec {
  readonly groups: PointGroups;
  read<Field, Point>(
    group: PointGroup<Field, Point>,
    bytes: Uint8Array,
    isCompressed: boolean,
  ): Point | undefined;
  write<Field, Point extends AffinePoint<Field>>(
    group: PointGroup<Field, Point>,
    point: Point,
    isCompressed: boolean,
  ): Uint8Array;
}

/** Points of the right subgroup, each form with its own length. */
function pointFormats({ groups, read, write }: PointCodec): readonly [string, Format][] {
  return Object.entries(groups).flatMap(([structure, any]) => {
    const group = any as PointGroup<unknown, SubgroupPoint>;
    return [false, true].map((isCompressed): [string, Format] => {
      const format: Format<SubgroupPoint> = {
        structure,
        byteLength: group.size * (isCompressed ? 1 : 2),
        read: (bytes) => {
          const point = read(group, bytes, isCompressed);
          return point?.isTorsionFree() === true ? point : undefined;
        },
        write: (point) => write(group, point, isCompressed),
      };
      return [`Format${structure}${isCompressed ? 'Compr' : 'Uncompr'}`, format as Format];
    });
  });
}

const BLS_FIELD_BYTES = 48;
const BN_FIELD_BYTES = 32;

function withBaseField(curve: PairingCurve): PairingCurve {
  const { Fp } = bn254.fields;
  const base = fieldStructure<bigint>(Fp, {
    elements: 'Fq',
    sizeBytes: BN_FIELD_BYTES,
    order: Fp.ORDER,
    ofInteger: (value) => Fp.create(value),
  });
  return {
    ...curve,
    structures: new Map([...curve.structures, ['Fq', base as Structure]]),
    formats: new Map([
      ...curve.formats,
      ['FormatFqLsb', integerFormat('Fq', Fp.ORDER, true) as Format],
      ['FormatFqMsb', integerFormat('Fq', Fp.ORDER, false) as Format],
    ]),
  };
}

const BLS_FLAG = 13;
const BN_FLAG = 43;

/** Curves by the modules of 0x1 that declare their structures. */
export const PAIRING_CURVES: ReadonlyMap<string, PairingCurve> = new Map([
  [
    'bls12381_algebra',
    pairingCurve(bls12_381, {
      flag: BLS_FLAG,
      fieldBytes: BLS_FIELD_BYTES,
      points: { groups: BLS_GROUPS, read: readPoint, write: writePoint },
    }),
  ],
  [
    'bn254_algebra',
    withBaseField(
      pairingCurve(bn254, {
        flag: BN_FLAG,
        fieldBytes: BN_FIELD_BYTES,
        points: { groups: BN_GROUPS, read: readBnPoint, write: writeBnPoint },
      }),
    ),
  ],
]);

type HashToGroup = (message: Uint8Array, domain: Uint8Array) => unknown;

const hashToG1: HashToGroup = (message, DST) => bls12_381.G1.hashToCurve(message, { DST });
const hashToG2: HashToGroup = (message, DST) => bls12_381.G2.hashToCurve(message, { DST });

export const HASH_SUITES: ReadonlyMap<string, HashToGroup> = new Map([
  ['G1 HashG1XmdSha256SswuRo', hashToG1],
  ['G2 HashG2XmdSha256SswuRo', hashToG2],
]);
