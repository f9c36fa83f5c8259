/** Where the tables of an indexer are. */
import { join } from 'node:path';
import { isPostgresUrl } from '../../store/postgres/location.ts';

/** Setting that stands for memory instead of a folder. */
const MEMORY = 'memory';
const FOLDER = 'indexer';

/** The default location, beside the ledger. @param data folder or `postgres://…` */
export function defaultIndexerLocation(data: string): string {
  return isPostgresUrl(data) ? data : join(data, FOLDER);
}

/** @returns a folder or `postgres://…`, or `undefined`: in memory */
export function indexerLocation(setting: string): string | undefined {
  return setting === MEMORY ? undefined : setting;
}
