/** Digests of columns: two ledgers hold the same exactly when all their columns have the same digests. */
import { createHash } from 'node:crypto';
import type { Column, ScannedRow } from '../columns/columns.ts';
import { type StoreReader, scanPages } from '../store.ts';

const LENGTHS_BYTES = 8;
/** Rows are hashed together up to this many bytes: a call for each part of each row takes longer than the hash. */
const GATHERED_BYTES = 64 * 1024;

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
  readonly #gathered = Buffer.allocUnsafe(GATHERED_BYTES);
  #end = 0;
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
      const keyBytes = partition.length + order.length;
      this.#makeRoomFor(LENGTHS_BYTES + keyBytes + value.length);
      const bytes = this.#gathered;
      const keyAt = this.#end + LENGTHS_BYTES;
      bytes.writeUInt32BE(order.length, this.#end);
      bytes.writeUInt32BE(value.length, this.#end + LENGTHS_BYTES / 2);
      bytes.set(partition, keyAt);
      bytes.set(order, keyAt + partition.length);
      this.#end = keyAt + keyBytes;
      this.#bytes += keyBytes + value.length;
      if (this.#end + value.length <= GATHERED_BYTES) {
        bytes.set(value, this.#end);
        this.#end += value.length;
      } else {
        this.#flush();
        this.#hash.update(value);
      }
    }
    this.#rows += page.length;
  }

  #makeRoomFor(byteLength: number): void {
    if (this.#end + byteLength > GATHERED_BYTES) this.#flush();
  }

  #flush(): void {
    this.#hash.update(this.#gathered.subarray(0, this.#end));
    this.#end = 0;
  }

  finish(): ColumnDigest {
    this.#flush();
    const digest = this.#hash.digest();
    return { column: this.#column, rows: this.#rows, bytes: this.#bytes, digest };
  }
}
