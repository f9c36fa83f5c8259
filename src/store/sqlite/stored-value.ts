/**
 * Checksums around stored values, so that bytes that a disk has changed are noticed when they are read: the CRC-32 of
 * zlib, which the processor computes at some gigabytes a second (docs/data-layout.md, "Checksums").
 */
import { crc32 } from 'node:zlib';

/** Bytes that are not what was stored. Other reads may go on. */
export class StoredValueError extends Error {
  constructor(detail: string) {
    super(detail);
    this.name = this.constructor.name;
  }
}

export const CHECKSUM_BYTES = 4;

/**
 * The mark of a number in a table. A checksum with it belongs to the value with that number there and to no other:
 * SQLite can be led to a page of another table.
 */
export function markOf(number: number, table = 0): number {
  return (
    (table ^ Math.imul(number, 0x9e37_79b1) ^ Math.imul(number / 0x1_0000_0000, 0x85eb_ca6b)) >>> 0
  );
}

/** Writes the checksum of everything behind it at the beginning, with the mark of a number. */
export function putChecksum(bytes: Buffer, mark: number): void {
  bytes.writeUInt32LE((crc32(bytes.subarray(CHECKSUM_BYTES)) ^ mark) >>> 0, 0);
}

/** @throws StoredValueError for bytes that do not begin with the checksum of the rest */
export function checkValue(bytes: Buffer, mark: number): void {
  const isRight =
    bytes.length >= CHECKSUM_BYTES &&
    (crc32(bytes.subarray(CHECKSUM_BYTES)) ^ mark) >>> 0 === bytes.readUInt32LE(0);
  if (!isRight) throw new StoredValueError('its checksum does not match');
}
