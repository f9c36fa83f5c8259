/** One connection to the file of a store: its tables, its statements, and what SQLite's errors mean. */
import {
  DatabaseSync,
  type DatabaseSyncInstance,
  type StatementSyncInstance as Statement,
} from '@photostructure/sqlite';
import { StoreError } from '../store-error.ts';
import { EMPTY_MANIFEST, encodeManifest } from './runs/manifest.ts';
import type { WritableRunRows } from './runs/run-writer.ts';
import { StoredValueError } from './stored-value.ts';

/** Older ones can lose a commit that races with a checkpoint (SQLite's fault "WAL reset"). */
const MIN_SQLITE_VERSION = [3, 51, 3] as const;
/** "Dayb": names the program in the header of the file. */
const APPLICATION_ID = 0x4461_7962;
/** For how long SQLite waits for another process that recovers or closes the log. */
const BUSY_TIMEOUT_MS = 10_000;
/** Memory of a connection for pages, in KiB; beneath it the operating system caches the file. */
const CACHE_KIB = 4 * 1024;
/** Pages of the log after which a commit copies them into the file. */
const CHECKPOINT_PAGES = 4_000;
/** The file of the log becomes as short again, in bytes. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;

const TABLES = `
  create table versions (version integer primary key, v blob not null);
  create table blobs (id integer primary key, v blob not null);
  create table blocks (id integer primary key, v blob not null);
  create table log (id integer primary key, v blob not null);
  create table manifest (id integer primary key, v blob not null);`;

/** A connection. Its methods throw SQLite's errors: see `storeFailure`. */
export class SqliteDatabase implements WritableRunRows {
  readonly path: string;
  readonly #database: DatabaseSyncInstance;
  readonly #statements = new Map<string, Statement>();

  constructor(path: string, { readOnly }: { readonly readOnly: boolean }) {
    this.path = path;
    this.#database = new DatabaseSync(path, { readOnly, timeout: BUSY_TIMEOUT_MS });
    this.#database.exec(`pragma cache_size = -${CACHE_KIB}; pragma cell_size_check = on`);
    if (!readOnly) {
      this.#database.exec(
        `pragma synchronous = full; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}; ` +
          `pragma journal_size_limit = ${MAX_LOG_BYTES}`,
      );
    }
  }

  /** Makes the tables of a new file. */
  create(): void {
    const manifest = encodeManifest(EMPTY_MANIFEST).toString('hex');
    this.#database.exec(
      `pragma page_size = 4096; pragma journal_mode = wal; begin; pragma application_id = ${APPLICATION_ID}; ${TABLES} ` +
        `insert into manifest values (0, x'${manifest}'); commit`,
    );
  }

  /** Whether the file is one that `create` made. */
  isStore(): boolean {
    return this.#number('pragma application_id') === APPLICATION_ID;
  }

  begin(): void {
    this.#statement('begin').run();
  }

  beginWrite(): void {
    this.#statement('begin immediate').run();
  }

  commit(): void {
    this.#statement('commit').run();
  }

  rollback(): void {
    if (this.#database.isTransaction) this.#database.exec('rollback');
  }

  /** Changes when another connection has committed. */
  dataVersion(): number {
    return this.#number('pragma data_version');
  }

  /** Bytes of the file, and of those the bytes that no table uses. */
  fileBytes(): { readonly used: number; readonly free: number } {
    const pageBytes = this.#number('pragma page_size');
    const free = this.#number('pragma freelist_count') * pageBytes;
    return { used: this.#number('pragma page_count') * pageBytes - free, free };
  }

  /** What SQLite finds wrong with its pages first; `undefined`: nothing. */
  checkPages(): string | undefined {
    const found = String(this.#row('pragma quick_check')[0]);
    return found === 'ok' ? undefined : found;
  }

  /** Writes a copy of the store as it is now, without free pages, into a file that does not exist. */
  copyTo(path: string): void {
    this.#statement('vacuum into ?').run(path);
    // The copy has a rollback journal, with which readers and commits wait for each other.
    const copy = new DatabaseSync(path);
    copy.exec('pragma journal_mode = wal');
    copy.close();
  }

  readRecord(version: number): Buffer | undefined {
    return this.#get('select v from versions where version = ?', version);
  }

  /** The lowest version between two bounds that has a record, or the highest. */
  nextRecord(from: number, to: number, reverse: boolean): number | undefined {
    const order = reverse ? 'desc' : 'asc';
    const between = 'version >= ? and version <= ?';
    const text = `select version from versions where ${between} order by version ${order} limit 1`;
    const row = this.#statement(text).get(from, to) as [number] | undefined;
    return row?.[0];
  }

  /** Lowest and highest version that has a record; `undefined` when none has. */
  recordBounds(): readonly [lowest: number, highest: number] | undefined {
    const [lowest] = this.#row('select min(version) from versions');
    const [highest] = this.#row('select max(version) from versions');
    return lowest === null ? undefined : [lowest as number, highest as number];
  }

  writeRecord(version: number, record: Buffer | undefined): void {
    if (record === undefined)
      this.#statement('delete from versions where version = ?').run(version);
    else this.#statement('insert or replace into versions values (?, ?)').run(version, record);
  }

  readBlob(id: number): Buffer | undefined {
    return this.#get('select v from blobs where id = ?', id);
  }

  /** The highest id of a blob; 0 when there are none. */
  lastBlob(): number {
    return this.#number('select coalesce(max(id), 0) from blobs');
  }

  writeBlob(id: number, bytes: Buffer | undefined): void {
    if (bytes === undefined) this.#statement('delete from blobs where id = ?').run(id);
    else this.#statement('insert into blobs values (?, ?)').run(id, bytes);
  }

  readBlock(id: number): Buffer | undefined {
    return this.#get('select v from blocks where id = ?', id);
  }

  writeBlock(id: number, bytes: Buffer): void {
    this.#statement('insert or replace into blocks values (?, ?)').run(id, bytes);
  }

  nextBlock(from: number): number | undefined {
    const text = 'select id from blocks where id >= ? order by id limit 1';
    const row = this.#statement(text).get(from) as [number] | undefined;
    return row?.[0];
  }

  removeBlocks(from: number, to: number): number {
    const remove = this.#statement('delete from blocks where id >= ? and id < ?');
    return Number(remove.run(from, to).changes);
  }

  readLog(id: number): Buffer | undefined {
    return this.#get('select v from log where id = ?', id);
  }

  writeLog(id: number, bytes: Buffer): void {
    this.#statement('insert into log values (?, ?)').run(id, bytes);
  }

  clearLog(): void {
    this.#statement('delete from log').run();
  }

  readManifest(): Buffer {
    const bytes = this.#get('select v from manifest where id = ?', 0);
    if (bytes === undefined) throw new StoredValueError('the list of runs is missing');
    return bytes;
  }

  writeManifest(bytes: Buffer): void {
    this.#statement('insert or replace into manifest values (0, ?)').run(bytes);
  }

  /** Copies the log into the file, as far as nobody reads older pages: for that it does not wait. */
  checkpoint(): void {
    this.#database.exec(
      `pragma busy_timeout = 0; pragma wal_checkpoint(truncate); pragma busy_timeout = ${BUSY_TIMEOUT_MS}`,
    );
  }

  /**
   * Closes the connection. The package (1.2.1) cannot release prepared statements, so SQLite itself closes the files
   * when these are collected: nothing may rely on what SQLite does when it closes.
   */
  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #get(text: string, id: number): Buffer | undefined {
    const row = this.#statement(text).get(id) as [unknown] | undefined;
    return row && blobOf(row[0]);
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

/** @throws StoredValueError */
function blobOf(bytes: unknown): Buffer {
  if (!(bytes instanceof Uint8Array)) throw new StoredValueError('it is not bytes');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

let isVersionChecked = false;

/** @throws StoreError `store_io` for a SQLite that can lose commits */
export function checkSqliteVersion(): void {
  if (isVersionChecked) return;
  const database = new DatabaseSync(':memory:');
  const { version } = database.prepare('select sqlite_version() as version').get();
  database.close();
  const parts = String(version).split('.').map(Number);
  for (const [at, least] of MIN_SQLITE_VERSION.entries()) {
    if (parts[at]! > least) break;
    if (parts[at]! < least) {
      const needed = MIN_SQLITE_VERSION.join('.');
      const message = `SQLite ${version} can lose commits: install Daybook's dependencies again, it needs ${needed}`;
      throw new StoreError('store_io', message);
    }
  }
  isVersionChecked = true;
}

/** SQLite's result codes (sqlite.org/rescode.html); the low byte of extended ones. */
const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_NOT_A_DATABASE = 26;

/** SQLite's result code in an error; `undefined` for any other error. */
function resultCode(error: unknown): number | undefined {
  const { errcode } = error as { readonly errcode?: unknown };
  return typeof errcode === 'number' ? errcode & 0xff : undefined;
}

/** Whether what is stored is damaged where it was read: bytes, or pages of SQLite. */
export function isStoredDamage(error: unknown): boolean {
  return error instanceof StoredValueError || isPageDamage(error);
}

/** Whether SQLite has met a page that is wrong. */
export function isPageDamage(error: unknown): boolean {
  const code = resultCode(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOT_A_DATABASE;
}

export function isDiskFull(error: unknown): boolean {
  return resultCode(error) === SQLITE_FULL;
}

export function isBusy(error: unknown): boolean {
  return resultCode(error) === SQLITE_BUSY;
}

/** Whether an error is SQLite's. */
export function isSqliteError(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === 'ERR_SQLITE_ERROR';
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
