/** The files of a store's folder. */
import { existsSync, readdirSync } from 'node:fs';

/** The files of a finished store without a writer. */
export const STORE_FILES = ['ledger.db', 'writer.lock'];

/** The names in a folder, without the files that SQLite has beside a database while it is read, or after a kill. */
export function namesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => !/^ledger\.db-(?:wal|shm)$/.test(name))
    .sort();
}
