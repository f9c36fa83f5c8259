/** An indexer with its database, from its start until it is closed. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isPostgresUrl } from '../store/postgres/location.ts';
import { WriterLock } from '../store/sqlite/writer-lock.ts';
import { openDatabase } from './database/database.ts';
import type { Database } from './database/session.ts';
import { Indexer, type IndexerOptions } from './indexer.ts';

/** How long a query waits until the tables have what the ledger had when it came, in milliseconds. */
const MAX_WAIT_MS = 30_000;
/** With more versions to come, a whole ledger is being filled in, and it waits a moment only. */
const MAX_AWAITED_VERSIONS = 20_000n;
const SHORT_WAIT_MS = 500;
/** How often a follower looks for new versions, in milliseconds. */
const LOOK_INTERVAL_MS = 50;
/** Pause after a failure, in milliseconds. */
const RETRY_MS = 1_000;
const FILES = 'tables';

interface ServiceOptions extends Omit<IndexerOptions, 'database'> {
  /** A folder, `postgres://…`, or absent: in memory. */
  readonly location: string | undefined;
  /** Called for each failure to open, to fill or to follow; following continues after it. */
  readonly onFailure: (error: unknown) => void;
}

interface Opened {
  readonly indexer: Indexer;
  close(): Promise<void>;
}

export class IndexerService {
  readonly #options: ServiceOptions;
  readonly #ended = new AbortController();
  readonly #following: Promise<void>;
  #opening: Promise<Opened> | undefined;
  #opened: Opened | undefined;

  /** Begins to open the database, to fill the tables and to follow the ledger. */
  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#following = this.#follow();
  }

  /**
   * The tables, with all that the ledger has now; as they are where that cannot be filled in, or not in time. Rejects
   * as the database or the ledger does.
   */
  async database(): Promise<Database> {
    const ended = new AbortController();
    const { signal } = ended;
    const within = <T>(work: Promise<T>, limit: Promise<undefined>): Promise<T | undefined> =>
      Promise.race([work, limit]);
    const limit = pause(MAX_WAIT_MS, signal);
    try {
      const opened = await within(this.#open(), limit);
      if (opened === undefined) throw new Error("the indexer's database does not open in time");
      const { indexer } = opened;
      // Who follows reports what fails.
      const reached = indexer.reachHead().catch(() => undefined);
      const lag = (await within(indexer.lag(), limit)) ?? 0n;
      const isFar = lag > MAX_AWAITED_VERSIONS;
      await within(reached, isFar ? pause(SHORT_WAIT_MS, signal) : limit);
      return indexer.database;
    } finally {
      ended.abort();
    }
  }

  async close(): Promise<void> {
    this.#ended.abort();
    const opened = await this.#opening?.catch(() => undefined);
    await opened?.indexer.stop();
    await this.#following;
    await opened?.close();
  }

  /** Follows the ledger until the end. */
  async #follow(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      let waitMs = LOOK_INTERVAL_MS;
      try {
        const { indexer } = await this.#open();
        await indexer.reachHead();
      } catch (error) {
        if (signal.aborted) return;
        this.#options.onFailure(error);
        waitMs = RETRY_MS;
      }
      await pause(waitMs, signal);
    }
  }

  /** Tries again where it has failed, or where what was open has ended. */
  #open(): Promise<Opened> {
    const opened = this.#opened;
    const ended = opened?.indexer.database.hasEnded === true ? opened : undefined;
    if (ended !== undefined) {
      this.#opened = undefined;
      this.#opening = undefined;
    }
    this.#opening ??= this.#begin(ended).catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #begin(ended: Opened | undefined): Promise<Opened> {
    await ended?.close();
    const { onFailure, location, ...options } = this.#options;
    const { database, close } = await openTables(location);
    this.#opened = { indexer: new Indexer({ ...options, database }), close };
    return this.#opened;
  }
}

/** Ends early, too, when the signal is given. */
function pause(ms: number, signal: AbortSignal): Promise<undefined> {
  return delay(ms, undefined, { ref: false, signal }).catch(() => undefined);
}

/**
 * Opens a database that only this process writes.
 * @param location a folder, `postgres://…`, or absent: in memory
 */
export async function openTables(
  location: string | undefined,
): Promise<{ readonly database: Database; close(): Promise<void> }> {
  if (location === undefined || isPostgresUrl(location)) {
    const database = await openDatabase(location);
    return { database, close: () => database.close() };
  }
  mkdirSync(location, { recursive: true });
  const lock = new WriterLock(location);
  try {
    const database = await openDatabase(join(location, FILES));
    return { database, close: () => database.close().finally(() => lock.release()) };
  } catch (error) {
    lock.release();
    throw error;
  }
}
