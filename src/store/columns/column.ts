/**
 * Columns, keys and rows. A key has a partition and an order within it (docs/data-layout.md). Every read names
 * one partition. Parts are big-endian, so that the order of bytes is the order of numbers. All partitions of a column
 * are equally long, so that an engine with plain keys only (LMDB) can store partition ‖ order.
 */

type ColumnUser = 'store' | 'writer' | 'pruner' | 'view' | 'verify' | 'feed';

/** One column. Lengths in bytes. */
export interface Column {
  /** One byte, never used again for another column. */
  readonly number: number;
  readonly name: string;
  readonly partitionBytes: number;
  /** Minimum and maximum bytes of the order part; both 0 if a partition has one row. */
  readonly orderBytes: readonly [least: number, most: number];
  readonly partition: string;
  /** Description of the order part; absent if there is none. */
  readonly order?: string;
  readonly value: string;
  readonly writtenBy: readonly ColumnUser[];
  readonly readBy: readonly ColumnUser[];
}

export interface RowKey {
  readonly partition: Uint8Array;
  readonly order: Uint8Array;
}

/** A row of a known partition. */
export interface Row {
  readonly order: Buffer;
  readonly value: Buffer;
}

export interface ScannedRow extends Row {
  readonly partition: Buffer;
}

/** @throws RangeError when a key does not have the column's shape: a programmer's mistake. */
export function assertKeyShape(column: Column, partition: Uint8Array, order: Uint8Array): void {
  const { partitionBytes, orderBytes } = column;
  if (
    partition.length !== partitionBytes ||
    order.length < orderBytes[0] ||
    order.length > orderBytes[1]
  ) {
    throw new RangeError(
      `column ${column.name} has no key of ${partition.length} + ${order.length} bytes`,
    );
  }
}
