/** How far the tables are filled. It is written together with the rows, so both are always of the same version. */
import { StoreError } from '../store/store-error.ts';
import type { Database, Statement } from './database/session.ts';
import { PROCESSOR_NAMES } from './processors/index.ts';
import { creationStatements, PROGRESS_TABLE, removalStatement, SCHEMA_FORMAT } from './schema.ts';

export interface Progress {
  readonly chainId: number;
  /** The tables are complete from this version on. */
  readonly firstVersion: bigint;
  readonly nextVersion: bigint;
  /** Root of the accumulator at the version before `nextVersion`. It identifies the whole history up to there. */
  readonly lastRoot: string | undefined;
}

/**
 * @param haveTablesBeenUsed whether this process has used the tables before. If another version of Daybook has
 *   recreated them since, that version runs beside this one, and the two would recreate them forever
 * @returns `undefined` if there are no tables, or only those of another version of Daybook
 * @throws StoreError `store_foreign`
 */
export async function readProgress(
  database: Database,
  haveTablesBeenUsed: boolean,
): Promise<Progress | undefined> {
  if (!(await hasProgress(database))) return undefined;
  const { rows } = await database.query(`SELECT * FROM ${PROGRESS_TABLE}`);
  const row = rows[0];
  if (row === undefined) return undefined;
  if (row.format !== SCHEMA_FORMAT) {
    if (!haveTablesBeenUsed) return undefined;
    throw new StoreError(
      'store_foreign',
      `another version of Daybook has made the tables in schema ${database.schema} again: run one version, ` +
        'or give the tables of this one another ?schema=NAME',
    );
  }
  return {
    chainId: Number(row.chain_id),
    firstVersion: BigInt(row.first_version!),
    nextVersion: BigInt(row.next_version!),
    lastRoot: row.last_root ?? undefined,
  };
}

async function hasProgress(database: Database): Promise<boolean> {
  const { rows } = await database.query(`SELECT to_regclass('${PROGRESS_TABLE}') AS name`);
  return rows[0]!.name !== null;
}

/** Removes the tables if they exist. @throws StoreError as `makeTables` */
export async function removeTables(database: Database): Promise<void> {
  await assertOwnSchema(database);
  await database.transaction([{ text: removalStatement(database.schema), parameters: [] }]);
}

/**
 * Creates the tables, in place of existing ones.
 * @throws StoreError `store_foreign` if their schema is not one of an indexer
 */
export async function makeTables(
  database: Database,
  chainId: number,
  firstVersion: bigint,
): Promise<Progress> {
  await assertOwnSchema(database);
  const hasTables = await hasProgress(database);
  await database.transaction([
    // Other processes may create them at the same time. The second one then finds them.
    { text: 'SELECT pg_advisory_xact_lock(hashtext($1))', parameters: [database.schema] },
    {
      text: `SELECT 1 WHERE (to_regclass('${PROGRESS_TABLE}') IS NOT NULL) = $1::boolean`,
      parameters: [String(hasTables)],
      isGuard: true,
    },
    { text: creationStatements(database.schema), parameters: [] },
    {
      text: `INSERT INTO ${PROGRESS_TABLE} VALUES (true, $1, $2, $3, $3, NULL)`,
      parameters: [SCHEMA_FORMAT, String(chainId), String(firstVersion)],
    },
    { text: 'INSERT INTO ledger_infos VALUES ($1)', parameters: [String(chainId)] },
    {
      text: `INSERT INTO indexer_status (db, is_indexer_up) VALUES ($1, true)`,
      parameters: ['daybook'],
    },
  ]);
  return { chainId, firstVersion, nextVersion: firstVersion, lastRoot: undefined };
}

/**
 * A schema is removed with everything in it, so it must be one that Daybook created. @throws StoreError `store_foreign`
 */
async function assertOwnSchema(database: Database): Promise<void> {
  const { schema } = database;
  const { rows } = await database.query(
    'SELECT to_regnamespace($1) IS NULL OR to_regclass($2) IS NOT NULL AS ours',
    [`"${schema}"`, `"${schema}".${PROGRESS_TABLE}`],
  );
  if (rows[0]!.ours?.startsWith('t')) return;
  throw new StoreError(
    'store_foreign',
    `schema ${schema} is not one of an indexer: remove it, or give the tables another ?schema=NAME`,
  );
}

const PUT_STATUS =
  'INSERT INTO processor_status ' +
  '(processor, last_success_version, last_updated, last_transaction_timestamp) ' +
  "SELECT name, $1::bigint, now() AT TIME ZONE 'UTC', $2::timestamp FROM unnest($3::text[]) AS name " +
  'ON CONFLICT (processor) DO UPDATE SET last_success_version = excluded.last_success_version, ' +
  'last_updated = excluded.last_updated, ' +
  'last_transaction_timestamp = excluded.last_transaction_timestamp';
const ALL_PROCESSORS = `{${PROCESSOR_NAMES.join()}}`;

/**
 * Advances the progress, unless another process has done so meanwhile.
 * @param timestamp of the last transaction
 */
export function progressStatements(
  before: Progress,
  { nextVersion, lastRoot }: Progress,
  timestamp: string,
): Statement[] {
  return [
    {
      text:
        `UPDATE ${PROGRESS_TABLE} SET next_version = $2, last_root = $3 ` +
        'WHERE next_version = $1 AND last_root IS NOT DISTINCT FROM $4 RETURNING next_version',
      parameters: [
        ...[String(before.nextVersion), String(nextVersion)],
        ...[lastRoot ?? null, before.lastRoot ?? null],
      ],
      isGuard: true,
    },
    { text: PUT_STATUS, parameters: [String(nextVersion - 1n), timestamp, ALL_PROCESSORS] },
  ];
}
