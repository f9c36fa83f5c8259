/**
 * Columns by version, read from the records of versions (version-record.ts) as if each had rows of its own; and what a
 * commit changes in records.
 */
import { BUCKET_PARTITION_BYTES, type Column, type RowKey } from '../columns/columns.ts';
import { U64_BYTES } from '../columns/order-key.ts';
import type { RecordRange } from './runs/manifest.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { checkValue, markOf, StoredValueError } from './stored-value.ts';
import {
  encodeRecord,
  isIndexed,
  MAX_COMPRESSED_BYTES,
  RECORD_COLUMNS,
  rankOf,
  rowsOfRecord,
  STATE_PLACE,
  type ValueOfRecord,
  VERSION_ORDER_BYTES,
  valueInRecord,
  valuesOf,
} from './version-record.ts';

const INDEX_BYTES = 4;
const LAST_INDEX = 0xffff_ffff;
const MISSING = 'its record is missing';
/** Most bytes of state in a record: who reads one row expands those before it. */
export const MAX_STATE_BYTES = 4_096;
const PLACES = new Map(RECORD_COLUMNS.map((column, place) => [column.number, place]));

/** The place of a column's rows in records; `undefined` for columns that records do not have. */
export function placeOf({ number }: Column): number | undefined {
  return PLACES.get(number);
}

/** A row of a column by version: its key is the version, and the index where the column has one. */
interface VersionRow {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** Rows of a place between two keys, which may be shorter than whole ones. */
export interface VersionRange {
  readonly place: number;
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  readonly reverse: boolean;
}

/** A damaged record among others. */
export class DamagedRecordError extends Error {
  readonly version: number;

  constructor(version: number, cause: unknown) {
    super('a record is damaged', { cause });
    this.name = this.constructor.name;
    this.version = version;
  }
}

/**
 * Reads records. It keeps the last one: an answer takes several rows of one record, which is read and checked once.
 * Whoever reads with it ends a transaction of SQLite with `forget`.
 */
export class RecordReader {
  readonly #database: SqliteDatabase;
  #lastVersion = -1;
  #last: Buffer | undefined;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  forget(): void {
    this.#lastVersion = -1;
    this.#last = undefined;
  }

  /** @returns undefined for numbers that no record can have @throws StoredValueError */
  row(records: RecordRange, place: number, { partition, order }: RowKey): Buffer | undefined {
    const version = versionOfParts(partition, order);
    const index = isIndexed(place) ? uint32At(order, VERSION_ORDER_BYTES) : 0;
    return this.value(records, version, { place, index });
  }

  /** @throws StoredValueError, also for a record that is missing */
  value(
    records: RecordRange,
    version: number,
    { place, index }: { readonly place: number; readonly index: number },
  ): Buffer | undefined {
    if (!Number.isSafeInteger(version)) return undefined;
    const record = this.#read(version);
    if (record !== undefined) return valueInRecord(record, place, index);
    if (hasRecord(records, version)) throw new StoredValueError(MISSING);
    return undefined;
  }

  /** @throws DamagedRecordError */
  *rows(records: RecordRange, { place, reverse, from, to }: VersionRange): Generator<VersionRow> {
    for (const version of this.versions(records, { from, to, reverse })) {
      let rows: { key: Buffer; value: Buffer }[];
      try {
        const record = this.#read(version);
        if (record === undefined) throw new StoredValueError(MISSING);
        rows = rowsOfRecord(record, place).map((row) => {
          const value = valuesOf(record, row.from, row.to);
          return { key: keyOf(place, version, row.index), value };
        });
      } catch (cause) {
        throw new DamagedRecordError(version, cause);
      }
      for (const row of reverse ? rows.reverse() : rows) {
        const isInside = Buffer.compare(row.key, from) >= 0 && Buffer.compare(row.key, to) <= 0;
        if (isInside) yield row;
      }
    }
  }

  /** The versions that have, or must have, records with rows between two keys. @throws StoredValueError */
  *versions(
    { recordsFrom, recordsTo }: RecordRange,
    { from, to, reverse }: Omit<VersionRange, 'place'>,
  ): Generator<number> {
    let low = versionOfKey(from);
    let high = versionOfKey(to);
    while (low <= high) {
      const next = reverse ? high : low;
      let found: number | undefined = next;
      let [least, most] = [next, next];
      if (next < recordsFrom || next > recordsTo) {
        // Outside of the range there are gaps.
        least = reverse && next > recordsTo ? Math.max(low, recordsTo + 1) : low;
        most = !reverse && next < recordsFrom ? Math.min(high, recordsFrom - 1) : high;
        found = this.#database.nextRecord(least, most, reverse);
        // A damaged page may lead anywhere, also back.
        if (found !== undefined && (found < least || found > most)) {
          throw new StoredValueError('versions are not in their order');
        }
      }
      if (reverse) high = (found ?? least) - 1;
      else low = (found ?? most) + 1;
      if (found !== undefined) yield found;
    }
  }

  #read(version: number): Buffer | undefined {
    if (version === this.#lastVersion) return this.#last;
    const record = this.#database.readRecord(version);
    if (record !== undefined) checkValue(record, markOf(version));
    this.#lastVersion = version;
    this.#last = record;
    return record;
  }
}

function hasRecord({ recordsFrom, recordsTo }: RecordRange, version: number): boolean {
  return version >= recordsFrom && version <= recordsTo;
}

/** The last key that rows of a version may have. */
export function lastKeyOf(place: number, version: number): Buffer {
  return keyOf(place, version, LAST_INDEX);
}

function keyOf(place: number, version: number, index: number): Buffer {
  const key = Buffer.allocUnsafe(U64_BYTES + (isIndexed(place) ? INDEX_BYTES : 0));
  key.writeUInt32BE(Math.floor(version / 0x1_0000_0000), 0);
  key.writeUInt32BE(version >>> 0, 4);
  if (isIndexed(place)) key.writeUInt32BE(index, U64_BYTES);
  return key;
}

/** The version that a whole key or the beginning of one has; numbers that no record has become the highest. */
function versionOfKey(key: Uint8Array): number {
  let version = 0;
  for (let at = 0; at < U64_BYTES; at += 1) version = version * 256 + (key[at] ?? 0);
  return Math.min(version, Number.MAX_SAFE_INTEGER);
}

export function versionOfParts(partition: Uint8Array, order: Uint8Array): number {
  let version = 0;
  for (let at = 0; at < BUCKET_PARTITION_BYTES; at += 1) version = version * 256 + partition[at]!;
  return version * 65_536 + order[0]! * 256 + order[1]!;
}

function uint32At(bytes: Uint8Array, at: number): number {
  return (
    bytes[at]! * 0x100_0000 + ((bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!)
  );
}

interface ChangedRecord {
  /** By place and index; `undefined` for a row that is deleted. */
  readonly rows: Map<number, Uint8Array | undefined>;
  /** Whether rows of columns by version are put. */
  isPut: boolean;
  stateBytes: number;
  nextIndex: number;
}

/** What one commit changes in records. */
export class RecordChanges {
  readonly #database: SqliteDatabase;
  /** Versions above have no record yet. */
  readonly #highest: number;
  readonly #range: RecordRange;
  readonly #records = new Map<number, ChangedRecord>();

  constructor(database: SqliteDatabase, range: RecordRange, highest: number) {
    this.#database = database;
    this.#range = range;
    this.#highest = highest;
  }

  /** @throws StoredValueError for a record that is damaged; RangeError for versions above 2^53 - 1 */
  put(place: number, partition: Uint8Array, order: Uint8Array, value: Uint8Array): void {
    const record = this.#record(versionOfParts(partition, order));
    record.rows.set(nameOf(place, isIndexed(place) ? uint32At(order, 2) : 0), value);
    record.isPut = true;
  }

  /** @throws StoredValueError */
  delete(place: number, version: number, index: number): void {
    this.#record(version).rows.set(nameOf(place, index), undefined);
  }

  deleteRow(place: number, partition: Uint8Array, order: Uint8Array): void {
    const index = isIndexed(place) ? uint32At(order, VERSION_ORDER_BYTES) : 0;
    this.delete(place, versionOfParts(partition, order), index);
  }

  /** @throws StoredValueError */
  deleteRange(place: number, from: Uint8Array, to: Uint8Array): void {
    const range = { from, to, reverse: false };
    for (const version of [...new RecordReader(this.#database).versions(this.#range, range)]) {
      for (const name of this.#record(version).rows.keys()) {
        const index = Math.floor(name / PLACES_IN_NAME);
        const key = keyOf(place, version, index);
        const isInside = Buffer.compare(key, from) >= 0 && Buffer.compare(key, to) <= 0;
        if (name % PLACES_IN_NAME === place && isInside) this.delete(place, version, index);
      }
    }
  }

  /** Deletes a record, whether it can be read or not. */
  clear(version: number): void {
    this.#records.set(version, newRecord(true));
  }

  /**
   * Puts a value of state into the record of its version.
   * @param index that it has there already
   * @returns its index; `undefined` when there is no such record, or no room in it
   */
  putState(version: number, value: Uint8Array, index?: number): number | undefined {
    const record = this.#records.get(version);
    if (record?.isPut !== true) return undefined;
    const stateBytes = record.stateBytes + value.length;
    if (stateBytes > MAX_STATE_BYTES || totalBytes(record) + value.length > MAX_COMPRESSED_BYTES) {
      return undefined;
    }
    record.stateBytes = stateBytes;
    const place = index ?? record.nextIndex;
    record.nextIndex = Math.max(record.nextIndex, place + 1);
    record.rows.set(nameOf(STATE_PLACE, place), value);
    return place;
  }

  /** @returns the highest version that has a record now, or had one before; and which are known to have one */
  write(): { readonly highest: number; readonly range: RecordRange } {
    let highest = this.#highest;
    let range = this.#range;
    for (const [version, { rows }] of [...this.#records].sort(([a], [b]) => a - b)) {
      const values = sortedValues(rows);
      const isNew = version > highest;
      highest = Math.max(highest, version);
      if (values.length > 0) {
        this.#database.writeRecord(version, encodeRecord(values, markOf(version)));
        range = withRecord(range, version);
      } else {
        if (!isNew) this.#database.writeRecord(version, undefined);
        range = withoutRecord(range, version);
      }
    }
    return { highest, range };
  }

  #record(version: number): ChangedRecord {
    let record = this.#records.get(version);
    if (record !== undefined) return record;
    if (!Number.isSafeInteger(version)) throw new RangeError(`version ${version} is too high`);
    record = version > this.#highest ? newRecord(false) : this.#storedRecord(version);
    this.#records.set(version, record);
    return record;
  }

  #storedRecord(version: number): ChangedRecord {
    const changed = newRecord(false);
    const record = this.#database.readRecord(version);
    if (record === undefined) {
      if (!hasRecord(this.#range, version)) return changed;
      throw new DamagedRecordError(version, new StoredValueError(MISSING));
    }
    try {
      checkValue(record, markOf(version));
      for (const { place, index, from, to } of rowsOfRecord(record)) {
        changed.rows.set(nameOf(place, index), valuesOf(record, from, to));
        if (place !== STATE_PLACE) continue;
        changed.stateBytes += to - from;
        changed.nextIndex = Math.max(changed.nextIndex, index + 1);
      }
    } catch (cause) {
      throw new DamagedRecordError(version, cause);
    }
    return changed;
  }
}

/** Of two ranges, the newer is known. */
function withRecord(range: RecordRange, version: number): RecordRange {
  const { recordsFrom, recordsTo } = range;
  if (recordsFrom > recordsTo || version > recordsTo + 1) {
    return { recordsFrom: version, recordsTo: version };
  }
  if (version === recordsTo + 1) return { recordsFrom, recordsTo: version };
  return version === recordsFrom - 1 ? { recordsFrom: version, recordsTo } : range;
}

function withoutRecord(range: RecordRange, version: number): RecordRange {
  return hasRecord(range, version) ? { ...range, recordsFrom: version + 1 } : range;
}

function newRecord(isPut: boolean): ChangedRecord {
  return { rows: new Map(), isPut, stateBytes: 0, nextIndex: 0 };
}

const PLACES_IN_NAME = STATE_PLACE + 1;

function nameOf(place: number, index: number): number {
  return index * PLACES_IN_NAME + place;
}

function totalBytes({ rows }: ChangedRecord): number {
  let bytes = 0;
  for (const value of rows.values()) bytes += value?.length ?? 0;
  return bytes;
}

/** The rows that stay, in the order of a record. */
function sortedValues(rows: ReadonlyMap<number, Uint8Array | undefined>): ValueOfRecord[] {
  const values: ValueOfRecord[] = [];
  for (const [name, value] of rows) {
    if (value === undefined) continue;
    values.push({ place: name % PLACES_IN_NAME, index: Math.floor(name / PLACES_IN_NAME), value });
  }
  return values.sort((a, b) => rankOf(a.place) - rankOf(b.place) || a.index - b.index);
}
