/** ECDSA over secp256r1, used by passkeys (docs/spec/vm.md §9). */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';

const WORD_BYTES = 32;
const UNCOMPRESSED = 4;
/** Half of the order, rounded down; a larger s would make signatures malleable. */
const HALF_ORDER = Buffer.from(
  '7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8',
  'hex',
);

/** Verifies a signature of 64 bytes over the SHA2-256 of a message with a key of 65 bytes. */
export function isSecp256r1Signature(
  signature: Uint8Array,
  key: Uint8Array,
  message: Uint8Array,
): boolean {
  if (Buffer.compare(signature.subarray(WORD_BYTES), HALF_ORDER) >= 0) return false;
  const read = keyOf(key);
  return (
    read !== undefined &&
    verify('sha256', message, { key: read, dsaEncoding: 'ieee-p1363' }, signature)
  );
}

/** `undefined` for bytes that are not an uncompressed point. */
function keyOf(bytes: Uint8Array): KeyObject | undefined {
  if (bytes[0] !== UNCOMPRESSED) return undefined;
  const [x, y] = [1, 1 + WORD_BYTES].map((at) =>
    Buffer.from(bytes.subarray(at, at + WORD_BYTES)).toString('base64url'),
  );
  try {
    return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: x!, y: y! }, format: 'jwk' });
  } catch {
    return undefined;
  }
}
