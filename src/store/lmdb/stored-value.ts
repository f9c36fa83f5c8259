/**
 * Checksums around values, so that what a disk has changed is noticed when it is read: the CRC-32 of zlib, which the
 * processor computes at some gigabytes a second (docs/data-layout.md, "Checksums").
 */
import { crc32 } from 'node:zlib';

/** Bytes that are not what was stored: of one row, or of the index of a column. Other reads may go on. */
export class StoredValueError extends Error {
  /** The whole key of the row, or of the last one that may be damaged, where it was read among others. */
  key: Buffer | undefined;

  constructor(detail: string) {
    super(detail);
    this.name = this.constructor.name;
  }
}

/** A page that belongs elsewhere, which the engine does not notice. */
export class OtherPageError extends Error {
  /** What the engine says of pages that are wrong. */
  readonly code = -30796;

  constructor() {
    super('a page of another index is in its place');
    this.name = this.constructor.name;
  }
}

/** LMDB's own error codes, */
const LMDB_CODES = { least: -30799, most: -30769 };
/** and those among them that say that something is full or has changed: all others are of pages that are wrong. */
const RESOURCE_CODES: readonly number[] = [-30792, -30791, -30790, -30789, -30788, -30785, -30783];

/** Whether the engine says that it has met a page that is wrong. Writing to such pages is not safe. */
export function isPageDamage(cause: unknown): boolean {
  const { code } = cause as { code?: unknown };
  if (typeof code !== 'number' || RESOURCE_CODES.includes(code)) return false;
  return code >= LMDB_CODES.least && code <= LMDB_CODES.most;
}

/** Whether what is stored is damaged where it was read, bytes or pages. */
export function isStoredDamage(cause: unknown): boolean {
  return cause instanceof StoredValueError || isPageDamage(cause);
}

export const CHECKSUM_BYTES = 4;

/** The checksum of some bytes of a buffer. The engine's buffer is longer than its `length` says: a view is safe. */
function checksumOf({ buffer, byteOffset }: Uint8Array, from: number, to: number): number {
  return crc32(new Uint8Array(buffer, byteOffset + from, to - from));
}

/** The mark of a key: the FNV-1a hash of its bytes. A checksum with it is that of the key's value and of no other's. */
export function markOf(key: Uint8Array, from = 0, to = key.length): number {
  let mark = 0x811c_9dc5;
  for (let at = from; at < to; at += 1) mark = Math.imul(mark ^ key[at]!, 0x0100_0193);
  return mark >>> 0;
}

/** Writes the checksum of everything behind it at a place, with the mark of a key. */
export function putChecksum(bytes: Buffer, at: number, mark = 0): void {
  bytes.writeUInt32LE((checksumOf(bytes, at + CHECKSUM_BYTES, bytes.length) ^ mark) >>> 0, at);
}

/** Whether the checksum at a place is that of everything behind it, with the mark of its key or none. */
export function hasChecksum(bytes: Uint8Array, at: number, mark = 0): boolean {
  const from = at + CHECKSUM_BYTES;
  const stored =
    (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
  if (bytes.length < from) return false;
  const other = (checksumOf(bytes, from, bytes.length) ^ stored) >>> 0;
  return other === mark || other === 0;
}

export function wrongChecksum(): StoredValueError {
  return new StoredValueError('its checksum is another');
}
