/** One connection to the file of a store: its tables and its statements. */
import { statSync } from 'node:fs';
import {
  DatabaseSync,
  type DatabaseSyncInstance,
  type StatementSyncInstance as Statement,
} from '@photostructure/sqlite';
import { CACHE_BUDGETS } from '../../cache.ts';
import { StoreError } from '../store-error.ts';
import { EMPTY_MANIFEST, encodeManifest } from './runs/manifest.ts';
import { StoredValueError, TABLES, type Table, type WritableRows } from './stored-value.ts';

/** Older versions can lose a commit that races with a checkpoint (SQLite's "WAL reset" bug). */
const MIN_SQLITE_VERSION = [3, 51, 3] as const;
/** "Dayb" identifies the program in the header of the file. */
const APPLICATION_ID = 0x4461_7962;
/** How long SQLite waits for another process that recovers or closes the log, in milliseconds. */
const BUSY_TIMEOUT_MS = 10_000;
/** Page cache of one connection, in KiB. The operating system also caches the file. */
const CACHE_KIB = CACHE_BUDGETS.sqlite_pages.bytes / 1024;
/** Number of pages in the log after which a commit copies them into the file. */
const CHECKPOINT_PAGES = 4_000;
/** SQLite shortens the log's file to this many bytes when the log starts over. */
const KEPT_LOG_BYTES = 32 * 1024 * 1024;
/** A log of this many bytes is too long. */
export const MAX_LOG_BYTES = 2 * KEPT_LOG_BYTES;
/**
 * How long a commit waits for readers so that the log can start over, in milliseconds. That is long enough for reads,
 * which last one turn of an event loop, but not for a copy.
 */
const LOG_TIMEOUT_MS = 250;

const READ = Object.fromEntries(
  TABLES.map((table) => [table, `select v from ${table} where id = ?`]),
) as Readonly<Record<Table, string>>;

const WRITE = Object.fromEntries(
  TABLES.map((table) => [table, `insert or replace into ${table} values (?, ?)`]),
) as Readonly<Record<Table, string>>;

/** A connection. Its methods throw SQLite's errors. */
export class SqliteDatabase implements WritableRows {
  readonly path: string;
  readonly #database: DatabaseSyncInstance;
  readonly #statements = new Map<string, Statement>();
  #longLogBytes = MAX_LOG_BYTES;

  constructor(path: string, { readOnly }: { readonly readOnly: boolean }) {
    this.path = path;
    this.#database = new DatabaseSync(path, { readOnly, timeout: BUSY_TIMEOUT_MS });
    this.#database.exec(`pragma cache_size = -${CACHE_KIB}; pragma cell_size_check = on`);
    if (!readOnly) {
      this.#database.exec(
        `pragma synchronous = full; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}; ` +
          `pragma journal_size_limit = ${KEPT_LOG_BYTES}`,
      );
    }
  }

  create(): void {
    const tables = TABLES.map(
      (name) => `create table ${name} (id integer primary key, v blob not null);`,
    );
    this.#database.exec(
      'pragma page_size = 4096; pragma journal_mode = wal; begin; ' +
        `pragma application_id = ${APPLICATION_ID}; ${tables.join(' ')}`,
    );
    this.write('manifest', 0, encodeManifest(EMPTY_MANIFEST));
    this.commit();
  }

  isStore(): boolean {
    return this.#number('pragma application_id') === APPLICATION_ID;
  }

  begin(): void {
    // `run` would allocate an object that describes the changes.
    this.#statement('begin').get();
  }

  beginWrite(): void {
    this.#statement('begin immediate').run();
  }

  commit(): void {
    this.#statement('commit').run();
  }

  rollback(): void {
    if (this.#database.isTransaction) this.#statement('rollback').get();
  }

  dataVersion(): number {
    return this.#number('pragma data_version');
  }

  /** Bytes of the file that are in use, and bytes in free pages. */
  fileBytes(): { readonly used: number; readonly free: number } {
    const pageBytes = this.#number('pragma page_size');
    const free = this.#number('pragma freelist_count') * pageBytes;
    return { used: this.#number('pragma page_count') * pageBytes - free, free };
  }

  /** The first fault that SQLite finds in its pages; `undefined` if it finds none. */
  checkPages(): string | undefined {
    const found = String(this.#row('pragma quick_check')[0]);
    return found === 'ok' ? undefined : found;
  }

  /** Writes a copy of the store's current state, without free pages, to a file that must not exist yet. */
  copyTo(path: string): void {
    this.#statement('vacuum into ?').run(path);
    // The copy has a rollback journal, which makes readers and commits wait for each other.
    const copy = new DatabaseSync(path);
    copy.exec('pragma journal_mode = wal');
    copy.close();
  }

  read(table: Table, id: number): Buffer | undefined {
    const row = this.#statement(READ[table]).get(id) as [unknown] | undefined;
    if (row === undefined) return undefined;
    const [bytes] = row;
    if (!(bytes instanceof Uint8Array)) throw new StoredValueError('it is not bytes');
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  write(table: Table, id: number, bytes: Buffer): void {
    this.#statement(WRITE[table]).get(id, bytes);
  }

  remove(table: Table, from: number, to: number): number {
    const remove = this.#statement(`delete from ${table} where id >= ? and id < ?`);
    return Number(remove.run(from, to).changes);
  }

  next(table: Table, from: number): number | undefined {
    return this.first(table, from, Number.MAX_SAFE_INTEGER);
  }

  first(table: Table, from: number, to: number, reverse = false): number | undefined {
    const order = reverse ? 'desc' : 'asc';
    const text = `select id from ${table} where id >= ? and id <= ? order by id ${order} limit 1`;
    return (this.#statement(text).get(from, to) as [number] | undefined)?.[0];
  }

  last(table: Table): number | undefined {
    return this.first(table, 0, Number.MAX_SAFE_INTEGER, true);
  }

  /** Copies the log into the file, except pages that are still being read. */
  checkpoint(timeoutMs = 0): void {
    try {
      this.#database.exec(`pragma busy_timeout = ${timeoutMs}; pragma wal_checkpoint(truncate)`);
    } finally {
      this.#database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  }

  /**
   * Starts the log over when it is too long. SQLite does this by itself at a commit while nobody reads. If there is
   * always a reader, the log would otherwise grow with every commit.
   */
  shortenLog(): void {
    if (this.#logBytes() < this.#longLogBytes) return;
    this.checkpoint(LOG_TIMEOUT_MS);
    // If a long read prevents this, waits for it again only when the log has grown by this much.
    this.#longLogBytes = this.#logBytes() + MAX_LOG_BYTES;
  }

  #logBytes(): number {
    return statSync(`${this.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }

  /**
   * Closes the connection. The package (1.2.1) cannot release prepared statements, so SQLite closes the files only when
   * these are garbage-collected. Nothing may rely on the work that SQLite does when it closes.
   */
  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #number(text: string): number {
    return Number(this.#row(text)[0]);
  }

  #row(text: string): readonly unknown[] {
    return this.#statement(text).get() as unknown[];
  }

  #statement(text: string): Statement {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text);
    statement.setReturnArrays(true);
    this.#statements.set(text, statement);
    return statement;
  }
}

let isVersionChecked = false;

/** @throws StoreError `store_io` for a SQLite that can lose commits */
export function checkSqliteVersion(): void {
  if (isVersionChecked) return;
  const database = new DatabaseSync(':memory:');
  const version = String(database.prepare('select sqlite_version() as version').get()['version']);
  database.close();
  if (!isSafeSqlite(version)) {
    const message = `SQLite ${version} can lose commits: install Daybook's dependencies again, it needs ${MIN_SQLITE_VERSION.join('.')}`;
    throw new StoreError('store_io', message);
  }
  isVersionChecked = true;
}

export function isSafeSqlite(version: string): boolean {
  const parts = version.split('.').map(Number);
  for (const [at, least] of MIN_SQLITE_VERSION.entries()) {
    if (parts[at] !== least) return parts[at]! > least;
  }
  return true;
}
