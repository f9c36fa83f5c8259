/**
 * Tables of the catalogue with random rows. There are few different values, so that conditions and relations match
 * some.
 */
import { CATALOGUE } from '../../../src/indexer/catalogue/index.ts';
import type { SqlType, Table } from '../../../src/indexer/catalogue/table.ts';
import { openDatabase } from '../../../src/indexer/database/database.ts';
import type { Database } from '../../../src/indexer/database/session.ts';
import { creationStatements } from '../../../src/indexer/schema.ts';
import type { Random } from '../../random.ts';

/** Values are texts in PostgreSQL's format. */
export type Row = Readonly<Record<string, string | null>>;
export type Rows = ReadonlyMap<string, readonly Row[]>;

const ROWS_OF_A_TABLE = 40;

const TEXTS = [
  ...['0x1', '0xa', '0xA', '', 'Größe 😀', `'; DROP SCHEMA indexer CASCADE; --`, 'a"b\\c'],
  ...['100%', 'a_b', 'aXb', '$1', 'line\nbreak', '{"a":1}', 'active_shares'],
];
const INTEGERS = ['0', '1', '2', '3', '-1', '2147483647'];
const BIGINTS = ['0', '1', '2', '3', '-7', '9007199254740993', '9223372036854775807'];
const NUMERICS = [
  ...['0', '1', '1.50', '2', '-0.25', '18446744073709551615'],
  `1${'0'.repeat(60)}`,
];
const TIMESTAMPS = [
  ...['2026-01-01T00:00:00', '2026-01-01T00:00:00.1', '2026-01-01T00:00:00.123456'],
  ...['1970-01-01T00:00:00', '9999-12-31T23:59:59.999999'],
];
/** In PostgreSQL's output format, which `_cast` compares. */
const JSONS = [
  ...['null', '{}', '[]', '{"a": 1}', '{"a": {"b": [1, 2, "x"]}}', '{"a": null, "c": "text"}'],
  ...['[1, 2]', '"text"', '12.50', '{"a": 1, "b": true}'],
];

export const VALUES: Readonly<Record<SqlType, readonly string[]>> = {
  text: TEXTS,
  integer: INTEGERS,
  bigint: BIGINTS,
  numeric: NUMERICS,
  boolean: ['true', 'false'],
  timestamp: TIMESTAMPS,
  jsonb: JSONS,
};

/** Generated columns, computed independently of the tables' definitions in SQL. */
const GENERATED: Readonly<Record<string, (row: Row) => string | null>> = {
  amount: ({ amount_v1, amount_v2 }) => sumOf(amount_v1 ?? '0', amount_v2 ?? '0'),
  asset_type: (row) => row['asset_type_v1'] ?? row['asset_type_v2']!,
  last_transaction_timestamp: (row) =>
    greatest(
      row['last_transaction_timestamp_v1']!,
      row['last_transaction_timestamp_v2']!,
      (a) => a,
    ),
  last_transaction_version: (row) =>
    greatest(row['last_transaction_version_v1']!, row['last_transaction_version_v2']!, BigInt),
  token_standard: (row) => (row['asset_type_v1'] === null ? 'v2' : 'v1'),
};

/** Sum of decimals with at most two digits after the point. */
function sumOf(a: string, b: string): string {
  const digits = Math.max(...[a, b].map((text) => (text.split('.')[1] ?? '').length));
  const scaled = [a, b].map((text) => {
    const [whole, fraction = ''] = text.split('.');
    return BigInt(whole! + fraction.padEnd(digits, '0'));
  });
  const sum = scaled[0]! + scaled[1]!;
  const text = (sum < 0n ? -sum : sum).toString().padStart(digits + 1, '0');
  const sign = sum < 0n ? '-' : '';
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

function greatest<T>(a: string | null, b: string | null, read: (text: string) => T): string | null {
  if (a === null || b === null) return a ?? b;
  return read(a) > read(b) ? a : b;
}

export function randomRows(random: Random): Rows {
  const rows = new Map<string, readonly Row[]>();
  for (const table of CATALOGUE) {
    if (table.view === undefined) rows.set(table.name, rowsOf(table, random));
  }
  return rows;
}

function rowsOf(table: Table, random: Random): Row[] {
  const byKey = new Map<string, Row>();
  for (let count = 0; count < ROWS_OF_A_TABLE; count += 1) {
    const row: Record<string, string | null> = {};
    for (const { name, type, nullable, generated } of table.columns) {
      if (generated !== undefined) continue;
      row[name] = nullable && random.below(3) === 0 ? null : random.pick(VALUES[type]);
    }
    // A view only shows rows with this value.
    if ('pool_type' in row && random.below(2) === 0) row['pool_type'] = 'active_shares';
    // In the public indexer one of the two halves always has a type.
    if ('asset_type_v1' in row) row['asset_type_v1'] ??= row['asset_type_v2'] ?? '0xa';
    for (const { name, generated } of table.columns) {
      if (generated !== undefined) row[name] = GENERATED[name]!(row);
    }
    const key =
      table.key.length === 0 ? String(count) : JSON.stringify(table.key.map((k) => row[k]));
    byKey.set(key, row);
  }
  return [...byKey.values()];
}

/**
 * Opens tables with these rows.
 * @param location of a server; absent: an embedded PostgreSQL
 */
export async function openTables(rows: Rows, location?: string): Promise<Database> {
  const database = await openDatabase(location);
  await database.transaction([{ text: creationStatements(database.schema), parameters: [] }]);
  await fillTables(database, rows);
  return database;
}

async function fillTables(database: Database, rows: Rows): Promise<void> {
  await database.transaction(
    CATALOGUE.filter(({ name }) => (rows.get(name)?.length ?? 0) > 0).map((table) => {
      const columns = table.columns.filter(({ generated }) => generated === undefined);
      // Passed as text, because a JSON null would become NULL.
      const names = columns.map(({ name }) => name).join(', ');
      const values = columns.map(({ name, type }) => `${name}::${type}`).join(', ');
      const given = columns.map(({ name }) => `${name} text`).join(', ');
      return {
        text: `INSERT INTO ${table.name} (${names}) SELECT ${values} FROM jsonb_to_recordset($1::jsonb) AS given (${given})`,
        parameters: [JSON.stringify(rows.get(table.name)!)],
      };
    }),
  );
}
