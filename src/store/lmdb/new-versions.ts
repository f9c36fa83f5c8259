/**
 * Rows of versions that come after all that are stored, version by version: each version's record is made as soon as
 * its rows are there, and entries of sorted runs are words at once. So rows live no longer than it takes to put them,
 * and a batch that waits for the one before is bytes, which cost the garbage collector nothing.
 */
import type { BatchOperation, RowTaker } from '../batch.ts';
import { BUCKET_PARTITION_BYTES, type Column, type RowKey, STATE } from '../columns/columns.ts';
import { NO_ORDER, U64_BYTES } from '../columns/order-key.ts';
import type { LmdbColumns } from './lmdb-columns.ts';
import { IN_ENTRY, OWN_ROW } from './run-column.ts';
import type { OutsideRow } from './run-column-changes.ts';
import { AddedEntries } from './runs/added-entries.ts';
import { bytesOf } from './runs/run-shape.ts';
import { APART, apartKey, type StateColumn } from './state-column.ts';
import { markOf } from './stored-value.ts';
import { indexIn, MAX_STATE_BYTES, type WrittenRecord } from './version-columns.ts';
import {
  encodeRecord,
  isIndexed,
  MAX_COMPRESSED_BYTES,
  RECORD_COLUMNS,
  rowsOfRecord,
  STATE_PLACE,
  type ValueOfRecord,
  VERSION_ORDER_BYTES,
  valueInRecord,
  valuesOf,
} from './version-record.ts';

const INDEX_BYTES = 4;
/** By the number of a column, its place in records; -1: it is in none. */
const PLACES = Int8Array.from({ length: 256 }, (_, number) =>
  RECORD_COLUMNS.findIndex((column) => column.number === number),
);

interface StateRow {
  readonly hash: Uint8Array;
  readonly value: Uint8Array;
}

/** The columns whose rows it takes; all others have databases of their own. */
type TakenColumns = Required<Pick<LmdbColumns, 'state' | 'indexed'>>;

export class NewVersions implements RowTaker {
  readonly #state: StateColumn;
  readonly #indexed: TakenColumns['indexed'];
  readonly records: WrittenRecord[] = [];
  /** By the number of the column. */
  readonly entries = new Map<number, AddedEntries>();
  readonly outside: OutsideRow[] = [];
  #isClosed = false;
  /** The version whose rows are being put, and those of its record. */
  #version: Buffer | undefined;
  #rows: ValueOfRecord[] = [];
  #stateRows: StateRow[] = [];
  #bytes = 0;
  /** By place, the lowest index that the next row may have. */
  readonly #next = new Float64Array(RECORD_COLUMNS.length);

  /** `undefined`: the store does not have these columns like this, or is upgraded. */
  static of({ state, indexed, outdated }: LmdbColumns): NewVersions | undefined {
    if (state === undefined || indexed === undefined || outdated !== undefined) return undefined;
    return new NewVersions({ state, indexed });
  }

  private constructor({ state, indexed }: TakenColumns) {
    this.#state = state;
    this.#indexed = indexed;
    for (const column of [state, ...indexed.values()]) {
      this.entries.set(column.column.number, new AddedEntries(column.runs.shape));
    }
  }

  /** Whether rows came that are not of new versions one after the other: `rows` has those that it took before. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get lowestVersion(): Uint8Array | undefined {
    return this.records[0]?.key.partition;
  }

  get highestVersion(): Uint8Array | undefined {
    return this.records[this.records.length - 1]?.key.partition;
  }

  take(column: Column, partition: Uint8Array, order: Uint8Array, value: Uint8Array): boolean {
    const { number } = column;
    const place = PLACES[number]!;
    const entries = place < 0 ? this.entries.get(number) : undefined;
    if ((place < 0 && entries === undefined) || this.#isClosed) return false;
    const isTaken =
      entries === undefined
        ? this.#takeRow(place, partition, order, value)
        : column === STATE
          ? this.#takeState(partition, order, value)
          : this.#takeIndexed(number, entries, { partition, order }, value);
    if (!isTaken) this.#isClosed = true;
    return isTaken;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Makes the record of the last version. */
  finish(): void {
    const version = this.#version;
    if (version === undefined) return;
    this.#version = undefined;
    const rows = this.#rows.filter(({ place }) => place === 0);
    this.#addState(version, rows);
    for (let place = 1; place < RECORD_COLUMNS.length; place += 1) {
      for (const row of this.#rows) if (row.place === place) rows.push(row);
    }
    const value = encodeRecord(rows, markOf(version));
    this.records.push({ key: { partition: version, order: NO_ORDER }, value });
    this.#rows = [];
    this.#stateRows = [];
    this.#bytes = 0;
    this.#next.fill(0);
  }

  /** Numbers the rows of state of a version, and adds those to its record for which it has room. */
  #addState(version: Buffer, rows: ValueOfRecord[]): void {
    const entries = this.entries.get(STATE.number)!;
    let stateBytes = 0;
    for (const [index, { hash, value }] of this.#stateRows.entries()) {
      const { length } = value;
      const isInRecord =
        stateBytes + length <= MAX_STATE_BYTES && this.#bytes + length <= MAX_COMPRESSED_BYTES;
      const place = isInRecord ? index : APART + index;
      entries.add(hash, version, place);
      if (isInRecord) {
        stateBytes += length;
        this.#bytes += length;
        rows.push({ place: STATE_PLACE, index, value });
      } else {
        const key = apartKey(version, place);
        this.outside.push({ database: this.#state.apart, key, value });
      }
    }
  }

  #takeRow(place: number, partition: Uint8Array, order: Uint8Array, value: Uint8Array): boolean {
    if (!this.#isCurrent(partition, order) && !this.#begin(partition, order)) return false;
    const index = indexIn(order);
    if (index < this.#next[place]!) return false;
    this.#next[place] = index + 1;
    this.#rows.push({ place, index, value });
    this.#bytes += value.length;
    return true;
  }

  /** Versions rarely differ in more than their last bytes. */
  #isCurrent(partition: Uint8Array, order: Uint8Array): boolean {
    const version = this.#version;
    if (version === undefined) return false;
    for (let at = VERSION_ORDER_BYTES - 1; at >= 0; at -= 1) {
      if (version[BUCKET_PARTITION_BYTES + at] !== order[at]) return false;
    }
    for (let at = BUCKET_PARTITION_BYTES - 1; at >= 0; at -= 1) {
      if (version[at] !== partition[at]) return false;
    }
    return true;
  }

  /** @returns false for a version that does not come after all others */
  #begin(partition: Uint8Array, order: Uint8Array): boolean {
    this.finish();
    const version = Buffer.allocUnsafe(U64_BYTES);
    version.set(partition);
    version.set(order.subarray(0, VERSION_ORDER_BYTES), BUCKET_PARTITION_BYTES);
    const last = this.highestVersion;
    if (last !== undefined && Buffer.compare(version, last) <= 0) return false;
    this.#version = version;
    return true;
  }

  #takeState(hash: Uint8Array, order: Uint8Array, value: Uint8Array): boolean {
    const version = this.#version;
    if (version === undefined) return false;
    for (let at = U64_BYTES - 1; at >= 0; at -= 1) if (version[at] !== order[at]) return false;
    this.#stateRows.push({ hash, value });
    return true;
  }

  #takeIndexed(number: number, entries: AddedEntries, key: RowKey, value: Uint8Array): boolean {
    if (this.#version === undefined) return false;
    const fits = value.length === entries.shape.valueBytes;
    entries.add(key.partition, key.order, fits ? IN_ENTRY : OWN_ROW, fits ? value : undefined);
    if (!fits) this.outside.push({ database: this.#indexed.get(number)!.own, key, value });
    return true;
  }

  /** All rows that it has taken, as they were put: those of one key in their order. */
  *rows(): Generator<BatchOperation> {
    this.finish();
    const records = new Map<string, Buffer>();
    for (const { key, value } of this.records) {
      const version = Buffer.from(key.partition);
      records.set(version.toString('latin1'), value!);
      yield* rowsIn(version, value!);
    }
    const { apart } = this.#state;
    const values = this.#outsideOf(apart);
    for (const { partition, order, place } of this.#entriesOf(STATE)) {
      const record = records.get(order.toString('latin1'))!;
      const value = place < APART ? valueInRecord(record, STATE_PLACE, place) : values.shift();
      yield { column: STATE, partition, order, value };
    }
    for (const { column, own } of this.#indexed.values()) {
      const unfit = this.#outsideOf(own);
      for (const { partition, order, place, value } of this.#entriesOf(column)) {
        yield { column, partition, order, value: place === OWN_ROW ? unfit.shift() : value };
      }
    }
  }

  #outsideOf(wanted: OutsideRow['database']): (Uint8Array | undefined)[] {
    const rows = this.outside.filter(({ database }) => database === wanted);
    return rows.map(({ value }) => value);
  }

  *#entriesOf({ number, partitionBytes }: Column) {
    const { words, shape } = this.entries.get(number)!;
    const { entryWords, keyBytes, keyWords, valueBytes } = shape;
    for (let at = 0; at < words.length; at += entryWords) {
      const key = bytesOf(words, at, keyBytes);
      yield {
        partition: key.subarray(0, partitionBytes),
        order: key.subarray(partitionBytes),
        place: words[at + keyWords]!,
        value: bytesOf(words, at + keyWords + 1, valueBytes),
      };
    }
  }
}

/** The rows of a record that are not of state. */
function* rowsIn(version: Buffer, record: Buffer): Generator<BatchOperation> {
  const partition = version.subarray(0, BUCKET_PARTITION_BYTES);
  for (const { place, index, from, to } of rowsOfRecord(record)) {
    if (place === STATE_PLACE) continue;
    const indexBytes = Buffer.alloc(isIndexed(place) ? INDEX_BYTES : 0);
    if (indexBytes.length > 0) indexBytes.writeUInt32BE(index);
    const order = Buffer.concat([version.subarray(BUCKET_PARTITION_BYTES), indexBytes]);
    yield { column: RECORD_COLUMNS[place]!, partition, order, value: valuesOf(record, from, to) };
  }
}
