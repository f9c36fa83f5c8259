/** Where the tables of an indexer are. */
import { join } from 'node:path';
import { isPostgresUrl } from '../../store/postgres/location.ts';

/** Said in place of a folder. */
const MEMORY = 'memory';
const FOLDER = 'indexer';

/** Those of a ledger of which nothing else is said: beside it. @param data folder or `postgres://…` */
export function indexerBeside(data: string): string {
  return isPostgresUrl(data) ? data : join(data, FOLDER);
}

/** @returns a folder or `postgres://…`, or `undefined`: in memory */
export function indexerLocation(asked: string): string | undefined {
  return asked === MEMORY ? undefined : asked;
}
