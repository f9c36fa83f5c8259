/**
 * One writer per store. The lock is a row of the environment itself, taken inside a write
 * transaction, which LMDB gives to one process at a time: two processes cannot both take it. A lock
 * left by a process that died is taken over. Should that judgement ever be wrong (two containers
 * that do not see each other's processes), the one that lost the lock can still not write: every
 * commit is conditional on the lock being its own.
 */
import { randomInt } from 'node:crypto';
import type { Database, RootDatabase } from 'lmdb';
import { StoreLockedError } from '../store-error.ts';
import {
  decodeProcessIdentity,
  encodeProcessIdentity,
  isRunning,
  ownIdentity,
} from './process-identity.ts';

const LOCK_DATABASE = 'writer';
const LOCK_KEY = Buffer.from('lock', 'ascii');
const MAX_TOKEN = 2 ** 47;

/** The right to write a store, until it is released or taken over. */
export class LmdbWriterLock {
  readonly #database: Database<Buffer, Buffer>;
  readonly #token: number;

  private constructor(database: Database<Buffer, Buffer>, token: number) {
    this.#database = database;
    this.#token = token;
  }

  /** Takes the lock. @throws StoreLockedError when a living process holds it. */
  static acquire(root: RootDatabase<never, string>, where: string): LmdbWriterLock {
    const database = root.openDB<Buffer, Buffer>({
      name: LOCK_DATABASE,
      encoding: 'binary',
      keyEncoding: 'binary',
      useVersions: true,
    });
    const token = randomInt(1, MAX_TOKEN);
    database.transactionSync(() => {
      const held = database.get(LOCK_KEY);
      if (held !== undefined) {
        const holder = decodeProcessIdentity(held);
        if (isRunning(holder)) throw new StoreLockedError(where, holder.pid);
      }
      database.putSync(LOCK_KEY, encodeProcessIdentity(ownIdentity()), token);
    });
    return new LmdbWriterLock(database, token);
  }

  /**
   * Runs `changes`, which only puts and removes, as one commit on the engine's own thread.
   * @returns false when the lock is no longer ours: then nothing was stored.
   */
  commit(changes: () => void): Promise<boolean> {
    return this.#database.ifVersion(LOCK_KEY, this.#token, changes);
  }

  /**
   * Proves that the environment can still begin a transaction. Throws the engine's error when it
   * cannot.
   */
  probe(): void {
    this.#database.transactionSync(() => undefined);
  }

  /** Gives the lock back, unless somebody else holds it by now. */
  release(): void {
    this.#database.transactionSync(() => {
      if (this.#database.getEntry(LOCK_KEY)?.version === this.#token) {
        this.#database.removeSync(LOCK_KEY);
      }
    });
  }
}
