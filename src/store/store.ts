/**
 * The interface of a storage engine: bytes to bytes, one round trip per read, every read inside one partition of
 * one column. SQLite returns values, a distributed engine returns promises. The contract is
 * test/store/contract.test.ts; the model of an engine is test/store/memory-store.ts.
 *
 * Buffers. The result of a read belongs to the caller: it is a copy that no later read or commit changes. It may
 * share its memory with other small results (Node's buffer pool): to cache a few bytes of it, copy them out. A key that
 * is passed in is read before the call returns and may be used again. Buffers put into a batch belong to the store
 * until the commit has settled.
 *
 * Snapshots. Two reads may see different commits, and an engine of many machines may show half of one: visibility by
 * version makes that harmless (docs/data-layout.md), so no caller holds a transaction. A change (a row, a range) is
 * seen whole or not at all, and the published row after all others. The process that commits reads its commit as soon
 * as it has settled. In other processes, a read in SQLite may be as old as the current turn of the event loop (about
 * 1 ms). In PostgreSQL the head is reused for up to 5 ms, and a standby may lag.
 */
import type { MaybePromise } from '../maybe-promise.ts';
import type { Batch } from './batch.ts';
import {
  assertBounds,
  assertKeyShape,
  type Column,
  type OrderBounds,
  type Row,
  type RowKey,
  type ScannedRow,
} from './columns/columns.ts';
import type { Standby } from './standby.ts';
import { StoreError } from './store-error.ts';

export const MAX_RANGE_ROWS = 10_000;
export const MAX_SCAN_ROWS = 10_000;
const PAGE_ROWS = 256;
/** Bytes of rows that `scanPages` reads at once. */
const PAGE_BYTES = 4 * 1024 * 1024;

export interface RangeQuery extends OrderBounds {
  readonly limit: number;
  readonly reverse?: boolean | undefined;
}

export interface PartitionRange extends RangeQuery {
  readonly partition: Uint8Array;
}

interface ScanBounds {
  readonly maxRows: number;
  /** The page ends with the row that reaches this many bytes of keys and values; it has at least one row. */
  readonly maxBytes: number;
}

export interface ScanQuery extends ScanBounds {
  /** The last row of the previous page; absent: from the beginning of the column. */
  readonly after?: RowKey | undefined;
}

export interface ColumnStatistics {
  readonly column: Column;
  readonly rows: number;
  /** False if every row was counted. */
  readonly isEstimated: boolean;
  readonly bytes: number;
}

/** Facts that a process knows about the server that it reads from. */
export interface ReadServer {
  /** Versions that it is behind the newest head that this process knows. */
  readonly behindVersions: bigint;
  /** How long this process has known a newer head, in milliseconds; 0 when the server is not behind. */
  readonly behindMs: number;
  /** How long ago the head that it shows was certainly the newest, in milliseconds; 0 on the primary. */
  readonly unconfirmedMs: number;
  /** How often this process has moved to another server. */
  readonly moves: number;
  /** How long ago it moved to one that was not known to be up to date, in milliseconds; Infinity if it never has. */
  readonly doubtfulMoveAgeMs: number;
  /** How long a commit of this process has waited for a standby server, in milliseconds; 0 when none waits. */
  readonly standbyWaitMs: number;
}

/** Damage that is not in a row, but may hide rows. */
export interface EngineDamage {
  readonly column: Column;
  readonly detail: string;
  /** Whether it is in the engine's own pages, where nothing can be repaired in place. */
  readonly isOfPages?: boolean;
}

/** The reads of a store. After `close`, and only then, they throw StoreError `store_closed`. */
export interface StoreReader {
  /** The server that is read from; absent if the store is on this machine. */
  readonly server?: ReadServer;

  get(column: Column, partition: Uint8Array, order: Uint8Array): MaybePromise<Buffer | undefined>;

  getMany(column: Column, keys: readonly RowKey[]): MaybePromise<readonly (Buffer | undefined)[]>;

  /** The last row of a partition whose order part is at most `order`. */
  seekLast(column: Column, partition: Uint8Array, order: Uint8Array): MaybePromise<Row | undefined>;

  seekLastMany(column: Column, keys: readonly RowKey[]): MaybePromise<readonly (Row | undefined)[]>;

  range(column: Column, partition: Uint8Array, query: RangeQuery): MaybePromise<readonly Row[]>;

  rangeMany(
    column: Column,
    ranges: readonly PartitionRange[],
  ): MaybePromise<readonly (readonly Row[])[]>;

  /**
   * Rows of a column in the order of their whole keys; an empty page is the end.
   * @throws RowDamagedError for a damaged row, if it would be the first one; the caller can continue after it
   */
  scan(column: Column, query: ScanQuery): MaybePromise<readonly ScannedRow[]>;

  statistics(): MaybePromise<readonly ColumnStatistics[]>;

  /**
   * Examines the engine's other data, such as indexes of its own. Absent if it has none.
   * @param onBlocks gets a column, and how much of it has been read
   */
  examine?(onBlocks: (column: Column, blocks: number) => void): Promise<readonly EngineDamage[]>;

  /** The number of reads that wait for a response; absent if reads are synchronous. */
  waitingReads?(): number;

  /** Waits for commits under way, then releases everything. Closing twice is allowed. */
  close(): Promise<void>;
}

/** A store as it was at one moment; later commits do not change it. */
export type StoreSnapshot = Pick<StoreReader, 'scan' | 'statistics' | 'close'>;

export interface WritingOptions {
  /** If given, opening waits as long as another process writes. */
  readonly standby?: Standby | undefined;
  /** Called when a commit waits because no standby server confirms it, and when it no longer does. */
  readonly onCommitsWait?: ((isWaiting: boolean) => void) | undefined;
}

export interface Store extends StoreReader {
  /**
   * Stores a batch completely or not at all; settles when it is on disk. Ranges are deleted first, so that rows of the
   * same batch stay. Readers see the published row last. Batches take effect in the order of the calls.
   * @throws StoreError `store_full` when the disk is full, `store_lock_lost` when another process has taken over
   *   writing, `store_io` for other failures of the device, `batch_too_large`.
   */
  commit(batch: Batch): Promise<void>;

  /**
   * Repairs the damage that `examine` finds. Afterwards all rows can be read, except lost rows, which are missing and
   * can be put again. No commit may be under way.
   * @returns how many places were repaired
   * @throws StoreError as `commit`
   */
  repair?(): Promise<number>;
}

export interface MakeOptions {
  /** Whether to resume an earlier attempt, and to keep this one after a failure so that it can be resumed. */
  readonly resumes?: boolean;
  readonly distribute?: boolean;
}

/** All rows of a partition between two inclusive bounds, read one page at a time on demand. */
export async function* rowsBetween(
  store: StoreReader,
  column: Column,
  partition: Uint8Array,
  { from, to }: OrderBounds,
): AsyncGenerator<Row> {
  let last: Uint8Array | undefined;
  for (;;) {
    const page = await store.range(column, partition, { from: last ?? from, to, limit: PAGE_ROWS });
    for (const row of page) {
      // Every page but the first begins with the last row of the one before.
      if (last === undefined || Buffer.compare(row.order, last) !== 0) yield row;
    }
    if (page.length < PAGE_ROWS) return;
    last = page[page.length - 1]!.order;
  }
}

/**
 * All rows of a column in key order, or those after `first`, page by page. Rows that are written meanwhile may be
 * missing.
 */
export async function* scanPages(
  store: Pick<StoreReader, 'scan'>,
  column: Column,
  first?: RowKey,
  maxRows = MAX_SCAN_ROWS,
): AsyncGenerator<readonly ScannedRow[]> {
  let after = first;
  for (;;) {
    const page = await store.scan(column, { after, maxRows, maxBytes: PAGE_BYTES });
    if (page.length === 0) return;
    for (const row of page) {
      // Damaged pages may lead back to earlier rows.
      if (after !== undefined && compareRowKeys(after, row) >= 0) {
        const message = `column ${column.name} is damaged: its rows are out of order`;
        throw new StoreError('store_damaged', message, { column: column.name });
      }
      after = row;
    }
    yield page;
  }
}

export function compareRowKeys(left: RowKey, right: RowKey): number {
  return Buffer.compare(left.partition, right.partition) || Buffer.compare(left.order, right.order);
}

/** @throws RangeError for a limit out of bounds, or bounds of another shape. */
export function assertRange(column: Column, partition: Uint8Array, query: RangeQuery): void {
  assertLimit(query.limit, MAX_RANGE_ROWS, 'limit');
  assertBounds(column, partition, query);
}

/** @throws RangeError for a limit out of bounds, or a key of another shape. */
export function assertScan(column: Column, query: ScanQuery): void {
  assertLimit(query.maxRows, MAX_SCAN_ROWS, 'maxRows');
  if (query.after !== undefined) {
    assertKeyShape(column, query.after.partition, query.after.order);
  }
}

function assertLimit(limit: number, most: number, what: string): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > most) {
    throw new RangeError(`${what} is ${limit}, it must be 1 to ${most}`);
  }
}
