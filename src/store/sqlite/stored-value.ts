/**
 * The tables of a store's file, the checksums of its values, and the errors that mean damage. A checksum is the CRC-32
 * of zlib, which the processor computes at some gigabytes a second (docs/data-layout.md, "Checksums").
 */
import { crc32 } from 'node:zlib';

export const TABLES = ['versions', 'log', 'blocks', 'blobs', 'manifest'] as const;
export type Table = (typeof TABLES)[number];

export interface StoredRows {
  read(table: Table, id: number): Buffer | undefined;
}

export interface WritableRows extends StoredRows {
  /** The bytes are copied. */
  write(table: Table, id: number, bytes: Buffer): void;
  /** Removes rows from one id up to, but not including, another. @returns how many */
  remove(table: Table, from: number, to: number): number;
  /** The lowest id at or above one. */
  next(table: Table, from: number): number | undefined;
}

/** Bytes that are not what was stored. Other reads may go on. */
export class StoredValueError extends Error {
  version: number | undefined;
  /** The key of an entry, with its column, if only its value is damaged. */
  key: Buffer | undefined;
  /** The keys of a damaged block are below this; `undefined` if nothing is known of them. */
  fence: Buffer | undefined;

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

/** Longest part that is copied here, in bytes: a call into the runtime takes longer. */
const MAX_COPIED_BYTES = 128;

/** Copies the bytes between two places. */
export function copyInto(
  target: Uint8Array,
  to: number,
  source: Uint8Array,
  from: number,
  end: number,
): void {
  if (end - from > MAX_COPIED_BYTES) target.set(source.subarray(from, end), to);
  else for (let at = from, into = to; at < end; at += 1, into += 1) target[into] = source[at]!;
}

/** SQLite's result codes (sqlite.org/rescode.html); the low byte of extended ones. */
const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_NOT_A_DATABASE = 26;

/** SQLite's result code in an error; `undefined` for any other error. */
function resultCode(error: unknown): number | undefined {
  const { errcode } = error as { readonly errcode?: unknown };
  return typeof errcode === 'number' ? errcode & 0xff : undefined;
}

/** Whether stored bytes or pages of SQLite are damaged where they were read. */
export function isStoredDamage(error: unknown): boolean {
  return error instanceof StoredValueError || isPageDamage(error);
}

/** Runs a read. @returns false if it meets damage @throws what else the read throws */
export function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (!isStoredDamage(error)) throw error;
    return false;
  }
}

export function isPageDamage(error: unknown): boolean {
  const code = resultCode(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOT_A_DATABASE;
}

export function isDiskFull(error: unknown): boolean {
  return resultCode(error) === SQLITE_FULL;
}

export function isBusy(error: unknown): boolean {
  return resultCode(error) === SQLITE_BUSY;
}

export function isSqliteError(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === 'ERR_SQLITE_ERROR';
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
