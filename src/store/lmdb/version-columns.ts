/**
 * Columns by version, read from the records of versions (version-record.ts) as if each had a database of its own; and
 * what a batch changes in them.
 */
import type { BatchOperation } from '../batch.ts';
import { BUCKET_PARTITION_BYTES, type Column, type RowKey } from '../columns/columns.ts';
import { NO_ORDER, U64_BYTES } from '../columns/order-key.ts';
import { RowDamagedError } from '../store-error.ts';
import { closing, type LmdbColumn, type LmdbRange, type ReadableColumn } from './lmdb-reads.ts';
import { CompressedValueError } from './value-compression.ts';
import {
  decodeRecord,
  encodeRecord,
  isIndexed,
  RECORD_COLUMNS,
  type RecordContents,
  type RecordRow,
  type ValueOfRecord,
  VERSION_ORDER_BYTES,
  valuesOf,
} from './version-record.ts';

const INDEX_BYTES = 4;
/** Records that tell how many rows the columns have, where there are more. */
const SAMPLE_RECORDS = 1_000;

/** All records. The engine takes a missing end, but not a property that is not there. */
const FROM_THE_NEWEST = {
  start: { partition: Buffer.alloc(U64_BYTES, 0xff), order: NO_ORDER },
  end: undefined,
  reverse: true,
};

/** A row of a column by version, without its value. */
interface KeyedRow {
  readonly key: Buffer;
  readonly row: RecordRow;
  readonly record: Buffer;
  readonly contents: RecordContents;
}

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
    if (record === undefined) return undefined;
    const contents = decodeRecord(record);
    const index = indexIn(order);
    const row = contents.rows.find((one) => one.place === this.#place && one.index === index);
    return row && valuesOf(record, contents, row.from, row.to);
  }

  *getRange(range: LmdbRange): Generator<{ readonly key: Buffer; readonly value: Buffer }> {
    for (const { key, row, record, contents } of this.#rows(range)) {
      yield { key, value: valuesOf(record, contents, row.from, row.to) };
    }
  }

  *getKeys(range: LmdbRange): Generator<Buffer> {
    for (const { key } of this.#rows(range)) yield key;
  }

  getStats() {
    const stats = this.#records.getStats();
    let sampled = 0;
    let rows = 0;
    let bytes = 0;
    let allBytes = 0;
    const newest = { ...FROM_THE_NEWEST, limit: SAMPLE_RECORDS };
    for (const { value } of closing(this.#records.getRange(newest))) {
      sampled += 1;
      for (const { place, from, to } of decodeRecord(value).rows) {
        allBytes += to - from;
        if (place !== this.#place) continue;
        rows += 1;
        bytes += to - from;
      }
    }
    const share = (pages: number): number => (allBytes === 0 ? 0 : (pages * bytes) / allBytes);
    return {
      entryCount: sampled === 0 ? 0 : Math.round((stats.entryCount * rows) / sampled),
      pageSize: stats.pageSize,
      treeBranchPageCount: share(stats.treeBranchPageCount),
      treeLeafPageCount: share(stats.treeLeafPageCount),
      overflowPages: share(stats.overflowPages),
    };
  }

  *#rows(range: LmdbRange): Generator<KeyedRow> {
    const { start, end, inclusiveEnd = false, exclusiveStart = false, reverse = false } = range;
    const first = start && wholeKey(start);
    const last = end && wholeKey(end);
    const direction = reverse ? -1 : 1;
    let count = 0;
    const records = this.#records.getRange({
      limit: Number.POSITIVE_INFINITY,
      start: first && recordKey(first),
      end: last && recordKey(last),
      inclusiveEnd: true,
      reverse,
      ...(range.transaction && { transaction: range.transaction }),
    });
    for (const { key: version, value: record } of closing(records)) {
      const contents = decodeRecord(record);
      const rows = contents.rows.filter(({ place }) => place === this.#place);
      if (reverse) rows.reverse();
      for (const row of rows) {
        const key = this.#keyOf(version, row.index);
        const fromStart = first === undefined ? 1 : Buffer.compare(key, first) * direction;
        if (fromStart < 0 || (fromStart === 0 && exclusiveStart)) continue;
        const fromEnd = last === undefined ? -1 : Buffer.compare(key, last) * direction;
        if (fromEnd > 0 || (fromEnd === 0 && !inclusiveEnd)) return;
        yield { key, row, record, contents };
        count += 1;
        if (count === range.limit) return;
      }
    }
  }

  #keyOf(version: Buffer, index: number): Buffer {
    if (!isIndexed(this.#place)) return version;
    const key = Buffer.allocUnsafe(U64_BYTES + INDEX_BYTES);
    key.set(version);
    key.writeUInt32BE(index, U64_BYTES);
    return key;
  }
}

/** The highest version that has a record. */
export function highestRecord(records: LmdbColumn): Buffer | undefined {
  const newest = records.getRange({ ...FROM_THE_NEWEST, limit: 1 });
  for (const { key } of closing(newest)) return key;
  return undefined;
}

function wholeKey({ partition, order }: RowKey): Buffer {
  return Buffer.concat([partition, order]);
}

/** The key of the record that has a row, or as much of it as the row's key has. */
function recordKey(key: Buffer): RowKey {
  return { partition: key.subarray(0, U64_BYTES), order: NO_ORDER };
}

function indexIn(order: Uint8Array): number {
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
  readonly deletedFirst: ChangedRow[];
  readonly rows: ChangedRow[];
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
  /** The highest version that is changed. */
  highest: Buffer | undefined;
  lowest: Buffer | undefined;

  /** @returns false for a row of another column */
  add({ column, partition, order, value }: BatchOperation): boolean {
    const place = PLACES.get(column);
    if (place === undefined) return false;
    this.#recordOf(partition, order).rows.push({ place, index: indexIn(order), value });
    return true;
  }

  /** Adds a row that is deleted before anything else. */
  deleteFirst({ column, partition, order }: BatchOperation): void {
    const deleted = { place: PLACES.get(column)!, index: indexIn(order), value: undefined };
    this.#recordOf(partition, order).deletedFirst.push(deleted);
  }

  /**
   * The records, as they are when all changes are made.
   * @param stored the record that is stored under a key
   * @throws RowDamagedError for a stored one that cannot be read
   */
  *written(stored: (key: RowKey) => Buffer | undefined): Generator<WrittenRecord> {
    for (const { key, deletedFirst, rows } of this.#records.values()) {
      const name = { partition: key, order: NO_ORDER };
      const record = stored(name);
      const changes = deletedFirst.length === 0 ? rows : [...deletedFirst, ...rows];
      const before = record === undefined ? [] : rowsLeft(key, record, changes);
      const left = newest([...before, ...changes]);
      yield { key: name, value: left.length === 0 ? undefined : encodeRecord(left) };
    }
  }

  /** Rows of a version usually come together. */
  #recordOf(partition: Uint8Array, order: Uint8Array): ChangedRecord {
    if (this.#last !== undefined && isOfRecord(this.#last.key, partition, order)) return this.#last;
    const key = Buffer.allocUnsafe(U64_BYTES);
    key.set(partition);
    key.set(order.subarray(0, VERSION_ORDER_BYTES), BUCKET_PARTITION_BYTES);
    const name = key.toString('latin1');
    let record = this.#records.get(name);
    if (record === undefined) {
      record = { key, deletedFirst: [], rows: [] };
      this.#records.set(name, record);
      if (this.highest === undefined || Buffer.compare(key, this.highest) > 0) this.highest = key;
      if (this.lowest === undefined || Buffer.compare(key, this.lowest) < 0) this.lowest = key;
    }
    this.#last = record;
    return record;
  }
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
    const contents = decodeRecord(record);
    const changedNames = new Set(changed.map(nameOf));
    const left = contents.rows.filter((row) => !changedNames.has(nameOf(row)));
    return left.map(({ place, index, from, to }) => {
      return { place, index, value: valuesOf(record, contents, from, to) };
    });
  } catch (cause) {
    if (!(cause instanceof CompressedValueError)) throw cause;
    const order = key.subarray(BUCKET_PARTITION_BYTES);
    const name = { partition: key.subarray(0, BUCKET_PARTITION_BYTES), order };
    throw new RowDamagedError(RECORD_COLUMNS[0]!, name, cause.message, { cause });
  }
}

function nameOf({ place, index }: Pick<RecordRow, 'place' | 'index'>): number {
  return index * RECORD_COLUMNS.length + place;
}

/** The rows that stay, in the order of a record: of changes of the same row the last counts. */
function newest(changes: readonly ChangedRow[]): ValueOfRecord[] {
  const sorted = [...changes].sort((a, b) => a.place - b.place || a.index - b.index);
  const rows: ValueOfRecord[] = [];
  for (const [at, { place, index, value }] of sorted.entries()) {
    const next = sorted[at + 1];
    const isReplaced = next !== undefined && next.place === place && next.index === index;
    if (!isReplaced && value !== undefined) rows.push({ place, index, value });
  }
  return rows;
}
