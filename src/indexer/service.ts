/** An indexer with its database, from its start until it is closed. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isPostgresUrl } from '../store/postgres/location.ts';
import { WriterLock } from '../store/sqlite/writer-lock.ts';
import { openDatabase } from './database/database.ts';
import type { Database } from './database/session.ts';
import { Indexer, type IndexerOptions } from './indexer.ts';

/** If more versions than this are missing, a whole ledger is being filled in, and queries wait only a moment. */
const MAX_AWAITED_VERSIONS = 20_000n;
/** Interval at which a follower checks for new versions, in milliseconds. */
const POLL_INTERVAL_MS = 50;

/** In milliseconds. */
const WAITS = {
  /** How long a query waits for the tables to have all versions that the ledger had when the query arrived. */
  queryMs: 30_000,
  /** The same while a whole ledger is being filled in. */
  shortMs: 500,
  /** Pause after a failure. It doubles with each further failure in a row. */
  retryMs: 1_000,
  maxRetryMs: 10_000,
};
const FILES = 'tables';

interface ServiceOptions extends Omit<IndexerOptions, 'database'> {
  /** A folder, `postgres://…`, or absent: in memory. */
  readonly location: string | undefined;
  /** Called for each failure to open, to fill or to follow. Following continues after it. */
  readonly onFailure: (error: unknown) => void;
  readonly waits?: Partial<typeof WAITS>;
}

interface Opened {
  readonly indexer: Indexer;
  close(): Promise<void>;
}

export class IndexerService {
  readonly #options: ServiceOptions;
  readonly #ended = new AbortController();
  readonly #following: Promise<void>;
  readonly #waits: typeof WAITS;
  #opening: Promise<Opened> | undefined;
  #opened: Opened | undefined;
  /** Number of failures in a row. */
  #failures = 0;
  /** Nothing that has failed is retried before this time. */
  #retryAtMs = 0;

  /** Begins to open the database, to fill the tables and to follow the ledger. */
  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#waits = { ...WAITS, ...options.waits };
    this.#following = this.#follow();
  }

  /**
   * The database, filled with all versions that the ledger has now. If that fails or takes too long, it is returned as
   * it is. Rejects as the database or the ledger does.
   */
  async database(): Promise<Database> {
    const ended = new AbortController();
    const { signal } = ended;
    const within = <T>(work: Promise<T>, limit: Promise<undefined>): Promise<T | undefined> =>
      Promise.race([work, limit]);
    const limit = pause(this.#waits.queryMs, signal);
    try {
      const opened = await within(this.#open(), limit);
      if (opened === undefined) throw new Error("the indexer's database does not open in time");
      const { indexer } = opened;
      const caughtUp = this.#catchUp(indexer);
      const lag = (await within(indexer.lag(), limit)) ?? 0n;
      const hasLargeBacklog = lag > MAX_AWAITED_VERSIONS;
      await within(caughtUp, hasLargeBacklog ? pause(this.#waits.shortMs, signal) : limit);
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

  /** Follows the ledger until `close`. */
  async #follow(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      try {
        const { indexer } = await this.#open();
        await this.#catchUp(indexer);
      } catch (error) {
        this.#recordFailure(error);
      }
      await pause(Math.max(POLL_INTERVAL_MS, this.#retryAtMs - performance.now()), signal);
    }
  }

  /** Fills the tables. After a recent failure it does nothing, so that not every query retries. */
  async #catchUp(indexer: Indexer): Promise<void> {
    if (performance.now() < this.#retryAtMs) return;
    try {
      await indexer.reachHead();
      this.#failures = 0;
    } catch (error) {
      this.#recordFailure(error);
    }
  }

  #recordFailure(error: unknown): void {
    const nowMs = performance.now();
    // All callers that wait for the same fill get its failure. It is only counted once.
    if (nowMs < this.#retryAtMs || this.#ended.signal.aborted) return;
    const { retryMs, maxRetryMs } = this.#waits;
    this.#retryAtMs = nowMs + Math.min(retryMs * 2 ** this.#failures, maxRetryMs);
    this.#failures += 1;
    this.#options.onFailure(error);
  }

  /** Opens the indexer, once. Opens it again after a failure, or if its database has ended. */
  #open(): Promise<Opened> {
    const opened = this.#opened;
    const ended = opened?.indexer.database.hasEnded === true ? opened : undefined;
    if (ended !== undefined) {
      this.#opened = undefined;
      this.#opening = undefined;
    }
    this.#opening ??= this.#begin(ended).catch((error: unknown) => {
      this.#recordFailure(error);
      const waitMs = this.#retryAtMs - performance.now();
      // Until then each query gets this failure.
      void pause(waitMs, this.#ended.signal).then(() => {
        this.#opening = undefined;
      });
      throw error;
    });
    return this.#opening;
  }

  async #begin(ended: Opened | undefined): Promise<Opened> {
    await ended?.close();
    const { onFailure: _, waits: __, location, ...options } = this.#options;
    const { database, close } = await openTables(location);
    // Earlier failures may have been those of the database that has ended.
    this.#retryAtMs = 0;
    this.#opened = { indexer: new Indexer({ ...options, database }), close };
    return this.#opened;
  }
}

/** Waits for a time, or until the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<undefined> {
  return delay(ms, undefined, { ref: false, signal }).catch(() => undefined);
}

/**
 * Opens a database. A folder is locked, so that only this process writes to it.
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
