/** Keys and signatures of MultiEd25519 accounts: each is one byte string on the wire (docs/spec/ledger.md §3.4). */
import type { BcsReader } from '../bcs/bcs-reader.ts';

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const BITMAP_BYTES = 4;
/** Maximum number of keys of an account: the bits of the bitmap. */
export const MAX_MULTI_ED25519_KEYS = 32;

export interface MultiEd25519PublicKey {
  /** 1 to 32 keys of 32 bytes. */
  readonly keys: readonly Buffer[];
  /** Signatures needed: 1 to the number of keys. */
  readonly threshold: number;
}

export interface MultiEd25519Signature {
  /** 1 to 32 signatures of 64 bytes, in the order of the bitmap's bits. */
  readonly signatures: readonly Buffer[];
  /** 4 bytes; bit i is `0x80 >> (i % 8)` of byte `i / 8` and is set if key i signed. */
  readonly bitmap: Buffer;
}

/**
 * Reads keys and threshold.
 * @throws BcsError, `bad_value` when the counts are inconsistent.
 */
export function readMultiEd25519PublicKey(reader: BcsReader): MultiEd25519PublicKey {
  const start = reader.offset;
  const bytes = reader.bytes();
  const count = Math.floor(bytes.length / KEY_BYTES);
  const threshold = bytes[bytes.length - 1] ?? 0;
  if (bytes.length % KEY_BYTES !== 1 || !isKeyCount(count, threshold)) {
    const detail = `MultiEd25519 key of ${bytes.length} bytes with threshold ${threshold}`;
    throw reader.error('bad_value', detail, start);
  }
  return { keys: chunks(bytes, KEY_BYTES, count), threshold };
}

function isKeyCount(count: number, threshold: number): boolean {
  return count <= MAX_MULTI_ED25519_KEYS && threshold >= 1 && threshold <= count;
}

/**
 * Reads signatures and bitmap.
 * @throws BcsError, `bad_value` when the counts are inconsistent.
 */
export function readMultiEd25519Signature(reader: BcsReader): MultiEd25519Signature {
  const start = reader.offset;
  const bytes = reader.bytes();
  const count = Math.floor(bytes.length / SIGNATURE_BYTES);
  const bitmap = bytes.subarray(count * SIGNATURE_BYTES);
  if (!isSignatureCount(count, bitmap)) {
    const shown = bitmap.toString('hex');
    const detail = `MultiEd25519 signature of ${bytes.length} bytes, bitmap ${shown}`;
    throw reader.error('bad_value', detail, start);
  }
  return { signatures: chunks(bytes, SIGNATURE_BYTES, count), bitmap };
}

function isSignatureCount(count: number, bitmap: Uint8Array): boolean {
  if (bitmap.length !== BITMAP_BYTES || count === 0) return false;
  let bits = 0;
  for (let byte of bitmap) for (; byte !== 0; byte &= byte - 1) bits += 1;
  return bits === count;
}

function chunks(bytes: Buffer, byteLength: number, count: number): Buffer[] {
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * byteLength, (index + 1) * byteLength),
  );
}
