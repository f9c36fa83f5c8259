/**
 * Reading a store in SQLite: everything of store.ts except the commit. All reads of one turn of the event loop share a
 * transaction, so that each takes half as long and all see one commit; a read of the head begins a new one.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  assertKeyShape,
  type Column,
  HEAD,
  type Row,
  type RowKey,
  type ScannedRow,
  STATE,
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
import { afterAllOrders } from './packed-batch.ts';
import { readPlaced } from './placed-values.ts';
import { type Entry, versionOf } from './runs/block.ts';
import { BlockCache } from './runs/block-cache.ts';
import { hashOf } from './runs/run-filter.ts';
import { SortedRuns, type SoughtKey } from './runs/sorted-runs.ts';
import { isSqliteError, isStoredDamage, reasonOf, SqliteDatabase } from './sqlite-database.ts';
import { columnStatistics } from './store-statistics.ts';
import { StoredValueError } from './stored-value.ts';
import { DamagedRecordError, lastKeyOf, placeOf, RecordReader } from './version-records.ts';

/** Rows with whole keys, as a walk gives them. */
interface KeyedRow {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** Blocks that are examined in one turn of the event loop. */
const BLOCKS_PER_TURN = 256;

export class SqliteReads implements StoreReader {
  protected readonly where: string;
  protected readonly database: SqliteDatabase;
  readonly #layout: StoreLayout;
  readonly #runs: SortedRuns;
  readonly #records: RecordReader;
  /** Of a snapshot the transaction never ends. */
  readonly #isSnapshot: boolean;
  #seenVersion = -1;
  #isReading = false;
  #isClosed = false;
  readonly #endRead = (): void => this.endRead();

  /** @param where names the store in messages */
  constructor(database: SqliteDatabase, layout: StoreLayout, where: string, isSnapshot = false) {
    this.database = database;
    this.#layout = layout;
    this.where = where;
    this.#runs = new SortedRuns(database, new BlockCache());
    this.#records = new RecordReader(database);
    this.#isSnapshot = isSnapshot;
  }

  get(column: Column, partition: Uint8Array, order: Uint8Array): Buffer | undefined {
    assertKeyShape(column, partition, order);
    const place = placeOf(column);
    if (column === HEAD && !this.#isSnapshot) this.endRead();
    return this.#read(column, { partition, order }, () => {
      if (place !== undefined) {
        return this.#records.row(this.#runs.manifest, place, { partition, order });
      }
      const sought = soughtKey(column, partition, order);
      const placed = this.#runs.get(sought)?.value;
      return placed && readPlaced(this.database, this.#records, sought.key, placed);
    });
  }

  getMany(column: Column, keys: readonly RowKey[]): readonly (Buffer | undefined)[] {
    assertKeyCount(keys);
    return keys.map(({ partition, order }) => this.get(column, partition, order));
  }

  seekLast(column: Column, partition: Uint8Array, order: Uint8Array): Row | undefined {
    assertKeyShape(column, partition, order);
    if (placeOf(column) !== undefined) {
      return this.range(column, partition, { to: order, reverse: true, limit: 1 })[0];
    }
    return this.#read(column, { partition, order }, () => {
      const sought = soughtKey(column, partition, order);
      const version = column === STATE ? versionOf(sought.key) : undefined;
      const found = this.#runs.seekLast(sought, version);
      return found && rowOf(column, this.#valued(found));
    });
  }

  seekLastMany(column: Column, keys: readonly RowKey[]): readonly (Row | undefined)[] {
    assertKeyCount(keys);
    return keys.map(({ partition, order }) => this.seekLast(column, partition, order));
  }

  range(column: Column, partition: Uint8Array, query: RangeQuery): readonly Row[] {
    assertRange(column, partition, query);
    const { from = NO_ORDER, to = afterAllOrders(column), reverse = false, limit } = query;
    const rows: Row[] = [];
    this.#read(column, { partition, order: NO_ORDER }, () => {
      const bounds = [Buffer.concat([partition, from]), Buffer.concat([partition, to])] as const;
      for (const row of this.#walk(column, ...bounds, reverse, partition)) {
        rows.push(rowOf(column, row));
        if (rows.length === limit) return;
      }
    });
    return rows;
  }

  rangeMany(column: Column, ranges: readonly PartitionRange[]): readonly (readonly Row[])[] {
    assertRanges(column, ranges);
    return ranges.map((range) => this.range(column, range.partition, range));
  }

  scan(column: Column, query: ScanQuery): readonly ScannedRow[] {
    assertScan(column, query);
    const { after, maxRows, maxBytes } = query;
    const from = after === undefined ? NO_ORDER : justBehind(after);
    const rows: ScannedRow[] = [];
    let last = from;
    this.#read(column, after ?? NO_KEY, () => {
      let bytes = 0;
      try {
        for (const row of this.#walk(column, from, lastKey(column), false)) {
          rows.push({ ...splitKey(column, row.key), value: row.value });
          last = row.key;
          bytes += row.key.length + row.value.length;
          if (rows.length === maxRows || bytes >= maxBytes) return;
        }
      } catch (error) {
        if (!isStoredDamage(error) && !isDamagedRow(error)) throw error;
        // The next page begins with it.
        if (rows.length === 0) throw this.#damageAt(column, last, error);
      }
    });
    return rows;
  }

  statistics(): readonly ColumnStatistics[] {
    const { columns } = this.#layout;
    return this.#read(columns[0]!, NO_KEY, () =>
      columnStatistics(this.database, this.#runs, columns),
    );
  }

  async examine(
    onBlocks: (column: Column, blocks: number) => void,
  ): Promise<readonly EngineDamage[]> {
    this.assertOpen();
    // Of one moment: a block of a run that is merged meanwhile is not missing.
    const database = new SqliteDatabase(this.database.path, { readOnly: true });
    const snapshot = new SqliteReads(database, this.#layout, this.where, true);
    return await snapshot.#examine(onBlocks).finally(() => snapshot.close());
  }

  async #examine(
    onBlocks: (column: Column, blocks: number) => void,
  ): Promise<readonly EngineDamage[]> {
    const damages: EngineDamage[] = [];
    const [column] = this.#layout.columns;
    const note = (detail: string, isOfPages = false): void => {
      damages.push({ column: column!, detail, isOfPages });
    };
    try {
      const found = this.database.checkPages();
      if (found !== undefined) note(found, true);
    } catch (error) {
      if (!isSqliteError(error)) throw error;
      note(reasonOf(error), true);
    }
    let examined = 0;
    for (const run of this.#read(column!, NO_KEY, () => this.#runs.runs)) {
      if (!isReadable(() => run.checkIndex())) {
        note(`the index of run ${run.facts.number} is damaged`);
      }
      for (let at = 0; at < run.facts.blocks; at += 1) {
        if (!isReadable(() => run.block(at))) {
          note(`block ${at} of run ${run.facts.number} is damaged`);
        }
        examined += 1;
        if (examined % BLOCKS_PER_TURN === 0) {
          onBlocks(column!, examined);
          await nextTurn();
        }
      }
    }
    return damages;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.endRead();
    this.#isClosed = true;
    this.database.close();
  }

  /** @throws StoreError `store_closed` */
  protected assertOpen(): void {
    if (this.#isClosed) {
      throw new StoreError('store_closed', `the store ${this.where} is closed`);
    }
  }

  /** The next read sees what has been committed since. */
  protected endRead(): void {
    if (!this.#isReading || this.#isClosed) return;
    this.#isReading = false;
    this.#records.forget();
    this.database.rollback();
  }

  #begin(): void {
    if (this.#isReading) return;
    this.database.begin();
    this.#isReading = true;
    if (!this.#isSnapshot) setImmediate(this.#endRead);
    const version = this.database.dataVersion();
    if (version === this.#seenVersion) return;
    // What is read next is that of a newer commit, or nothing.
    this.#seenVersion = -1;
    try {
      this.#runs.refresh();
    } catch (error) {
      this.#runs.reset();
      // Every read fails as long as this one does.
      this.endRead();
      throw error;
    }
    this.#seenVersion = version;
  }

  *#walk(
    column: Column,
    from: Uint8Array,
    to: Uint8Array,
    reverse: boolean,
    partition?: Uint8Array,
  ): Generator<KeyedRow> {
    const place = placeOf(column);
    if (place !== undefined) {
      yield* this.#records.rows(this.#runs.manifest, { place, from, to, reverse });
      return;
    }
    const number = Buffer.of(column.number);
    const low = Buffer.concat([number, from]);
    const hash = partition && hashOf(low, 1 + partition.length);
    const range = { from: low, to: Buffer.concat([number, to]), reverse, hash };
    for (const entry of this.#runs.walk(range)) yield this.#valued(entry);
  }

  /** An entry's row, with its key as callers know it. */
  #valued({ key, value }: Entry): KeyedRow {
    try {
      // Copies: entries of the log stay in memory.
      return {
        key: Buffer.from(key.subarray(1)),
        value: readPlaced(this.database, this.#records, key, value!),
      };
    } catch (error) {
      if (isStoredDamage(error)) throw new DamagedEntryError(key.subarray(1), error);
      throw error;
    }
  }

  /** @throws StoreError `store_closed`, `store_damaged`, `store_io`; RowDamagedError */
  #read<T>(column: Column, key: RowKey, read: () => T): T {
    this.assertOpen();
    try {
      this.#begin();
      return read();
    } catch (error) {
      throw this.#readFailure(column, key, error);
    }
  }

  #readFailure(column: Column, key: RowKey, error: unknown): unknown {
    if (error instanceof StoredValueError) {
      return new RowDamagedError(column, key, error.message, { cause: error });
    }
    if (isDamagedRow(error)) return this.#damageAt(column, NO_ORDER, error);
    if (!isSqliteError(error)) return error;
    const detail = reasonOf(error);
    const what = `column ${column.name} of ${this.where}`;
    if (!isStoredDamage(error)) {
      return new StoreError('store_io', `${what} cannot be read: ${detail}`, { cause: error });
    }
    const facts = { column: column.name, ...(key === NO_KEY ? {} : { key: keyText(key) }) };
    const message = `${what} is damaged: ${detail}`;
    return new StoreError('store_damaged', message, { cause: error, ...facts });
  }

  /** The error for a damaged row behind a key; who scans goes on behind the last row that it may be. */
  #damageAt(column: Column, last: Uint8Array, error: unknown): unknown {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    if (!(cause instanceof StoredValueError)) return this.#readFailure(column, NO_KEY, cause);
    let key: Buffer;
    if (error instanceof DamagedEntryError) key = error.key;
    else if (error instanceof DamagedRecordError) key = lastKeyOf(placeOf(column)!, error.version);
    else key = this.#lastKeyOfBlock(column, last);
    return new RowDamagedError(column, splitKey(column, key), cause.message, { cause });
  }

  /** The highest key of a column that the first damaged block behind a key may have. */
  #lastKeyOfBlock(column: Column, behind: Uint8Array): Buffer {
    const key = Buffer.concat([Buffer.of(column.number), behind]);
    let end: Buffer | undefined;
    for (const run of this.#runs.runs) {
      if (!isReadable(() => run.index)) return lastKey(column);
      const first = Math.max(0, run.blockOf(key));
      for (let at = first; at < run.facts.blocks; at += 1) {
        if (isReadable(() => run.block(at))) continue;
        const [, to] = run.fencesOf(at);
        if (to !== undefined && (end === undefined || Buffer.compare(to, end) < 0)) end = to;
        break;
      }
    }
    if (end === undefined || end[0] !== column.number) return lastKey(column);
    return keyBelow(column, end.subarray(1));
  }
}

/** A damaged row of sorted runs whose entry was read. */
class DamagedEntryError extends Error {
  readonly key: Buffer;

  constructor(key: Buffer, cause: unknown) {
    super('the value of an entry is damaged', { cause });
    this.name = this.constructor.name;
    this.key = key;
  }
}

function isDamagedRow(error: unknown): error is DamagedEntryError | DamagedRecordError {
  return error instanceof DamagedEntryError || error instanceof DamagedRecordError;
}

/** For reads of more than one row. */
const NO_KEY: RowKey = { partition: NO_ORDER, order: NO_ORDER };

function soughtKey(column: Column, partition: Uint8Array, order: Uint8Array): SoughtKey {
  const partitionBytes = 1 + partition.length;
  const key = Buffer.allocUnsafe(partitionBytes + order.length);
  key[0] = column.number;
  key.set(partition, 1);
  key.set(order, partitionBytes);
  return { key, partitionBytes, hash: hashOf(key, partitionBytes) };
}

/** The first possible key behind one. */
function justBehind({ partition, order }: RowKey): Buffer {
  return Buffer.concat([partition, order, Buffer.of(0)]);
}

/** A key as high as every one that the column can have. */
function lastKey(column: Column): Buffer {
  return Buffer.alloc(column.partitionBytes + column.orderBytes[1], 0xff);
}

/** The highest key of a column's shape below another, which may be the beginning of one. */
function keyBelow(column: Column, key: Buffer): Buffer {
  const below = Buffer.alloc(column.partitionBytes + column.orderBytes[1]);
  key.copy(below);
  for (let at = below.length - 1; at >= 0; at -= 1) {
    below[at] = (below[at]! - 1) & 0xff;
    if (below[at] !== 0xff) break;
  }
  return below;
}

function splitKey({ partitionBytes }: Column, key: Buffer) {
  return { partition: key.subarray(0, partitionBytes), order: key.subarray(partitionBytes) };
}

function rowOf(column: Column, { key, value }: KeyedRow): Row {
  return { order: key.subarray(column.partitionBytes), value };
}

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (!isStoredDamage(error)) throw error;
    return false;
  }
}
