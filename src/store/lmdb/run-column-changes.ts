/** What a batch changes in a column whose values are in the entries of sorted runs. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BatchOperation } from '../batch.ts';
import type { RowKey } from '../columns/columns.ts';
import { IN_ENTRY, OWN_ROW, type OwnRows, type RunColumn } from './run-column.ts';
import { AddedEntries } from './runs/added-entries.ts';
import { DELETED } from './runs/run-shape.ts';
import type { RunChanges, RunWriter } from './runs/run-writer.ts';

/** A row that is not in its column's first place, as a batch leaves it; without a value it is deleted. */
export interface OutsideRow {
  readonly database: OwnRows;
  readonly key: RowKey;
  readonly value: Uint8Array | undefined;
}

/** Changes of one row each, to be looked up between two turns of the event loop: a few milliseconds. */
const CHANGES_PER_TURN = 1_000;

export class RunColumnChanges {
  readonly #column: RunColumn;
  readonly #deletedFirst: BatchOperation[] = [];
  readonly #operations: BatchOperation[] = [];
  readonly #entries: AddedEntries;
  readonly outside: OutsideRow[] = [];
  #hasDeletions = false;

  constructor(column: RunColumn) {
    this.#column = column;
    this.#entries = new AddedEntries(column.runs.shape);
  }

  add(operation: BatchOperation): void {
    this.#operations.push(operation);
    if (operation.value === undefined) this.#hasDeletions = true;
  }

  /** Adds the deletion of a row that is there, before anything else. */
  deleteFirst(operation: BatchOperation): void {
    this.#deletedFirst.push(operation);
    this.#hasDeletions = true;
  }

  /**
   * Makes the rows of a commit, when all earlier ones are stored.
   * @param areNew whether no row is there yet
   */
  async prepare(writer: RunWriter, areNew: boolean): Promise<RunChanges | undefined> {
    if (areNew && !this.#hasDeletions) {
      for (const operation of this.#operations) this.#put(operation, operation.value!);
      return this.#entries.count === 0 ? undefined : writer.prepare(this.#entries);
    }
    const places = new Map<string, number | undefined>();
    let rows = 0;
    let count = 0;
    for (const operation of [...this.#deletedFirst, ...this.#operations]) {
      rows += this.#change(operation, places);
      count += 1;
      if (count % CHANGES_PER_TURN === 0) await nextTurn();
    }
    return this.#entries.count === 0 ? undefined : writer.prepare(this.#entries, rows);
  }

  /** @returns how many more rows there are */
  #change(operation: BatchOperation, places: Map<string, number | undefined>): number {
    const name = nameOf(operation);
    const { partition, order, value } = operation;
    const known = places.has(name) ? places.get(name) : this.#column.placeOf(operation);
    if (known === OWN_ROW) this.#changeOutside({ partition, order }, undefined);
    if (value !== undefined) {
      places.set(name, this.#put(operation, value));
      return known === undefined ? 1 : 0;
    }
    if (known === undefined) return 0;
    this.#entries.add(partition, order, DELETED);
    places.set(name, undefined);
    return -1;
  }

  /** @returns its place */
  #put({ partition, order }: RowKey, value: Uint8Array): number {
    const fits = value.length === this.#column.runs.shape.valueBytes;
    const place = fits ? IN_ENTRY : OWN_ROW;
    this.#entries.add(partition, order, place, fits ? value : undefined);
    if (!fits) this.#changeOutside({ partition, order }, value);
    return place;
  }

  #changeOutside(key: RowKey, value: Uint8Array | undefined): void {
    this.outside.push({ database: this.#column.own, key, value });
  }
}

/** A key as a text. */
export function nameOf({ partition, order }: RowKey): string {
  return textOf(partition) + textOf(order);
}

function textOf({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1');
}
