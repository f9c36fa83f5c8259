/**
 * The process of the target `pages`: `node page-reader FOLDER OUTCOMES`. It damages the file of a store that it has open,
 * reads rows, and puts the file right again. Damage may end it.
 */
import { existsSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { COLUMNS, type Column, HEAD, type RowKey } from '../../src/store/columns/columns.ts';
import { dataFileOf } from '../../src/store/lmdb/lmdb-file.ts';
import { openLmdbReader } from '../../src/store/lmdb/lmdb-store.ts';
import { isDamaged } from '../../src/store/store-error.ts';
import { decodeReading } from '../page-reading.ts';
import { serveInputs } from './serve-inputs.ts';

/** Rows of a column that are known: they are read one by one. */
const ROWS_KNOWN = 60;
const KNOWN_BOUNDS = { maxRows: 10_000, maxBytes: 64 * 1024 * 1024 };
/** Rows from which a reading also goes on to the rows behind them. */
const WALKS = 2;
const WALK_BOUNDS = { maxRows: 50, maxBytes: 1024 * 1024 };

interface KnownRow extends RowKey {
  /** The number of the column. */
  readonly column: number;
  readonly value: Buffer;
}

export interface Outcome {
  /** How many rows are known. */
  readonly known: number;
  /** Those that were not found as they are: refused, or others. Others are undetected: rows have no checksums. */
  readonly changed: readonly number[];
  readonly refused: number;
  /** An error that is not of damage. */
  readonly fault?: string | undefined;
}

const [, , directory = ''] = process.argv;
const store = openLmdbReader({ directory });
const file = openSync(dataFileOf(directory), 'r+');
const whole = readFileSync(file);
const columns = new Map<number, Column>(COLUMNS.map((column) => [column.number, column]));
const known = await knownRows(join(directory, 'known'));
const [head] = await store.scan(HEAD, WALK_BOUNDS);

/** The first process finds them; the others, one for each that damage has ended, have them from it. */
async function knownRows(path: string): Promise<readonly KnownRow[]> {
  if (existsSync(path)) return deserialize(readFileSync(path)) as KnownRow[];
  const found: KnownRow[] = [];
  for (const column of COLUMNS) {
    const rows = await store.scan(column, KNOWN_BOUNDS);
    const step = Math.max(1, Math.floor(rows.length / ROWS_KNOWN));
    rows.forEach((row, at) => {
      if (at % step === 0) found.push({ ...row, column: column.number });
    });
  }
  writeFileSync(path, serialize(found));
  return found;
}

async function readRows(rows: readonly number[]): Promise<Outcome> {
  const changed = new Set<number>();
  let refused = 0;
  let fault: string | undefined;
  const tried = async (row: number, read: () => boolean | Promise<boolean>): Promise<void> => {
    try {
      if (!(await read())) changed.add(row);
    } catch (error) {
      changed.add(row);
      if (isDamaged(error)) refused += 1;
      else fault = String((error as Error).stack);
    }
  };
  // This read begins a transaction: the metas are read again.
  await tried(0, async () => (await store.get(HEAD, head!.partition, head!.order)) !== undefined);
  for (const [at, number] of rows.entries()) {
    const { partition, order, value, ...row } = known[number % known.length]!;
    const column = columns.get(row.column)!;
    await tried(
      number,
      async () => (await store.get(column, partition, order))?.equals(value) === true,
    );
    await tried(number, async () => {
      if (order.length === 0) return true;
      const row = await store.seekLast(column, partition, order);
      return row?.value.equals(value) === true && row.order.equals(order);
    });
    if (at >= WALKS) continue;
    await tried(number, async () => {
      await store.scan(column, { ...WALK_BOUNDS, after: { partition, order } });
      return true;
    });
    await tried(number, async () => {
      await store.range(column, partition, {
        limit: WALK_BOUNDS.maxRows,
        reverse: number % 2 === 0,
      });
      return true;
    });
  }
  return { known: known.length, changed: [...changed], refused, fault };
}

serveInputs(async (input) => {
  const { rows, patches } = decodeReading(input, whole.length);
  for (const { at, bytes } of patches) writeSync(file, bytes, 0, bytes.length, at);
  try {
    return await readRows(rows ?? known.map((_, number) => number));
  } finally {
    for (const { at, bytes } of patches) writeSync(file, whole, at, bytes.length, at);
  }
});
