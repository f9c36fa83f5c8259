/**
 * The process of the target `pages`: `node page-reader FOLDER OUTCOMES`. It damages the file of a store, opens it,
 * reads every row, and restores the file.
 */
import { ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import {
  COLUMNS,
  type Column,
  type RowKey,
  type ScannedRow,
} from '../../src/store/columns/columns.ts';
import { storeFileOf } from '../../src/store/sqlite/files.ts';
import { openSqliteReader } from '../../src/store/sqlite/sqlite-store.ts';
import { placeOf } from '../../src/store/sqlite/version-record.ts';
import { type StoreReader, scanPages } from '../../src/store/store.ts';
import { keyText, RowDamagedError, StoreError } from '../../src/store/store-error.ts';
import { verifyLedger } from '../../src/verify/ledger.ts';
import { decodeReading } from '../page-reading.ts';
import { releaseMemory } from './released-memory.ts';
import { serveInputs } from './serve-inputs.ts';

/** Rows of each column that are also read by key. */
const ROWS_READ = 60;
const PAGE = { maxRows: 500, maxBytes: 1024 * 1024 };

export interface Outcome {
  /** Number of refused reads. */
  readonly refused: number;
  /** Number of missing version records, which only a verification notices. */
  readonly missing: number;
  /** Number of damages that a verification found; absent if the ledger was not verified. */
  readonly damages?: number | undefined;
  /** A value that differs from the stored one, or an error that a store must not throw. */
  readonly fault?: string | undefined;
}

const [, , directory = ''] = process.argv;
// Never closed: closing it would release SQLite's locks.
const file = openSync(storeFileOf(directory), 'r+');
const whole = readFileSync(file);
const sound = await readAll();

async function readAll(): Promise<ReadonlyMap<Column, readonly ScannedRow[]>> {
  const store = openSqliteReader({ directory });
  const rows = new Map<Column, readonly ScannedRow[]>();
  for (const column of COLUMNS) {
    const found: ScannedRow[] = [];
    for await (const page of scanPages(store, column)) found.push(...page);
    rows.set(column, found);
  }
  await store.close();
  return rows;
}

function isBehind(row: RowKey, other: RowKey | undefined): boolean {
  if (other === undefined) return true;
  const order = Buffer.compare(row.partition, other.partition);
  return order > 0 || (order === 0 && Buffer.compare(row.order, other.order) > 0);
}

/** Compares the rows that a damaged store returns with those that were stored. */
class Comparison {
  refused = 0;
  missing = 0;
  fault: string | undefined;
  readonly #store: StoreReader;

  constructor(store: StoreReader) {
    this.#store = store;
  }

  async compare(): Promise<void> {
    for (const [column, rows] of sound) {
      const step = Math.max(1, Math.floor(rows.length / ROWS_READ));
      for (let at = 0; at < rows.length; at += step) await this.#compareRow(column, rows[at]!);
      await this.#compareScan(column, rows);
    }
  }

  async #compareRow(column: Column, row: ScannedRow): Promise<void> {
    const { partition, order, value } = row;
    const got = await this.#tried(() => this.#store.get(column, partition, order));
    this.#compareValue(column, row, got, value);
    if (order.length === 0) return;
    const last = await this.#tried(() => this.#store.seekLast(column, partition, order));
    if (last === 'refused') return;
    const isThere = last?.order.equals(order) === true;
    this.#compareValue(column, row, isThere ? last.value : undefined, value);
  }

  /** Scans all rows in order. After a row that cannot be read the scan continues behind it. */
  async #compareScan(column: Column, rows: readonly ScannedRow[]): Promise<void> {
    let after: RowKey | undefined;
    let at = 0;
    for (;;) {
      let page: readonly ScannedRow[];
      try {
        page = await this.#store.scan(column, { ...PAGE, after });
      } catch (error) {
        if (!this.#isRefusal(error)) return;
        if (!(error instanceof RowDamagedError) || !isBehind(error.row, after)) return;
        after = error.row;
        while (at < rows.length && !isBehind(rows[at]!, after)) at += 1;
        continue;
      }
      for (const row of page) {
        while (at < rows.length && isBehind(row, rows[at])) {
          this.#compareValue(column, rows[at]!, undefined, rows[at]!.value);
          at += 1;
        }
        const due = rows[at];
        if (due === undefined || isBehind(due, row)) this.#differs(column, row, 'nobody stored it');
        else this.#compareValue(column, row, row.value, due.value);
        at += 1;
      }
      if (page.length === 0) break;
      after = page.at(-1)!;
    }
    for (; at < rows.length; at += 1) this.#compareValue(column, rows[at]!, undefined, Buffer.of());
  }

  #compareValue(
    column: Column,
    row: RowKey,
    found: Buffer | 'refused' | undefined,
    due: Buffer,
  ): void {
    if (found === 'refused' || found?.equals(due) === true) return;
    if (found !== undefined) this.#differs(column, row, 'it has another value');
    else if (placeOf(column.number) !== undefined) this.missing += 1;
    else this.#differs(column, row, 'it is missing');
  }

  #differs(column: Column, row: RowKey, how: string): void {
    this.fault ??= `${column.name} ${keyText(row)}: ${how}`;
  }

  async #tried<T>(read: () => T | Promise<T>): Promise<T | 'refused'> {
    try {
      return await read();
    } catch (error) {
      this.#isRefusal(error);
      return 'refused';
    }
  }

  #isRefusal(error: unknown): boolean {
    const isRefusal = error instanceof StoreError;
    if (isRefusal) this.refused += 1;
    else this.fault ??= String((error as Error).stack);
    return isRefusal;
  }
}

async function damagesOf(store: StoreReader): Promise<number> {
  try {
    return (await verifyLedger(store)).damageCount;
  } catch (error) {
    if (error instanceof StoreError) return 1;
    throw error;
  }
}

async function examine(isVerified: boolean): Promise<Outcome> {
  let store: StoreReader;
  try {
    store = openSqliteReader({ directory });
  } catch (error) {
    if (error instanceof StoreError) return { refused: 1, missing: 0, damages: 1 };
    return { refused: 0, missing: 0, fault: String((error as Error).stack) };
  }
  try {
    const comparison = new Comparison(store);
    await comparison.compare();
    const { refused, missing, fault } = comparison;
    const mustBeFound = isVerified || missing > 0;
    return { refused, missing, fault, ...(mustBeFound && { damages: await damagesOf(store) }) };
  } catch (error) {
    return { refused: 0, missing: 0, fault: String((error as Error).stack) };
  } finally {
    await store.close();
  }
}

serveInputs(async (input) => {
  const { isVerified, patches } = decodeReading(input, whole.length);
  for (const { at, bytes } of patches) {
    if (bytes.length === 0) ftruncateSync(file, at);
    else writeSync(file, bytes, 0, bytes.length, at);
  }
  try {
    return await examine(isVerified);
  } finally {
    writeSync(file, whole, 0, whole.length, 0);
    ftruncateSync(file, whole.length);
    await releaseMemory();
  }
});
