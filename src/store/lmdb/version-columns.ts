/**
 * Columns by version, read from the records of versions (version-record.ts) as if each had a database of its own; and
 * what a batch changes in them.
 */
import type { BatchOperation } from '../batch.ts';
import { BUCKET_PARTITION_BYTES, type Column, type RowKey } from '../columns/columns.ts';
import { NO_ORDER, U64_BYTES } from '../columns/order-key.ts';
import { RowDamagedError } from '../store-error.ts';
import { closing } from './iteration.ts';
import type { LmdbColumn, LmdbRange, ReadableColumn } from './lmdb-reads.ts';
import { isStoredDamage, markOf, StoredValueError } from './stored-value.ts';
import {
  encodeRecord,
  isIndexed,
  MAX_COMPRESSED_BYTES,
  RECORD_COLUMNS,
  type RecordRow,
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
/** Most bytes of state in a record: who reads one row expands those before it. */
export const MAX_STATE_BYTES = 4_096;
/** Records that tell how many rows the columns have, where there are more. */
const SAMPLE_RECORDS = 1_000;

/** What comes after all versions. */
export const ANY_VERSION = Buffer.alloc(U64_BYTES, 0xff);

/** All records. The engine takes a missing end, but not a property that is not there. */
const FROM_THE_NEWEST = {
  start: { partition: ANY_VERSION, order: NO_ORDER },
  end: undefined,
  reverse: true,
};

/** Reads one column from the records. */
class VersionColumn implements ReadableColumn {
  readonly #records: LmdbColumn;
  readonly #place: number;

  constructor(records: LmdbColumn, place: number) {
    this.#records = records;
    this.#place = place;
  }

  get({ partition, order }: RowKey): Buffer | undefined {
    const record = this.#records.get({ partition, order: order.subarray(0, VERSION_ORDER_BYTES) });
    return record && valueInRecord(record, this.#place, indexIn(order));
  }

  *getRange(range: LmdbRange): Generator<{ readonly key: Buffer; readonly value: Buffer }> {
    let left = range.limit;
    const { start, end } = range;
    const edges = [start, end].map((key) => key && wholeKey(key).subarray(0, U64_BYTES));
    const records = this.#recordsOf(range, edges)[Symbol.iterator]();
    let done: Buffer | undefined;
    try {
      for (let step = records.next(); step.done !== true; step = records.next()) {
        const { key: version, value: record } = step.value;
        let rows = rowsOfRecord(record, this.#place);
        if (edges.some((edge) => isVersion(edge, version)))
          rows = this.#inRange(range, version, rows);
        if (rows.length === 1) {
          const { index, from, to } = rows[0]!;
          yield { key: this.#keyOf(version, index), value: valuesOf(record, from, to) };
        } else if (rows.length > 1) {
          yield* this.#several(version, record, rows, range.reverse ?? false);
        }
        left -= rows.length;
        if (left <= 0) return;
        done = version;
      }
    } catch (error) {
      if (error instanceof StoredValueError) error.key = this.#keyAfter(done, range);
      throw error;
    } finally {
      records.return?.();
    }
  }

  *getKeys(range: LmdbRange): Generator<Buffer> {
    const { start, end } = range;
    const edges = [start, end].map((key) => key && wholeKey(key).subarray(0, U64_BYTES));
    let left = range.limit;
    for (const { key: version, value } of closing(
      this.#records.getRange(recordRange(range, this.#place)),
    )) {
      let rows = rowsOfRecord(value, this.#place);
      if (edges.some((edge) => isVersion(edge, version)))
        rows = this.#inRange(range, version, rows);
      if (range.reverse === true) rows = rows.toReversed();
      for (const { index } of rows) {
        yield this.#keyOf(version, index);
        left -= 1;
        if (left === 0) return;
      }
    }
  }

  /** The last key that the first record of a range may have, or the one after another. */
  #keyAfter(done: Buffer | undefined, range: LmdbRange): Buffer | undefined {
    const after = done && { start: { partition: done, order: NO_ORDER }, exclusiveStart: true };
    const rest = { ...recordRange(range, this.#place), ...after, limit: 1 };
    for (const version of closing(this.#records.getKeys(rest))) {
      return this.#keyOf(version, LAST_INDEX);
    }
    return undefined;
  }

  /** The records that may have rows of a range; that of a single version is read without a cursor. */
  #recordsOf(
    range: LmdbRange,
    [first, last]: readonly (Buffer | undefined)[],
  ): Iterable<{ readonly key: Buffer; readonly value: Buffer }> {
    const isOne = first?.length === U64_BYTES && last?.length === U64_BYTES;
    if (!isOne || !isVersion(last, first) || range.transaction !== undefined) {
      return this.#records.getRange(recordRange(range, this.#place));
    }
    const value = this.#records.get({ partition: first, order: NO_ORDER });
    return value === undefined ? [] : [{ key: first, value }];
  }

  /** Rows of one record, expanded together. May be more than the limit of a range: who reads them stops. */
  *#several(
    version: Buffer,
    record: Buffer,
    rows: readonly RecordRow[],
    reverse: boolean,
  ): Generator<{ readonly key: Buffer; readonly value: Buffer }> {
    // They come one after the other.
    const start = rows[0]!.from;
    const values = valuesOf(record, start, rows[rows.length - 1]!.to);
    for (const { index, from, to } of reverse ? rows.toReversed() : rows) {
      yield { key: this.#keyOf(version, index), value: values.subarray(from - start, to - start) };
    }
  }

  /** The rows of a version at the edge of a range that are inside. */
  #inRange(range: LmdbRange, version: Buffer, rows: readonly RecordRow[]): readonly RecordRow[] {
    const { start, end, inclusiveEnd = false, exclusiveStart = false, reverse = false } = range;
    const direction = reverse ? -1 : 1;
    return rows.filter(({ index }) => {
      const key = this.#keyOf(version, index);
      const fromStart = start === undefined ? 1 : Buffer.compare(key, wholeKey(start)) * direction;
      if (fromStart < 0 || (fromStart === 0 && exclusiveStart)) return false;
      const fromEnd = end === undefined ? -1 : Buffer.compare(key, wholeKey(end)) * direction;
      return fromEnd < 0 || (fromEnd === 0 && inclusiveEnd);
    });
  }

  getStats() {
    return statsInRecords(this.#records, this.#place);
  }

  #keyOf(version: Buffer, index: number): Buffer {
    if (!isIndexed(this.#place)) return version;
    const key = Buffer.allocUnsafe(U64_BYTES + INDEX_BYTES);
    key.set(version);
    key.writeUInt32BE(index, U64_BYTES);
    return key;
  }
}

/** All pages of a database. */
export function pagesOf(stats: ReturnType<ReadableColumn['getStats']>): number {
  return stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages;
}

/** What the rows of a place take of all records: as many of the pages as of the bytes of some. */
export function statsInRecords(records: LmdbColumn, place: number) {
  const stats = records.getStats();
  let sampled = 0;
  let rows = 0;
  let bytes = 0;
  let allBytes = 0;
  const newest = { ...FROM_THE_NEWEST, limit: SAMPLE_RECORDS };
  for (const key of [...closing(records.getKeys(newest))]) {
    const record = soundRecord(records, key);
    if (record === undefined) continue;
    sampled += 1;
    for (const row of rowsOfRecord(record)) {
      allBytes += row.to - row.from;
      if (row.place !== place) continue;
      rows += 1;
      bytes += row.to - row.from;
    }
  }
  const share = (pages: number): number =>
    allBytes === 0 ? 0 : Math.round((pages * bytes) / allBytes);
  return {
    entryCount: sampled === 0 ? 0 : Math.round((stats.entryCount * rows) / sampled),
    pageSize: stats.pageSize,
    treeBranchPageCount: share(stats.treeBranchPageCount),
    treeLeafPageCount: share(stats.treeLeafPageCount),
    overflowPages: share(stats.overflowPages),
  };
}

/** The record of a version; `undefined` if it is damaged. */
function soundRecord(records: LmdbColumn, version: Buffer): Buffer | undefined {
  try {
    return records.get({ partition: version, order: NO_ORDER });
  } catch (error) {
    if (!(error instanceof StoredValueError)) throw error;
    return undefined;
  }
}

/** The highest version that may have a record, which may be damaged. */
export function highestRecord(records: LmdbColumn): Buffer | undefined {
  try {
    for (const key of closing(records.getKeys({ ...FROM_THE_NEWEST, limit: 1 }))) return key;
    return undefined;
  } catch (error) {
    if (!isStoredDamage(error)) throw error;
    return ANY_VERSION;
  }
}

function wholeKey({ partition, order }: RowKey): Buffer {
  return Buffer.concat([partition, order]);
}

/** Compared from the end, where versions differ: a native comparison costs more than all of this. */
function isVersion(edge: Buffer | undefined, version: Buffer): boolean {
  if (edge === undefined) return false;
  for (let at = U64_BYTES - 1; at >= 0; at -= 1) if (edge[at] !== version[at]) return false;
  return true;
}

/** The records that may have rows of a range. */
function recordRange(
  { start, end, reverse, transaction, exclusiveStart }: LmdbRange,
  place: number,
): LmdbRange {
  // Of the record that has the last row before the range nothing may be left, and it may be damaged.
  const isAfter =
    exclusiveStart === true &&
    start !== undefined &&
    (!isIndexed(place) || indexIn(start.order) === LAST_INDEX);
  return {
    start: start && recordKey(wholeKey(start)),
    end: end && recordKey(wholeKey(end)),
    inclusiveEnd: true,
    limit: Number.POSITIVE_INFINITY,
    ...(reverse && { reverse }),
    ...(isAfter && { exclusiveStart }),
    ...(transaction && { transaction }),
  };
}

/** The key of the record that has a row, or as much of it as the row's key has. */
function recordKey(key: Buffer): RowKey {
  return { partition: key.subarray(0, U64_BYTES), order: NO_ORDER };
}

/** What follows the version in an order; 0: nothing does. */
export function indexIn(order: Uint8Array): number {
  if (order.length === VERSION_ORDER_BYTES) return 0;
  return Buffer.from(order.buffer, order.byteOffset, order.length).readUInt32BE(
    VERSION_ORDER_BYTES,
  );
}

/** The columns that are read from records, by number. */
export function versionColumns(records: LmdbColumn): ReadonlyMap<number, VersionColumn> {
  return new Map(
    RECORD_COLUMNS.map((column, place) => [column.number, new VersionColumn(records, place)]),
  );
}

interface ChangedRow {
  readonly place: number;
  readonly index: number;
  /** `undefined`: it is deleted. */
  readonly value: Uint8Array | undefined;
}

interface ChangedRecord {
  readonly key: Buffer;
  /** Whether nothing of the stored record stays. */
  isCleared: boolean;
  readonly deletedFirst: ChangedRow[];
  readonly rows: ChangedRow[];
  /** Bytes of all rows, and of those of state. */
  bytes: number;
  stateBytes: number;
  /** Rows of state of the version, in the record or not. */
  stateRows: number;
}

interface AddedState {
  readonly index: number;
  readonly isInRecord: boolean;
}

/** A record as a batch leaves it; without a value it is deleted. */
export interface WrittenRecord {
  readonly key: RowKey;
  readonly value: Buffer | undefined;
}

const PLACES: ReadonlyMap<Column, number> = new Map(
  RECORD_COLUMNS.map((column, place) => [column, place]),
);

/** What a batch changes in records, collected row by row. */
export class RecordChanges {
  readonly #records = new Map<string, ChangedRecord>();
  #last: ChangedRecord | undefined;
  /** The version that state was added to last, and its record. */
  #stateVersion: Uint8Array | undefined;
  #stateRecord: ChangedRecord | undefined;
  /** The highest version that is changed. */
  highest: Buffer | undefined;
  lowest: Buffer | undefined;

  /** @returns false for a row of another column */
  add({ column, partition, order, value }: BatchOperation): boolean {
    const place = PLACES.get(column);
    if (place === undefined) return false;
    const record = this.#recordOf(partition, order);
    record.rows.push({ place, index: indexIn(order), value });
    record.bytes += value?.length ?? 0;
    return true;
  }

  /**
   * Numbers a row of state of a version whose record is made by the same batch, and adds it to the record if there is
   * room.
   * @returns `undefined`: no record of the version is made
   */
  addState(version: Uint8Array, value: Uint8Array): AddedState | undefined {
    if (version !== this.#stateVersion) {
      this.#stateVersion = version;
      this.#stateRecord = this.#records.get(nameOfRecord(version));
    }
    const record = this.#stateRecord;
    if (record === undefined || record.rows.length === 0) return undefined;
    const index = record.stateRows;
    record.stateRows += 1;
    const isInRecord =
      record.stateBytes + value.length <= MAX_STATE_BYTES &&
      record.bytes + value.length <= MAX_COMPRESSED_BYTES;
    if (isInRecord) {
      record.stateBytes += value.length;
      record.bytes += value.length;
      record.rows.push({ place: STATE_PLACE, index, value });
    }
    return { index, isInRecord };
  }

  /** Changes a row of state that a record has; without a value it is deleted. */
  changeState(version: Uint8Array, index: number, value: Uint8Array | undefined): void {
    this.#recordAt(version).rows.push({ place: STATE_PLACE, index, value });
  }

  deleteStateFirst(version: Uint8Array, index: number): void {
    const row = { place: STATE_PLACE, index, value: undefined };
    this.#recordAt(version).deletedFirst.push(row);
  }

  /** Adds a row that is deleted before anything else. */
  deleteFirst({ column, partition, order }: BatchOperation): void {
    const deleted = { place: PLACES.get(column)!, index: indexIn(order), value: undefined };
    this.#recordOf(partition, order).deletedFirst.push(deleted);
  }

  /** All stored rows of a version are deleted before anything else. */
  clear({ partition, order }: RowKey): void {
    this.#recordOf(partition, order).isCleared = true;
  }

  /**
   * The records, as they are when all changes are made.
   * @param stored the record that is stored under a key
   * @throws RowDamagedError for a stored one that cannot be read
   */
  *written(stored: (key: RowKey) => Buffer | undefined): Generator<WrittenRecord> {
    for (const { key, isCleared, deletedFirst, rows } of this.#records.values()) {
      const name = { partition: key, order: NO_ORDER };
      const record = isCleared ? undefined : stored(name);
      const changes = deletedFirst.length === 0 ? rows : [...deletedFirst, ...rows];
      const before = record === undefined ? [] : rowsLeft(key, record, changes);
      const left = newest([...before, ...changes]);
      yield { key: name, value: left.length === 0 ? undefined : encodeRecord(left, markOf(key)) };
    }
  }

  #recordAt(version: Uint8Array): ChangedRecord {
    const order = version.subarray(BUCKET_PARTITION_BYTES);
    return this.#recordOf(version.subarray(0, BUCKET_PARTITION_BYTES), order);
  }

  /** Rows of a version usually come together. */
  #recordOf(partition: Uint8Array, order: Uint8Array): ChangedRecord {
    if (this.#last !== undefined && isOfRecord(this.#last.key, partition, order)) return this.#last;
    const key = Buffer.allocUnsafe(U64_BYTES);
    key.set(partition);
    key.set(order.subarray(0, VERSION_ORDER_BYTES), BUCKET_PARTITION_BYTES);
    const name = nameOfRecord(key);
    let record = this.#records.get(name);
    if (record === undefined) {
      record = {
        ...{ key, isCleared: false, deletedFirst: [], rows: [] },
        ...{ bytes: 0, stateBytes: 0, stateRows: 0 },
      };
      this.#records.set(name, record);
      if (this.highest === undefined || Buffer.compare(key, this.highest) > 0) this.highest = key;
      if (this.lowest === undefined || Buffer.compare(key, this.lowest) < 0) this.lowest = key;
    }
    this.#last = record;
    return record;
  }
}

function nameOfRecord(version: Uint8Array): string {
  return Buffer.from(version.buffer, version.byteOffset, U64_BYTES).toString('latin1');
}

/** Compared from the end, where versions differ. */
function isOfRecord(key: Buffer, partition: Uint8Array, order: Uint8Array): boolean {
  for (let at = VERSION_ORDER_BYTES - 1; at >= 0; at -= 1) {
    if (key[BUCKET_PARTITION_BYTES + at] !== order[at]) return false;
  }
  for (let at = BUCKET_PARTITION_BYTES - 1; at >= 0; at -= 1) {
    if (key[at] !== partition[at]) return false;
  }
  return true;
}

/** The rows of a stored record that are not changed, with their values. @throws RowDamagedError */
function rowsLeft(key: Buffer, record: Buffer, changed: readonly ChangedRow[]): ChangedRow[] {
  try {
    const changedNames = new Set(changed.map(nameOf));
    const left = rowsOfRecord(record).filter((row) => !changedNames.has(nameOf(row)));
    return left.map(({ place, index, from, to }) => {
      return { place, index, value: valuesOf(record, from, to) };
    });
  } catch (cause) {
    if (!(cause instanceof StoredValueError)) throw cause;
    const order = key.subarray(BUCKET_PARTITION_BYTES);
    const name = { partition: key.subarray(0, BUCKET_PARTITION_BYTES), order };
    throw new RowDamagedError(RECORD_COLUMNS[0]!, name, cause.message, { cause });
  }
}

function nameOf({ place, index }: Pick<RecordRow, 'place' | 'index'>): number {
  return index * (STATE_PLACE + 1) + place;
}

/** The rows that stay, in the order of a record: of changes of the same row the last counts. */
function newest(changes: readonly ChangedRow[]): ValueOfRecord[] {
  const sorted = [...changes].sort(
    (a, b) => rankOf(a.place) - rankOf(b.place) || a.index - b.index,
  );
  const rows: ValueOfRecord[] = [];
  for (const [at, { place, index, value }] of sorted.entries()) {
    const next = sorted[at + 1];
    const isReplaced = next !== undefined && next.place === place && next.index === index;
    if (!isReplaced && value !== undefined) rows.push({ place, index, value });
  }
  return rows;
}
