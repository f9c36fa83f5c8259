/**
 * What the checks of a ledger share: the store they read, and the list of damages. The checks are streams over
 * columns: their memory does not grow with the ledger.
 */
import type { MaybePromise } from '../maybe-promise.ts';
import type { Column, RowKey, ScannedRow } from '../store/columns/columns.ts';
import type { LedgerIdentity } from '../store/columns/identity-column.ts';
import type { PinnedAccounts, PruneProgress } from '../store/columns/pruning-column.ts';
import { type ColumnDigest, RowsDigest } from '../store/read/digest.ts';
import type { StoreView } from '../store/read/view.ts';
import { compareRowKeys, MAX_SCAN_ROWS, type StoreReader, scanPages } from '../store/store.ts';
import { isTransient, keyText, RowDamagedError, StoreError } from '../store/store-error.ts';
import { nextTurn } from '../yield-budget.ts';
import type { RowSums } from './row-sums.ts';

/** Maximum number of listed damages, unless more are requested; all are counted. */
const MAX_LISTED_DAMAGES = 100;

export interface Damage {
  readonly column: string;
  /** The row's key in hex, `partition/order`; absent if no single row is damaged. */
  readonly key?: string | undefined;
  readonly version?: bigint | undefined;
  readonly detail: string;
  /** Whether the engine cannot walk its own pages there: writing to them is not safe. */
  readonly isEngineFailure?: boolean | undefined;
  /** Whether the damage is in data that the engine stores besides rows, and can repair itself. */
  readonly isIndexDamage?: boolean | undefined;
  /** Whether it is a row of a version above the head. */
  readonly isAboveHead?: boolean | undefined;
  /** Whether it is a row of the indexes of transactions, of a version that pruning has cleared. */
  readonly isCleared?: boolean | undefined;
}

/** All are counted, some are listed. */
export interface ListedDamages {
  readonly listed: readonly Damage[];
  readonly count: number;
}

export class DamageList implements ListedDamages {
  readonly listed: Damage[] = [];
  readonly #maxListed: number;
  count = 0;

  constructor(maxListed = MAX_LISTED_DAMAGES, saved?: ListedDamages) {
    this.#maxListed = maxListed;
    if (saved !== undefined) this.addAll(saved);
  }

  add(damage: Damage): void {
    this.count += 1;
    if (this.listed.length < this.#maxListed) this.listed.push(damage);
  }

  addAll(other: ListedDamages): void {
    for (const damage of other.listed) this.add(damage);
    this.count += other.count - other.listed.length;
  }

  /** Reports damage of a column that is not in a single row. */
  column({ name }: Column, detail: string, version?: bigint): void {
    this.add({ column: name, version, detail });
  }

  failure({ name }: Column, what: string, error: StoreError): void {
    const isEngineFailure = !(error instanceof RowDamagedError);
    this.add({ column: name, detail: `${what}: ${error.message}`, isEngineFailure });
  }

  row(column: Column, key: RowKey, detail: string, version?: bigint): void {
    this.add({ column: column.name, key: keyText(key), version, detail });
  }

  /** Runs a decoder of rows; a row that does not decode becomes a damage. @returns `undefined` for such a row */
  async decoded<T>(decode: () => T | Promise<T>, version?: bigint): Promise<T | undefined> {
    try {
      return await decode();
    } catch (error) {
      return this.#addDamaged(error, version);
    }
  }

  /** As `decoded`, without waiting. */
  decodedNow<T>(decode: () => T, version?: bigint): T | undefined {
    try {
      return decode();
    } catch (error) {
      return this.#addDamaged(error, version);
    }
  }

  #addDamaged(error: unknown, version: bigint | undefined): undefined {
    if (!(error instanceof RowDamagedError)) throw error;
    const { column, key, message } = error;
    this.add({ column, key, version, detail: message });
  }
}

export interface VerifyContext {
  readonly store: StoreReader;
  /** At the head when verification began; versions above it are not checked. */
  readonly view: StoreView;
  readonly identity: LedgerIdentity;
  readonly progress: PruneProgress;
  readonly pinned: PinnedAccounts;
  readonly damages: DamageList;
  /** Rows above the head: written by a concurrent commit, or otherwise damage too. */
  readonly above: DamageList;
  /** Secret of this examination, for sums of rows. */
  readonly secret: Uint8Array;
  /** The rows that columns have, of versions that are not cleared. */
  readonly found: RowSums;
  /** By column, when it was read once; `undefined` for one that cannot be read as a whole. */
  readonly digests: Map<Column, ColumnDigest | undefined>;
  /** Columns that are being read for the first time. */
  readonly reads: Map<Column, ColumnRead>;
  readonly onRows: (column: Column, rows: number) => void;
}

/** How far a column was read. Only rows that the reader has finished with count. */
export interface ColumnRead {
  last: RowKey | undefined;
  /** Absent: it cannot be read as a whole. */
  digest: RowsDigest | undefined;
}

export function reportAbove({ above }: VerifyContext, column: Column, row: RowKey): void {
  const detail = 'it is above the head, and nobody is committing';
  above.add({ column: column.name, key: keyText(row), detail, isAboveHead: true });
}

/** All rows of a column in order. Reports unreadable rows, and continues as far as the engine can. */
export async function* scanColumn(
  context: VerifyContext,
  column: Column,
): AsyncGenerator<ScannedRow> {
  for await (const page of columnPages(context, column)) yield* page;
}

interface PageOptions {
  readonly maxRows?: number;
  /** Absent: a turn of the event loop passes between two pages. */
  readonly isInOneTurn?: boolean;
  /** Gets each damaged row, to report it. */
  readonly onDamaged?: (row: RowKey, detail: string) => void;
  /** Whether a failure to read further is thrown. Otherwise it is reported, and the rest of the column is left out. */
  readonly isNeeded?: boolean;
  /** Called when the rows of a page were examined: the run can be continued after them. */
  readonly onPageDone?: (() => void) | undefined;
}

/**
 * The same page by page. The first time that a column is read to its end, its digest is computed; a run that is
 * continued resumes where the previous one left off.
 */
export async function* columnPages(
  { store, damages, digests, reads, onRows }: VerifyContext,
  column: Column,
  options: PageOptions = {},
): AsyncGenerator<readonly ScannedRow[]> {
  const { maxRows = MAX_SCAN_ROWS, isInOneTurn = false, isNeeded = false, onPageDone } = options;
  const onDamaged =
    options.onDamaged ?? ((row: RowKey, detail: string) => damages.row(column, row, detail));
  const isFirst = !digests.has(column);
  let read: ColumnRead = { last: undefined, digest: undefined };
  if (isFirst) {
    read = reads.get(column) ?? { ...read, digest: new RowsDigest(column) };
    reads.set(column, read);
  }
  const end = (): void => {
    if (!isFirst) return;
    digests.set(column, read.digest?.finish());
    reads.delete(column);
  };
  for (;;) {
    try {
      for await (const page of scanPages(store, column, read.last, maxRows)) {
        onRows(column, page.length);
        yield page;
        read.digest?.add(page);
        read.last = page[page.length - 1];
        onPageDone?.();
        // Others have their turn, and commits are seen.
        if (!isInOneTurn) await nextTurn();
      }
      end();
      return;
    } catch (error) {
      if (!(error instanceof StoreError) || isTransient(error)) throw error;
      if (read.digest !== undefined) damages.failure(column, 'has no digest', error);
      read.digest = undefined;
      const row = error instanceof RowDamagedError ? error.row : undefined;
      const isKnown = row?.partition.length === column.partitionBytes;
      if (!isKnown || (read.last !== undefined && compareRowKeys(read.last, row) >= 0)) {
        if (isNeeded) throw error;
        damages.failure(column, 'cannot be read further', error);
        end();
        return;
      }
      onDamaged(row, error.message);
      read.last = row;
    }
  }
}

const END = { value: undefined, done: true } as const;

/** The rows of a column in order, with a lookahead of one. */
export class RowCursor {
  readonly #pages: AsyncGenerator<readonly ScannedRow[]> | undefined;
  #page: readonly ScannedRow[] = [];
  #at = 0;

  constructor(context: VerifyContext, column: Column, options?: PageOptions) {
    // A run that was continued may have read it already.
    if (!context.digests.has(column)) this.#pages = columnPages(context, column, options);
  }

  /** The next row; `undefined`: call `loadRow`. */
  get row(): ScannedRow | undefined {
    return this.#page[this.#at];
  }

  take(): void {
    this.#at += 1;
  }

  /** After it `row` is the next row; `undefined` at the end. */
  async loadRow(): Promise<void> {
    while (this.#at >= this.#page.length) {
      const { value, done } = (await this.#pages?.next()) ?? END;
      if (done === true) return;
      this.#page = value;
      this.#at = 0;
    }
  }
}

/** Keys that are looked up together: one round trip where the engine is in another process. */
export const KEYS_AT_ONCE = 256;

/**
 * Reads some keys: all together, or one by one if a row is damaged.
 * @returns for each key what was read, in brackets; `undefined` for one whose row is damaged, which is reported
 */
export async function readEach<Key, Found>(
  damages: DamageList,
  keys: readonly Key[],
  readMany: (keys: readonly Key[]) => MaybePromise<readonly Found[]>,
): Promise<readonly ([Found] | undefined)[]> {
  try {
    return (await readMany(keys)).map((found) => [found]);
  } catch (error) {
    if (!(error instanceof RowDamagedError)) throw error;
  }
  const results: ([Found] | undefined)[] = [];
  for (const key of keys) {
    results.push(await damages.decoded(async () => [(await readMany([key]))[0]!] as [Found]));
  }
  return results;
}
