/**
 * Columns whose rows are found by sorted runs, read as if each were one database. An entry has its row's value, or says
 * where it is: a value of another length has a row of its own.
 */
import type { Column, Row, RowKey } from '../columns/columns.ts';
import type { LmdbColumn, LmdbRange, ReadableColumn } from './lmdb-reads.ts';
import type { EntryRange, EntryWalk } from './runs/entry-walk.ts';
import { examineRuns, type RunExamination } from './runs/run-examination.ts';
import type { ReadOptions } from './runs/run-rows.ts';
import { bytesOf, keyOf, type RunShape, writeKey } from './runs/run-shape.ts';
import type { SortedRuns } from './runs/sorted-runs.ts';
import { StoredValueError } from './stored-value.ts';

/** The place of a row whose value is in its entry. */
export const IN_ENTRY = 0;
/** The place of a row that the database of its own has. */
export const OWN_ROW = 0xffff_fffe;

export type KeyedValue = { readonly key: Buffer; readonly value: Buffer };

/** The rows of one column that have places of their own. */
export type OwnRows = Pick<LmdbColumn, 'get' | 'put' | 'remove'>;

export class RunColumn implements ReadableColumn {
  readonly column: Column;
  readonly runs: SortedRuns;
  /** Rows whose values entries do not have. */
  readonly own: OwnRows;
  protected readonly shape: RunShape;
  readonly #key: Uint32Array;

  constructor(column: Column, runs: SortedRuns, own: OwnRows) {
    this.column = column;
    this.runs = runs;
    this.own = own;
    this.shape = runs.shape;
    this.#key = new Uint32Array(this.shape.keyWords);
  }

  get(key: RowKey): Buffer | undefined {
    const place = this.placeOf(key);
    return place === undefined ? undefined : this.valueOf(key, this.runs.found, undefined);
  }

  /** Where the value of a row is; `undefined`: there is no such row. */
  placeOf(key: RowKey): number | undefined {
    writeKey(this.shape, key, this.#key, 0);
    return this.runs.seekExact(this.#key) ? this.runs.found[this.shape.keyWords] : undefined;
  }

  seekLast(key: RowKey): Row | undefined {
    const { shape } = this;
    writeKey(shape, key, this.#key, 0);
    if (!this.runs.seekLast(this.#key)) return undefined;
    const { found } = this.runs;
    const order = bytesOf(found, shape.partitionWords, shape.keyBytes - shape.partitionBytes);
    const { partition } = key;
    return { order, value: this.namedValueOf({ partition, order }, found, undefined) };
  }

  *getKeys(range: LmdbRange): Generator<Buffer> {
    const walk = this.walk(range);
    for (let left = range.limit; left > 0 && walk.next(); left -= 1) {
      yield keyOf(this.shape, walk.entry, 0);
    }
  }

  *getRange(range: LmdbRange): Generator<KeyedValue> {
    const options = optionsOf(range);
    const { shape } = this;
    const walk = this.walk(range);
    for (let left = range.limit; left > 0 && walk.next(); left -= 1) {
      const key = keyOf(shape, walk.entry, 0);
      yield { key, value: this.namedValueOf(this.split(key), walk.entry, options) };
    }
  }

  protected walk(range: LmdbRange): EntryWalk {
    return this.runs.walk(entryRange(this.shape, range), optionsOf(range));
  }

  /** @throws StoredValueError with the key of the row */
  protected namedValueOf(
    key: RowKey,
    entry: Uint32Array,
    options: ReadOptions | undefined,
  ): Buffer {
    try {
      return this.valueOf(key, entry, options);
    } catch (error) {
      if (error instanceof StoredValueError) error.key = Buffer.concat([key.partition, key.order]);
      throw error;
    }
  }

  /** @throws StoredValueError for a row that the index names and nothing has */
  protected valueOf(key: RowKey, entry: Uint32Array, options: ReadOptions | undefined): Buffer {
    const { keyWords, valueBytes } = this.shape;
    return entry[keyWords] === OWN_ROW
      ? this.ownValue(key, options)
      : bytesOf(entry, keyWords + 1, valueBytes);
  }

  protected ownValue(key: RowKey, options: ReadOptions | undefined): Buffer {
    const value = this.own.get(key, options);
    if (value === undefined) throw missing();
    return value;
  }

  protected split(key: Buffer): { partition: Buffer; order: Buffer } {
    const { partitionBytes } = this.column;
    return { partition: key.subarray(0, partitionBytes), order: key.subarray(partitionBytes) };
  }

  examine(onBlocks: (blocks: number) => void): Promise<RunExamination> {
    return examineRuns(this.runs, onBlocks);
  }

  getStats() {
    const pages = this.runs.pages();
    return {
      entryCount: this.runs.manifest().rows,
      pageSize: this.runs.database.getStats().pageSize,
      treeBranchPageCount: 0,
      treeLeafPageCount: pages,
      overflowPages: 0,
    };
  }
}

export function missing(): StoredValueError {
  return new StoredValueError('the index names it, and it is missing');
}

export function optionsOf({ transaction }: LmdbRange): ReadOptions | undefined {
  return transaction && { transaction };
}

/**
 * Bounds as words. One that is no whole key lies before all keys that begin with it, or behind the
 * one it begins with.
 */
function entryRange(shape: RunShape, range: LmdbRange): EntryRange {
  const { start, end, reverse = false, exclusiveStart = false, inclusiveEnd = false } = range;
  const first = boundOf(shape, start, exclusiveStart);
  const last = boundOf(shape, end, !inclusiveEnd);
  const [low, high] = reverse ? [last, first] : [first, last];
  return {
    ...{ low: low?.words, high: high?.words, reverse },
    withoutLow: low !== undefined && low.length >= 0 && (low.length > 0 || low.isExclusive),
    withoutHigh: high !== undefined && high.length <= 0 && (high.length < 0 || high.isExclusive),
  };
}

function boundOf(shape: RunShape, key: RowKey | undefined, isExclusive: boolean) {
  if (key === undefined) return undefined;
  const words = new Uint32Array(shape.keyWords);
  writeKey(shape, key, words, 0);
  const orderBytes = shape.keyBytes - shape.partitionBytes;
  return { words, isExclusive, length: Math.sign(key.order.length - orderBytes) };
}
