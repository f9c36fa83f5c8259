/**
 * Values of rows in sorted runs. A value of state is in the record of its version, if the same commit writes that
 * record and it has room. Any other short value is in its entry. A long one is in a blob that the entry refers to, so
 * that merging does not write it again (docs/data-layout.md, "Sorted runs").
 */
import { STATE } from '../columns/columns.ts';
import { INLINE } from '../packed-rows.ts';
import { compress, expand } from './lz4.ts';
import { versionOf } from './runs/block.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import {
  CHECKSUM_BYTES,
  checkValue,
  copyInto,
  markOf,
  putChecksum,
  StoredValueError,
} from './stored-value.ts';
import type { RecordReader } from './version-records.ts';

/** Longest value in an entry, in bytes. State has its own limit: its values are longer and rarely listed. */
export const MAX_ENTRY_VALUE_BYTES = 1_024;
export const MAX_ENTRY_STATE_BYTES = 64;

const IN_RECORD = 1;
const IN_BLOB = 2;
const BLOB_ID_BYTES = 6;
const BLOB_MARK = 0x626c_6f62;

const blobHead = Buffer.alloc(CHECKSUM_BYTES);

/** Whether values of this many bytes are stored in the entry itself. */
export function isInline(column: number, bytes: number): boolean {
  return bytes <= (column === STATE.number ? MAX_ENTRY_STATE_BYTES : MAX_ENTRY_VALUE_BYTES);
}

export function recordReference(index: number): Buffer {
  const reference = Buffer.allocUnsafe(5);
  reference[0] = IN_RECORD;
  reference.writeUInt32LE(index, 1);
  return reference;
}

export function blobReference(id: number): Buffer {
  const reference = Buffer.allocUnsafe(1 + BLOB_ID_BYTES);
  reference[0] = IN_BLOB;
  reference.writeUIntLE(id, 1, BLOB_ID_BYTES);
  return reference;
}

export function encodeBlob(value: Uint8Array, id: number): Buffer {
  const blob = compress([value], blobHead);
  putChecksum(blob, markOf(id, BLOB_MARK));
  return blob;
}

/** The index of a state row in the record of its version; `undefined` if the value is stored elsewhere. */
export function recordIndex(reference: Buffer): number | undefined {
  return reference[0] === IN_RECORD ? reference.readUInt32LE(1) : undefined;
}

export function blobId(reference: Buffer): number | undefined {
  return reference[0] === IN_BLOB ? reference.readUIntLE(1, BLOB_ID_BYTES) : undefined;
}

/** Copies the bytes from `start` to the end. */
export function copyFrom(bytes: Buffer, start: number): Buffer {
  const copy = Buffer.allocUnsafe(bytes.length - start);
  copyInto(copy, 0, bytes, start, bytes.length);
  return copy;
}

/** The value of a row, in memory that nothing modifies. @throws StoredValueError */
export function readReferenced(
  database: SqliteDatabase,
  records: RecordReader,
  key: Buffer,
  reference: Buffer,
): Buffer {
  if (reference[0] === INLINE) return copyFrom(reference, 1);
  const index = recordIndex(reference);
  const value =
    index === undefined
      ? readBlob(database, blobId(reference)!)
      : records.state(versionOf(key), index);
  if (value === undefined) throw new StoredValueError('its value is missing');
  return value;
}

function readBlob(database: SqliteDatabase, id: number): Buffer | undefined {
  const blob = database.read('blobs', id);
  if (blob === undefined) return undefined;
  checkValue(blob, markOf(id, BLOB_MARK));
  return expand(blob, CHECKSUM_BYTES);
}
