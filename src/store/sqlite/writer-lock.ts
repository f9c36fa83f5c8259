/**
 * Only one process writes to a folder. Its lock is a SQLite transaction on a file beside the store. The operating
 * system ends the transaction when the process ends, however that happens. The lock is taken before the folder is
 * examined, even if there is no store yet.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { StoreError } from '../store-error.ts';
import { isBusy, isPageDamage } from './stored-value.ts';

export const LOCK_FILE = 'writer.lock';
/**
 * How long an opener waits, in milliseconds. SQLite takes this lock in steps. If two openers start at once, each can
 * hold what the other needs for its next step, and without a wait both would be refused.
 */
const WAIT_MS = 100;
/** Contains the id of the process that has the lock, for messages only. */
export const PROCESS_FILE = 'writer.pid';

export class WriterLock {
  readonly #database: DatabaseSyncInstance;
  readonly #folder: string;

  /** @throws StoreError `store_locked` when another process, or this one, writes the folder */
  constructor(folder: string) {
    this.#folder = folder;
    this.#database = new DatabaseSync(join(folder, LOCK_FILE), { timeout: WAIT_MS });
    try {
      // A journal file would be left behind if the process is killed.
      this.#database.exec('pragma journal_mode = memory; begin exclusive');
    } catch (error) {
      this.#database.close();
      if (isBusy(error)) throw lockedBy(folder);
      if (isPageDamage(error)) {
        const message = `${LOCK_FILE} in ${folder} is no lock: remove it`;
        throw new StoreError('store_damaged', message, { cause: error });
      }
      throw error;
    }
    try {
      writeFileSync(join(folder, PROCESS_FILE), `${process.pid}\n`);
    } catch {
      // Another user's process may have left the file. Only messages need it.
    }
  }

  release(): void {
    if (!this.#database.isOpen) return;
    rmSync(join(this.#folder, PROCESS_FILE), { force: true });
    this.#database.close();
  }
}

function lockedBy(folder: string): StoreError {
  let pid = '';
  try {
    pid = readFileSync(join(folder, PROCESS_FILE), 'utf8').trim();
  } catch {
    // The other process has not written it yet.
  }
  const by = pid === '' ? 'another process' : `process ${pid}`;
  return new StoreError(
    'store_locked',
    `${folder} is being written by ${by}: stop it first, or open the store for reading`,
    pid === '' ? {} : { pid: Number(pid) },
  );
}
