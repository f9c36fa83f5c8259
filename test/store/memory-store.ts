/**
 * An in-memory store: the model with which other engines are compared, and a fast store for tests. Nothing survives the
 * process. Inserting is linear in the size of the column, so it is not suited for large ledgers.
 */
import type { MaybePromise } from '../../src/maybe-promise.ts';
import { Batch, type BatchOperation, type DeletedRange } from '../../src/store/batch.ts';
import {
  assertKeyShape,
  COLUMNS,
  type Column,
  type OrderBounds,
  type Row,
  type RowKey,
  type ScannedRow,
  STORE_FORMAT_VERSION,
} from '../../src/store/columns/columns.ts';
import { FORMAT } from '../../src/store/columns/identity-column.ts';
import {
  assertRange,
  assertScan,
  type ColumnStatistics,
  type PartitionRange,
  type RangeQuery,
  type ScanQuery,
  type Store,
} from '../../src/store/store.ts';
import { StoreError } from '../../src/store/store-error.ts';

/** Settings of a store in memory. */
export interface MemoryStoreOptions {
  /** `later` returns promises, as a distributed engine does. Default `now`. */
  readonly answers?: 'now' | 'later' | undefined;
}

/** Keys are partition ‖ order as Latin-1 text, whose order is that of the bytes. */
class MemoryColumn {
  readonly column: Column;
  sortedKeys: string[] = [];
  readonly values = new Map<string, Buffer>();

  constructor(column: Column) {
    this.column = column;
  }

  /** Index of the first key that is at least `key`. */
  lowerBound(key: string): number {
    let low = 0;
    let high = this.sortedKeys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.sortedKeys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  row(index: number): ScannedRow {
    const key = this.sortedKeys[index]!;
    const split = this.column.partitionBytes;
    return {
      partition: Buffer.from(key.slice(0, split), 'latin1'),
      order: Buffer.from(key.slice(split), 'latin1'),
      value: Buffer.from(this.values.get(key)!),
    };
  }

  /** Indexes of the first row between two bounds, and of the one after the last. */
  indexes(partition: Uint8Array, { from, to }: OrderBounds): [first: number, end: number] {
    const prefix = keyText(partition);
    const first = this.lowerBound(from === undefined ? prefix : prefix + keyText(from));
    const end =
      to === undefined
        ? this.lowerBound(prefix + '\xff'.repeat(this.column.orderBytes[1] + 1))
        : this.lowerBound(prefix + keyText(to) + '\0');
    return [first, Math.max(first, end)];
  }

  deleteRange({ partition, ...bounds }: DeletedRange): void {
    const [first, end] = this.indexes(partition, bounds);
    for (const key of this.sortedKeys.splice(first, end - first)) this.values.delete(key);
  }

  apply(operations: readonly BatchOperation[]): void {
    const existedBefore = new Map<string, boolean>();
    for (const { partition, order, value } of operations) {
      const key = keyText(partition) + keyText(order);
      if (!existedBefore.has(key)) existedBefore.set(key, this.values.has(key));
      if (value === undefined) this.values.delete(key);
      else this.values.set(key, Buffer.from(value));
    }
    const fresh: string[] = [];
    let removed = false;
    for (const [key, existed] of existedBefore) {
      const exists = this.values.has(key);
      if (exists && !existed) fresh.push(key);
      if (!exists && existed) removed = true;
    }
    const kept = removed ? this.sortedKeys.filter((key) => this.values.has(key)) : this.sortedKeys;
    this.sortedKeys = mergeSorted(kept, fresh.sort(compareText));
  }
}

/** A store in memory. */
export class MemoryStore implements Store {
  readonly #columns = new Map<number, MemoryColumn>();
  readonly #answersLater: boolean;
  #closed = false;

  constructor(options: MemoryStoreOptions = {}) {
    this.#answersLater = options.answers === 'later';
    for (const column of COLUMNS) this.#columns.set(column.number, new MemoryColumn(column));
    const batch = new Batch();
    FORMAT.put(batch, undefined, STORE_FORMAT_VERSION);
    this.#apply(batch.rows);
  }

  get(column: Column, partition: Uint8Array, order: Uint8Array): MaybePromise<Buffer | undefined> {
    return this.#answer(() => this.#get(column, partition, order));
  }

  getMany(column: Column, keys: readonly RowKey[]): MaybePromise<readonly (Buffer | undefined)[]> {
    return this.#answer(() =>
      keys.map(({ partition, order }) => this.#get(column, partition, order)),
    );
  }

  seekLast(
    column: Column,
    partition: Uint8Array,
    order: Uint8Array,
  ): MaybePromise<Row | undefined> {
    return this.#answer(() => this.#seekLast(column, partition, order));
  }

  seekLastMany(
    column: Column,
    keys: readonly RowKey[],
  ): MaybePromise<readonly (Row | undefined)[]> {
    return this.#answer(() =>
      keys.map(({ partition, order }) => this.#seekLast(column, partition, order)),
    );
  }

  range(column: Column, partition: Uint8Array, query: RangeQuery): MaybePromise<readonly Row[]> {
    assertRange(column, partition, query);
    return this.#answer(() => this.#range(column, partition, query));
  }

  rangeMany(
    column: Column,
    ranges: readonly PartitionRange[],
  ): MaybePromise<readonly (readonly Row[])[]> {
    for (const range of ranges) assertRange(column, range.partition, range);
    return this.#answer(() => ranges.map((range) => this.#range(column, range.partition, range)));
  }

  scan(column: Column, query: ScanQuery): MaybePromise<readonly ScannedRow[]> {
    assertScan(column, query);
    return this.#answer(() => {
      const rows = this.#open(column);
      const { after } = query;
      let index =
        after === undefined
          ? 0
          : rows.lowerBound(keyText(after.partition) + keyText(after.order) + '\0');
      const page: ScannedRow[] = [];
      let byteLength = 0;
      while (
        index < rows.sortedKeys.length &&
        page.length < query.maxRows &&
        (page.length === 0 || byteLength < query.maxBytes)
      ) {
        const row = rows.row(index);
        page.push(row);
        byteLength += row.partition.length + row.order.length + row.value.length;
        index += 1;
      }
      return page;
    });
  }

  statistics(): MaybePromise<readonly ColumnStatistics[]> {
    return this.#answer(() =>
      COLUMNS.map((column) => {
        let bytes = 0;
        const { values } = this.#open(column);
        for (const [key, value] of values) bytes += key.length + value.length;
        return { column, rows: values.size, isEstimated: false, bytes };
      }),
    );
  }

  async commit(batch: Batch): Promise<void> {
    this.#assertOpen();
    for (const range of batch.ranges) this.#open(range.column).deleteRange(range);
    this.#apply([...batch.rows, ...batch.published]);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #get(column: Column, partition: Uint8Array, order: Uint8Array): Buffer | undefined {
    assertKeyShape(column, partition, order);
    const value = this.#open(column).values.get(keyText(partition) + keyText(order));
    return value === undefined ? undefined : Buffer.from(value);
  }

  #range(column: Column, partition: Uint8Array, query: RangeQuery): Row[] {
    const rows = this.#open(column);
    const [first, end] = rows.indexes(partition, query);
    const found: Row[] = [];
    for (let step = 0; step < Math.min(query.limit, end - first); step += 1) {
      const { order, value } = rows.row(query.reverse === true ? end - 1 - step : first + step);
      found.push({ order, value });
    }
    return found;
  }

  #seekLast(column: Column, partition: Uint8Array, order: Uint8Array): Row | undefined {
    assertKeyShape(column, partition, order);
    const rows = this.#open(column);
    const prefix = keyText(partition);
    const index = rows.lowerBound(prefix + keyText(order) + '\0') - 1;
    if (index < 0 || !rows.sortedKeys[index]!.startsWith(prefix)) return undefined;
    const row = rows.row(index);
    return { order: row.order, value: row.value };
  }

  #apply(operations: readonly BatchOperation[]): void {
    for (const rows of this.#columns.values()) {
      const own = operations.filter(({ column }) => column.number === rows.column.number);
      if (own.length > 0) rows.apply(own);
    }
  }

  #open(column: Column): MemoryColumn {
    const rows = this.#columns.get(column.number);
    if (rows === undefined) throw new RangeError(`no column ${column.number}`);
    return rows;
  }

  #assertOpen(): void {
    if (this.#closed) throw new StoreError('store_closed', 'the store is closed');
  }

  #answer<T>(read: () => T): MaybePromise<T> {
    this.#assertOpen();
    const value = read();
    return this.#answersLater ? Promise.resolve(value) : value;
  }
}

function keyText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function mergeSorted(a: string[], b: readonly string[]): string[] {
  if (b.length === 0) return a;
  if (a.length === 0 || a[a.length - 1]! < b[0]!) {
    for (const key of b) a.push(key);
    return a;
  }
  const merged: string[] = [];
  let next = 0;
  for (const key of a) {
    while (next < b.length && b[next]! < key) merged.push(b[next++]!);
    merged.push(key);
  }
  while (next < b.length) merged.push(b[next++]!);
  return merged;
}
