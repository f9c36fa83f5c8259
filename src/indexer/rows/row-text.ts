/** Rows as PostgreSQL reads them: lines of COPY, or JSON. */
import type { Column, Table } from '../catalogue/table.ts';
import type { Statement } from '../database/session.ts';

/** Values by column. Numbers of the chain are text, because they may exceed the range in which a number is exact. */
export type RowValues = Readonly<Record<string, unknown>>;

const NULL = '\\N';
const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' },
  // PostgreSQL does not allow this character in text.
  '\0': '',
};
const ESCAPED = /[\\\n\r\t\0]/g;

/** The line of a row for COPY, including its end. The table has no generated columns. */
export function copiedLine({ name, columns }: Table, row: RowValues): string {
  let line = '';
  let used = 0;
  for (const column of columns) {
    const value = row[column.name];
    if (value !== undefined) used += 1;
    if (line !== '' || column !== columns[0]) line += '\t';
    line += value === undefined || value === null ? NULL : copiedText(column, value);
  }
  checkColumns(name, used, row);
  return `${line}\n`;
}

function copiedText({ type }: Column, value: unknown): string {
  const text = type === 'jsonb' ? jsonOf(value) : String(value);
  // Most texts have nothing to escape.
  return text.search(ESCAPED) < 0 ? text : text.replace(ESCAPED, (found) => ESCAPES[found]!);
}

/** Adds rows, or updates those whose key exists. All have the same columns. */
export function putStatement(table: Table, rows: readonly RowValues[]): Statement {
  const { name, key } = table;
  const used = columnsOf(table, rows[0]!);
  const names = used.map((column) => column.name).join(', ');
  const sets = used
    .filter((column) => !key.includes(column.name))
    .map((column) => `${column.name} = excluded.${column.name}`);
  const action = sets.length === 0 ? 'NOTHING' : `UPDATE SET ${sets.join(', ')}`;
  const text =
    `INSERT INTO ${name} (${names}) SELECT ${names} FROM ${recordset(used)} ` +
    `ON CONFLICT (${key.join(', ')}) DO ${action}`;
  return { text, parameters: [jsonOf(rows)] };
}

interface Change {
  readonly match: RowValues;
  readonly set: RowValues;
}

/** Sets columns of rows. All changes have the same columns, and no two changes match the same row. */
export function changeStatement(table: Table, changes: readonly Change[]): Statement {
  const { match, set } = changes[0]!;
  const matched = columnsOf(table, match).map(({ name }) => `${table.name}.${name} = new.${name}`);
  const sets = columnsOf(table, set).map(({ name }) => `${name} = new.${name}`);
  const used = columnsOf(table, { ...match, ...set });
  const text =
    `UPDATE ${table.name} SET ${sets.join(', ')} FROM ${recordset(used)} ` +
    `WHERE ${matched.join(' AND ')}`;
  return {
    text,
    parameters: [jsonOf(changes.map((change) => ({ ...change.match, ...change.set })))],
  };
}

function recordset(columns: readonly Column[]): string {
  const definitions = columns.map(({ name, type }) => `${name} ${type}`);
  return `json_to_recordset($1) AS new(${definitions.join(', ')})`;
}

/** @throws RangeError if the table does not have all of the columns */
function columnsOf({ name, columns }: Table, values: RowValues): readonly Column[] {
  const used = columns.filter((column) => column.name in values);
  checkColumns(name, used.length, values);
  return used;
}

function checkColumns(table: string, used: number, values: RowValues): void {
  const names = Object.keys(values);
  if (used !== names.length)
    throw new RangeError(`${table} has not all columns of ${names.join()}`);
}

/** PostgreSQL does not allow the character U+0000 in text, so it is removed. */
function jsonOf(values: unknown): string {
  const text = JSON.stringify(values);
  if (!text.includes('\\u0000')) return text;
  return JSON.stringify(values, (_, value: unknown) => {
    if (typeof value === 'string') return value.replaceAll('\0', '');
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
    // Names of members are also text from the chain.
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name.replaceAll('\0', ''), member]),
    );
  });
}
