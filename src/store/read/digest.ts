/** Digests of columns: two ledgers hold the same exactly when all their columns have the same digests. */
import { createHash } from 'node:crypto';
import type { Column, ScannedRow } from '../columns/columns.ts';
import { type StoreReader, scanPages } from '../store.ts';

const LENGTHS_BYTES = 8;

export interface ColumnDigest {
  readonly column: Column;
  readonly rows: number;
  readonly bytes: number;
  /** SHA-256, 32 bytes. */
  readonly digest: Buffer;
}

/**
 * The digest of a column's rows in the order of their keys: SHA-256 over, for each row, the lengths of order part and
 * value (u32, big-endian), partition, order part and value. Rows that come while it is read may or may not count.
 * @param onRows gets the number of rows read so far, page by page
 */
export async function columnDigest(
  store: StoreReader,
  column: Column,
  onRows: (rows: number) => void = () => undefined,
): Promise<ColumnDigest> {
  const digest = new RowsDigest(column);
  for await (const page of scanPages(store, column)) {
    digest.add(page);
    onRows(digest.rows);
  }
  return digest.finish();
}

/** A digest that is computed while the rows of a column are read, in the order of their keys. */
export class RowsDigest {
  readonly #column: Column;
  readonly #hash = createHash('sha256');
  readonly #lengths = Buffer.allocUnsafe(LENGTHS_BYTES);
  #rows = 0;
  #bytes = 0;

  constructor(column: Column) {
    this.#column = column;
  }

  get rows(): number {
    return this.#rows;
  }

  add(page: readonly ScannedRow[]): void {
    for (const { partition, order, value } of page) {
      this.#lengths.writeUInt32BE(order.length, 0);
      this.#lengths.writeUInt32BE(value.length, LENGTHS_BYTES / 2);
      this.#hash.update(this.#lengths).update(partition).update(order).update(value);
      this.#bytes += partition.length + order.length + value.length;
    }
    this.#rows += page.length;
  }

  finish(): ColumnDigest {
    const digest = this.#hash.digest();
    return { column: this.#column, rows: this.#rows, bytes: this.#bytes, digest };
  }
}
