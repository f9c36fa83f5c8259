/**
 * The schema of a ledger. It is created in one transaction, so it exists with all tables and its format or not at all.
 * A new ledger is built in a separate schema, whose comment names the target schema. When it is complete, one
 * transaction removes the comment and renames the schema. A schema without such a comment is removed only if it is
 * empty, or has a store without a head and nothing else.
 */
import { randomBytes } from 'node:crypto';
import { COLUMNS, HEAD, IDENTITY, STORE_FORMAT_VERSION } from '../columns/columns.ts';
import { checkFormat, FORMAT, FORMAT_KEY } from '../columns/identity-column.ts';
import { isStoreError, StoreError } from '../store-error.ts';
import { isTrue, type PostgresConnection } from './connection.ts';
import { distributeTables, isDistributed, STAGED_TABLE, stagedName } from './distribution.ts';
import { MAX_SCHEMA_CHARACTERS } from './location.ts';
import { quotedName, statementsOf, tableDefinition, WRITER_TABLE } from './statements.ts';

/** The comment on a schema in which a ledger is being built. The name of the target schema follows. */
const UNFINISHED_COMMENT = 'daybook: a ledger in the making for ';
/** The names of the store in a schema: its tables, their indexes, and the shards that Citus creates for both. */
const OWN_NAMES = new RegExp(
  `^(?:${[...COLUMNS.map((column) => statementsOf('', column).table), WRITER_TABLE, STAGED_TABLE].join('|')})` +
    '(?:_pkey)?(?:_\\d+)?$',
);

/** Whether a schema of this name contains a complete store. */
export async function hasSchema(connection: PostgresConnection, schema: string): Promise<boolean> {
  const { name } = statementsOf(schema, IDENTITY);
  const { rows } = await connection.run(
    'select to_regclass($1) is not null and ' +
      `obj_description(to_regnamespace($2)::oid, 'pg_namespace') like '${UNFINISHED_COMMENT}%' is not true`,
    [name, `"${schema}"`],
  );
  return isTrue(rows[0]![0]);
}

/**
 * Checks that this program can read the store in a schema. @returns false when the schema has no store
 * @throws StoreError `store_format_mismatch`, RowDamagedError
 */
export async function checkSchema(
  connection: PostgresConnection,
  schema: string,
  displayName: string,
): Promise<boolean> {
  return (
    (await hasSchema(connection, schema)) && (await checkTables(connection, schema, displayName))
  );
}

async function checkTables(
  connection: PostgresConnection,
  schema: string,
  displayName: string,
): Promise<boolean> {
  const { name } = statementsOf(schema, IDENTITY);
  const { rows } = await connection.run(`select p, v from ${name}`);
  const values = new Map(rows.map(([p, value]) => [p![0], value!]));
  return checkFormat(({ partition }) => values.get(partition[0]), displayName);
}

interface MakeSchemaOptions {
  /** The schema that it replaces when it is complete. Absent: it is complete at once. */
  readonly target?: string;
  readonly distribute?: boolean;
}

/**
 * Creates the schema of a store. An empty schema may exist already.
 * @throws StoreError `store_foreign` when it contains something else, `store_not_distributable`
 */
export async function makeSchema(
  connection: PostgresConnection,
  schema: string,
  displayName: string,
  { target, distribute = false }: MakeSchemaOptions = {},
): Promise<void> {
  await assertNothingElse(connection, schema, displayName);
  await inTransaction(connection, async () => {
    // Creating a schema needs a privilege that a writer may lack if its schema exists already.
    const { rows } = await connection.run('select to_regnamespace($1)::text', [`"${schema}"`]);
    if (rows[0]![0] === null) await connection.run(`create schema "${schema}"`);
    if (target !== undefined) {
      await connection.run(`comment on schema "${schema}" is '${UNFINISHED_COMMENT}${target}'`);
    }
    const definitions = COLUMNS.flatMap((column) => tableDefinition(statementsOf(schema, column)));
    await Promise.all(definitions.map((definition) => connection.run(definition)));
    if (distribute) await distributeTables(connection, schema, displayName);
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
  });
}

export function newSchemaName(target: string): string {
  const ending = `_new_${randomBytes(8).toString('hex')}`;
  return target.slice(0, MAX_SCHEMA_CHARACTERS - ending.length) + ending;
}

/** Schemas with an unfinished ledger for a target schema. */
export async function unfinishedSchemas(
  connection: PostgresConnection,
  target: string,
): Promise<readonly string[]> {
  const { rows } = await connection.run(
    "select nspname::text from pg_namespace where obj_description(oid, 'pg_namespace') = $1",
    [UNFINISHED_COMMENT + target],
  );
  return rows.map(([name]) => String(name));
}

/** The first unfinished schema that this program can read. @throws StoreError when that cannot be determined */
export async function resumableSchema(
  connection: PostgresConnection,
  unfinished: readonly string[],
  displayName: string,
): Promise<string | undefined> {
  for (const schema of unfinished) {
    try {
      if (await checkTables(connection, schema, displayName)) return schema;
    } catch (error) {
      const isOther =
        isStoreError(error, 'store_format_mismatch') || isStoreError(error, 'row_damaged');
      if (!isOther) throw error;
    }
  }
  return undefined;
}

export async function dropSchema(connection: PostgresConnection, schema: string): Promise<void> {
  await connection.run(`drop schema if exists "${schema}" cascade`);
}

/** Renames the schema of a complete ledger to its target. @throws StoreError as `removeUnusedSchema` */
export async function publishSchema(
  connection: PostgresConnection,
  schema: string,
  target: string,
  displayName: string,
): Promise<void> {
  await inTransaction(connection, async () => {
    await removeUnusedSchema(connection, target, displayName);
    await connection.run(`comment on schema "${schema}" is null`);
    await connection.run(`alter schema "${schema}" rename to "${target}"`);
  });
}

/**
 * Removes a schema that is empty, or contains a store without a head and nothing else.
 * @throws StoreError `store_exists`, `store_foreign`, `store_format_mismatch`, RowDamagedError
 */
export async function removeUnusedSchema(
  connection: PostgresConnection,
  schema: string,
  displayName: string,
): Promise<void> {
  const isStore = await checkSchema(connection, schema, displayName);
  if (isStore && (await hasHead(connection, schema))) {
    throw new StoreError('store_exists', `${displayName} holds a ledger already`);
  }
  await assertNothingElse(connection, schema, displayName, isStore);
  await dropSchema(connection, schema);
}

async function hasHead(connection: PostgresConnection, schema: string): Promise<boolean> {
  const heads = [`select from ${statementsOf(schema, HEAD).name}`];
  if (await isDistributed(connection, schema)) {
    heads.push(`select from ${stagedName(schema)} where c = ${HEAD.number}`);
  }
  const { rows } = await connection.run(`select exists (${heads.join(' union all ')})`);
  return isTrue(rows[0]![0]);
}

/** @param isStore whether the schema has a store, beside which it may have nothing else */
async function assertNothingElse(
  connection: PostgresConnection,
  schema: string,
  displayName: string,
  isStore = false,
): Promise<void> {
  const { rows } = await connection.run(
    `with s as (select to_regnamespace($1)::oid as s)
    select relname::text from pg_class, s where relnamespace = s
    union select proname::text from pg_proc, s where pronamespace = s
    union select typname::text from pg_type, s where typnamespace = s and typelem = 0`,
    [`"${schema}"`],
  );
  const names = rows.map(([name]) => String(name));
  const others = isStore ? names.filter((name) => !OWN_NAMES.test(name)) : names;
  if (others.length === 0) return;
  throw new StoreError(
    'store_foreign',
    `schema ${schema} of ${displayName} holds something else (${others.slice(0, 3).join(', ')}): give another ?schema=NAME`,
  );
}

async function inTransaction(
  connection: PostgresConnection,
  work: () => Promise<void>,
): Promise<void> {
  await connection.run('begin');
  try {
    await work();
    await connection.run('commit');
  } catch (error) {
    await connection.run('rollback').catch(() => undefined);
    throw error;
  }
}
