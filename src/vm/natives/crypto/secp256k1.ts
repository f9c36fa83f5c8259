/** ECDSA over secp256k1, and recovery of a signature's public key (docs/spec/vm.md §6.9). */
import { secp256k1 } from '@noble/curves/secp256k1.js';

const { Point } = secp256k1;
const WORD_BYTES = 32;
const FIELD_PRIME = Point.Fp.ORDER;
const ORDER = Point.Fn.ORDER;
const MAX_RECOVERY_ID = 3;

function bigEndian(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value;
}

/** Why a key is not recovered: an argument is malformed, or no such key exists. */
type NotRecovered = 'message' | 'recovery id' | 'signature' | 'no key';

/** The key that made a signature of a hash: 64 bytes, both coordinates. */
export function recoverKey(
  hash: Uint8Array,
  recoveryId: number,
  signature: Uint8Array,
): Uint8Array | NotRecovered {
  if (hash.length !== WORD_BYTES) return 'message';
  if (recoveryId > MAX_RECOVERY_ID) return 'recovery id';
  if (signature.length !== 2 * WORD_BYTES) return 'signature';
  const r = bigEndian(signature.subarray(0, WORD_BYTES));
  const s = bigEndian(signature.subarray(WORD_BYTES));
  if (r >= ORDER || s >= ORDER) return 'signature';
  if (r === 0n || s === 0n) return 'no key';
  const x = (recoveryId & 2) === 0 ? r : r + ORDER;
  if (x >= FIELD_PRIME) return 'no key';
  const point = pointAt(x, (recoveryId & 1) === 1);
  if (point === undefined) return 'no key';
  const { Fn } = Point;
  const inverse = Fn.inv(r);
  const hashScalar = Fn.create(bigEndian(hash));
  const key = Point.BASE.multiplyUnsafe(Fn.create(-hashScalar * inverse)).add(
    point.multiplyUnsafe(Fn.mul(s, inverse)),
  );
  return key.is0() ? 'no key' : key.toBytes(false).subarray(1);
}

function pointAt(x: bigint, isOdd: boolean): InstanceType<typeof Point> | undefined {
  const bytes = new Uint8Array(1 + WORD_BYTES);
  bytes[0] = isOdd ? 3 : 2;
  bytes.set(Point.Fp.toBytes(x), 1);
  try {
    return Point.fromBytes(bytes);
  } catch {
    return undefined;
  }
}

/** Verifies a signature of a hash by a key of 65 bytes; s must not be above half of the order. */
export function isSecp256k1Signature(
  signature: Uint8Array,
  key: Uint8Array,
  hash: Uint8Array,
): boolean {
  try {
    return secp256k1.verify(signature, hash, key, { prehash: false, lowS: true });
  } catch {
    return false;
  }
}
