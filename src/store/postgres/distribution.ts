/**
 * A ledger on Citus. Tables are distributed over the workers by the partition of a row's key; tables with few rows stay
 * on the coordinator.
 *
 * Citus commits in two phases: the coordinator first, each worker a moment later, or minutes later if it has just
 * failed. So a row that must become visible last is not written with the others. It is staged with them, and moved to
 * its table when no worker has a part of a commit that it does not show yet.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { COLUMNS, type Column, EPOCHS, HEAD, IDENTITY, PRUNING } from '../columns/columns.ts';
import { StoreError } from '../store-error.ts';
import { isTrue, type PostgresConnection, type Statement } from './connection.ts';
import {
  type ColumnStatements,
  countOf,
  quotedName,
  statementsOf,
  WRITER_TABLE,
} from './statements.ts';

/** Columns of a few rows, which most reads need. On the coordinator they take no round trip to a worker. */
const LOCAL: readonly Column[] = [IDENTITY, HEAD, EPOCHS, PRUNING];
/** How long a commit waits for the workers, in milliseconds. */
const SETTLE_LIMIT_MS = 5_000;
const SETTLE_REST_MS = 50;

/** A pattern for SQL's `like` that matches the prepared transactions of any session. */
const ANY_SESSION = 'citus\\_%';
const RECOVER: Statement = { name: 'recover', text: 'select recover_prepared_transactions()' };

/** The table for rows of commits that are not visible yet. Only ledgers on Citus have it. */
export const STAGED_TABLE = 'staged';

export function stagedName(schema: string): string {
  return quotedName(schema, STAGED_TABLE);
}

export async function isDistributed(
  connection: PostgresConnection,
  schema: string,
): Promise<boolean> {
  const { rows } = await connection.run('select to_regclass($1) is not null', [stagedName(schema)]);
  return isTrue(rows[0]![0]);
}

/**
 * Distributes the tables of columns, in the transaction that creates them.
 * @throws StoreError `store_not_distributable`
 */
export async function distributeTables(
  connection: PostgresConnection,
  schema: string,
  displayName: string,
): Promise<void> {
  const citus = await connection.run("select from pg_extension where extname = 'citus'");
  if (citus.rows.length === 0) {
    throw new StoreError(
      'store_not_distributable',
      `the database of ${displayName} cannot distribute tables: install Citus there ` +
        '(create extension citus), or leave out --distribute',
    );
  }
  const staged = stagedName(schema);
  await connection.run(
    `create table ${staged} ` + '(c int2, p bytea, o bytea, v bytea, primary key (c, p, o))',
  );
  for (const column of COLUMNS) {
    if (LOCAL.includes(column)) continue;
    const { name } = statementsOf(schema, column);
    await connection.run("select create_distributed_table($1::text::regclass, 'p')", [name]);
  }
}

/** The statements of a ledger on Citus, which does not support a limit for each of many keys in one statement. */
export function distributedStatements(schema: string, column: Column): ColumnStatements {
  const statements = statementsOf(schema, column);
  if (LOCAL.includes(column)) return { ...statements, publish: stage(schema, column) };
  const { name, statistics } = statements;
  return {
    ...statements,
    rangeMany: undefined,
    // The estimate is the current one of all shards.
    statistics: {
      name: statistics.name,
      text:
        `${countOf(name)}, citus_total_relation_size($1::text::regclass), ` +
        '(select coalesce(sum(result::float8), 0)::float8 from run_command_on_shards(' +
        "$1::text::regclass, 'select greatest(reltuples, 0) from pg_class " +
        "where oid = ''%s''::regclass')), 1::int4, 1::int8",
    },
    get publish(): never {
      throw new RangeError(`${column.name} is on workers: its rows cannot be published`);
    },
  };
}

/** Puts rows into the staging table, where they wait for the workers. Parameters: those of a column's `put`. */
function stage(schema: string, { number }: Column): Statement {
  return {
    name: `stage_${number}`,
    text:
      `insert into ${stagedName(schema)} (c, p, o, v) select ${number}, * ` +
      'from unnest($1::bytea[], $2::bytea[], $3::bytea[]) ' +
      'on conflict (c, p, o) do update set v = excluded.v',
  };
}

/**
 * Moves staged rows to their tables, unless a worker has, or may have, a part of a commit that it does not show yet.
 * For a writer that was replaced it does nothing, because the next writer has done it. Parameters: the writer's term,
 * and a pattern for the names of prepared transactions that matter. The result says whether all workers showed
 * everything.
 */
function publication(schema: string): Statement {
  const places = LOCAL.map((column) => {
    const { table, name } = statementsOf(schema, column);
    return (
      `${table} as (insert into ${name} (p, o, v) select p, o, v from moved ` +
      `where c = ${column.number} on conflict (p, o) do update set v = excluded.v)`
    );
  });
  return {
    name: 'publish',
    text:
      'with unsettled as materialized (select from run_command_on_workers(format(' +
      "'select count(*) from pg_prepared_xacts where database = current_database() and gid like %L', " +
      "$2::text)) where not success or result <> '0'), " +
      `fence as materialized (select from ${quotedName(schema, WRITER_TABLE)} ` +
      'where term = $1::text::int8 for share), ' +
      `moved as (delete from ${stagedName(schema)} where not exists (select from unsettled) ` +
      'and exists (select from fence) returning c, p, o, v), ' +
      `${places.join(', ')} select not exists (select from unsettled)`,
  };
}

/** Makes a commit that was just sent visible, if no worker delays it. @returns whether it is visible */
export async function publishCommit(
  connection: PostgresConnection,
  schema: string,
  term: string,
): Promise<boolean> {
  return await publish(connection, schema, term, `citus\\_%\\_${connection.sessionId}\\_%`);
}

/**
 * Waits until all workers show the earlier commits, then moves staged rows to their tables.
 * @throws StoreError `store_unreachable`; the commit becomes visible later
 */
export async function publishStaged(
  connection: PostgresConnection,
  schema: string,
  term: string,
): Promise<void> {
  const deadlineMs = performance.now() + SETTLE_LIMIT_MS;
  while (!(await publish(connection, schema, term, ANY_SESSION))) {
    if (performance.now() > deadlineMs) {
      throw new StoreError(
        'store_unreachable',
        'a worker of Citus does not answer: what was committed is shown when it is back',
      );
    }
    // Citus itself does this only once a minute.
    await connection.query(RECOVER, []);
    await sleep(SETTLE_REST_MS);
  }
}

async function publish(
  connection: PostgresConnection,
  schema: string,
  term: string,
  prepared: string,
): Promise<boolean> {
  const { rows } = await connection.query(publication(schema), [term, prepared]);
  return isTrue(rows[0]![0]);
}
