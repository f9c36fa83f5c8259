/** The files of a store's folder. */
import { existsSync, readdirSync } from 'node:fs';

/** What a folder with a finished store has that nobody writes. */
export const STORE_FILES = ['ledger.db', 'writer.lock'];

/** The names in a folder, without the files that SQLite has beside a database while somebody reads it, or was killed. */
export function namesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => !/^ledger\.db-(?:wal|shm)$/.test(name))
    .sort();
}
