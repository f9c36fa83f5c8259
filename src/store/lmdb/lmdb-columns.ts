/**
 * The columns of a store in LMDB: one named database per column, so that the engine itself counts rows and pages of
 * each, and the codec between its keys and ours. Measured on 300,000 rows, compared with joined buffers and the
 * library's copies: seek 1.3 times, pages of 25 rows 3 times as fast.
 */
import type { Database, RootDatabase } from 'lmdb';
import { COLUMNS, type Column, type RowKey } from '../columns/columns.ts';

/** Bounds of a range as the engine takes them. A `start` of `undefined` is the very beginning. */
export interface LmdbRange {
  readonly start: RowKey | undefined;
  readonly end?: RowKey;
  readonly inclusiveEnd?: boolean;
  readonly exclusiveStart?: boolean;
  readonly reverse?: boolean;
  readonly limit: number;
}

/** One column's database: keys go in as their two parts, come out as one buffer. */
export interface LmdbColumn {
  get(key: RowKey): Buffer | undefined;
  getRange(range: LmdbRange): Iterable<{ readonly key: Buffer; readonly value: Buffer }>;
  put(key: RowKey, value: Uint8Array): unknown;
  remove(key: RowKey): unknown;
  getStats(): {
    readonly entryCount: number;
    readonly pageSize: number;
    readonly treeBranchPageCount: number;
    readonly treeLeafPageCount: number;
    readonly overflowPages: number;
  };
}

/** The named database of a column; `undefined` when it is not there and may not be made. */
export function openColumn(
  root: RootDatabase<never, string>,
  column: Column,
  create: boolean,
): LmdbColumn | undefined {
  // The number in two digits: names may change, numbers never do.
  const options = {
    name: `c${String(column.number).padStart(2, '0')}`,
    create,
    encoder: valueCodec,
    keyEncoder: keyCodec,
  };
  const database: Database | undefined = root.openDB(options);
  return database as unknown as LmdbColumn | undefined;
}

/** Opens all columns, by number; stops with the first one that is missing and may not be made. */
export function openColumns(
  root: RootDatabase<never, string>,
  create: boolean,
): ReadonlyMap<number, LmdbColumn> | undefined {
  const opened = new Map<number, LmdbColumn>();
  for (const column of COLUMNS) {
    const database = openColumn(root, column, create);
    if (database === undefined) return undefined;
    opened.set(column.number, database);
  }
  return opened;
}

const keyCodec = {
  writeKey({ partition, order }: RowKey, target: Buffer, start: number): number {
    target.set(partition, start);
    const middle = start + partition.length;
    target.set(order, middle);
    return middle + order.length;
  },
  readKey(source: Buffer, start: number, end: number): Buffer {
    const key = Buffer.allocUnsafe(end - start);
    source.copy(key, 0, start, end);
    return key;
  },
};

const valueCodec = {
  encode(value: Uint8Array): Uint8Array {
    return value;
  },
  /** `volatile` is overwritten by the next read, or is a window on pages that a later commit may use again. */
  decode(volatile: Uint8Array): Buffer {
    // The engine sets `length` of its one buffer by hand; the buffer itself is longer, so only a view is safe.
    const { length } = volatile;
    const value = Buffer.allocUnsafe(length);
    value.set(new Uint8Array(volatile.buffer, volatile.byteOffset, length));
    return value;
  },
};
