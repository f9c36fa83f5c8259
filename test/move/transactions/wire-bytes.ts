/** Handwritten bytes, and assertions about them. */
import { expect } from 'vitest';
import {
  BcsError,
  type BcsErrorCode,
  type BcsReader,
  decodeBcs,
} from '../../../src/move/bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';

/** The bytes of hex digits; spaces are only for readability. */
export const hex = (...parts: readonly string[]): Buffer =>
  Buffer.from(parts.join('').replaceAll(' ', ''), 'hex');
export const A1 = '1'.padStart(64, '0');
export const A2 = '2'.padStart(64, '0');
/** The digits of a hash of one byte repeated. */
export const hash = (byte: string): string => byte.repeat(32);
/** The digits of a number in little-endian. */
export const u64 = (value: number): string => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes.toString('hex');
};

/** The parts of a batch encryption's ciphertext (docs/spec/ledger.md §3.4). */
export interface CiphertextParts {
  readonly verificationKey: Buffer;
  readonly identity: Buffer;
  readonly groupElements: Buffer;
  readonly paddedKey: Buffer;
  readonly nonce: Buffer;
  readonly body: Buffer;
  readonly associatedData: Buffer;
  readonly signature: Buffer;
}

const INFINITY = Buffer.concat([Buffer.of(0xc0), Buffer.alloc(95)]);

/** A key, an identity, and group elements that are valid points and a scalar. */
export const CIPHERTEXT_POINTS = {
  verificationKey: Buffer.concat([Buffer.of(0x58), Buffer.alloc(31, 0x66)]),
  identity: Buffer.alloc(32, 2),
  groupElements: Buffer.concat([INFINITY, INFINITY, INFINITY]),
};

/** The BCS of a ciphertext. */
export function ciphertextBytes(parts: CiphertextParts): Buffer {
  return encodeBcs((writer) => {
    writer.bytes(parts.verificationKey).bytes(parts.identity).bytes(parts.groupElements);
    writer.fixed(parts.paddedKey).fixed(parts.nonce);
    writer.bytes(parts.body).bytes(parts.associatedData).fixed(parts.signature);
  });
}

/** Asserts that `value` encodes to exactly these bytes, and that these bytes decode to it. */
export function both<T>(
  bytes: Buffer,
  value: T,
  read: (reader: BcsReader) => T,
  write: (writer: BcsWriter, value: T) => unknown,
): void {
  expect(encodeBcs((writer) => write(writer, value)).toString('hex')).toBe(bytes.toString('hex'));
  expect(decodeBcs(bytes, read)).toEqual(value);
}

/** Asserts that bytes are refused with a code. */
export function refused(
  bytes: Buffer,
  read: (reader: BcsReader) => unknown,
  code: BcsErrorCode,
): void {
  let error: unknown;
  try {
    decodeBcs(bytes, read);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(BcsError);
  expect((error as BcsError).code).toBe(code);
}
