/**
 * Reads a store in SQLite: implements everything in store.ts except the commit. All reads in one turn of the event loop
 * share a transaction, so each takes half as long and all see the same commit. A read of the head starts a new one.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  assertKeyShape,
  type Column,
  HEAD,
  type Row,
  type RowKey,
  type ScannedRow,
} from '../columns/columns.ts';
import type { StoreLayout } from '../columns/fork-columns.ts';
import { NO_ORDER } from '../columns/order-key.ts';
import {
  assertRange,
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
import { copyFrom, readReferenced } from './placed-values.ts';
import { BlockCache, type Entry } from './runs/block.ts';
import type { KeyRange } from './runs/cursors.ts';
import { SortedRuns } from './runs/sorted-runs.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import { columnStatistics } from './store-statistics.ts';
import {
  isReadable,
  isSqliteError,
  isStoredDamage,
  reasonOf,
  StoredValueError,
} from './stored-value.ts';
import { placeOf } from './version-record.ts';
import { lastKeyOf, RecordReader } from './version-records.ts';

/** A row with its whole key (partition ‖ order). */
interface KeyedRow {
  readonly key: Buffer;
  readonly value: Buffer;
}

const BLOCKS_PER_TURN = 256;

export class SqliteReads implements StoreReader {
  protected readonly where: string;
  protected readonly database: SqliteDatabase;
  readonly #layout: StoreLayout;
  readonly #runs: SortedRuns;
  readonly #records: RecordReader;
  /** The transaction of a snapshot ends when it is closed. */
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
    const place = placeOf(column.number);
    if (column === HEAD && !this.#isSnapshot) this.endRead();
    return this.#read(column, { partition, order }, () => {
      if (place !== undefined) {
        return this.#records.row(this.#runs.manifest, place, partition, order);
      }
      const key = fullKey(column, partition, order);
      const reference = this.#runs.get(key)?.value;
      return reference && readReferenced(this.database, this.#records, key, reference);
    });
  }

  getMany(column: Column, keys: readonly RowKey[]): readonly (Buffer | undefined)[] {
    return keys.map(({ partition, order }) => this.get(column, partition, order));
  }

  seekLast(column: Column, partition: Uint8Array, order: Uint8Array): Row | undefined {
    assertKeyShape(column, partition, order);
    if (placeOf(column.number) !== undefined) {
      return this.range(column, partition, { to: order, reverse: true, limit: 1 })[0];
    }
    return this.#read(column, { partition, order }, () => {
      const found = this.#runs.seekLast(fullKey(column, partition, order));
      return found && rowOf(column, this.#copyRow(found));
    });
  }

  seekLastMany(column: Column, keys: readonly RowKey[]): readonly (Row | undefined)[] {
    return keys.map(({ partition, order }) => this.seekLast(column, partition, order));
  }

  range(column: Column, partition: Uint8Array, query: RangeQuery): readonly Row[] {
    assertRange(column, partition, query);
    const { from = NO_ORDER, to = afterAllOrders(column), reverse = false, limit } = query;
    const rows: Row[] = [];
    this.#read(column, { partition, order: NO_ORDER }, () => {
      for (const row of this.#rowsBetween(column, partition, { from, to, reverse })) {
        rows.push(row);
        if (rows.length === limit) return;
      }
    });
    return rows;
  }

  *#rowsBetween(
    column: Column,
    partition: Uint8Array,
    { from, to, reverse }: KeyRange,
  ): Generator<Row> {
    if (placeOf(column.number) !== undefined) {
      const bounds = [Buffer.concat([partition, from]), Buffer.concat([partition, to])] as const;
      for (const row of this.#walk(column, ...bounds, reverse)) yield rowOf(column, row);
      return;
    }
    const bounds = { from: fullKey(column, partition, from), to: fullKey(column, partition, to) };
    const orderAt = 1 + partition.length;
    for (const { key, value } of this.#runs.walk({ ...bounds, reverse })) {
      yield { order: copyFrom(key, orderAt), value: this.#valueOf(key, value!) };
    }
  }

  rangeMany(column: Column, ranges: readonly PartitionRange[]): readonly (readonly Row[])[] {
    return ranges.map((range) => this.range(column, range.partition, range));
  }

  scan(column: Column, query: ScanQuery): readonly ScannedRow[] {
    assertScan(column, query);
    const { after, maxRows, maxBytes } = query;
    // The next possible key after a key is that key with a zero byte appended.
    const from = after && Buffer.concat([after.partition, after.order, Buffer.of(0)]);
    const rows: ScannedRow[] = [];
    this.#read(column, NO_KEY, () => {
      let bytes = 0;
      try {
        for (const row of this.#walk(column, from ?? NO_ORDER, lastKey(column), false)) {
          rows.push({ ...splitKey(column, row.key), value: row.value });
          bytes += row.key.length + row.value.length;
          if (rows.length === maxRows || bytes >= maxBytes) return;
        }
      } catch (error) {
        // Returns the rows before the damage. The next page starts with the damage and reports it.
        if (rows.length > 0 && isStoredDamage(error)) return;
        if (error instanceof StoredValueError) error.key ??= lastKeyBelow(column, error.fence);
        throw error;
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
    // Uses a snapshot: otherwise the blocks of a run that is merged meanwhile would seem to be missing.
    const database = new SqliteDatabase(this.database.path, { readOnly: true });
    const snapshot = new SqliteReads(database, this.#layout, this.where, true);
    return await snapshot.#examine(onBlocks).finally(() => snapshot.close());
  }

  async #examine(
    onBlocks: (column: Column, blocks: number) => void,
  ): Promise<readonly EngineDamage[]> {
    const damages: EngineDamage[] = [];
    const [column] = this.#layout.columns;
    const report = (detail: string, isOfPages = false): void => {
      damages.push({ column: column!, detail, isOfPages });
    };
    try {
      const found = this.database.checkPages();
      if (found !== undefined) report(found, true);
    } catch (error) {
      if (!isSqliteError(error)) throw error;
      report(reasonOf(error), true);
    }
    let examined = 0;
    for (const run of this.#read(column!, NO_KEY, () => this.#runs.runs)) {
      if (!isReadable(() => run.storedIndex())) {
        report(`the index of run ${run.facts.number} is damaged`);
      }
      for (let at = 0; at < run.facts.blocks; at += 1) {
        if (!isReadable(() => run.block(at))) {
          report(`block ${at} of run ${run.facts.number} is damaged`);
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

  /** Ends the transaction, so that the next read sees newer commits. */
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
    // Until the refresh succeeds, no read may use the older commit.
    this.#seenVersion = -1;
    try {
      this.#runs.refresh();
    } catch (error) {
      this.#runs.reset();
      // Every read must fail for as long as the refresh fails.
      this.endRead();
      throw error;
    }
    this.#seenVersion = version;
  }

  *#walk(column: Column, from: Uint8Array, to: Uint8Array, reverse: boolean): Generator<KeyedRow> {
    const place = placeOf(column.number);
    if (place !== undefined) {
      yield* this.#records.rows(this.#runs.manifest, { place, from, to, reverse });
      return;
    }
    const number = Buffer.of(column.number);
    const bounds = { from: Buffer.concat([number, from]), to: Buffer.concat([number, to]) };
    for (const entry of this.#runs.walk({ ...bounds, reverse })) yield this.#copyRow(entry);
  }

  /** Copies the key and the value, because entries of the log stay in memory. */
  #copyRow({ key, value }: Entry): KeyedRow {
    return { key: copyFrom(key, 1), value: this.#valueOf(key, value!) };
  }

  #valueOf(key: Buffer, reference: Buffer): Buffer {
    try {
      return readReferenced(this.database, this.#records, key, reference);
    } catch (error) {
      if (error instanceof StoredValueError) error.key = key;
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
      const row = damagedRow(column, error) ?? key;
      return new RowDamagedError(column, row, error.message, { cause: error });
    }
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
}

const NO_KEY: RowKey = { partition: NO_ORDER, order: NO_ORDER };

function fullKey({ number }: Column, partition: Uint8Array, order: Uint8Array): Buffer {
  const key = Buffer.allocUnsafe(1 + partition.length + order.length);
  key[0] = number;
  key.set(partition, 1);
  key.set(order, 1 + partition.length);
  return key;
}

function lastKey(column: Column): Buffer {
  return Buffer.alloc(column.partitionBytes + column.orderBytes[1], 0xff);
}

/** The damaged row, or the last row that may be damaged; `undefined` if neither is known. */
function damagedRow(column: Column, { version, key }: StoredValueError): RowKey | undefined {
  if (version !== undefined) return splitKey(column, lastKeyOf(placeOf(column.number)!, version));
  return key && splitKey(column, key.subarray(1));
}

/** The highest key of a column (with the column's number) below a fence. A fence may be only a prefix of a key. */
function lastKeyBelow(column: Column, fence: Buffer | undefined): Buffer {
  const last = Buffer.concat([Buffer.of(column.number), lastKey(column)]);
  if (fence?.[0] !== column.number) return last;
  fence.copy(last.fill(0));
  for (let at = last.length - 1; at >= 0; at -= 1) {
    last[at] = (last[at]! - 1) & 0xff;
    if (last[at] !== 0xff) break;
  }
  return last;
}

function splitKey({ partitionBytes }: Column, key: Buffer) {
  return { partition: key.subarray(0, partitionBytes), order: key.subarray(partitionBytes) };
}

function rowOf(column: Column, { key, value }: KeyedRow): Row {
  return { order: key.subarray(column.partitionBytes), value };
}
