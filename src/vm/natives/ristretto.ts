/** Natives of `0x1::ristretto255` (docs/spec/vm.md §6.10). Points stay here; code holds their handles. */
import { type Native, NativeAbort, type NativeContext } from '../native.ts';
import { VmError } from '../status/status.ts';
import type { Value } from '../value.ts';
import { bytesInside, bytesOf, byteVector, partsOf, referenced } from './arguments.ts';
import { isInRange, readRangeProof } from './crypto/range-proof.ts';
import {
  BASE,
  IDENTITY,
  inverse,
  isScalar,
  pointOfHash,
  pointOfUniformBytes,
  type RistrettoPoint,
  readRistretto,
  readScalar,
  reduced,
  scalarBytes,
  scalarOfBytes,
  scalarOfHash,
  sumOfProducts,
} from './crypto/ristretto.ts';
import { DECODE_UNITS, MULTIPLY_UNITS, turnsOf } from './crypto/turns.ts';

/** Maximum number of points of a run. */
const MAX_POINTS = 10_000;
const TOO_MANY_POINTS = 0x9_0004;
const INVALID_HANDLE = 0xa_0001;
const SAME_HANDLE = 0xa_0003;
const NO_HANDLE = 2n ** 64n - 1n;
const WIDE_BYTES = 64;
const NARROW_BYTES = 32;

class Points {
  readonly all: RistrettoPoint[] = [];
}

/** @param handle the number of a point @throws NativeAbort */
function pointAt(context: NativeContext, handle: Value): RistrettoPoint {
  const point = context.extensions.of(Points).all[Number(handle as bigint)];
  if (point === undefined) throw new NativeAbort(INVALID_HANDLE, 'Invalid point handle');
  return point;
}

/** The handle in a `&RistrettoPoint`. */
function handleIn(point: Value): bigint {
  return partsOf(referenced(point))[0] as bigint;
}

/** The point of a `&RistrettoPoint`. @throws NativeAbort */
function pointIn(context: NativeContext, point: Value): RistrettoPoint {
  return pointAt(context, handleIn(point));
}

/** @throws NativeAbort */
function addPoint(context: NativeContext, point: RistrettoPoint): bigint {
  const points = context.extensions.of(Points).all;
  if (points.length >= MAX_POINTS) {
    const text = `Too many points created: ${points.length}, limit is ${MAX_POINTS}`;
    throw new NativeAbort(TOO_MANY_POINTS, text);
  }
  points.push(point);
  return BigInt(points.length - 1);
}

function bytesOfSize(value: Value, size: number): Uint8Array {
  const bytes = bytesOf(value);
  if (bytes.length !== size) throw new VmError('INTERNAL_TYPE_ERROR');
  return bytes;
}

/** A scalar that the Move code has checked. */
function scalarIn(bytes: Uint8Array): bigint {
  const scalar = readScalar(bytes);
  if (scalar === undefined) throw new VmError('INTERNAL_TYPE_ERROR');
  return scalar;
}

function scalarOf(value: Value): bigint {
  return scalarIn(bytesOf(value));
}

/** Stores the result of an operation in place of its first operand, or as a new point. */
function storePoint(
  context: NativeContext,
  first: bigint,
  inPlace: Value,
  point: RistrettoPoint,
): bigint {
  if (inPlace !== true) return addPoint(context, point);
  context.extensions.of(Points).all[Number(first)] = point;
  return first;
}

type Operation = (left: RistrettoPoint, right: RistrettoPoint) => RistrettoPoint;

function binaryPointNative(operation: Operation): Native {
  return (context, [left, right, inPlace]) => {
    const [first, second] = [handleIn(left), handleIn(right)];
    if (inPlace === true && first === second) {
      throw new NativeAbort(SAME_HANDLE, 'Duplicate Ristretto point handle');
    }
    const point = operation(pointAt(context, first), pointAt(context, second));
    return [storePoint(context, first, inPlace, point)];
  };
}

const multiply: Native = (context, [point, factor, inPlace]) => {
  const scalar = scalarOf(factor);
  context.meter.charge(MULTIPLY_UNITS);
  const handle = handleIn(point);
  const product = pointAt(context, handle).multiplyUnsafe(scalar);
  return [storePoint(context, handle, inPlace, product)];
};

const negate: Native = (context, [point, inPlace]) => {
  const handle = handleIn(point);
  return [storePoint(context, handle, inPlace, pointAt(context, handle).negate())];
};

const multiplyBase: Native = (context, [factor]) => {
  context.meter.charge(MULTIPLY_UNITS);
  return [addPoint(context, BASE.multiplyUnsafe(scalarOf(factor)))];
};

const multiplyWithBase: Native = (context, [factor, point, baseFactor]) => {
  context.meter.charge(2 * MULTIPLY_UNITS);
  const product = pointAt(context, handleIn(point)).multiplyUnsafe(scalarOf(factor));
  return [addPoint(context, product.add(BASE.multiplyUnsafe(scalarOf(baseFactor))))];
};

const multiplyTwo: Native = (context, [first, second, factor, otherFactor]) => {
  context.meter.charge(2 * MULTIPLY_UNITS);
  const product = pointAt(context, first).multiplyUnsafe(scalarOf(factor));
  const other = pointAt(context, second).multiplyUnsafe(scalarOf(otherFactor));
  return [addPoint(context, product.add(other))];
};

const multiplyMany: Native = async (context, [elements, factors]) => {
  const scalars = partsOf(referenced(factors)).map(bytesInside).map(scalarIn);
  const handles = partsOf(referenced(elements)).map((element) => partsOf(element)[0]);
  context.meter.chargeInTurns(scalars.length * MULTIPLY_UNITS);
  const points = handles.map((handle) => pointAt(context, handle));
  return [addPoint(context, await sumOfProducts(points, scalars, turnsOf(context)))];
};

const decompress: Native = (context, [bytes]) => {
  context.meter.charge(DECODE_UNITS);
  const point = readRistretto(bytesOf(bytes));
  return point === undefined ? [NO_HANDLE, false] : [addPoint(context, point), true];
};

const isPoint: Native = ({ meter }, [bytes]) => {
  meter.charge(DECODE_UNITS);
  return [readRistretto(bytesOf(bytes)) !== undefined];
};

function pointFromBytesNative(make: (bytes: Uint8Array) => RistrettoPoint, size?: number): Native {
  return (context, [value]) => {
    const bytes = size === undefined ? bytesOf(value) : bytesOfSize(value, size);
    context.meter.charge(2 * DECODE_UNITS);
    context.meter.chargeBytes(bytes.length);
    return [addPoint(context, make(bytes))];
  };
}

/** A native that computes a scalar from arguments that the Move code has checked. */
function scalarNative(compute: (...args: readonly Value[]) => bigint): Native {
  return ({ meter }, args) => [byteVector(meter, scalarBytes(compute(...args)))];
}

export const RISTRETTO_NATIVES: Readonly<Record<string, Native>> = Object.fromEntries(
  Object.entries({
    point_is_canonical_internal: isPoint,
    point_identity_internal: (context) => [addPoint(context, IDENTITY)],
    point_decompress_internal: decompress,
    point_clone_internal: (context, [handle]) => [addPoint(context, pointAt(context, handle))],
    point_compress_internal: (context, [point]) => {
      context.meter.charge(DECODE_UNITS);
      return [byteVector(context.meter, pointAt(context, handleIn(point)).toBytes())];
    },
    point_mul_internal: multiply,
    point_double_mul_internal: multiplyTwo,
    point_equals: (context, [left, right]) => [
      pointAt(context, handleIn(left)).equals(pointAt(context, handleIn(right))),
    ],
    point_neg_internal: negate,
    point_add_internal: binaryPointNative((left, right) => left.add(right)),
    point_sub_internal: binaryPointNative((left, right) => left.subtract(right)),
    basepoint_mul_internal: multiplyBase,
    basepoint_double_mul_internal: multiplyWithBase,
    new_point_from_sha512_internal: pointFromBytesNative(pointOfHash),
    new_point_from_64_uniform_bytes_internal: pointFromBytesNative(pointOfUniformBytes, WIDE_BYTES),
    double_scalar_mul_internal: multiplyTwo,
    multi_scalar_mul_internal: multiplyMany,
    scalar_is_canonical_internal: (_, [bytes]) => [isScalar(bytesOf(bytes))],
    scalar_invert_internal: scalarNative((value) => inverse(scalarOf(value))),
    scalar_from_sha512_internal: scalarNative((bytes) => scalarOfHash(bytesOf(bytes))),
    scalar_mul_internal: scalarNative((left, right) => reduced(scalarOf(left) * scalarOf(right))),
    scalar_add_internal: scalarNative((left, right) => reduced(scalarOf(left) + scalarOf(right))),
    scalar_sub_internal: scalarNative((left, right) => reduced(scalarOf(left) - scalarOf(right))),
    scalar_neg_internal: scalarNative((value) => reduced(-scalarOf(value))),
    scalar_from_u64_internal: scalarNative((value) => value as bigint),
    scalar_from_u128_internal: scalarNative((value) => value as bigint),
    scalar_reduced_from_32_bytes_internal: scalarNative((bytes) =>
      scalarOfBytes(bytesOfSize(bytes, NARROW_BYTES)),
    ),
    scalar_uniform_from_64_bytes_internal: scalarNative((bytes) =>
      scalarOfBytes(bytesOfSize(bytes, WIDE_BYTES)),
    ),
  } satisfies Record<string, Native>).map(([name, native]: [string, Native]) => [
    `ristretto255::${name}`,
    native,
  ]),
);

const BITS: readonly number[] = [8, 16, 32, 64];
const BATCH_SIZES: readonly number[] = [1, 2, 4, 8, 16];
const BITS_NOT_SUPPORTED = 0x1_0003;
const BATCH_SIZE_NOT_SUPPORTED = 0x1_0004;
const PRICES = 'aptos_framework.bulletproofs.';

type Charge = (bytes: number, isRead: boolean) => void;

async function verifyRangeProof(
  context: NativeContext,
  commitments: readonly Uint8Array[],
  [value, blinding, proofBytes, bitCount, domain]: readonly Value[],
  charge: Charge,
): Promise<readonly Value[]> {
  const [base, blindingBase] = [pointIn(context, value), pointIn(context, blinding)];
  const [bytes, bits] = [bytesOf(proofBytes), Number(bitCount as bigint)];
  charge(bytes.length, false);
  const proof = readRangeProof(bytes);
  if (proof === undefined) return [false];
  charge(bytes.length, true);
  context.meter.chargeInTurns(2 * commitments.length * bits * MULTIPLY_UNITS);
  const statement = { commitments, bits, base, blindingBase, domain: bytesOf(domain) };
  return [await isInRange(proof, statement, turnsOf(context))];
}

const verifyOne: Native = (context, [commitment, ...rest]) => {
  const bits = Number(rest[3] as bigint);
  if (!BITS.includes(bits)) throw new NativeAbort(BITS_NOT_SUPPORTED);
  const { gas } = context;
  return verifyRangeProof(context, [bytesOf(commitment)], rest, (bytes, isRead) => {
    if (isRead) {
      gas.chargeFor(`${PRICES}per_bit_rangeproof_verify`, bits);
      return;
    }
    gas.chargeFor(`${PRICES}base`);
    gas.chargeFor(`${PRICES}per_byte_rangeproof_deserialize`, bytes);
  });
};

const verifyBatch: Native = (context, [commitments, ...rest]) => {
  const bits = Number(rest[3] as bigint);
  const points = partsOf(commitments).map(bytesOf);
  if (!BITS.includes(bits)) throw new NativeAbort(BITS_NOT_SUPPORTED);
  if (!BATCH_SIZES.includes(points.length)) throw new NativeAbort(BATCH_SIZE_NOT_SUPPORTED);
  return verifyRangeProof(context, points, rest, (_, isRead) => {
    if (isRead) return;
    context.gas.chargeFor(`${PRICES}verify.base_batch_${points.length}_bits_${bits}`);
  });
};

/** Natives of `0x1::ristretto255_bulletproofs` and `0x1::confidential_range_proofs` (docs/spec/vm.md §6.10). */
export const RANGE_PROOF_NATIVES: Readonly<Record<string, Native>> = {
  'ristretto255_bulletproofs::verify_range_proof_internal': verifyOne,
  'ristretto255_bulletproofs::verify_batch_range_proof_internal': verifyBatch,
  'confidential_range_proofs::verify_batch_range_proof_internal': verifyBatch,
};
