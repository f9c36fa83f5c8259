/**
 * A ledger's schema: made in one transaction, so that it is there with all tables and its format or not at all. A new
 * ledger is made in a schema of another name, which is renamed when it is complete.
 */
import { type Column, IDENTITY, STORE_FORMAT_VERSION } from '../columns/columns.ts';
import { checkFormat, FORMAT, FORMAT_KEY } from '../columns/identity-column.ts';
import { StoreError } from '../store-error.ts';
import type { PostgresConnection } from './connection.ts';
import { distributeTables, isDistributed } from './distribution.ts';
import { quotedName, statementsOf, tableDefinition, WRITER_TABLE } from './statements.ts';

/** The schema in which a new ledger is made. */
export function unfinishedSchema(schema: string): string {
  return `${schema}_unfinished`;
}

/** Whether there is a schema of this name that contains a store. */
export async function hasSchema(connection: PostgresConnection, schema: string): Promise<boolean> {
  const { name } = statementsOf(schema, IDENTITY);
  return isThere(connection, 'to_regclass', name);
}

async function isThere(
  connection: PostgresConnection,
  lookup: 'to_regclass' | 'to_regnamespace',
  name: string,
): Promise<boolean> {
  const { rows } = await connection.run(`select ${lookup}($1) is not null`, [name]);
  return rows[0]![0]![0] === 1;
}

/**
 * Whether the store in a schema is one that this program reads; false when there is none.
 * @throws StoreError `store_format_mismatch`, RowDamagedError
 */
export async function checkSchema(
  connection: PostgresConnection,
  schema: string,
  shown: string,
  isUpgrade: boolean,
): Promise<boolean> {
  if (!(await hasSchema(connection, schema))) return false;
  const { name } = statementsOf(schema, IDENTITY);
  const { rows } = await connection.run(`select p, v from ${name}`);
  const values = new Map(rows.map(([p, value]) => [p![0], value!]));
  return checkFormat(({ partition }) => values.get(partition[0]), shown, isUpgrade);
}

/**
 * Makes a schema, and the tables that are missing in it. Tables that are there are not touched: a lock on one would
 * wait for the longest read, and every other read for the lock.
 * @param distribute over the workers of Citus; a schema that exists stays as it is
 * @throws StoreError `store_foreign` when it contains something else, `store_not_distributable`
 */
export async function makeSchema(
  connection: PostgresConnection,
  schema: string,
  shown: string,
  columns: readonly Column[],
  distribute: boolean,
): Promise<void> {
  const isStore = await hasSchema(connection, schema);
  if (!isStore) await refuseOthers(connection, schema, shown);
  const present = await relationsIn(connection, schema);
  const missing = columns.filter((column) => !present.includes(statementsOf(schema, column).table));
  if (isStore && missing.length === 0) return;
  await connection.run('begin');
  try {
    if (!(await isThere(connection, 'to_regnamespace', `"${schema}"`))) {
      await connection.run(`create schema "${schema}"`);
    }
    const definitions = missing.flatMap((column) => tableDefinition(statementsOf(schema, column)));
    await Promise.all(definitions.map((definition) => connection.run(definition)));
    if (isStore ? await isDistributed(connection, schema) : distribute) {
      await distributeTables(connection, schema, shown, missing);
    }
    if (!isStore) {
      const writer = quotedName(schema, WRITER_TABLE);
      await connection.run(`create table ${writer} (term bigint not null)`);
      await connection.run(`insert into ${writer} values (0)`);
      const { name } = statementsOf(schema, IDENTITY);
      const { partition, order } = FORMAT_KEY;
      const format = FORMAT.encode(STORE_FORMAT_VERSION);
      await connection.run(`insert into ${name} values ($1, $2, $3)`, [
        Buffer.from(partition),
        Buffer.from(order),
        format,
      ]);
    }
    await connection.run('commit');
  } catch (error) {
    await connection.run('rollback').catch(() => undefined);
    throw error;
  }
}

export async function dropSchema(connection: PostgresConnection, schema: string): Promise<void> {
  await connection.run(`drop schema if exists "${schema}" cascade`);
}

/**
 * Gives a schema another name: what it contains is there from now on. An empty schema of that name makes way.
 * @throws StoreError `store_foreign` when there is another store, or something else
 */
export async function renameSchema(
  connection: PostgresConnection,
  from: string,
  to: string,
  shown: string,
): Promise<void> {
  await refuseOthers(connection, to, shown);
  await connection.run('begin');
  try {
    await connection.run(`drop schema if exists "${to}" restrict`);
    await connection.run(`alter schema "${from}" rename to "${to}"`);
    await connection.run('commit');
  } catch (error) {
    await connection.run('rollback').catch(() => undefined);
    throw error;
  }
}

/**
 * Accepts a schema that does not exist, is empty, or is an unfinished store.
 * @throws StoreError `store_foreign`
 */
export async function refuseUsed(
  connection: PostgresConnection,
  schema: string,
  shown: string,
): Promise<void> {
  await refuseOthers(connection, schema, shown);
  const unfinished = unfinishedSchema(schema);
  if (!(await hasSchema(connection, unfinished))) await refuseOthers(connection, unfinished, shown);
}

async function refuseOthers(
  connection: PostgresConnection,
  schema: string,
  shown: string,
): Promise<void> {
  const { rows } = await connection.run(
    `with s as (select to_regnamespace($1)::oid as s)
    select relname::text from pg_class, s where relnamespace = s
    union select proname::text from pg_proc, s where pronamespace = s
    union select typname::text from pg_type, s where typnamespace = s and typelem = 0 limit 3`,
    [`"${schema}"`],
  );
  if (rows.length === 0) return;
  const names = rows.map(([name]) => String(name)).join(', ');
  throw new StoreError(
    'store_foreign',
    `schema ${schema} of ${shown} holds something else (${names}): give another ?schema=NAME`,
  );
}

/** Names of the tables in a schema, and of all that is stored like one. */
async function relationsIn(connection: PostgresConnection, schema: string): Promise<string[]> {
  const { rows } = await connection.run(
    'select relname::text from pg_class where relnamespace = to_regnamespace($1)',
    [`"${schema}"`],
  );
  return rows.map(([name]) => String(name));
}
