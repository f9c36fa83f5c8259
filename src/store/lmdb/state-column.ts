/**
 * State: an index in sorted runs says where the value of each row is, in the record of the version that wrote it or in
 * a database of its own. Read here as if it were one database.
 */
import { type Row, type RowKey, STATE } from '../columns/columns.ts';
import { NO_ORDER } from '../columns/order-key.ts';
import type { LmdbColumn, LmdbRange, ReadableColumn } from './lmdb-reads.ts';
import type { ReadOptions } from './runs/run-rows.ts';
import { keyOf, runShape, writeKey } from './runs/run-shape.ts';
import type { EntryRange, SortedRuns } from './runs/sorted-runs.ts';
import { statsInRecords } from './version-columns.ts';
import { STATE_PLACE, stateOfRecord } from './version-record.ts';

const ORDER_BYTES = STATE.orderBytes[0];
export const STATE_SHAPE = runShape(STATE.number, STATE.partitionBytes, ORDER_BYTES);
const KEY_WORDS = STATE_SHAPE.keyWords;
const ORDER = { keyWords: KEY_WORDS - STATE_SHAPE.partitionWords, keyBytes: ORDER_BYTES };

/**
 * The place of a row: its index in the record of its version; APART and its index, if the record has no room for it;
 * OWN_ROW, if its version had no record when it was written.
 */
export const APART = 0x8000_0000;
export const OWN_ROW = 0xffff_fffe;
const INDEX_BYTES = 4;
/** Rows that are read together, in the order of their versions. */
const ROWS_AT_ONCE = 1_000;

type KeyedValue = { readonly key: Buffer; readonly value: Buffer };

interface FoundEntry {
  readonly key: Buffer;
  readonly place: number;
}

export class StateColumn implements ReadableColumn {
  readonly runs: SortedRuns;
  /** Rows of versions without a record, by their keys. */
  readonly own: LmdbColumn;
  /** Rows that records have no room for, by version and index. */
  readonly apart: LmdbColumn;
  readonly #records: LmdbColumn;
  readonly #key = new Uint32Array(KEY_WORDS);

  constructor(runs: SortedRuns, own: LmdbColumn, apart: LmdbColumn, records: LmdbColumn) {
    this.runs = runs;
    this.own = own;
    this.apart = apart;
    this.#records = records;
  }

  get(key: RowKey): Buffer | undefined {
    const place = this.placeOf(key);
    return place === undefined ? undefined : this.#valueOf(key, place, undefined);
  }

  /** Where the value of a row is: OWN_ROW, or its index in the record; `undefined`: there is no such row. */
  placeOf(key: RowKey): number | undefined {
    writeKey(STATE_SHAPE, key, this.#key, 0);
    return this.runs.seekExact(this.#key) ? this.runs.found[KEY_WORDS] : undefined;
  }

  /** The highest version that has ever had a row, as far as the index knows. */
  highestVersion(): Buffer | undefined {
    const words = this.runs.highestOrder();
    return words && keyOf(ORDER, words, 0);
  }

  hasRecord(version: Uint8Array): boolean {
    return this.#records.get({ partition: version, order: NO_ORDER }) !== undefined;
  }

  seekLast(key: RowKey): Row | undefined {
    writeKey(STATE_SHAPE, key, this.#key, 0);
    if (!this.runs.seekLast(this.#key)) return undefined;
    const { found } = this.runs;
    const order = keyOf(ORDER, found, STATE_SHAPE.partitionWords);
    const { partition } = key;
    return { order, value: this.#valueOf({ partition, order }, found[KEY_WORDS]!, undefined) };
  }

  *getKeys(range: LmdbRange): Generator<Buffer> {
    for (const { key } of this.#entries(range)) yield key;
  }

  *getRange(range: LmdbRange): Generator<KeyedValue> {
    const options = optionsOf(range);
    let part: FoundEntry[] = [];
    for (const entry of this.#entries(range)) {
      part.push(entry);
      if (part.length === ROWS_AT_ONCE) {
        yield* this.#valuesOf(part, options);
        part = [];
      }
    }
    yield* this.#valuesOf(part, options);
  }

  *#entries(range: LmdbRange): Generator<FoundEntry> {
    let left = range.limit;
    for (const entry of this.runs.entries(entryRange(range), optionsOf(range))) {
      yield { key: keyOf(STATE_SHAPE, entry, 0), place: entry[KEY_WORDS]! };
      left -= 1;
      if (left === 0) return;
    }
  }

  /** Values of rows: those of one record are read together, and records in their order. */
  #valuesOf(entries: readonly FoundEntry[], options: ReadOptions | undefined): KeyedValue[] {
    const byVersion = entries
      .map((entry, at) => ({ ...splitKey(entry.key), place: entry.place, at }))
      .sort((a, b) => Buffer.compare(a.order, b.order));
    const rows: KeyedValue[] = new Array(entries.length);
    for (const { at, place, ...key } of byVersion) {
      rows[at] = { key: entries[at]!.key, value: this.#valueOf(key, place, options) };
    }
    return rows;
  }

  /** @throws RangeError for a row that the index names and nothing has */
  #valueOf(key: RowKey, place: number, options: ReadOptions | undefined): Buffer {
    let value: Buffer | undefined;
    if (place < APART) {
      const record = this.#records.get({ partition: key.order, order: NO_ORDER }, options);
      value = record && stateOfRecord(record, place);
    } else if (place === OWN_ROW) value = this.own.get(key, options);
    else value = this.apart.get(apartKey(key.order, place), options);
    if (value === undefined) throw missing();
    return value;
  }

  getStats() {
    const own = this.own.getStats();
    const places = [own, this.apart.getStats(), this.runs.database.getStats()];
    places.push(statsInRecords(this.#records, STATE_PLACE));
    const pages = places.map((place) => {
      return place.treeBranchPageCount + place.treeLeafPageCount + place.overflowPages;
    });
    return {
      entryCount: this.runs.manifest().rows,
      pageSize: own.pageSize,
      treeBranchPageCount: 0,
      treeLeafPageCount: pages.reduce((sum, count) => sum + count, 0),
      overflowPages: 0,
    };
  }
}

/** The key of a row that is apart. */
export function apartKey(version: Uint8Array, place: number): RowKey {
  const index = Buffer.allocUnsafe(INDEX_BYTES);
  index.writeUInt32BE(place - APART);
  return { partition: version, order: index };
}

/** An error that says: damage. */
function missing(): RangeError {
  return new RangeError('a row that the index names is missing');
}

function splitKey(key: Buffer): { partition: Buffer; order: Buffer } {
  const { partitionBytes } = STATE;
  return { partition: key.subarray(0, partitionBytes), order: key.subarray(partitionBytes) };
}

function optionsOf({ transaction }: LmdbRange): ReadOptions | undefined {
  return transaction && { transaction };
}

/**
 * Bounds as words. One that is no whole key lies before all keys that begin with it, or behind the
 * one it begins with.
 */
function entryRange(range: LmdbRange): EntryRange {
  const { start, end, reverse = false, exclusiveStart = false, inclusiveEnd = false } = range;
  const first = boundOf(start, exclusiveStart);
  const last = boundOf(end, !inclusiveEnd);
  const [low, high] = reverse ? [last, first] : [first, last];
  return {
    ...{ low: low?.words, high: high?.words, reverse },
    withoutLow: low !== undefined && low.length >= 0 && (low.length > 0 || low.isExclusive),
    withoutHigh: high !== undefined && high.length <= 0 && (high.length < 0 || high.isExclusive),
  };
}

function boundOf(key: RowKey | undefined, isExclusive: boolean) {
  if (key === undefined) return undefined;
  const words = new Uint32Array(KEY_WORDS);
  writeKey(STATE_SHAPE, key, words, 0);
  return { words, isExclusive, length: Math.sign(key.order.length - ORDER_BYTES) };
}
