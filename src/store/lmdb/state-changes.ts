/** What a batch changes in state: values in records or in rows of their own, and the entries that name them. */
import type { BatchOperation } from '../batch.ts';
import type { RowKey } from '../columns/columns.ts';
import { OWN_ROW } from './run-column.ts';
import { nameOf, type OutsideRow } from './run-column-changes.ts';
import { AddedEntries } from './runs/added-entries.ts';
import { DELETED } from './runs/run-shape.ts';
import { APART, apartKey, type StateColumn } from './state-column.ts';
import type { RecordChanges } from './version-columns.ts';

interface StateBatch {
  readonly areNew: boolean;
  readonly hasDeletions: boolean;
  readonly isUpgrade: boolean;
}

export class StateChanges {
  readonly #column: StateColumn;
  readonly #changes: RecordChanges;
  readonly #areNew: boolean;
  /** Whether rows are only put, and none is there: then nobody has to know what the batch has changed. */
  readonly #areOnlyAdded: boolean;
  readonly #isUpgrade: boolean;
  /** Where the rows are that this batch has changed, by key; `undefined`: deleted. */
  readonly #places = new Map<string, number | undefined>();
  readonly entries: AddedEntries;
  readonly outside: OutsideRow[] = [];
  /** How many more rows there are; `undefined`: one for each key of the entries. */
  rows: number | undefined;

  /**
   * @param areNew whether nothing that is stored has a version of the batch
   * @param hasDeletions whether the batch deletes rows
   */
  constructor(
    column: StateColumn,
    changes: RecordChanges,
    { areNew, hasDeletions, isUpgrade }: StateBatch,
  ) {
    this.#column = column;
    this.entries = new AddedEntries(column.runs.shape);
    this.#changes = changes;
    this.#areNew = areNew;
    this.#areOnlyAdded = areNew && !hasDeletions;
    this.rows = this.#areOnlyAdded ? undefined : 0;
    this.#isUpgrade = isUpgrade;
  }

  /** Deletes a row before anything else is done. */
  deleteFirst(key: RowKey): void {
    const place = this.#column.placeOf(key);
    if (place === undefined) return;
    if (place >= APART) this.#changeOutside(key, place, undefined);
    else this.#changes.deleteStateFirst(key.order, place);
    this.#name(key, nameOf(key), DELETED);
  }

  add(operation: BatchOperation): void {
    const { partition, order, value } = operation;
    if (this.#areOnlyAdded) {
      this.entries.add(partition, order, this.#putNew(operation, value!));
      return;
    }
    const name = nameOf(operation);
    const known = this.#placeOf(operation, name);
    if (known === undefined) {
      if (value !== undefined) this.#name(operation, name, this.#putNew(operation, value));
      return;
    }
    if (known >= APART) this.#changeOutside({ partition, order }, known, value);
    else this.#changes.changeState(order, known, value);
    if (value === undefined) this.#name(operation, name, DELETED);
  }

  #placeOf(key: RowKey, name: string): number | undefined {
    if (this.#areNew || this.#places.has(name)) return this.#places.get(name);
    return this.#column.placeOf(key);
  }

  /** @returns the place of a row that is not there yet */
  #putNew({ partition, order }: RowKey, value: Uint8Array): number {
    const key = { partition, order };
    // Places of versions that may be stored are taken, also where the record that had them is lost.
    if (this.#areNew) {
      const added = this.#changes.addState(order, value);
      if (added?.isInRecord === true) return added.index;
      if (added !== undefined) {
        this.#changeOutside(key, APART + added.index, value);
        return APART + added.index;
      }
    }
    // A row of format 6 is there already, and only the index lacks it.
    if (!this.#isUpgrade || this.#column.own.get(key)?.equals(value) !== true) {
      this.#changeOutside(key, OWN_ROW, value);
    }
    return OWN_ROW;
  }

  #changeOutside(key: RowKey, place: number, value: Uint8Array | undefined): void {
    const { own, apart } = this.#column;
    const row =
      place === OWN_ROW
        ? { database: own, key }
        : { database: apart, key: apartKey(key.order, place) };
    this.outside.push({ ...row, value });
  }

  #name({ partition, order }: RowKey, name: string, place: number): void {
    this.entries.add(partition, order, place);
    this.rows = this.rows! + (place === DELETED ? -1 : 1);
    this.#places.set(name, place === DELETED ? undefined : place);
  }
}
