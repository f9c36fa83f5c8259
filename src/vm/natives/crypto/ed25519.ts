/**
 * Ed25519 as the reference verifies it, strictly: no point of small order, no cofactor (docs/spec/vm.md §6.9).
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { integerOfBytes } from './integers.ts';
import type { GiveWay } from './turns.ts';

const { Point } = ed25519;
type Point = InstanceType<typeof Point>;

export const ED25519_KEY_BYTES = 32;
export const ED25519_SIGNATURE_BYTES = 64;
/** Maximum number of keys of a multi-key. */
const MAX_KEYS = 32;
const BITMAP_BYTES = 4;

/** The point of an encoding that need not be canonical. */
function decompress(bytes: Uint8Array): Point | undefined {
  if (bytes.length !== ED25519_KEY_BYTES) return undefined;
  try {
    return Point.fromBytes(bytes, true);
  } catch {
    return undefined;
  }
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
  const read = readSignature(signature);
  return read !== undefined && verify(read, key, message);
}

/** Keys behind each other; the last byte says how many must sign. */
function readMultiKey(
  bytes: Uint8Array,
): { readonly keys: readonly Uint8Array[]; readonly threshold: number } | undefined {
  const payload = bytes.length - 1;
  const count = payload / ED25519_KEY_BYTES;
  if (!Number.isInteger(count) || count < 1 || count > MAX_KEYS) return undefined;
  const threshold = bytes[payload]!;
  if (threshold === 0 || threshold > count) return undefined;
  return { keys: keysIn(bytes), threshold };
}

/** The whole keys that some bytes begin with. */
function keysIn(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: Math.floor(bytes.length / ED25519_KEY_BYTES) }, (_, index) =>
    bytes.subarray(index * ED25519_KEY_BYTES, (index + 1) * ED25519_KEY_BYTES),
  );
}

/** The check of old code: bytes behind the last whole key are not looked at. */
export function areEd25519Keys(bytes: Uint8Array): boolean {
  const keys = keysIn(bytes);
  return keys.length <= MAX_KEYS && keys.every(isEd25519Key);
}

export function isMultiEd25519Key(bytes: Uint8Array): boolean {
  return readMultiKey(bytes)?.keys.every(isEd25519Key) === true;
}

/** Signatures behind each other, then a bitmap that says of which keys they are, the first key's bit highest. */
export async function isMultiEd25519Signature(
  bytes: Uint8Array,
  keyBytes: Uint8Array,
  message: Uint8Array,
  giveWay: GiveWay,
): Promise<boolean> {
  const multiKey = readMultiKey(keyBytes);
  const count = (bytes.length - BITMAP_BYTES) / ED25519_SIGNATURE_BYTES;
  if (multiKey === undefined || !Number.isInteger(count) || count < 1 || count > MAX_KEYS) {
    return false;
  }
  if (multiKey.keys.some((key) => decompress(key) === undefined)) return false;
  const signers: number[] = [];
  const bitmap = bytes.subarray(bytes.length - BITMAP_BYTES);
  for (let index = 0; index < MAX_KEYS; index += 1) {
    if ((bitmap[index >> 3]! & (128 >> (index & 7))) !== 0) signers.push(index);
  }
  if (signers.length !== count || count < multiKey.threshold) return false;
  for (const [index, signer] of signers.entries()) {
    await giveWay();
    const at = index * ED25519_SIGNATURE_BYTES;
    const key = multiKey.keys[signer];
    const signature = readSignature(bytes.subarray(at, at + ED25519_SIGNATURE_BYTES));
    if (key === undefined || signature === undefined || !verify(signature, key, message)) {
      return false;
    }
  }
  return true;
}
