/**
 * Reads columns by version from the records of versions (version-record.ts) as if each column had its own rows, and
 * applies the changes of a commit to records. Keys are partition ‖ order: the version as u64, followed in module events
 * by the index as u32.
 */
import { CACHE_BUDGETS } from '../../cache.ts';
import { U64_BYTES } from '../columns/order-key.ts';
import type { PackedReader } from '../packed-rows.ts';
import { MAX_COMPRESSED_BYTES } from './lz4.ts';
import { versionOf } from './runs/block.ts';
import type { RecordRange } from './runs/manifest.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { StoredValueError } from './stored-value.ts';
import {
  encodeRecord,
  isIndexed,
  type RecordRow,
  STATE_PLACE,
  VersionRecord,
} from './version-record.ts';

const INDEX_BYTES = 4;
const LAST_INDEX = 0xffff_ffff;
const MISSING = 'its record is missing';
/** Most bytes of state in a record: reading one row expands those before it. */
export const MAX_STATE_BYTES = 4_096;

/** The rows of a place between two keys, which may be prefixes. */
export interface VersionRange {
  readonly place: number;
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  readonly reverse: boolean;
}

/**
 * The most records that are cached while versions are walked, and the most memory that they take. A few stored bytes
 * can expand to many, so the expanded size counts.
 */
export const MAX_SCANNED_RECORDS = 1_024;
export const MAX_SCANNED_BYTES = CACHE_BUDGETS.walked_records.bytes;

/**
 * Reads records. It caches the last one: a response takes several rows of one record, which is then read and checked
 * once. It also caches the last records of a walk, because the caller may read other columns of the same versions next.
 * The caller must call `forget` at the end of a SQLite transaction.
 */
export class RecordReader {
  readonly #database: SqliteDatabase;
  #lastVersion = -1;
  #last: VersionRecord | undefined;
  readonly #scanned = new Map<number, VersionRecord>();
  #scannedBytes = 0;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  forget(): void {
    this.#lastVersion = -1;
    this.#last = undefined;
    this.#scanned.clear();
    this.#scannedBytes = 0;
  }

  /**
   * @param known versions that must have a record
   * @returns `undefined` also for versions that are too high to have a record
   * @throws StoredValueError
   */
  row(
    known: RecordRange,
    place: number,
    partition: Uint8Array,
    order: Uint8Array,
  ): Buffer | undefined {
    let version = 0;
    for (let at = 0; at < partition.length; at += 1) version = version * 256 + partition[at]!;
    const orderBytes = U64_BYTES - partition.length;
    for (let at = 0; at < orderBytes; at += 1) version = version * 256 + order[at]!;
    if (!Number.isSafeInteger(version)) return undefined;
    const record = this.#read(version);
    if (record === undefined && hasRecord(known, version)) throw new StoredValueError(MISSING);
    return record?.value(place, isIndexed(place) ? indexAt(order, orderBytes) : 0);
  }

  /** The value of the state row with this index in the record of a version. @throws StoredValueError */
  state(version: number, index: number): Buffer | undefined {
    return this.#read(version)?.value(STATE_PLACE, index);
  }

  /** @throws StoredValueError with the version */
  *rows(
    known: RecordRange,
    { place, reverse, from, to }: VersionRange,
  ): Generator<{ readonly key: Buffer; readonly value: Buffer }> {
    const low = lowestVersion(place, from);
    for (const version of this.versions(known, low, versionOfKey(to), reverse)) {
      const rows = withVersion(version, () => this.#walk(version).rows(place));
      for (const { index, value } of reverse ? rows.reverse() : rows) {
        const key = keyOf(place, version, index);
        if (isBetween(key, from, to)) yield { key, value };
      }
    }
  }

  /** The versions in a range that have, or must have, records. @throws StoredValueError */
  *versions(
    { recordsFrom, recordsTo }: RecordRange,
    lowest: number,
    highest: number,
    reverse: boolean,
  ): Generator<number> {
    let low = Math.min(lowest, Number.MAX_SAFE_INTEGER);
    let high = Math.min(highest, Number.MAX_SAFE_INTEGER);
    while (low <= high) {
      const next = reverse ? high : low;
      let found: number | undefined = next;
      let [least, most] = [next, next];
      if (next < recordsFrom || next > recordsTo) {
        // Outside of the known range there may be gaps.
        least = reverse && next > recordsTo ? Math.max(low, recordsTo + 1) : low;
        most = !reverse && next < recordsFrom ? Math.min(high, recordsFrom - 1) : high;
        found = this.#database.first('versions', least, most, reverse);
        // A damaged page may yield any version, even an earlier one.
        if (found !== undefined && (found < least || found > most)) {
          throw new StoredValueError('versions are not in their order');
        }
      }
      if (reverse) high = (found ?? least) - 1;
      else low = (found ?? most) + 1;
      if (found !== undefined) yield found;
    }
  }

  #walk(version: number): VersionRecord {
    const known = this.#scanned.get(version);
    if (known !== undefined) return known;
    const record = this.#read(version);
    if (record === undefined) throw new StoredValueError(MISSING);
    const isFull =
      this.#scanned.size === MAX_SCANNED_RECORDS ||
      this.#scannedBytes + record.maxMemoryBytes > MAX_SCANNED_BYTES;
    if (isFull) {
      this.#scanned.clear();
      this.#scannedBytes = 0;
    }
    this.#scanned.set(version, record);
    this.#scannedBytes += record.maxMemoryBytes;
    return record;
  }

  #read(version: number): VersionRecord | undefined {
    if (version === this.#lastVersion) return this.#last;
    const bytes = this.#database.read('versions', version);
    const record = bytes && new VersionRecord(bytes, version);
    this.#lastVersion = version;
    this.#last = record;
    return record;
  }
}

function hasRecord({ recordsFrom, recordsTo }: RecordRange, version: number): boolean {
  return version >= recordsFrom && version <= recordsTo;
}

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

/** The version in a key or in a prefix of one. It is not exact above 2^53 - 1, where there are no records. */
export function versionOfKey(key: Uint8Array): number {
  let version = 0;
  for (let at = 0; at < U64_BYTES; at += 1) version = version * 256 + (key[at] ?? 0);
  return version;
}

/**
 * The lowest version that may have rows at or above a key. The previous page may have ended with the last possible key
 * of a version.
 */
function lowestVersion(place: number, from: Uint8Array): number {
  const version = versionOfKey(from);
  const last = lastKeyOf(place, version);
  return from.length > last.length && last.compare(from, 0, last.length) === 0
    ? version + 1
    : version;
}

function indexAt(bytes: Uint8Array, start: number, end = bytes.length): number {
  let index = 0;
  for (let at = start; at < end; at += 1) index = index * 256 + bytes[at]!;
  return index;
}

function isBetween(key: Buffer, from: Uint8Array, to: Uint8Array): boolean {
  return Buffer.compare(key, from) >= 0 && Buffer.compare(key, to) <= 0;
}

/** The rows of a record, sorted by place and index. */
class ChangedRecord {
  readonly rows: RecordRow[] = [];
  /** Bytes of all values, and of the values of state. */
  bytes = 0;
  stateBytes = 0;

  set(row: RecordRow): void {
    const { rows } = this;
    const at = this.#firstAtOrAbove(row.place, row.index);
    const existing = rows[at];
    if (existing !== undefined && isOf(existing, row.place, row.index)) {
      this.#count(existing, -1);
      rows[at] = row;
    } else if (at === rows.length) rows.push(row);
    else rows.splice(at, 0, row);
    this.#count(row, 1);
  }

  delete(place: number, index: number): void {
    const at = this.#firstAtOrAbove(place, index);
    const existing = this.rows[at];
    if (existing === undefined || !isOf(existing, place, index)) return;
    this.rows.splice(at, 1);
    this.#count(existing, -1);
  }

  /** An index that no state row has yet. */
  get nextStateIndex(): number {
    const last = this.rows[this.#firstAtOrAbove(STATE_PLACE + 1, 0) - 1];
    return last?.place === STATE_PLACE ? last.index + 1 : 0;
  }

  #count({ place, value }: RecordRow, times: 1 | -1): void {
    this.bytes += times * value.length;
    if (place === STATE_PLACE) this.stateBytes += times * value.length;
  }

  /** Looks at the end first, because most rows come in order. */
  #firstAtOrAbove(place: number, index: number): number {
    const { rows } = this;
    let low = 0;
    let high = rows.length;
    if (high > 0 && isBelow(rows[high - 1]!, place, index)) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBelow(rows[middle]!, place, index)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isBelow(row: RecordRow, place: number, index: number): boolean {
  return row.place < place || (row.place === place && row.index < index);
}

function isOf(row: RecordRow, place: number, index: number): boolean {
  return row.place === place && row.index === index;
}

/** The changes of one commit to records. Its methods throw StoredValueError with the version of a damaged record. */
export class RecordChanges {
  readonly #database: SqliteDatabase;
  readonly #highest: number;
  readonly #known: RecordRange;
  readonly #records = new Map<number, ChangedRecord>();
  readonly #put = new Set<number>();
  #lastVersion = -1;
  #last: ChangedRecord | undefined;

  constructor(database: SqliteDatabase, known: RecordRange, highest: number) {
    this.#database = database;
    this.#known = known;
    this.#highest = highest;
  }

  /** Puts or deletes a row of a batch. */
  apply(place: number, { bytes, keyAt, keyEnd, value }: PackedReader): void {
    const orderAt = keyAt + 1;
    const version = versionOf(bytes, orderAt + U64_BYTES);
    const index = isIndexed(place) ? indexAt(bytes, orderAt + U64_BYTES, keyEnd) : 0;
    const record = this.#record(version);
    if (value === undefined) record.delete(place, index);
    else {
      record.set({ place, index, value });
      this.#put.add(version);
    }
  }

  delete(place: number, version: number, index: number): void {
    this.#record(version).delete(place, index);
  }

  deleteRange(place: number, from: Uint8Array, to: Uint8Array): void {
    const reader = new RecordReader(this.#database);
    const bounds = [versionOfKey(from), versionOfKey(to)] as const;
    for (const version of [...reader.versions(this.#known, ...bounds, false)]) {
      for (const row of [...this.#record(version).rows]) {
        if (row.place !== place || !isBetween(keyOf(place, version, row.index), from, to)) continue;
        this.delete(place, version, row.index);
      }
    }
  }

  /** Deletes a record, even if it cannot be read. */
  clear(version: number): void {
    this.#lastVersion = -1;
    this.#records.set(version, new ChangedRecord());
    this.#put.add(version);
  }

  /**
   * Puts a value of state into the record of its version.
   * @param index the index that it already has there
   * @returns its index; `undefined` if this commit does not put that record, or the record has no room
   */
  putState(version: number, value: Uint8Array, index?: number): number | undefined {
    if (!this.#put.has(version)) return undefined;
    const record = this.#record(version);
    const hasRoom =
      record.stateBytes + value.length <= MAX_STATE_BYTES &&
      record.bytes + value.length <= MAX_COMPRESSED_BYTES;
    if (!hasRoom) return undefined;
    const row = { place: STATE_PLACE, index: index ?? record.nextStateIndex, value };
    record.set(row);
    return row.index;
  }

  /** @returns the highest version that has or had a record, and the versions that are known to have one */
  write(): { readonly highest: number; readonly known: RecordRange } {
    let highest = this.#highest;
    let known = this.#known;
    for (const [version, { rows }] of [...this.#records].sort(([a], [b]) => a - b)) {
      if (rows.length > 0) {
        this.#database.write('versions', version, encodeRecord(rows, version));
        known = withRecord(known, version);
      } else {
        if (version <= this.#highest) this.#database.remove('versions', version, version + 1);
        if (hasRecord(known, version)) known = { ...known, recordsFrom: version + 1 };
      }
      highest = Math.max(highest, version);
    }
    return { highest, known };
  }

  #record(version: number): ChangedRecord {
    if (version === this.#lastVersion) return this.#last!;
    let record = this.#records.get(version);
    if (record === undefined) {
      if (!Number.isSafeInteger(version)) throw new RangeError(`version ${version} is too high`);
      record = version > this.#highest ? new ChangedRecord() : this.#stored(version);
      this.#records.set(version, record);
    }
    this.#lastVersion = version;
    this.#last = record;
    return record;
  }

  #stored(version: number): ChangedRecord {
    const record = new ChangedRecord();
    const bytes = this.#database.read('versions', version);
    withVersion(version, () => {
      if (bytes !== undefined) {
        for (const row of new VersionRecord(bytes, version).rows()) record.set(row);
      } else if (hasRecord(this.#known, version)) throw new StoredValueError(MISSING);
    });
    return record;
  }
}

function withVersion<T>(version: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof StoredValueError) error.version = version;
    throw error;
  }
}

/** Adds a version to the range of known records. Only one range is kept: of two, the newer one. */
function withRecord(known: RecordRange, version: number): RecordRange {
  const { recordsFrom, recordsTo } = known;
  if (recordsFrom > recordsTo || version > recordsTo + 1) {
    return { recordsFrom: version, recordsTo: version };
  }
  if (version === recordsTo + 1) return { recordsFrom, recordsTo: version };
  return version === recordsFrom - 1 ? { recordsFrom: version, recordsTo } : known;
}
