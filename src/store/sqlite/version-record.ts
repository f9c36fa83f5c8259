/**
 * The rows of one version in one record: transaction, info, module events and writes repeat each other's bytes, so
 * that together they take little more than the transaction alone (docs/data-layout.md, "Records of versions").
 *
 * A record is the checksum of the rest, with the mark of the version; the number of bytes of its index; the index: for
 * each row its length × 8 + the place of its column, and the rest of its order where its column has one (ULEB128
 * each); then the values of all rows, compressed as one. What is read without the others comes first: expanding ends
 * where the wanted rows do.
 *
 * Rows of state are in the record of the version that wrote them, and repeat the writes in its transaction. Where a row
 * is, its entry in the sorted runs says (placed-values.ts): its own index in the record, which never changes.
 */
import {
  BUCKET_PARTITION_BYTES,
  type Column,
  MODULE_EVENTS,
  TRANSACTION_INFOS,
  TRANSACTIONS,
  VERSION_WRITES,
} from '../columns/columns.ts';
import { U64_BYTES } from '../columns/order-key.ts';
import { CHECKSUM_BYTES, putChecksum } from './stored-value.ts';
import { TRANSACTION_DICTIONARY } from './transaction-dictionary.ts';
import { CompressedValueError, ValueCompressor } from './value-compression.ts';

/** In the order of their rows in a record; the places are part of the format. */
export const RECORD_COLUMNS: readonly Column[] = [
  TRANSACTION_INFOS,
  TRANSACTIONS,
  MODULE_EVENTS,
  VERSION_WRITES,
];
/** The place of rows of state, which come right after the info: most are read as often as it. */
export const STATE_PLACE = RECORD_COLUMNS.length;
const PLACE_BITS = 3;
const PLACE_MASK = (1 << PLACE_BITS) - 1;
/** By place, where its rows are among those of the others. */
const RANKS = [0, 2, 3, 4, 1];
/** Bytes of an order that belong to the version. */
export const VERSION_ORDER_BYTES = U64_BYTES - BUCKET_PARTITION_BYTES;
/** Longest number in ULEB128 here: a length × 4, or u32. */
const MAX_NUMBER_BYTES = 5;

/** A row of a record, and where its value is among the bytes of all rows. */
interface RecordRow {
  readonly place: number;
  /** What follows the version in the order; 0 in columns with one row for each version. */
  readonly index: number;
  readonly from: number;
  readonly to: number;
}

/** A row to be stored. */
export interface ValueOfRecord {
  readonly place: number;
  readonly index: number;
  readonly value: Uint8Array;
}

const compressor = new ValueCompressor(TRANSACTION_DICTIONARY);
let head = Buffer.alloc(1_024);

const IS_INDEXED = [
  ...RECORD_COLUMNS.map(({ orderBytes }) => orderBytes[0] > VERSION_ORDER_BYTES),
  true,
];
/** Most bytes of all values that are compressed. */
export const MAX_COMPRESSED_BYTES = compressor.maxBytes;

/** Whether the rows of a place have more in their order than the version. */
export function isIndexed(place: number): boolean {
  return IS_INDEXED[place]!;
}

/**
 * @param rows in the order of places and indexes
 * @param mark of the key of the record
 */
export function encodeRecord(rows: readonly ValueOfRecord[], mark: number): Buffer {
  const mostBytes = CHECKSUM_BYTES + (1 + 2 * rows.length) * MAX_NUMBER_BYTES;
  if (head.length < mostBytes) head = Buffer.alloc(2 * mostBytes);
  let end = CHECKSUM_BYTES + MAX_NUMBER_BYTES;
  for (const { place, index, value } of rows) {
    end = writeNumber(end, (value.length << PLACE_BITS) | place);
    if (isIndexed(place)) end = writeNumber(end, index);
  }
  const indexBytes = end - CHECKSUM_BYTES - MAX_NUMBER_BYTES;
  const start = CHECKSUM_BYTES + MAX_NUMBER_BYTES - numberBytes(indexBytes);
  writeNumber(start, indexBytes);
  const record = compressor.compress(
    rows.map(({ value }) => value),
    head.subarray(start - CHECKSUM_BYTES, end),
  );
  putChecksum(record, mark);
  return record;
}

function numberBytes(value: number): number {
  let bytes = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes += 1;
  return bytes;
}

function writeNumber(at: number, value: number): number {
  let rest = value;
  let end = at;
  for (; rest > 0x7f; rest >>>= 7) {
    head[end] = (rest & 0x7f) | 0x80;
    end += 1;
  }
  head[end] = rest;
  return end + 1;
}

/** The rows of a record, or those of one place. @throws CompressedValueError */
export function rowsOfRecord(record: Uint8Array, wanted?: number): readonly RecordRow[] {
  const rows: RecordRow[] = [];
  const lastRank = wanted === undefined ? STATE_PLACE : RANKS[wanted]!;
  const valuesAt = indexEnd(record);
  let from = 0;
  while (numberEnd < valuesAt) {
    const number = readNumber(record, numberEnd);
    const place = number & PLACE_MASK;
    const to = from + (number >>> PLACE_BITS);
    const index = IS_INDEXED[place] ? readNumber(record, numberEnd) : 0;
    if (wanted === undefined || place === wanted) rows.push({ place, index, from, to });
    else if (rankOf(place) > lastRank) break;
    from = to;
  }
  return rows;
}

/** Where the rows of a place are among those of others. @throws CompressedValueError */
export function rankOf(place: number): number {
  const rank = RANKS[place];
  if (rank === undefined) throw new CompressedValueError('whose rows cannot be read');
  return rank;
}

/** The value of one row of a record; `undefined`: it has no such row. @throws CompressedValueError */
export function valueInRecord(
  record: Uint8Array,
  wantedPlace: number,
  wantedIndex: number,
): Buffer | undefined {
  const lastRank = RANKS[wantedPlace]!;
  const valuesAt = indexEnd(record);
  let from = 0;
  while (numberEnd < valuesAt) {
    const number = readNumber(record, numberEnd);
    const place = number & PLACE_MASK;
    const to = from + (number >>> PLACE_BITS);
    const index = IS_INDEXED[place] ? readNumber(record, numberEnd) : 0;
    if (place === wantedPlace && index === wantedIndex) {
      return compressor.expand(record, valuesAt, from, to);
    }
    if (rankOf(place) > lastRank) return undefined;
    from = to;
  }
  return undefined;
}

/** Bytes `from` to `to` of the values of a record. @throws CompressedValueError */
export function valuesOf(record: Uint8Array, from: number, to: number): Buffer {
  return compressor.expand(record, indexEnd(record), from, to);
}

/** Where the number that was read last ends. */
let numberEnd = 0;

/** Where the index ends that begins at `numberEnd`, which this sets. */
function indexEnd(record: Uint8Array): number {
  const bytes = readNumber(record, CHECKSUM_BYTES);
  return numberEnd + bytes;
}

/** @throws CompressedValueError */
function readNumber(bytes: Uint8Array, at: number): number {
  let value = 0;
  let end = at;
  for (let shift = 0; shift < 7 * MAX_NUMBER_BYTES; shift += 7) {
    const byte = bytes[end];
    if (byte === undefined) break;
    end += 1;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      numberEnd = end;
      return value >>> 0;
    }
  }
  throw new CompressedValueError('whose rows cannot be read');
}
