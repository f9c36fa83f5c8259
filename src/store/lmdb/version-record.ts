/**
 * The rows of one version in one record: transaction, info, module events and writes repeat each other's bytes, so
 * that together they take little more than the transaction alone (docs/data-layout.md, "Records of versions").
 *
 * A record is the number of its rows, then for each row its length × 4 + the place of its column, and the rest of its
 * order where its column has one (ULEB128 each); then the values of all rows, compressed as one. What is read without
 * the others comes first: expanding ends where the wanted row does.
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
import { TRANSACTION_DICTIONARY } from './transaction-dictionary.ts';
import { CompressedValueError, ValueCompressor } from './value-compression.ts';

/** In the order of their rows in a record; the places are part of the format. */
export const RECORD_COLUMNS: readonly Column[] = [
  TRANSACTION_INFOS,
  VERSION_WRITES,
  MODULE_EVENTS,
  TRANSACTIONS,
];
const PLACE_BITS = 2;
/** Bytes of an order that belong to the version. */
export const VERSION_ORDER_BYTES = U64_BYTES - BUCKET_PARTITION_BYTES;
/** Longest number in ULEB128 here: a length × 4, or u32. */
const MAX_NUMBER_BYTES = 5;

/** A row of a record, and where its value is among the bytes of all rows. */
export interface RecordRow {
  readonly place: number;
  /** What follows the version in the order; 0 in columns with one row for each version. */
  readonly index: number;
  readonly from: number;
  readonly to: number;
}

export interface RecordContents {
  readonly rows: readonly RecordRow[];
  /** Where the compressed values begin. */
  readonly valuesAt: number;
}

/** A row to be stored. */
export interface ValueOfRecord {
  readonly place: number;
  readonly index: number;
  readonly value: Uint8Array;
}

const compressor = new ValueCompressor(TRANSACTION_DICTIONARY);
let head = Buffer.alloc(1_024);

/** Whether the rows of a place have more in their order than the version. */
export function isIndexed(place: number): boolean {
  return RECORD_COLUMNS[place]!.orderBytes[0] > VERSION_ORDER_BYTES;
}

/** @param rows in the order of places and indexes */
export function encodeRecord(rows: readonly ValueOfRecord[]): Buffer {
  const mostBytes = (1 + 2 * rows.length) * MAX_NUMBER_BYTES;
  if (head.length < mostBytes) head = Buffer.alloc(2 * mostBytes);
  let end = writeNumber(0, rows.length);
  for (const { place, index, value } of rows) {
    end = writeNumber(end, (value.length << PLACE_BITS) | place);
    if (isIndexed(place)) end = writeNumber(end, index);
  }
  return compressor.compress(
    rows.map(({ value }) => value),
    head.subarray(0, end),
  );
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

/** @throws CompressedValueError */
export function decodeRecord(record: Uint8Array): RecordContents {
  const reader = new NumberReader(record);
  const count = reader.next();
  const rows: RecordRow[] = [];
  let from = 0;
  for (let row = 0; row < count; row += 1) {
    const number = reader.next();
    const place = number & ((1 << PLACE_BITS) - 1);
    const to = from + (number >>> PLACE_BITS);
    rows.push({ place, index: isIndexed(place) ? reader.next() : 0, from, to });
    from = to;
  }
  return { rows, valuesAt: reader.at };
}

/** Bytes of the values of a record. @throws CompressedValueError */
export function valuesOf(
  record: Uint8Array,
  { valuesAt }: RecordContents,
  from: number,
  to: number,
): Buffer {
  return compressor.expand(record, valuesAt, from, to);
}

class NumberReader {
  at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  next(): number {
    let value = 0;
    for (let shift = 0; shift < 7 * MAX_NUMBER_BYTES; shift += 7) {
      const byte = this.#bytes[this.at];
      if (byte === undefined) break;
      this.at += 1;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new CompressedValueError('whose rows cannot be read');
  }
}
