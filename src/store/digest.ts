/** Digests of columns: two ledgers hold the same exactly when all their columns have the same digests. */
import { createHash } from 'node:crypto';
import type { Column } from './columns/columns.ts';
import { type StoreReader, scanPages } from './store.ts';

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
  const hash = createHash('sha256');
  const lengths = Buffer.allocUnsafe(LENGTHS_BYTES);
  let rows = 0;
  let bytes = 0;
  for await (const page of scanPages(store, column)) {
    for (const { partition, order, value } of page) {
      lengths.writeUInt32BE(order.length, 0);
      lengths.writeUInt32BE(value.length, LENGTHS_BYTES / 2);
      hash.update(lengths).update(partition).update(order).update(value);
      bytes += partition.length + order.length + value.length;
    }
    rows += page.length;
    onRows(rows);
  }
  return { column, rows, bytes, digest: hash.digest() };
}
