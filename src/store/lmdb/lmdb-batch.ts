/** A batch as the engine writes it: row by row, with rows of the same version in one record. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Batch, BatchOperation } from '../batch.ts';
import { type Column, type OrderBounds, type RowKey, STATE } from '../columns/columns.ts';
import type { LmdbColumns } from './lmdb-columns.ts';
import type { LmdbColumn } from './lmdb-reads.ts';
import { NewVersions } from './new-versions.ts';
import { RunColumnChanges } from './run-column-changes.ts';
import { type RunChanges, type RunWriter, writeRuns } from './runs/run-writer.ts';
import { StateChanges } from './state-changes.ts';
import { RecordChanges, type WrittenRecord } from './version-columns.ts';

/** Rows or records looked up or made between two turns of the event loop: a few milliseconds. */
const ROWS_PER_TURN = 1_000;

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

/** The versions that a batch changes; `undefined`: it changes none. */
export interface VersionSpan {
  readonly lowestVersion: Uint8Array | undefined;
  readonly highestVersion: Uint8Array | undefined;
}

/**
 * A batch to be written, and whether it may change what is stored.
 * @param mayBeStored notes these versions as stored; whether some of them may be there already
 */
export function writtenBatch(
  databases: LmdbColumns,
  batch: Batch,
  mayBeStored: (versions: VersionSpan) => boolean,
): { readonly written: LmdbBatch; readonly changesStored: boolean } {
  const made = batch.taker instanceof NewVersions ? batch.taker : undefined;
  made?.finish();
  if (made !== undefined && !made.isClosed && !mayBeStored(made)) {
    return { written: new LmdbBatch(databases, batch, made), changesStored: false };
  }
  const written = new LmdbBatch(databases, batch, made === undefined ? [] : [...made.rows()]);
  // Asked for each batch: the answer for later ones depends on it.
  const areStored = mayBeStored(written);
  return { written, changesStored: areStored || batch.ranges.length > 0 };
}

export class LmdbBatch implements VersionSpan {
  readonly #databases: LmdbColumns;
  readonly #batch: Batch;
  /** Has all rows of its columns, ready to be stored. */
  readonly #made: NewVersions | undefined;
  readonly #changes = new RecordChanges();
  /** Rows of columns that have a database of their own. */
  readonly #rows: readonly BatchOperation[];
  readonly #deleted: DeletedRow[] = [];
  /** Rows of state, where it has an index. */
  readonly #stateRows: readonly BatchOperation[];
  #state: StateChanges | undefined;
  /** What changes in other columns of sorted runs, by number. */
  readonly #indexed = new Map<number, RunColumnChanges>();
  readonly #runChanges: RunChanges[] = [];
  #records: readonly WrittenRecord[] = [];
  /** Whether records, and rows of state apart from them, come after all that are stored. */
  #areNew = false;
  lowestVersion: Uint8Array | undefined;
  highestVersion: Uint8Array | undefined;

  /** @param taken rows that the batch does not have, or what has been made of them */
  constructor(
    databases: LmdbColumns,
    batch: Batch,
    taken: readonly BatchOperation[] | NewVersions,
  ) {
    this.#databases = databases;
    this.#batch = batch;
    this.#made = 'records' in taken ? taken : undefined;
    const rows = [...('records' in taken ? [] : taken), ...batch.rows, ...batch.published];
    if (this.#made !== undefined) {
      this.lowestVersion = this.#made.lowestVersion;
      this.highestVersion = this.#made.highestVersion;
      this.#stateRows = [];
      this.#rows = rows;
      return;
    }
    const hasState = databases.state !== undefined;
    this.#stateRows = hasState ? rows.filter(({ column }) => column === STATE) : [];
    const others = hasState ? rows.filter(({ column }) => column !== STATE) : rows;
    const ownRows =
      databases.records === undefined ? others : others.filter((row) => !this.#changes.add(row));
    for (const [number, column] of databases.indexed ?? []) {
      this.#indexed.set(number, new RunColumnChanges(column));
    }
    this.#rows = ownRows.filter((row) => !this.#addIndexed(row));
    for (const key of databases.records === undefined ? [] : batch.clearedVersions) {
      this.#changes.clear(key);
    }
    for (const row of databases.outdated === undefined ? [] : rows) {
      this.#deleteFrom(databases.outdated!, row.column, row);
    }
    this.lowestVersion = this.#changes.lowest;
    this.highestVersion = this.#changes.highest;
    let last: Uint8Array | undefined;
    for (const { order } of this.#stateRows) {
      // Writers give all rows of a version one and the same.
      if (order !== last) this.#widen(order);
      last = order;
    }
  }

  /** @returns false when the column has no sorted runs, or is state */
  #addIndexed(operation: BatchOperation): boolean {
    const changes = this.#indexed.get(operation.column.number);
    changes?.add(operation);
    return changes !== undefined;
  }

  #widen(version: Uint8Array): void {
    const { lowestVersion: lowest, highestVersion: highest } = this;
    if (lowest === undefined || Buffer.compare(version, lowest) < 0) this.lowestVersion = version;
    if (highest === undefined || Buffer.compare(version, highest) > 0) {
      this.highestVersion = version;
    }
  }

  /** Makes everything of a batch that does not depend on what is stored: its versions come after all others. */
  async prepareNew(): Promise<void> {
    this.#areNew = true;
    if (this.#made !== undefined) {
      this.#records = this.#made.records;
      return;
    }
    await this.#changeState(true, []);
    const records = await this.#written(() => undefined);
    this.#records = records.sort((a, b) => Buffer.compare(a.key.partition, b.key.partition));
    this.#state?.outside.sort((a, b) => compareKeys(a.key, b.key));
  }

  /** Looks up what the batch changes, when all earlier commits are there. @throws RowDamagedError */
  async prepareChange(orders: StoredOrders): Promise<void> {
    const { own, outdated, records, state } = this.#databases;
    const deletedState: RowKey[] = [];
    let count = 0;
    for (const { column, partition, isOfClearedVersion, ...bounds } of this.#batch.ranges) {
      // Their records are replaced as a whole, without being read.
      if (isOfClearedVersion && records !== undefined) continue;
      for (const order of orders(column, partition, bounds)) {
        const row = { column, partition, order, value: undefined };
        if (column === STATE && state !== undefined) deletedState.push(row);
        else if (this.#indexed.has(column.number))
          this.#indexed.get(column.number)!.deleteFirst(row);
        else if (!this.#deleteFrom(own, column, row)) this.#changes.deleteFirst(row);
        if (outdated !== undefined) this.#deleteFrom(outdated, column, row);
        count += 1;
        if (count % ROWS_PER_TURN === 0) await nextTurn();
      }
    }
    await this.#changeState(false, deletedState);
    this.#records = await this.#written((key) => records!.get(key));
  }

  /**
   * Makes the rows of sorted runs, when all earlier commits are there.
   * @param writers by the number of the column
   */
  async prepareRuns(writers: ReadonlyMap<number, RunWriter>): Promise<void> {
    for (const [number, entries] of this.#made?.entries ?? []) {
      if (entries.count === 0) continue;
      this.#runChanges.push(await writers.get(number)!.prepare(entries));
    }
    if (this.#state !== undefined && this.#state.entries.count > 0) {
      const { entries, rows } = this.#state;
      this.#runChanges.push(await writers.get(STATE.number)!.prepare(entries, rows));
    }
    // Rows of these columns belong to versions: what a batch of new versions puts is not there yet.
    const areNew = this.#areNew && this.lowestVersion !== undefined;
    for (const [number, changes] of this.#indexed) {
      const made = await changes.prepare(writers.get(number)!, areNew);
      if (made !== undefined) this.#runChanges.push(made);
    }
  }

  async #changeState(areNew: boolean, deletedFirst: readonly RowKey[]): Promise<void> {
    const { state } = this.#databases;
    if (state === undefined) return;
    const isUpgrade = this.#databases.outdated !== undefined;
    const hasDeletions =
      deletedFirst.length > 0 || this.#stateRows.some(({ value }) => value === undefined);
    const facts = { areNew, hasDeletions, isUpgrade };
    const changes = new StateChanges(state, this.#changes, facts);
    this.#state = changes;
    let count = 0;
    for (const key of deletedFirst) {
      changes.deleteFirst(key);
      count += 1;
      if (count % ROWS_PER_TURN === 0) await nextTurn();
    }
    for (const row of this.#stateRows) {
      changes.add(row);
      count += 1;
      if (count % ROWS_PER_TURN === 0) await nextTurn();
    }
  }

  async #written(stored: (key: RowKey) => Buffer | undefined): Promise<WrittenRecord[]> {
    const written: WrittenRecord[] = [];
    for (const record of this.#changes.written(stored)) {
      written.push(record);
      if (written.length % ROWS_PER_TURN === 0) await nextTurn();
    }
    return written;
  }

  /** Hands everything to the engine, inside its transaction. */
  write(): void {
    for (const { database, key } of this.#deleted) database.remove(key);
    this.#writeState();
    for (const { key, value } of this.#records) {
      const database = this.#databases.records!;
      if (value === undefined) database.remove(key);
      // What is appended has a promise of its own; the commit says the same.
      else database.put(key, value, { append: this.#areNew }).catch(() => undefined);
    }
    for (const row of this.#rows) {
      const database = this.#databases.own.get(row.column.number)!;
      // An operation has the parts of its key itself.
      if (row.value === undefined) database.remove(row);
      else database.put(row, row.value);
    }
  }

  #writeState(): void {
    const { state } = this.#databases;
    if (state === undefined) return;
    const outside = [...this.#indexed.values()].flatMap((changes) => changes.outside);
    outside.push(...(this.#state?.outside ?? []), ...(this.#made?.outside ?? []));
    for (const { database, key, value } of outside) {
      const append = this.#areNew && database === state.apart;
      if (value === undefined) database.remove(key);
      else database.put(key, value, { append }).catch(() => undefined);
    }
    for (const changes of this.#runChanges) writeRuns(state.runs.database, changes);
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

function compareKeys(a: RowKey, b: RowKey): number {
  return Buffer.compare(a.partition, b.partition) || Buffer.compare(a.order, b.order);
}
