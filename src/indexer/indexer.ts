/**
 * Fills the tables from a ledger and follows its commits: in the order of versions, each batch in one transaction of
 * the database, together with how far it has come. So a kill loses nothing and repeats nothing.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { LedgerView } from '../ledger/ledger-view.ts';
import type { LedgerReader } from '../ledger/open.ts';
import { oldestTransaction } from '../store/columns/head.ts';
import { ChainTables } from './chain-tables.ts';
import { type CopiedRows, type Database, hasMovedOn, type Statement } from './database/session.ts';
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

/** Rows that are gathered before they are written. As many wait to be written meanwhile. */
const ROWS_PER_COMMIT = 20_000;
/** Fewer versions are read in this thread: another one takes a moment to start. */
const MIN_VERSIONS_OF_READER = 1_000n;
/** Interval at which tables that another process writes too are checked again, in milliseconds. */
const OTHER_WRITER_MS = 200;
/** Statistics are collected when there are twice as many rows, and each time their number has doubled. */
const FIRST_ANALYSIS_ROWS = 500;

export interface IndexerOptions {
  readonly ledger: Pick<LedgerReader, 'view'>;
  readonly database: Database;
  /** The first version to read; absent: the oldest that the ledger has. */
  readonly firstVersion?: bigint | undefined;
  /** Tables of the chain that are in memory, instead of 50,000. */
  readonly maxTables?: number | undefined;
  /** Reads in another thread; absent, or without a result: pages are read in this one. */
  readonly openReader?: (() => PageReader | undefined) | undefined;
}

export class Indexer {
  readonly #options: IndexerOptions;
  #progress: Progress | undefined;
  /** Whether the tables have been those of this version of Daybook. */
  #haveBeenRead = false;
  readonly #pairs = new CoinPairs();
  #tables: ChainTables;
  /** The view whose history is known to be the one of the tables. */
  #checked: LedgerView | undefined;
  #filling: Promise<void> | undefined;
  /** Rows, since the start. */
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

  /** How far the tables are; `undefined` before the first look at them. */
  get progress(): Progress | undefined {
    return this.#progress;
  }

  /** Versions that the tables do not have yet. Rejects as `reachHead`. */
  async lag(): Promise<bigint> {
    const view = await this.#options.ledger.view();
    const known = await this.#knownFor(view);
    return view.state.version + 1n - (known?.nextVersion ?? this.#firstVersionOf(view));
  }

  /** Removes the tables; the next fill makes them again. */
  async removeTables(): Promise<void> {
    await this.#filling?.catch(() => undefined);
    await removeTables(this.database);
    this.#haveBeenRead = false;
    this.#forget();
  }

  /** Resolves when the tables have all that the ledger has now. Rejects with LedgerError, or as the database does. */
  async reachHead(): Promise<void> {
    // What is under way has begun before, perhaps for a history that was reverted since.
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
        if (!hasMovedOn(error)) throw error;
        await delay(OTHER_WRITER_MS);
      }
    }
  }

  async #fillFrom(view: LedgerView, firstVersion: bigint): Promise<void> {
    const isFar = view.state.version - firstVersion >= MIN_VERSIONS_OF_READER;
    const reader = isFar ? this.#options.openReader?.() : undefined;
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

  /** Statistics by which queries are planned: PGlite collects none by itself. */
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
    const reached = { ...before, nextVersion, lastRoot: transaction.accumulator_root_hash };
    const moved = progressStatements(before, reached, timestamp);
    // If this fails, it may still have been committed, or another process may have committed.
    await this.database.transaction([...moved, ...statements]);
    this.#progress = reached;
  }

  /** The progress of the tables for the history of a view; recreates tables of another history. */
  async #progressFor(view: LedgerView): Promise<Progress> {
    const known = await this.#knownFor(view);
    if (known === undefined) {
      this.#forget();
      const made = await makeTables(this.database, view.state.chainId, this.#firstVersionOf(view));
      await this.#tables.learn(this.database);
      this.#haveBeenRead = true;
      return made;
    }
    if (this.#progress === undefined) await this.#tables.learn(this.database);
    this.#haveBeenRead = true;
    return known;
  }

  /** The progress of the tables; `undefined` if they belong to another history than the view's. */
  async #knownFor(view: LedgerView): Promise<Progress | undefined> {
    const known = this.#progress ?? (await readProgress(this.database, this.#haveBeenRead));
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
    // Another process may be ahead with its ledger. Whether it is the same is seen when this one is there.
    if (last > view.state.version) return this.database.hasOtherWriters;
    // What is pruned cannot be compared.
    if (last < oldestTransaction(view.state)) return true;
    return (await new LedgerTransactions(view).rootAt(last)) === lastRoot;
  }
}

function laterOf(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
