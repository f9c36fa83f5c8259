/**
 * Byte strings whose size a type fixes: hashes are bare, keys and signatures carry their length
 * (docs/spec/ledger.md §0, trap 1). Readers return views of the input.
 */
import { HASH_BYTES } from '../crypto/hash.ts';
import type { BcsReader } from './bcs-reader.ts';
import type { BcsWriter } from './bcs-writer.ts';

export function readHash(reader: BcsReader): Buffer {
  return reader.fixed(HASH_BYTES);
}

/** Writes a hash bare. @throws RangeError when it is not 32 bytes. */
export function writeHash(writer: BcsWriter, hash: Uint8Array): void {
  writeFixedBytes(writer, hash, HASH_BYTES, 'hash');
}

/** Writes bytes without length. @throws RangeError when they are not `byteLength` long. */
export function writeFixedBytes(
  writer: BcsWriter,
  bytes: Uint8Array,
  byteLength: number,
  what: string,
): void {
  assertSize(bytes, byteLength, what);
  writer.fixed(bytes);
}

/**
 * Reads length-prefixed bytes.
 * @throws BcsError, `bad_value` when the length is not `byteLength`.
 */
export function readSizedBytes(reader: BcsReader, byteLength: number, what: string): Buffer {
  const start = reader.offset;
  const bytes = reader.bytes();
  if (bytes.length !== byteLength) {
    throw reader.error('bad_value', `${what} of ${bytes.length} bytes, not ${byteLength}`, start);
  }
  return bytes;
}

/** Writes length-prefixed bytes. @throws RangeError when they are not `byteLength` long. */
export function writeSizedBytes(
  writer: BcsWriter,
  bytes: Uint8Array,
  byteLength: number,
  what: string,
): void {
  assertSize(bytes, byteLength, what);
  writer.bytes(bytes);
}

function assertSize(bytes: Uint8Array, byteLength: number, what: string): void {
  if (bytes.length !== byteLength) {
    throw new RangeError(`${what} of ${bytes.length} bytes, not ${byteLength}`);
  }
}
