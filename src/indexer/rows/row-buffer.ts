/** Collects the rows of a batch of transactions, so that each row is written once. */

import { tableOf } from '../catalogue/index.ts';
import type { Table } from '../catalogue/table.ts';
import type { CopiedRows, Statement } from '../database/session.ts';
import { changeStatement, copiedLine, putStatement, type RowValues } from './row-text.ts';

/** Receives the rows and changes of processors, in the order of the chain. */
export interface RowSink {
  /** Adds a row, or sets these columns of the row with this key. */
  put(table: string, row: RowValues): void;
  /** Sets columns of the rows that have these values. */
  change(table: string, match: RowValues, set: RowValues): void;
}

interface Change {
  readonly match: RowValues;
  readonly set: RowValues;
}

interface Waiting {
  readonly rows: Map<string, Record<string, unknown>>;
  /** Changes to rows that were written before, keyed by their `match` as JSON. */
  readonly changes: Map<string, Change>;
  /** Lines for COPY, for a table that only gets new rows. */
  readonly lines: string[];
}

export class RowBuffer implements RowSink {
  readonly #tables = new Map<string, Waiting>();
  #count = 0;

  /** Number of buffered rows and changes. */
  get size(): number {
    return this.#count;
  }

  put(name: string, row: RowValues): void {
    const table = tableOf(name);
    const { rows, lines } = this.#waitingRows(name);
    if (table.hasNewRowsOnly) {
      // As text it takes less memory than as an object.
      lines.push(copiedLine(table, row));
      this.#count += 1;
      return;
    }
    const key = keyOf(table, row);
    const known = rows.get(key);
    if (known !== undefined) {
      Object.assign(known, row);
      return;
    }
    rows.set(key, { ...row });
    this.#count += 1;
  }

  change(name: string, match: RowValues, set: RowValues): void {
    const { key } = tableOf(name);
    const { rows, changes } = this.#waitingRows(name);
    const has = Object.entries(match);
    const change = (row: Record<string, unknown> | undefined): void => {
      if (row !== undefined && has.every(([column, value]) => row[column] === value)) {
        Object.assign(row, set);
      }
    };
    if (key.every((column) => column in match)) change(rows.get(keyOf(tableOf(name), match)));
    else for (const row of rows.values()) change(row);
    const text = JSON.stringify(match);
    changes.set(text, { match, set: { ...changes.get(text)?.set, ...set } });
    this.#count += 1;
  }

  #waitingRows(name: string): Waiting {
    let waiting = this.#tables.get(name);
    if (waiting === undefined) {
      waiting = { rows: new Map(), changes: new Map(), lines: [] };
      this.#tables.set(name, waiting);
    }
    return waiting;
  }

  /** The statements that write all buffered rows and changes. The buffer is empty afterwards. */
  take(): (Statement | CopiedRows)[] {
    const writes: (Statement | CopiedRows)[] = [];
    for (const [name, { rows, changes, lines }] of this.#tables) {
      const table = tableOf(name);
      // Buffered rows already contain the changes.
      const columnsOf = ({ match, set }: Change): RowValues => ({ ...match, ...set });
      for (const group of groupsOf(changes.values(), columnsOf)) {
        writes.push(changeStatement(table, group));
      }
      for (const group of groupsOf(rows.values(), (row) => row)) {
        writes.push(putStatement(table, group));
      }
      if (lines.length > 0) writes.push({ table: name, lines: lines.join('') });
    }
    this.#tables.clear();
    this.#count = 0;
    return writes;
  }
}

function keyOf({ name, key }: Table, row: RowValues): string {
  const parts = key.map((column) => {
    const part = row[column];
    if (part === undefined || part === null) throw new RangeError(`${name}: no ${column}`);
    return String(part);
  });
  return parts.join('\n');
}

/** Groups items with the same columns. */
function groupsOf<T>(items: Iterable<T>, columnsOf: (item: T) => RowValues): Iterable<T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = Object.keys(columnsOf(item)).sort().join();
    const known = groups.get(group);
    if (known === undefined) groups.set(group, [item]);
    else known.push(item);
  }
  return groups.values();
}
