/** The changes of one commit. */
import {
  assertBounds,
  assertKeyShape,
  type Column,
  MODULE_EVENTS,
  type OrderBounds,
  type RowKey,
  TRANSACTION_INFOS,
  TRANSACTIONS,
  VERSION_WRITES,
} from './columns/columns.ts';
import { DELETE, PackedRows, PUT, rowsIn } from './packed-rows.ts';
import { StoreError } from './store-error.ts';

/** Longest value, in bytes: a genesis transaction with its writes is some megabytes. */
export const MAX_VALUE_BYTES = 64 * 1024 * 1024;
export const MAX_BATCH_BYTES = 512 * 1024 * 1024;

/** One change; without a value it removes the row, if it exists. */
export interface BatchOperation extends RowKey {
  readonly column: Column;
  readonly value: Uint8Array | undefined;
}

export interface DeletedRange extends OrderBounds {
  readonly column: Column;
  readonly partition: Uint8Array;
  readonly isOfClearedVersion: boolean;
}

/** The columns whose rows of a version are deleted when it is cleared. */
const VERSION_COLUMNS = [TRANSACTION_INFOS, TRANSACTIONS, VERSION_WRITES, MODULE_EVENTS];

/**
 * Collects changes for `Store.commit`. A batch can be committed once. A later change of a row replaces an earlier one.
 * Rows are copied at once; bounds of ranges must stay unchanged until the commit has settled.
 */
export class Batch {
  /** Rows that are stored after the ranges are deleted. */
  readonly packedRows = new PackedRows();
  /** The row that makes the commit visible, stored after all others. */
  readonly packedPublished = new PackedRows();
  /** The columns that have changed rows, by number. */
  readonly #columns: Column[] = [];
  readonly #ranges: DeletedRange[] = [];
  readonly #clearedVersions: RowKey[] = [];
  readonly #maxBytes: number;
  #byteLength = 0;

  constructor(maxBytes = MAX_BATCH_BYTES) {
    this.#maxBytes = maxBytes;
  }

  get byteLength(): number {
    return this.#byteLength;
  }

  /** Changes so far; a range counts as one. */
  get size(): number {
    return this.#ranges.length + this.packedRows.count + this.packedPublished.count;
  }

  get ranges(): readonly DeletedRange[] {
    return this.#ranges;
  }

  /** Versions that are cleared first; `ranges` covers their rows too. */
  get clearedVersions(): readonly RowKey[] {
    return this.#clearedVersions;
  }

  get rows(): readonly BatchOperation[] {
    return rowsIn(this.packedRows.pieces, this.#column);
  }

  get published(): readonly BatchOperation[] {
    return rowsIn(this.packedPublished.pieces, this.#column);
  }

  readonly #column = (number: number): Column => this.#columns[number]!;

  put(column: Column, partition: Uint8Array, order: Uint8Array, value: Uint8Array): this {
    this.#check(column, partition, order, value);
    this.packedRows.add(PUT, column.number, partition, order, value);
    return this;
  }

  delete(column: Column, partition: Uint8Array, order: Uint8Array): this {
    this.#check(column, partition, order, undefined);
    this.packedRows.add(DELETE, column.number, partition, order);
    return this;
  }

  /**
   * Removes the rows that a partition has between two bounds before the batch is applied. Rows that the batch itself
   * puts there stay. @throws StoreError `batch_too_large`; RangeError for a partition or bounds of another shape.
   */
  deleteRange(column: Column, partition: Uint8Array, bounds: OrderBounds = {}): this {
    assertBounds(column, partition, bounds);
    const { from, to } = bounds;
    this.#count(partition.length + (from?.length ?? 0) + (to?.length ?? 0));
    this.#ranges.push({ column, partition, from, to, isOfClearedVersion: false });
    return this;
  }

  /**
   * Removes all rows of a version from `VERSION_COLUMNS` before the batch is applied, even rows that are damaged and
   * cannot be read. @throws StoreError `batch_too_large`
   */
  clearVersion({ partition, order }: RowKey): this {
    for (const column of VERSION_COLUMNS) {
      const moreBytes = column.orderBytes[0] - order.length;
      const from = Buffer.concat([order, Buffer.alloc(moreBytes)]);
      const to = Buffer.concat([order, Buffer.alloc(moreBytes, 0xff)]);
      assertBounds(column, partition, { from, to });
      this.#count(partition.length + from.length + to.length);
      this.#ranges.push({ column, partition, from, to, isOfClearedVersion: true });
    }
    this.#clearedVersions.push({ partition, order });
    return this;
  }

  /**
   * Puts a row that must not be seen before all others of the batch are stored, such as the head.
   * @throws StoreError `batch_too_large`; RangeError for a key of another shape.
   */
  publish(column: Column, partition: Uint8Array, order: Uint8Array, value: Uint8Array): this {
    this.#check(column, partition, order, value);
    this.packedPublished.add(PUT, column.number, partition, order, value);
    return this;
  }

  #check(
    column: Column,
    partition: Uint8Array,
    order: Uint8Array,
    value: Uint8Array | undefined,
  ): void {
    assertKeyShape(column, partition, order);
    const valueBytes = value?.length ?? 0;
    if (valueBytes > MAX_VALUE_BYTES) {
      throw new StoreError(
        'batch_too_large',
        `a value of ${valueBytes} bytes for column ${column.name}: ` +
          `at most ${MAX_VALUE_BYTES} are stored`,
      );
    }
    this.#count(partition.length + order.length + valueBytes);
    this.#columns[column.number] = column;
  }

  #count(bytes: number): void {
    const byteLength = this.#byteLength + bytes;
    if (byteLength > this.#maxBytes) {
      throw new StoreError(
        'batch_too_large',
        `a commit of more than ${this.#maxBytes} bytes: write it in smaller chunks`,
      );
    }
    this.#byteLength = byteLength;
  }
}
