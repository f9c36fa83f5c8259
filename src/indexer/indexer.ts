/**
 * Fills the tables from a ledger and follows its commits, in the order of versions. Each batch is one transaction of
 * the database, which also stores the progress. So a kill loses nothing and repeats nothing.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { LedgerView } from '../ledger/ledger-view.ts';
import type { LedgerReader } from '../ledger/open.ts';
import { oldestTransaction } from '../store/columns/head.ts';
import { ChainTables } from './chain-tables.ts';
import { type CopiedRows, type Database, isConflict, type Statement } from './database/session.ts';
import type { PageReader } from './ledger-pages.ts';
import { LedgerTransactions } from './ledger-transactions.ts';
import { CoinPairs } from './processors/coin-pairs.ts';
import { process } from './processors/index.ts';
import type { TransactionFacts } from './processors/transaction-facts.ts';
import {
  makeTables,
  type Progress,
  progressStatements,
  readProgress,
  removeTables,
} from './progress.ts';
import { RowBuffer } from './rows/row-buffer.ts';
import { ANALYZING } from './schema.ts';

/** Number of rows that are collected before they are written. As many may be waiting to be written meanwhile. */
const ROWS_PER_COMMIT = 20_000;
/** Fewer versions are read in this thread, because another thread takes a moment to start. */
const MIN_VERSIONS_OF_READER = 1_000n;
/** Delay before the tables are checked again after another process has written them, in milliseconds. */
const OTHER_WRITER_MS = 200;
/** Statistics are first collected at twice as many rows, then each time their number has doubled. */
const FIRST_ANALYSIS_ROWS = 500;

export interface IndexerOptions {
  readonly ledger: Pick<LedgerReader, 'view'>;
  readonly database: Database;
  /** The first version to read. If absent, the oldest that the ledger has. */
  readonly firstVersion?: bigint | undefined;
  /** Maximum number of tables of the chain in memory; 50,000 if absent. */
  readonly maxTables?: number | undefined;
  /** Opens a reader in another thread. If it is absent or returns nothing, pages are read in this thread. */
  readonly openReader?: (() => PageReader | undefined) | undefined;
}

export class Indexer {
  readonly #options: IndexerOptions;
  #progress: Progress | undefined;
  /** Whether tables of this version of Daybook have been read or created. */
  #haveTablesBeenUsed = false;
  readonly #pairs = new CoinPairs();
  #tables: ChainTables;
  /** The last view that the tables were filled from completely. Its history is that of the tables. */
  #checked: LedgerView | undefined;
  #filling: Promise<void> | undefined;
  /** Number of rows written since the start. */
  #written = 0;
  #analyzedAt = FIRST_ANALYSIS_ROWS;
  #isClosed = false;

  constructor(options: IndexerOptions) {
    this.#options = options;
    this.#tables = new ChainTables(options.maxTables);
  }

  get database(): Database {
    return this.#options.database;
  }

  /** The progress of the tables; `undefined` before they are read, and after a failure. */
  get progress(): Progress | undefined {
    return this.#progress;
  }

  /** Number of versions that the tables do not have yet. Rejects as `reachHead`. */
  async lag(): Promise<bigint> {
    const view = await this.#options.ledger.view();
    const known = await this.#storedProgressFor(view);
    return view.state.version + 1n - (known?.nextVersion ?? this.#firstVersionOf(view));
  }

  /** Removes the tables. The next fill creates them again. */
  async removeTables(): Promise<void> {
    await this.#filling?.catch(() => undefined);
    await removeTables(this.database);
    this.#haveTablesBeenUsed = false;
    this.#forget();
  }

  /**
   * Resolves when the tables have all versions that the ledger has now. Rejects with LedgerError, or as the database
   * does.
   */
  async reachHead(): Promise<void> {
    // A fill in progress began earlier, perhaps for a history that was reverted since.
    await this.#filling?.catch(() => undefined);
    if (this.#isClosed) return;
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = undefined;
    });
    await this.#filling;
  }

  /** Ends work in progress after its next commit. The caller closes the database. */
  async stop(): Promise<void> {
    this.#isClosed = true;
    await this.#filling?.catch(() => undefined);
  }

  async #fill(): Promise<void> {
    const view = await this.#options.ledger.view();
    if (view === this.#checked) return;
    while (!this.#isClosed && view !== this.#checked) {
      try {
        this.#progress = await this.#progressFor(view);
        await this.#fillFrom(view, this.#progress.nextVersion);
        await this.#analyze();
        if (!this.#isClosed) this.#checked = view;
      } catch (error) {
        this.#forget();
        if (!isConflict(error)) throw error;
        await delay(OTHER_WRITER_MS);
      }
    }
  }

  async #fillFrom(view: LedgerView, firstVersion: bigint): Promise<void> {
    const hasLargeBacklog = view.state.version - firstVersion >= MIN_VERSIONS_OF_READER;
    const reader = hasLargeBacklog ? this.#options.openReader?.() : undefined;
    const transactions = new LedgerTransactions(view, reader);
    const rows = new RowBuffer();
    let nextVersion = firstVersion;
    let writing: Promise<void> | undefined;
    try {
      while (nextVersion <= view.state.version && !this.#isClosed) {
        const page = await transactions.page(nextVersion);
        await this.#tables.decode(view, this.database, page);
        for (const facts of page) {
          await this.#pairs.lookUp(view, facts);
          process(facts, rows, this.#pairs);
        }
        nextVersion += BigInt(page.length);
        const isLast = nextVersion > view.state.version || this.#isClosed;
        if (rows.size < ROWS_PER_COMMIT && !isLast) continue;
        this.#written += rows.size;
        const statements = rows.take();
        const last = page.at(-1)!;
        await writing;
        this.#tables.beginWriting();
        // The next rows are built meanwhile.
        writing = this.#write(statements, nextVersion, last);
        writing.catch(() => undefined);
      }
    } finally {
      await reader?.close();
      await writing;
    }
  }

  /** After a failure: forgets progress and what was learned from lost rows. Both are read again. */
  #forget(): void {
    this.#progress = undefined;
    this.#checked = undefined;
    this.#tables = new ChainTables(this.#options.maxTables);
  }

  /** Collects statistics for the query planner. PGlite does not collect them by itself. */
  async #analyze(): Promise<void> {
    if (this.#written < this.#analyzedAt * 2) return;
    await this.database.transaction([{ text: ANALYZING, parameters: [] }]);
    this.#analyzedAt = this.#written;
  }

  async #write(
    statements: readonly (Statement | CopiedRows)[],
    nextVersion: bigint,
    { timestamp, transaction }: TransactionFacts,
  ): Promise<void> {
    const before = this.#progress!;
    const progress = { ...before, nextVersion, lastRoot: transaction.accumulator_root_hash };
    const advanceProgress = progressStatements(before, progress, timestamp);
    // If this fails, it may still have been committed, or another process may have committed.
    await this.database.transaction([...advanceProgress, ...statements]);
    this.#progress = progress;
  }

  /** The progress of the tables for the history of a view. Recreates tables of a different history. */
  async #progressFor(view: LedgerView): Promise<Progress> {
    const known = await this.#storedProgressFor(view);
    if (known === undefined) {
      this.#forget();
      const created = await makeTables(
        this.database,
        view.state.chainId,
        this.#firstVersionOf(view),
      );
      await this.#tables.load(this.database);
      this.#haveTablesBeenUsed = true;
      return created;
    }
    if (this.#progress === undefined) await this.#tables.load(this.database);
    this.#haveTablesBeenUsed = true;
    return known;
  }

  /** The progress of the tables; `undefined` if their history is not the view's. */
  async #storedProgressFor(view: LedgerView): Promise<Progress | undefined> {
    const known = this.#progress ?? (await readProgress(this.database, this.#haveTablesBeenUsed));
    const isOfLedger =
      known !== undefined &&
      known.chainId === view.state.chainId &&
      known.nextVersion >= oldestTransaction(view.state) &&
      (await this.#hasRoot(view, known));
    return isOfLedger ? known : undefined;
  }

  #firstVersionOf({ state }: LedgerView): bigint {
    const oldest = oldestTransaction(state);
    return laterOf(this.#options.firstVersion ?? oldest, oldest);
  }

  /** Whether the tables' history is that of a view. */
  async #hasRoot(view: LedgerView, { nextVersion, lastRoot }: Progress): Promise<boolean> {
    if (lastRoot === undefined) return true;
    const last = nextVersion - 1n;
    // Another process may be ahead with its ledger. The histories are compared when this process has caught up.
    if (last > view.state.version) return this.database.hasOtherWriters;
    // A pruned version cannot be compared.
    if (last < oldestTransaction(view.state)) return true;
    return (await new LedgerTransactions(view).rootAt(last)) === lastRoot;
  }
}

function laterOf(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
