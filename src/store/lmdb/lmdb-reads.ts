/** Reading an LMDB store: everything of store.ts except the commit. Where the columns are: lmdb-columns.ts. */
import type { RootDatabase, Transaction } from 'lmdb';
import {
  assertKeyShape,
  type Column,
  HEAD,
  MAX_ORDER_BYTES,
  type OrderBounds,
  type Row,
  type RowKey,
  type ScannedRow,
} from '../columns/columns.ts';
import type { StoreLayout } from '../columns/fork-columns.ts';
import { NO_ORDER } from '../columns/order-key.ts';
import {
  assertKeyCount,
  assertRange,
  assertRanges,
  assertScan,
  type ColumnStatistics,
  type EngineDamage,
  type PartitionRange,
  type RangeQuery,
  type ScanQuery,
  type StoreReader,
} from '../store.ts';
import { keyText, RowDamagedError, StoreError } from '../store-error.ts';
import { listed, visit } from './iteration.ts';
import type { RunExamination } from './runs/run-examination.ts';
import { isPageDamage, StoredValueError } from './stored-value.ts';

/** Bounds of a range as the engine takes them. A `start` of `undefined` is the very beginning. */
export interface LmdbRange {
  readonly start: RowKey | undefined;
  readonly end?: RowKey | undefined;
  readonly inclusiveEnd?: boolean;
  readonly exclusiveStart?: boolean;
  readonly reverse?: boolean;
  readonly limit: number;
  /** The snapshot that is read; the engine's newest if absent. */
  readonly transaction?: Transaction;
}

/** One column as it is read: keys go in as their two parts, come out as one buffer. */
export interface ReadableColumn {
  /** Examines what the engine stores besides rows, and makes what mends it. */
  examine?(onBlocks: (blocks: number) => void): Promise<RunExamination>;
  get(key: RowKey, options?: { readonly transaction: Transaction }): Buffer | undefined;
  /** The last row of a partition at or below an order, where a range takes longer. */
  seekLast?(key: RowKey): Row | undefined;
  getRange(range: LmdbRange): Iterable<{ readonly key: Buffer; readonly value: Buffer }>;
  getKeys(range: LmdbRange): Iterable<Buffer>;
  getStats(): {
    readonly entryCount: number;
    readonly pageSize: number;
    readonly treeBranchPageCount: number;
    readonly treeLeafPageCount: number;
    readonly overflowPages: number;
  };
}

/** A database of its own. */
export interface LmdbColumn extends ReadableColumn {
  /** With `append`, the key must come after all others: if it does not, nothing is stored, and nothing said. */
  put(key: RowKey, value: Uint8Array, options?: { readonly append: boolean }): Promise<boolean>;
  remove(key: RowKey): unknown;
}

/** Keys that `orders` reads at once. */
const KEYS_AT_ONCE = 2_000;
const ALL_ONES = Buffer.alloc(MAX_ORDER_BYTES + 1, 0xff);

/**
 * The reads of a store, on an environment that is open. A read of the head returns the newest committed one; later
 * reads see that commit or a newer one.
 */
export class LmdbReads implements StoreReader {
  protected readonly columns: ReadonlyMap<number, ReadableColumn>;
  readonly #layout: StoreLayout;
  protected readonly directory: string;
  readonly #root: RootDatabase<never, string>;
  #closing: Promise<void> | undefined;

  constructor(
    root: RootDatabase<never, string>,
    columns: ReadonlyMap<number, ReadableColumn>,
    directory: string,
    layout: StoreLayout,
  ) {
    this.#layout = layout;
    this.#root = root;
    this.columns = columns;
    this.directory = directory;
  }

  get(column: Column, partition: Uint8Array, order: Uint8Array): Buffer | undefined {
    assertKeyShape(column, partition, order);
    const key = { partition, order };
    const read = (database: ReadableColumn): Buffer | undefined => {
      // LMDB's snapshot lasts until a timer ends it, which is long in a process that gets no CPU time: a client that
      // queried another process first would see the ledger go backwards.
      if (column === HEAD) this.#root.resetReadTxn();
      return database.get(key);
    };
    return this.#read(column, read, key);
  }

  getMany(column: Column, keys: readonly RowKey[]): readonly (Buffer | undefined)[] {
    assertKeyCount(keys);
    return keys.map(({ partition, order }) => this.get(column, partition, order));
  }

  seekLast(column: Column, partition: Uint8Array, order: Uint8Array): Row | undefined {
    assertKeyShape(column, partition, order);
    const start = { partition, order };
    const database = this.columns.get(column.number);
    if (database?.seekLast !== undefined)
      return this.#read(column, () => database.seekLast!(start));
    const range = { start, end: { partition, order: NO_ORDER }, reverse: true, limit: 1 };
    return this.#collect(column, range, rowOfPartition)[0];
  }

  seekLastMany(column: Column, keys: readonly RowKey[]): readonly (Row | undefined)[] {
    assertKeyCount(keys);
    return keys.map(({ partition, order }) => this.seekLast(column, partition, order));
  }

  range(column: Column, partition: Uint8Array, query: RangeQuery): readonly Row[] {
    assertRange(column, partition, query);
    const { limit } = query;
    const { start, end } = boundKeys(column, partition, query);
    const range =
      query.reverse === true
        ? { start: end, end: start, inclusiveEnd: true, reverse: true, limit }
        : { start, end, inclusiveEnd: true, limit };
    return this.#collect(column, range, rowOfPartition);
  }

  rangeMany(column: Column, ranges: readonly PartitionRange[]): readonly (readonly Row[])[] {
    assertRanges(column, ranges);
    return ranges.map((range) => this.range(column, range.partition, range));
  }

  scan(column: Column, query: ScanQuery): readonly ScannedRow[] {
    assertScan(column, query);
    const { after, maxRows, maxBytes } = query;
    const range = { start: after, exclusiveStart: true, limit: maxRows };
    return this.#collect(column, range, scannedRow, { maxBytes, endsAtDamage: true });
  }

  statistics(): readonly ColumnStatistics[] {
    return this.#layout.columns.map((column) => {
      const pages = this.#read(column, (database) => database.getStats());
      const pageCount = pages.treeBranchPageCount + pages.treeLeafPageCount + pages.overflowPages;
      return { column, rows: pages.entryCount, bytes: pageCount * pages.pageSize };
    });
  }

  async examine(
    onBlocks: (column: Column, blocks: number) => void,
  ): Promise<readonly EngineDamage[]> {
    const damages: EngineDamage[] = [];
    for (const column of this.#layout.columns) {
      const database = this.columns.get(column.number)!;
      try {
        const examined = await database.examine?.((blocks) => onBlocks(column, blocks));
        for (const detail of examined?.damages ?? []) damages.push({ column, detail });
      } catch (cause) {
        if (!isPageDamage(cause)) throw cause;
        this.readAfresh();
        damages.push({ column, detail: reason(cause), isOfPages: true });
      }
    }
    return damages;
  }

  async close(): Promise<void> {
    this.#closing ??= this.#root.close();
    await this.#closing;
  }

  /**
   * Order parts of the rows of a partition between two bounds. No cursor is open while the caller has one of them.
   * @throws StoreError as other reads
   */
  protected *orders(column: Column, partition: Uint8Array, bounds: OrderBounds): Generator<Buffer> {
    const { start, end } = boundKeys(column, partition, bounds);
    const rest = { end, inclusiveEnd: true, limit: KEYS_AT_ONCE };
    let range: LmdbRange = { ...rest, start };
    for (;;) {
      const found = this.#read(column, (database) => listed(database.getKeys(range), KEYS_AT_ONCE));
      const orders = found.map((key) => key.subarray(partition.length));
      yield* orders;
      if (orders.length < KEYS_AT_ONCE) return;
      const last = { partition, order: orders[orders.length - 1]! };
      range = { ...rest, start: last, exclusiveStart: true };
    }
  }

  /** @throws StoreError `store_closed` */
  protected assertOpen(): void {
    if (this.#closing !== undefined) {
      throw new StoreError('store_closed', `the store ${this.directory} is closed`);
    }
  }

  /**
   * Rows of a range, at most `limit` rows, ending with the one that reaches `maxBytes`.
   * @param endsAtDamage whether the rows before one that is damaged are given, if there are any
   */
  #collect<T>(
    column: Column,
    range: LmdbRange,
    make: (column: Column, key: Buffer, value: Buffer) => T,
    { maxBytes = Number.POSITIVE_INFINITY, endsAtDamage = false } = {},
  ): T[] {
    return this.#read(column, (database) => {
      const rows: T[] = [];
      let byteLength = 0;
      try {
        visit(database.getRange(range), ({ key, value }) => {
          rows.push(make(column, key, value));
          byteLength += key.length + value.length;
          // Leaving early saves the engine a step to a row that is not wanted.
          return rows.length < range.limit && byteLength < maxBytes;
        });
      } catch (error) {
        if (!endsAtDamage || rows.length === 0 || !(error instanceof StoredValueError)) throw error;
      }
      return rows;
    });
  }

  /** @throws StoreError `store_closed`, `store_damaged`; `store_io` when the disk fails; RowDamagedError */
  #read<T>(column: Column, read: (database: ReadableColumn) => T, key = NO_KEY): T {
    if (this.#closing !== undefined) this.assertOpen();
    const database = this.columns.get(column.number);
    if (database === undefined) throw new RangeError(`no column ${column.number}`);
    try {
      return read(database);
    } catch (cause) {
      if (cause instanceof StoredValueError) {
        const whole = cause.key;
        const place = whole === undefined ? key : splitKey(column, whole);
        throw new RowDamagedError(column, place, cause.message, { cause });
      }
      throw this.#readFailure(column, key, cause);
    }
  }

  /** The engine refuses every further read of a snapshot in which it has met damage. */
  protected readAfresh(): void {
    this.#root.resetReadTxn();
  }

  #readFailure(column: Column, key: RowKey, cause: unknown): StoreError {
    this.readAfresh();
    const detail = reason(cause);
    const what = `column ${column.name} of ${this.directory}`;
    if (!isDamage(cause)) {
      return new StoreError('store_io', `${what} cannot be read: ${detail}`, { cause });
    }
    const facts = { column: column.name, ...(key === NO_KEY ? {} : { key: keyText(key) }) };
    return new StoreError('store_damaged', `${what} is damaged: ${detail}`, { cause, ...facts });
  }
}

export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether the engine has met a damaged page: it says so, or was led to sizes that nothing has. */
function isDamage(cause: unknown): boolean {
  return typeof (cause as { code?: unknown }).code !== 'number' || isPageDamage(cause);
}

/** For reads of more than one row. */
const NO_KEY: RowKey = { partition: NO_ORDER, order: NO_ORDER };

/** The first and the last possible key of some rows of a partition. */
function boundKeys(column: Column, partition: Uint8Array, { from, to }: OrderBounds) {
  const start: RowKey = { partition, order: from ?? NO_ORDER };
  const end: RowKey = { partition, order: to ?? afterAllOrders(column) };
  return { start, end };
}

/** An order part longer and higher than every one the column has: it comes after the end of any partition. */
function afterAllOrders(column: Column): Buffer {
  return ALL_ONES.subarray(0, column.orderBytes[1] + 1);
}

function splitKey({ partitionBytes }: Column, key: Buffer) {
  return { partition: key.subarray(0, partitionBytes), order: key.subarray(partitionBytes) };
}

function rowOfPartition(column: Column, key: Buffer, value: Buffer): Row {
  return { order: key.subarray(column.partitionBytes), value };
}

function scannedRow(column: Column, key: Buffer, value: Buffer): ScannedRow {
  return { ...splitKey(column, key), value };
}
