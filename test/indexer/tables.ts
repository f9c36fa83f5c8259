/** Opens an indexer's tables in tests, and reads all their rows. */

import { CATALOGUE } from '../../src/indexer/catalogue/index.ts';
import type { Database } from '../../src/indexer/database/session.ts';
import { openTables } from '../../src/indexer/service.ts';

/** A database in memory, without tables. */
export async function openTestedTables(): Promise<{
  readonly database: Database;
  close(): Promise<void>;
}> {
  return await openTables(undefined);
}

/** Columns that depend on the time of writing, not on the chain. */
const OF_NO_CHAIN = new Set(['processor_status.last_updated']);

/** Every row of every table as JSON, sorted, by table. */
export async function allRows(database: Database): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const { name, columns } of CATALOGUE) {
    const names = columns
      .map((column) => column.name)
      .filter((column) => !OF_NO_CHAIN.has(`${name}.${column}`));
    const { rows } = await database.query(
      `SELECT row_to_json(shown)::text AS row FROM (SELECT ${names.join()} FROM ${name}) AS shown`,
    );
    found.set(name, rows.map(({ row }) => row!).sort());
  }
  return found;
}
