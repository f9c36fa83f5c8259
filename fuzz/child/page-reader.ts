/**
 * The process of the target `pages`: `node page-reader FOLDER`. It reads a store whose file others damage, and says for
 * each message how many reads gave what was there before, something else, a refusal. Damage may end it.
 */
import type { RowKey } from '../../src/store/columns/columns.ts';
import { COLUMNS, type Column } from '../../src/store/columns/columns.ts';
import { openLmdbReader } from '../../src/store/lmdb/lmdb-store.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { isDamaged } from '../../src/store/store-error.ts';

/** Rows of a column that are read one by one. */
const ROWS_READ = 40;

interface KnownRow extends RowKey {
  readonly column: Column;
  readonly value: Buffer;
}

export interface Outcome {
  readonly same: number;
  /** Undetected: there are no checksums of rows. */
  readonly other: number;
  readonly refused: number;
  /** An error that is not of damage. */
  readonly fault?: string;
}

const store = openLmdbReader({ directory: process.argv[2]! });
const known: KnownRow[] = [];
for (const column of COLUMNS) {
  const rows = await store.scan(column, { maxRows: 10_000, maxBytes: 64 * 1024 * 1024 });
  const step = Math.max(1, Math.floor(rows.length / ROWS_READ));
  rows.forEach((row, at) => {
    if (at % step === 0) known.push({ ...row, column });
  });
}

async function readAll(reader: StoreReader): Promise<Outcome> {
  const counts = { same: 0, other: 0, refused: 0 };
  let fault: string | undefined;
  const tried = async (read: () => boolean | Promise<boolean>): Promise<void> => {
    try {
      if (await read()) counts.same += 1;
      else counts.other += 1;
    } catch (error) {
      if (isDamaged(error)) counts.refused += 1;
      else fault = String((error as Error).stack);
    }
  };
  for (const { column, partition, order, value } of known) {
    await tried(async () => (await reader.get(column, partition, order))?.equals(value) === true);
    await tried(async () => {
      const row = await reader.seekLast(column, partition, order);
      return row?.value.equals(value) === true && row.order.equals(order);
    });
  }
  for (const column of COLUMNS) {
    await tried(async () => {
      await reader.scan(column, { maxRows: 1_000, maxBytes: 4 * 1024 * 1024 });
      return true;
    });
  }
  return fault === undefined ? counts : { ...counts, fault };
}

process.on('message', () => {
  void readAll(store).then((outcome) => process.send!(outcome));
});
process.send!('open');
