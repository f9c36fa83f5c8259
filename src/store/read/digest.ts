/** Digests of columns. Two ledgers have the same content if and only if all their columns have the same digests. */
import { createHash } from 'node:crypto';
import type { Column, ScannedRow } from '../columns/columns.ts';
import { type StoreReader, scanPages } from '../store.ts';

const LENGTHS_BYTES = 8;
const DIGEST_BYTES = 32;
const NO_BYTES = new Uint8Array(0);
/** Up to this many bytes of rows are hashed in one call: a call for each part of each row takes longer than hashing. */
const LINK_BYTES = 64 * 1024;

export interface ColumnDigest {
  readonly column: Column;
  readonly rows: number;
  readonly bytes: number;
  /** 32 bytes. */
  readonly digest: Buffer;
}

/**
 * The digest of a column's rows in key order. It is a hash chain, which can be continued from any row. It begins with
 * 32 zero bytes. Each link is the SHA-256 of the previous link and the next rows: as many as fit in 64 KiB, at least
 * one. A row is encoded as the lengths of order and value (u32, big-endian), partition, order and value. Rows that are
 * written during the read may or may not be included.
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

/** An unfinished digest. */
export interface SavedRowsDigest {
  readonly digest: Uint8Array;
  /** Rows that are not in the digest yet. */
  readonly gathered: Uint8Array;
  readonly rows: number;
  readonly bytes: number;
}

/** A digest that is computed while the rows of a column are read, in the order of their keys. */
export class RowsDigest {
  readonly #column: Column;
  readonly #gathered = Buffer.allocUnsafe(LINK_BYTES);
  #digest: Buffer = Buffer.alloc(DIGEST_BYTES);
  #end = 0;
  #rows = 0;
  #bytes = 0;

  constructor(column: Column, saved?: SavedRowsDigest) {
    this.#column = column;
    if (saved === undefined) return;
    this.#digest = Buffer.from(saved.digest);
    this.#gathered.set(saved.gathered);
    this.#end = saved.gathered.length;
    this.#rows = saved.rows;
    this.#bytes = saved.bytes;
  }

  get rows(): number {
    return this.#rows;
  }

  add(page: readonly ScannedRow[]): void {
    for (const { partition, order, value } of page) {
      const keyBytes = partition.length + order.length;
      const rowBytes = LENGTHS_BYTES + keyBytes + value.length;
      if (this.#end + rowBytes > LINK_BYTES && this.#end > 0) this.#link(NO_BYTES);
      const bytes = this.#gathered;
      const keyAt = this.#end + LENGTHS_BYTES;
      bytes.writeUInt32BE(order.length, this.#end);
      bytes.writeUInt32BE(value.length, this.#end + LENGTHS_BYTES / 2);
      bytes.set(partition, keyAt);
      bytes.set(order, keyAt + partition.length);
      this.#end = keyAt + keyBytes;
      this.#bytes += keyBytes + value.length;
      if (rowBytes > LINK_BYTES) this.#link(value);
      else {
        bytes.set(value, this.#end);
        this.#end += value.length;
      }
    }
    this.#rows += page.length;
  }

  /** Returns views, which the caller must copy at once. */
  save(): SavedRowsDigest {
    const gathered = this.#gathered.subarray(0, this.#end);
    return { digest: this.#digest, gathered, rows: this.#rows, bytes: this.#bytes };
  }

  finish(): ColumnDigest {
    if (this.#end > 0) this.#link(NO_BYTES);
    const digest = this.#digest;
    return { column: this.#column, rows: this.#rows, bytes: this.#bytes, digest };
  }

  /** @param last the bytes that the link ends with */
  #link(last: Uint8Array): void {
    const gathered = this.#gathered.subarray(0, this.#end);
    this.#digest = createHash('sha256').update(this.#digest).update(gathered).update(last).digest();
    this.#end = 0;
  }
}
