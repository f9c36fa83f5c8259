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
  /** Removes the rows from one id up to, but not including, another. @returns how many were removed */
  remove(table: Table, from: number, to: number): number;
  /** The lowest id at or above `from`. */
  next(table: Table, from: number): number | undefined;
}

/** The bytes read are not those that were stored. Other reads may continue. */
export class StoredValueError extends Error {
  version: number | undefined;
  /** The key of the entry (with the column's number) if only its value is damaged. */
  key: Buffer | undefined;
  /** All keys of the damaged block are below this; `undefined` if nothing is known about them. */
  fence: Buffer | undefined;

  constructor(detail: string) {
    super(detail);
    this.name = this.constructor.name;
  }
}

export const CHECKSUM_BYTES = 4;

/**
 * The mark of a number in a table. It binds a checksum to the value with that number in that table, because damage can
 * lead SQLite to a page of another table.
 */
export function markOf(number: number, table = 0): number {
  return (
    (table ^ Math.imul(number, 0x9e37_79b1) ^ Math.imul(number / 0x1_0000_0000, 0x85eb_ca6b)) >>> 0
  );
}

/** Writes the checksum of the rest, combined with a mark, to the beginning. */
export function putChecksum(bytes: Buffer, mark: number): void {
  bytes.writeUInt32LE((crc32(bytes.subarray(CHECKSUM_BYTES)) ^ mark) >>> 0, 0);
}

/** @throws StoredValueError for bytes that do not begin with the checksum of the rest */
export function checkValue(bytes: Buffer, mark: number): void {
  const isValid =
    bytes.length >= CHECKSUM_BYTES &&
    (crc32(bytes.subarray(CHECKSUM_BYTES)) ^ mark) >>> 0 === bytes.readUInt32LE(0);
  if (!isValid) throw new StoredValueError('its checksum does not match');
}

/** Up to this many bytes are copied in a loop: a call into the runtime would take longer. */
const MAX_COPIED_BYTES = 128;

/** Copies the bytes of `source` between `from` and `end` to `to` in `target`. */
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

/** SQLite's primary result codes (sqlite.org/rescode.html), which are the low byte of extended codes. */
const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_NOT_A_DATABASE = 26;

/** SQLite's result code in an error; `undefined` for any other error. */
function resultCode(error: unknown): number | undefined {
  const { errcode } = error as { readonly errcode?: unknown };
  return typeof errcode === 'number' ? errcode & 0xff : undefined;
}

/** Whether an error means that stored bytes or SQLite's pages are damaged. */
export function isStoredDamage(error: unknown): boolean {
  return error instanceof StoredValueError || isPageDamage(error);
}

/** Runs a read. @returns false if it meets damage @throws any other error of the read */
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
