/** Scalars and points of ristretto255 (RFC 9496), as `0x1::ristretto255` computes with them (docs/spec/vm.md §6.10). */
import { pippenger } from '@noble/curves/abstract/curve.js';
import { ristretto255, ristretto255_hasher } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { bytesOfInteger, integerOfBytes, type YieldTurn } from './turns.ts';

const { Point } = ristretto255;

export interface RistrettoPoint {
  add(other: RistrettoPoint): RistrettoPoint;
  subtract(other: RistrettoPoint): RistrettoPoint;
  negate(): RistrettoPoint;
  multiplyUnsafe(scalar: bigint): RistrettoPoint;
  equals(other: RistrettoPoint): boolean;
  toBytes(): Uint8Array;
}

export const BASE = Point.BASE as unknown as RistrettoPoint;
export const IDENTITY = Point.ZERO as unknown as RistrettoPoint;

/** Points that are multiplied in one turn: about 20 ms. */
const POINTS_OF_TURN = 64;

/** The sum of points times scalars, which are reduced. */
export async function sumOfProducts(
  points: readonly RistrettoPoint[],
  scalars: readonly bigint[],
  yieldTurn: YieldTurn,
): Promise<RistrettoPoint> {
  let sum = IDENTITY;
  for (let at = 0; at < points.length; at += POINTS_OF_TURN) {
    await yieldTurn();
    const end = at + POINTS_OF_TURN;
    const part = points.slice(at, end) as unknown as InstanceType<typeof Point>[];
    const product: unknown = pippenger(Point, part, scalars.slice(at, end));
    sum = sum.add(product as RistrettoPoint);
  }
  return sum;
}

const ORDER = Point.Fn.ORDER;
const SCALAR_BYTES = 32;

/** An integer reduced to a scalar below the order. */
export function reduced(value: bigint): bigint {
  const rest = value % ORDER;
  return rest < 0n ? rest + ORDER : rest;
}

export function scalarBytes(scalar: bigint): Uint8Array {
  return bytesOfInteger(scalar, SCALAR_BYTES);
}

export function isScalar(bytes: Uint8Array): boolean {
  return bytes.length === SCALAR_BYTES && integerOfBytes(bytes) < ORDER;
}

/** Reads a scalar, ignoring its highest bit; `undefined` if it is not below the order. */
export function readScalar(bytes: Uint8Array): bigint | undefined {
  if (bytes.length !== SCALAR_BYTES) return undefined;
  const value = BigInt.asUintN(255, integerOfBytes(bytes));
  return value < ORDER ? value : undefined;
}

/** The scalar of any little-endian integer. */
export function scalarOfBytes(bytes: Uint8Array): bigint {
  return reduced(integerOfBytes(bytes));
}

export function scalarOfHash(bytes: Uint8Array): bigint {
  return scalarOfBytes(sha512(bytes));
}

export function inverse(scalar: bigint): bigint {
  return scalar === 0n ? 0n : Point.Fn.inv(scalar);
}

export function readRistretto(bytes: Uint8Array): RistrettoPoint | undefined {
  try {
    return Point.fromBytes(bytes) as unknown as RistrettoPoint;
  } catch {
    return undefined;
  }
}

/** @param bytes 64, uniformly random */
export function pointOfUniformBytes(bytes: Uint8Array): RistrettoPoint {
  return ristretto255_hasher.deriveToCurve!(bytes) as unknown as RistrettoPoint;
}

export function pointOfHash(bytes: Uint8Array): RistrettoPoint {
  return pointOfUniformBytes(sha512(bytes));
}
