/** A batch as the engine writes it: row by row, with rows of the same version in one record. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Batch, BatchOperation } from '../batch.ts';
import type { Column, OrderBounds, RowKey } from '../columns/columns.ts';
import type { LmdbColumns } from './lmdb-columns.ts';
import type { LmdbColumn } from './lmdb-reads.ts';
import { RecordChanges, type WrittenRecord } from './version-columns.ts';

/** Rows or records looked up between two turns of the event loop: a few milliseconds. */
const ROWS_PER_TURN = 2_000;

/** The order parts of the rows of a partition that are stored. */
type StoredOrders = (
  column: Column,
  partition: Uint8Array,
  bounds: OrderBounds,
) => Iterable<Buffer>;

interface DeletedRow {
  readonly database: LmdbColumn;
  readonly key: RowKey;
}

export class LmdbBatch {
  readonly #databases: LmdbColumns;
  readonly #batch: Batch;
  readonly #changes = new RecordChanges();
  /** Rows of columns that have a database of their own. */
  readonly #rows: readonly BatchOperation[];
  readonly #deleted: DeletedRow[] = [];
  #records: readonly WrittenRecord[] = [];
  #areRecordsNew = false;

  constructor(databases: LmdbColumns, batch: Batch) {
    this.#databases = databases;
    this.#batch = batch;
    const rows = [...batch.rows, ...batch.published];
    this.#rows =
      databases.records === undefined ? rows : rows.filter((row) => !this.#changes.add(row));
    for (const key of databases.records === undefined ? [] : batch.clearedVersions) {
      this.#changes.clear(key);
    }
    for (const row of databases.outdated === undefined ? [] : rows) {
      this.#deleteFrom(databases.outdated!, row.column, row);
    }
  }

  get lowestVersion(): Buffer | undefined {
    return this.#changes.lowest;
  }

  get highestVersion(): Buffer | undefined {
    return this.#changes.highest;
  }

  /** Makes everything of a batch that does not depend on what is stored: its versions come after all others. */
  prepareNew(): void {
    const records = [...this.#changes.written(() => undefined)];
    this.#records = records.sort((a, b) => Buffer.compare(a.key.partition, b.key.partition));
    this.#areRecordsNew = true;
  }

  /** Looks up what the batch changes, when all earlier commits are there. @throws RowDamagedError */
  async prepareChange(orders: StoredOrders): Promise<void> {
    const { own, outdated, records } = this.#databases;
    let count = 0;
    for (const { column, partition, isOfClearedVersion, ...bounds } of this.#batch.ranges) {
      // Their records are replaced as a whole, without being read.
      if (isOfClearedVersion && records !== undefined) continue;
      for (const order of orders(column, partition, bounds)) {
        const row = { column, partition, order, value: undefined };
        if (!this.#deleteFrom(own, column, row)) this.#changes.deleteFirst(row);
        if (outdated !== undefined) this.#deleteFrom(outdated, column, row);
        count += 1;
        if (count % ROWS_PER_TURN === 0) await nextTurn();
      }
    }
    const written: WrittenRecord[] = [];
    for (const record of this.#changes.written((key) => records!.get(key))) {
      written.push(record);
      if (written.length % ROWS_PER_TURN === 0) await nextTurn();
    }
    this.#records = written;
  }

  /** Hands everything to the engine, inside its transaction. */
  write(): void {
    for (const { database, key } of this.#deleted) database.remove(key);
    for (const { key, value } of this.#records) {
      const database = this.#databases.records!;
      if (value === undefined) database.remove(key);
      // What is appended has a promise of its own; the commit says the same.
      else database.put(key, value, { append: this.#areRecordsNew }).catch(() => undefined);
    }
    for (const row of this.#rows) {
      const database = this.#databases.own.get(row.column.number)!;
      // An operation has the parts of its key itself.
      if (row.value === undefined) database.remove(row);
      else database.put(row, row.value);
    }
  }

  /** @returns false when the column has no database there */
  #deleteFrom(
    databases: ReadonlyMap<number, LmdbColumn>,
    column: Column,
    { partition, order }: RowKey,
  ): boolean {
    const database = databases.get(column.number);
    if (database !== undefined) this.#deleted.push({ database, key: { partition, order } });
    return database !== undefined;
  }
}
