/**
 * Ed25519 as the reference verifies it, strictly: no point of small order, no cofactor (docs/spec/vm.md §6.9).
 */
import { createPublicKey, verify as verifyNatively } from 'node:crypto';
import { ED25519_TORSION_SUBGROUP, ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { setBits } from '../../../move/bcs/bits.ts';
import { BITMAP_BYTES, MAX_MULTI_ED25519_KEYS } from '../../../move/crypto/authenticator.ts';
import { PUBLIC_KEY_BYTES, SIGNATURE_BYTES } from '../../../move/crypto/public-key.ts';
import { integerOfBytes, type YieldTurn } from './turns.ts';

const { Point } = ed25519;
type Point = InstanceType<typeof Point>;

export const ED25519_KEY_BYTES = PUBLIC_KEY_BYTES.ed25519;
export const ED25519_SIGNATURE_BYTES = SIGNATURE_BYTES.ed25519;

/** The point of an encoding that need not be canonical. */
function decompress(bytes: Uint8Array): Point | undefined {
  if (bytes.length !== ED25519_KEY_BYTES) return undefined;
  try {
    return Point.fromBytes(bytes, true);
  } catch {
    return undefined;
  }
}

/** Whether some bytes are a point, including one of small order. */
export function isEd25519Point(bytes: Uint8Array): boolean {
  return decompress(bytes) !== undefined;
}

/** Whether some bytes have the form of a signature: its scalar is below the order. */
export function hasSignatureForm(bytes: Uint8Array): boolean {
  return readSignature(bytes) !== undefined;
}

/** Whether a public key is a point that is not of small order. */
export function isEd25519Key(bytes: Uint8Array): boolean {
  return decompress(bytes)?.isSmallOrder() === false;
}

interface Signature {
  readonly commitment: Uint8Array;
  readonly scalar: bigint;
}

function readSignature(bytes: Uint8Array): Signature | undefined {
  if (bytes.length !== ED25519_SIGNATURE_BYTES) return undefined;
  const scalar = integerOfBytes(bytes.subarray(ED25519_KEY_BYTES));
  if (scalar >= Point.Fn.ORDER) return undefined;
  return { commitment: bytes.subarray(0, ED25519_KEY_BYTES), scalar };
}

function verify(
  { commitment, scalar }: Signature,
  keyBytes: Uint8Array,
  message: Uint8Array,
): boolean {
  const key = decompress(keyBytes);
  const point = decompress(commitment);
  if (key === undefined || point === undefined) return false;
  if (key.isSmallOrder() || point.isSmallOrder()) return false;
  const hash = sha512.create().update(commitment).update(keyBytes).update(message).digest();
  const challenge = Point.Fn.create(integerOfBytes(hash));
  const expected = Point.BASE.multiplyUnsafe(scalar).subtract(key.multiplyUnsafe(challenge));
  return expected.equals(point);
}

export function isEd25519Signature(
  signature: Uint8Array,
  key: Uint8Array,
  message: Uint8Array,
): boolean {
  if (isVerifiedByOpenSsl(signature, key, message)) return true;
  const read = readSignature(signature);
  return read !== undefined && verify(read, key, message);
}

const SMALL_ORDER = ED25519_TORSION_SUBGROUP.map((point) => Buffer.from(point, 'hex'));
/** First and last byte of the field's prime, little-endian: its other bytes are all 255. */
const PRIME_FIRST = 0xed;
const PRIME_LAST = 0x7f;
const LAST = ED25519_KEY_BYTES - 1;

/** Whether two encodings have the same y; the highest bit is the sign of x. */
function hasSameY(left: Uint8Array, right: Uint8Array): boolean {
  for (let index = 0; index < LAST; index += 1) if (left[index] !== right[index]) return false;
  return (left[LAST]! & PRIME_LAST) === (right[LAST]! & PRIME_LAST);
}

/** Whether y is below the prime of the field. */
function isReduced(bytes: Uint8Array): boolean {
  if ((bytes[LAST]! & PRIME_LAST) !== PRIME_LAST || bytes[0]! < PRIME_FIRST) return true;
  for (let index = 1; index < LAST; index += 1) if (bytes[index] !== 0xff) return true;
  return false;
}

/** Whether some bytes, if they are a point, encode it canonically and it is not of small order. */
function isOrdinary(bytes: Uint8Array): boolean {
  return isReduced(bytes) && !SMALL_ORDER.some((point) => hasSameY(point, bytes));
}

/**
 * OpenSSL verifies ten times as fast. It accepts points of small order and may refuse encodings that are accepted here,
 * so its answer counts only if it is yes and both points are ordinary. Like this code, it refuses a scalar that is not
 * below the order.
 */
export function isVerifiedByOpenSsl(
  signature: Uint8Array,
  key: Uint8Array,
  message: Uint8Array,
): boolean {
  if (key.length !== ED25519_KEY_BYTES || !isOrdinary(key)) return false;
  if (!isOrdinary(signature.subarray(0, ED25519_KEY_BYTES))) return false;
  const x = Buffer.from(key).toString('base64url');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verifyNatively(null, message, publicKey, signature);
}

interface MultiEd25519Key {
  readonly keys: readonly Uint8Array[];
  readonly threshold: number;
}

/** Concatenated keys; the last byte says how many must sign. The keys need not be points. */
export function splitMultiEd25519Key(bytes: Uint8Array): MultiEd25519Key | undefined {
  const payload = bytes.length - 1;
  const count = payload / ED25519_KEY_BYTES;
  if (!Number.isInteger(count) || count < 1 || count > MAX_MULTI_ED25519_KEYS) return undefined;
  const threshold = bytes[payload]!;
  if (threshold === 0 || threshold > count) return undefined;
  return { keys: wholeEd25519Keys(bytes), threshold };
}

/** The complete keys at the start of some bytes. */
export function wholeEd25519Keys(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: Math.floor(bytes.length / ED25519_KEY_BYTES) }, (_, index) =>
    bytes.subarray(index * ED25519_KEY_BYTES, (index + 1) * ED25519_KEY_BYTES),
  );
}

interface MultiEd25519Signature {
  readonly signatures: readonly Signature[];
  readonly signers: readonly number[];
}

/** Concatenated signatures, then a bitmap of the keys that signed, the first key's bit highest. */
export function readMultiEd25519Signature(bytes: Uint8Array): MultiEd25519Signature | undefined {
  const count = (bytes.length - BITMAP_BYTES) / ED25519_SIGNATURE_BYTES;
  if (!Number.isInteger(count) || count < 1 || count > MAX_MULTI_ED25519_KEYS) return undefined;
  const signers = setBits(bytes.subarray(bytes.length - BITMAP_BYTES));
  if (signers.length !== count) return undefined;
  const signatures: Signature[] = [];
  for (let at = 0; at < count * ED25519_SIGNATURE_BYTES; at += ED25519_SIGNATURE_BYTES) {
    const signature = readSignature(bytes.subarray(at, at + ED25519_SIGNATURE_BYTES));
    if (signature === undefined) return undefined;
    signatures.push(signature);
  }
  return { signatures, signers };
}

export async function isSignedByMultiKey(
  { signatures, signers }: MultiEd25519Signature,
  { keys, threshold }: MultiEd25519Key,
  message: Uint8Array,
  yieldTurn: YieldTurn,
): Promise<boolean> {
  if (signatures.length < threshold) return false;
  for (const [index, signature] of signatures.entries()) {
    await yieldTurn();
    const key = keys[signers[index]!];
    if (key === undefined || !verify(signature, key, message)) return false;
  }
  return true;
}
