/**
 * State: an index in sorted runs says where the value of each row is, in the record of the version that wrote it or in
 * a database of its own.
 */
import { type RowKey, STATE } from '../columns/columns.ts';
import { NO_ORDER } from '../columns/order-key.ts';
import type { LmdbColumn, LmdbRange } from './lmdb-reads.ts';
import { type KeyedValue, missing, OWN_ROW, optionsOf, RunColumn } from './run-column.ts';
import type { ReadOptions } from './runs/run-rows.ts';
import { bytesOf, keyOf, runShape } from './runs/run-shape.ts';
import type { SortedRuns } from './runs/sorted-runs.ts';
import { isStoredDamage, StoredValueError } from './stored-value.ts';
import { ANY_VERSION, pagesOf, statsInRecords } from './version-columns.ts';
import { STATE_PLACE, valueInRecord } from './version-record.ts';

/** Entries have no values. */
export const STATE_SHAPE = runShape(STATE);

/**
 * The place of a row: its index in the record of its version; APART and its index, if the record has no room for it;
 * OWN_ROW, if it was not written with the record of its version.
 */
export const APART = 0x8000_0000;
const INDEX_BYTES = 4;
/** Rows that are read together, in the order of their versions. */
const ROWS_AT_ONCE = 1_000;

interface FoundEntry {
  readonly key: Buffer;
  readonly entry: Uint32Array;
}

export class StateColumn extends RunColumn {
  /** Rows of versions without a record, by their keys. */
  override readonly own: LmdbColumn;
  /** Rows that records have no room for, by version and index. */
  readonly apart: LmdbColumn;
  readonly #records: LmdbColumn;

  constructor(runs: SortedRuns, own: LmdbColumn, apart: LmdbColumn, records: LmdbColumn) {
    super(STATE, runs, own);
    this.own = own;
    this.apart = apart;
    this.#records = records;
  }

  /** The highest version that may ever have had a row. */
  highestVersion(): Buffer | undefined {
    try {
      const words = this.runs.highestOrder();
      return words && bytesOf(words, 0, STATE.orderBytes[0]);
    } catch (error) {
      if (!isStoredDamage(error)) throw error;
      return ANY_VERSION;
    }
  }

  override *getRange(range: LmdbRange): Generator<KeyedValue> {
    const options = optionsOf(range);
    let part: FoundEntry[] = [];
    const walk = this.walk(range);
    for (let left = range.limit; left > 0 && walk.next(); left -= 1) {
      part.push({ key: keyOf(STATE_SHAPE, walk.entry, 0), entry: walk.entry.slice() });
      if (part.length === ROWS_AT_ONCE) {
        yield* this.#valuesOf(part, options);
        part = [];
      }
    }
    yield* this.#valuesOf(part, options);
  }

  *#valuesOf(
    entries: readonly FoundEntry[],
    options: ReadOptions | undefined,
  ): Generator<KeyedValue> {
    for (const row of this.#readTogether(entries, options)) {
      if (row instanceof StoredValueError) throw row;
      yield row;
    }
  }

  /** Rows, or why one cannot be read: those of one record are read together, and records in their order. */
  #readTogether(
    entries: readonly FoundEntry[],
    options: ReadOptions | undefined,
  ): readonly (KeyedValue | StoredValueError)[] {
    const byVersion = entries
      .map(({ key, entry }, at) => ({ ...this.split(key), entry, at }))
      .sort((a, b) => Buffer.compare(a.order, b.order));
    const rows: (KeyedValue | StoredValueError)[] = new Array(entries.length);
    for (const { at, entry, ...key } of byVersion) {
      try {
        rows[at] = { key: entries[at]!.key, value: this.namedValueOf(key, entry, options) };
      } catch (error) {
        if (!(error instanceof StoredValueError)) throw error;
        rows[at] = error;
      }
    }
    return rows;
  }

  protected override valueOf(
    key: RowKey,
    entry: Uint32Array,
    options: ReadOptions | undefined,
  ): Buffer {
    const place = entry[STATE_SHAPE.keyWords]!;
    if (place === OWN_ROW) return this.ownValue(key, options);
    let value: Buffer | undefined;
    if (place < APART) {
      const record = this.#records.get({ partition: key.order, order: NO_ORDER }, options);
      value = record && valueInRecord(record, STATE_PLACE, place);
    } else value = this.apart.get(apartKey(key.order, place), options);
    if (value === undefined) throw missing();
    return value;
  }

  override getStats() {
    const stats = super.getStats();
    const others = [this.own.getStats(), this.apart.getStats()];
    others.push(statsInRecords(this.#records, STATE_PLACE));
    const pages = others.reduce((sum, one) => sum + pagesOf(one), stats.treeLeafPageCount);
    return { ...stats, treeLeafPageCount: pages };
  }
}

/** The key of a row that is apart. */
export function apartKey(version: Uint8Array, place: number): RowKey {
  const index = Buffer.allocUnsafe(INDEX_BYTES);
  index.writeUInt32BE(place - APART);
  return { partition: version, order: index };
}
