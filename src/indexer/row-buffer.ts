/** Rows that a batch of transactions gives, gathered so that each row is written once. */

import { tableOf } from './catalogue/index.ts';
import type { Column, Table } from './catalogue/table.ts';
import type { Statement } from './database/session.ts';

/** By column. Numbers of the chain are text, since they may be larger than a number is exact. */
export type RowValues = Readonly<Record<string, unknown>>;

/** What processors do to tables; a later row of the same key wins. */
export interface RowSink {
  /** Adds a row, or sets these columns of the row with this key. */
  put(table: string, row: RowValues): void;
  /** Sets columns of the row with this key, if there is one. */
  change(table: string, row: RowValues): void;
}

interface Entry {
  values: Record<string, unknown>;
  /** Whether the row is only changed where it is there. */
  isChange: boolean;
}

export class RowBuffer implements RowSink {
  readonly #tables = new Map<Table, Map<string, Entry>>();
  #count = 0;

  /** Rows that wait. */
  get size(): number {
    return this.#count;
  }

  put(table: string, row: RowValues): void {
    this.#add(table, row, false);
  }

  change(table: string, row: RowValues): void {
    this.#add(table, row, true);
  }

  #add(name: string, row: RowValues, isChange: boolean): void {
    const table = tableOf(name);
    let rows = this.#tables.get(table);
    if (rows === undefined) {
      rows = new Map();
      this.#tables.set(table, rows);
    }
    const key = keyOf(table, row);
    const known = rows.get(key);
    if (known === undefined) {
      rows.set(key, { values: { ...row }, isChange });
      this.#count += 1;
      return;
    }
    Object.assign(known.values, row);
    known.isChange &&= isChange;
  }

  /** The statements that write what waits, which then waits no more. */
  take(): Statement[] {
    const statements: Statement[] = [];
    for (const [table, rows] of this.#tables) {
      for (const [, entries] of groupsOf([...rows.values()])) {
        statements.push(statementOf(table, entries));
      }
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

/** Entries that set the same columns in the same way. */
function groupsOf(entries: readonly Entry[]): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    const group = `${entry.isChange} ${Object.keys(entry.values).sort().join()}`;
    const known = groups.get(group);
    if (known === undefined) groups.set(group, [entry]);
    else known.push(entry);
  }
  return groups;
}

function statementOf({ name, key, columns }: Table, entries: readonly Entry[]): Statement {
  const [{ values, isChange }] = entries as [Entry];
  const used = columns.filter((column) => column.name in values);
  if (used.length !== Object.keys(values).length) {
    throw new RangeError(`${name} has not all columns of ${Object.keys(values)}`);
  }
  const names = used.map((column) => column.name);
  const others = names.filter((column) => !key.includes(column));
  const read = `json_to_recordset($1) AS new(${used.map(definition).join(', ')})`;
  const parameters = [jsonOf(entries.map((entry) => entry.values))];
  if (isChange) {
    const sets = others.map((column) => `${column} = new.${column}`).join(', ');
    const match = key.map((column) => `${name}.${column} = new.${column}`).join(' AND ');
    return { text: `UPDATE ${name} SET ${sets} FROM ${read} WHERE ${match}`, parameters };
  }
  const sets = others.map((column) => `${column} = excluded.${column}`).join(', ');
  const action = others.length === 0 ? 'NOTHING' : `UPDATE SET ${sets}`;
  const text =
    `INSERT INTO ${name} (${names.join(', ')}) SELECT ${names.join(', ')} FROM ${read} ` +
    `ON CONFLICT (${key.join(', ')}) DO ${action}`;
  return { text, parameters };
}

function definition({ name, type }: Column): string {
  return `${name} ${type}`;
}

/** PostgreSQL has no text with a character of number 0: it is left out. */
function jsonOf(rows: readonly Record<string, unknown>[]): string {
  const text = JSON.stringify(rows);
  if (!text.includes('\\u0000')) return text;
  return JSON.stringify(rows, (_, value: unknown) => {
    if (typeof value === 'string') return value.replaceAll('\0', '');
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
    // Names of members that are text of the chain, too.
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name.replaceAll('\0', ''), member]),
    );
  });
}
