/**
 * Whether an LMDB file is a store. What names one is small and on few pages: when these are damaged, the file must not
 * look like one in which no ledger was ever made, for then somebody makes another, and a writer would write to a page
 * that is not what it seems.
 */
import type { Database, RootDatabase } from 'lmdb';
import { HEAD, IDENTITY } from '../columns/columns.ts';
import { HEAD_KEY } from '../columns/head.ts';
import { checkFormat, LEDGER_KEY } from '../columns/identity-column.ts';
import { RowDamagedError, StoreError } from '../store-error.ts';
import { isColumnName, openColumn } from './lmdb-columns.ts';
import { LOCK_DATABASE } from './lmdb-writer-lock.ts';
import { isPageDamage } from './stored-value.ts';

type Root = RootDatabase<never, string>;

const REMEDY =
  'do not make a ledger over it; put a backup in its place, or make it again in another folder';

/**
 * Looks for what a store begins with.
 * @param format the format that is asked for
 * @param isUpgrade whether older formats are taken too
 * @returns false when nothing was ever stored: opening for writing may have been killed halfway
 * @throws StoreError `store_damaged`, `store_foreign`, and as `checkFormat`; the engine's errors
 */
export function isMade(root: Root, directory: string, format: number, isUpgrade: boolean): boolean {
  if (isNamed(root, directory, format, isUpgrade)) return true;
  const names = [...root.getKeys()];
  const isWhole = names.length === entriesOf(root);
  if (isWhole && !names.every(isOurs)) throw foreign(directory);
  const hasRows = names.some((name) => isColumnName(name) && rowsOf(root, name) > 0);
  // A writer may have begun the store since: what is read next is newer than the rows.
  root.resetReadTxn();
  if (isNamed(root, directory, format, isUpgrade)) return true;
  if (hasRows || !isWhole) throw damaged(directory, 'its format is missing');
  return false;
}

function isNamed(root: Root, directory: string, format: number, isUpgrade: boolean): boolean {
  const head = openColumn(root, HEAD, false);
  const hasLedger = head !== undefined && head.getStats().entryCount > 0;
  root.resetReadTxn();
  const identity = openColumn(root, IDENTITY, false);
  if (identity === undefined) return false;
  if (!checkFormat((key) => identity.get(key), directory, isUpgrade, format)) return false;
  // All columns are there before the format is.
  if (head === undefined && openColumn(root, HEAD, false) === undefined) {
    throw damaged(directory, 'a column is missing');
  }
  if (hasLedger && identity.get(LEDGER_KEY) === undefined) {
    throw damaged(directory, 'the chain of its ledger is missing');
  }
  if (hasLedger && head.get(HEAD_KEY) === undefined) {
    throw damaged(directory, 'the row of column head is lost');
  }
  return true;
}

function isOurs(name: string): boolean {
  return name === LOCK_DATABASE || isColumnName(name);
}

function rowsOf(root: Root, name: string): number {
  const options = { name, create: false, encoding: 'binary', keyEncoding: 'binary' } as const;
  const database: Database | undefined = root.openDB(options);
  return database === undefined ? 0 : entriesOf(database);
}

/** How many entries a database has by what names it, which is on another page than they are. */
function entriesOf(database: Database | Root): number {
  return (database.getStats() as { entryCount: number }).entryCount;
}

/** The error for what the engine, or a row of the identity, says when a store is opened. */
export function openingFailure(error: unknown, directory: string): unknown {
  if (error instanceof RowDamagedError) {
    const detail = `what names the store in ${directory} is not what was stored: ${REMEDY}`;
    return new RowDamagedError(IDENTITY, error.row, detail, { cause: error });
  }
  if (!(error instanceof Error) || error instanceof StoreError || !isPageDamage(error)) {
    return error;
  }
  return damaged(directory, error.message, error);
}

export function foreign(directory: string): StoreError {
  return new StoreError(
    'store_foreign',
    `${directory} holds files that are not a Daybook store: choose another folder`,
  );
}

export function damaged(directory: string, detail: string, cause?: unknown): StoreError {
  const message = `the store in ${directory} is damaged (${detail}): ${REMEDY}`;
  return new StoreError('store_damaged', message, { cause });
}
