/**
 * Stores the rows of one version in one record. The transaction, info, module events and writes repeat each other's
 * bytes, so together they take little more than the transaction alone (docs/data-layout.md, "Records of versions").
 *
 * A record consists of the checksum of the rest, with the mark of the version; the length of the index in bytes; the
 * index; and the values of all rows in the order of places, compressed as one. The index has, for each row, its
 * length × 8 + its place and, where `isIndexed`, its index (ULEB128 each). Rows that are often read alone have the
 * lowest places, because expanding stops after the requested row.
 */
import {
  MODULE_EVENTS,
  STATE,
  TRANSACTION_INFOS,
  TRANSACTIONS,
  VERSION_WRITES,
} from '../columns/columns.ts';
import { compress, expand } from './lz4.ts';
import {
  CHECKSUM_BYTES,
  checkValue,
  markOf,
  putChecksum,
  StoredValueError,
} from './stored-value.ts';

/** The columns of rows in a record, by place: the places are part of the format. */
const PLACES = [TRANSACTION_INFOS, STATE, TRANSACTIONS, MODULE_EVENTS, VERSION_WRITES];
/** State rows have an index within the record. Their entries in the sorted runs refer to it (placed-values.ts). */
export const STATE_PLACE = PLACES.indexOf(STATE);
const PLACE_BITS = 3;
const PLACE_MASK = (1 << PLACE_BITS) - 1;
const EVENTS_PLACE = PLACES.indexOf(MODULE_EVENTS);
/** Longest ULEB128 number here, in bytes: a length × 8, or a u32. */
const MAX_NUMBER_BYTES = 5;

const placesByColumn: (number | undefined)[] = new Array(256).fill(undefined);
for (const [place, { number }] of PLACES.entries()) {
  if (place !== STATE_PLACE) placesByColumn[number] = place;
}

/** The place of a column whose rows are all in records, by its number; `undefined` for other columns. */
export function placeOf(column: number): number | undefined {
  return placesByColumn[column];
}

/** Whether a version can have several rows of this place, which an index tells apart. */
export function isIndexed(place: number): boolean {
  return place === STATE_PLACE || place === EVENTS_PLACE;
}

export interface RecordRow {
  readonly place: number;
  /** The index of the event or of the state row; 0 in columns with one row for each version. */
  readonly index: number;
  readonly value: Uint8Array;
}

/** Most bytes that the index has for one row. */
const MAX_INDEX_BYTES = 2 * MAX_NUMBER_BYTES;
/** Room before the index for the checksum and the length of the index. */
const INDEX_AT = CHECKSUM_BYTES + MAX_NUMBER_BYTES;
/** Everything before the values in the record that is being encoded. */
let front = new Uint8Array(INDEX_AT + 64 * MAX_INDEX_BYTES);

/** @param rows in the order of places and indexes */
export function encodeRecord(rows: readonly RecordRow[], version: number): Buffer {
  const mostBytes = INDEX_AT + rows.length * MAX_INDEX_BYTES;
  if (mostBytes > front.length) front = new Uint8Array(mostBytes);
  const values: Uint8Array[] = [];
  let end = INDEX_AT;
  for (const { place, index, value } of rows) {
    end = putNumber(end, value.length * (1 << PLACE_BITS) + place);
    if (isIndexed(place)) end = putNumber(end, index);
    values.push(value);
  }
  const indexBytes = end - INDEX_AT;
  const numberAt = INDEX_AT - numberBytes(indexBytes);
  putNumber(numberAt, indexBytes);
  const record = compress(values, front.subarray(numberAt - CHECKSUM_BYTES, end));
  putChecksum(record, markOf(version));
  return record;
}

function putNumber(start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7, at += 1) front[at] = (rest & 0x7f) | 0x80;
  front[at] = rest;
  return at + 1;
}

function numberBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest > 0x7f; rest >>>= 7) bytes += 1;
  return bytes;
}

/** Numbers for each row in `VersionRecord`: its place, its index, where its value begins and where it ends. */
const ROW_NUMBERS = 4;
/** Memory that a number in an array takes. */
const NUMBER_BYTES = 8;

/** A record whose checksum matches. Values are views of memory that the rows of the record share. */
export class VersionRecord {
  readonly #bytes: Buffer;
  readonly #rows: number[] = [];
  readonly #valuesAt: number;
  #values: Buffer | undefined;

  /** @throws StoredValueError */
  constructor(bytes: Buffer, version: number) {
    checkValue(bytes, markOf(version));
    this.#bytes = bytes;
    const numbers = new NumberReader(bytes);
    const indexBytes = numbers.next();
    const end = numbers.at + indexBytes;
    let from = 0;
    while (numbers.at < end) {
      const number = numbers.next();
      const place = number & PLACE_MASK;
      if (place >= PLACES.length) throw new StoredValueError('a row of it is of no column');
      const to = from + (number >>> PLACE_BITS);
      this.#rows.push(place, isIndexed(place) ? numbers.next() : 0, from, to);
      from = to;
    }
    this.#valuesAt = end;
  }

  /** The most memory that it can take: the stored bytes, the numbers of its rows, and all values expanded. */
  get maxMemoryBytes(): number {
    const rows = this.#rows;
    return this.#bytes.length + rows.length * NUMBER_BYTES + (rows[rows.length - 1] ?? 0);
  }

  value(place: number, index: number): Buffer | undefined {
    const rows = this.#rows;
    for (let at = 0; at < rows.length; at += ROW_NUMBERS) {
      if (rows[at] === place && rows[at + 1] === index) return this.#valueAt(at);
    }
    return undefined;
  }

  rows(wanted?: number): (RecordRow & { readonly value: Buffer })[] {
    const rows = this.#rows;
    const found: (RecordRow & { readonly value: Buffer })[] = [];
    for (let at = 0; at < rows.length; at += ROW_NUMBERS) {
      const place = rows[at]!;
      if (wanted !== undefined && place !== wanted) continue;
      found.push({ place, index: rows[at + 1]!, value: this.#valueAt(at) });
    }
    return found;
  }

  #valueAt(row: number): Buffer {
    const from = this.#rows[row + 2]!;
    const to = this.#rows[row + 3]!;
    if (this.#values === undefined || this.#values.length < to) {
      // Expands everything on the second read, because the rest is usually read next.
      const wanted = this.#values === undefined ? to : undefined;
      this.#values = expand(this.#bytes, this.#valuesAt, wanted);
      if (this.#values.length < to) throw new StoredValueError('its values are cut short');
    }
    return this.#values.subarray(from, to);
  }
}

class NumberReader {
  readonly #bytes: Buffer;
  at = CHECKSUM_BYTES;

  constructor(bytes: Buffer) {
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
    throw new StoredValueError('its rows cannot be read');
  }
}
