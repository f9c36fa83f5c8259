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
const FILES = 'tables';

interface ServiceOptions extends Omit<IndexerOptions, 'database'> {
  /** A folder, `postgres://…`, or absent: in memory. */
  readonly location: string | undefined;
  /** Called for each failure; following continues after it. */
  readonly onFailure: (error: unknown) => void;
}

interface Opened {
  readonly indexer: Indexer;
  close(): Promise<void>;
}

export class IndexerService {
  readonly #options: ServiceOptions;
  readonly #ended = new AbortController();
  #opened: Promise<Opened> | undefined;

  /** Begins to open the database, to fill the tables and to follow the ledger. */
  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#open().catch(options.onFailure);
  }

  /** The tables, with all that the ledger has now. Rejects as the database or the ledger does. */
  async database(): Promise<Database> {
    const { indexer } = await this.#open();
    const reached = indexer.reachHead();
    reached.catch(() => undefined);
    const isFar = (await indexer.lag()) > MAX_AWAITED_VERSIONS;
    const waitMs = isFar ? SHORT_WAIT_MS : MAX_WAIT_MS;
    await Promise.race([reached, delay(waitMs, undefined, { ref: false })]);
    return indexer.database;
  }

  async close(): Promise<void> {
    this.#ended.abort();
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.close();
  }

  /** Tries again where it has failed. */
  #open(): Promise<Opened> {
    this.#opened ??= this.#begin().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #begin(): Promise<Opened> {
    const { onFailure, location, ...options } = this.#options;
    const { database, close } = await openTables(location);
    const indexer = new Indexer({ ...options, database });
    const following = indexer.follow(this.#ended.signal, onFailure);
    return {
      indexer,
      close: async () => {
        await indexer.stop();
        await following;
        await close();
      },
    };
  }
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
