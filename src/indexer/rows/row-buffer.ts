/** Rows that a batch of transactions gives, gathered so that each row is written once. */

import { tableOf } from '../catalogue/index.ts';
import type { Column, Table } from '../catalogue/table.ts';
import type { Statement } from '../database/session.ts';

/** By column. Numbers of the chain are text, since they may be larger than a number is exact. */
type RowValues = Readonly<Record<string, unknown>>;

/** What processors do to tables, in the order of the chain. */
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
  /** Of rows that were written before. */
  readonly changes: Change[];
}

export class RowBuffer implements RowSink {
  readonly #tables = new Map<Table, Waiting>();
  #count = 0;

  /** Rows and changes that wait. */
  get size(): number {
    return this.#count;
  }

  put(name: string, row: RowValues): void {
    const table = tableOf(name);
    const { rows } = this.#of(table);
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
    const table = tableOf(name);
    const { rows, changes } = this.#of(table);
    const has = Object.entries(match);
    const change = (row: Record<string, unknown> | undefined): void => {
      if (row !== undefined && has.every(([column, value]) => row[column] === value)) {
        Object.assign(row, set);
      }
    };
    if (table.key.every((column) => column in match)) change(rows.get(keyOf(table, match)));
    else for (const row of rows.values()) change(row);
    changes.push({ match, set });
    this.#count += 1;
  }

  #of(table: Table): Waiting {
    let waiting = this.#tables.get(table);
    if (waiting === undefined) {
      waiting = { rows: new Map(), changes: [] };
      this.#tables.set(table, waiting);
    }
    return waiting;
  }

  /** The statements that write what waits, which then waits no more. */
  take(): Statement[] {
    const statements: Statement[] = [];
    for (const [table, { rows, changes }] of this.#tables) {
      // Rows that wait are changed already.
      for (const change of changes) statements.push(changeStatement(table, change));
      for (const group of groupsOf([...rows.values()])) statements.push(putStatement(table, group));
    }
    this.#tables.clear();
    this.#count = 0;
    return statements;
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

/** Rows with the same columns. */
function groupsOf(rows: readonly RowValues[]): Iterable<RowValues[]> {
  const groups = new Map<string, RowValues[]>();
  for (const row of rows) {
    const group = Object.keys(row).sort().join();
    const known = groups.get(group);
    if (known === undefined) groups.set(group, [row]);
    else known.push(row);
  }
  return groups.values();
}

function putStatement(table: Table, rows: readonly RowValues[]): Statement {
  const { name, key } = table;
  const used = columnsOf(table, rows[0]!);
  const names = used.map((column) => column.name).join(', ');
  const sets = used
    .filter((column) => !key.includes(column.name))
    .map((column) => `${column.name} = excluded.${column.name}`);
  const action = sets.length === 0 ? 'NOTHING' : `UPDATE SET ${sets.join(', ')}`;
  const text =
    `INSERT INTO ${name} (${names}) ` +
    `SELECT ${names} FROM json_to_recordset($1) AS new(${used.map(definition).join(', ')}) ` +
    `ON CONFLICT (${key.join(', ')}) DO ${action}`;
  return { text, parameters: [jsonOf(rows)] };
}

function changeStatement(table: Table, { match, set }: Change): Statement {
  const matched = columnsOf(table, match).map(({ name }) => `${table.name}.${name} = old.${name}`);
  const sets = columnsOf(table, set).map(({ name }) => `${name} = new.${name}`);
  const read = (values: RowValues, parameter: string, name: string): string =>
    `json_to_record(${parameter}) AS ${name}(${columnsOf(table, values).map(definition).join(', ')})`;
  const text =
    `UPDATE ${table.name} SET ${sets.join(', ')} ` +
    `FROM ${read(match, '$1', 'old')}, ${read(set, '$2', 'new')} WHERE ${matched.join(' AND ')}`;
  return { text, parameters: [jsonOf(match), jsonOf(set)] };
}

/** @throws RangeError where the table has not all of the columns */
function columnsOf({ name, columns }: Table, values: RowValues): readonly Column[] {
  const used = columns.filter((column) => column.name in values);
  if (used.length === Object.keys(values).length) return used;
  throw new RangeError(`${name} has not all columns of ${Object.keys(values).join()}`);
}

function definition({ name, type }: Column): string {
  return `${name} ${type}`;
}

/** PostgreSQL has no text with a character of number 0: it is left out. */
function jsonOf(values: RowValues | readonly RowValues[]): string {
  const text = JSON.stringify(values);
  if (!text.includes('\\u0000')) return text;
  return JSON.stringify(values, (_, value: unknown) => {
    if (typeof value === 'string') return value.replaceAll('\0', '');
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
    // Names of members that are text of the chain, too.
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name.replaceAll('\0', ''), member]),
    );
  });
}
