/**
 * Every column of the store: its number, its name, and the lengths of its keys. docs/data-layout.md describes the
 * contents of keys and values; a test compares its table with this one.
 *
 * A key has a partition and an order within it. Every read names one partition. Parts are big-endian, so that the order
 * of bytes is the order of numbers. All partitions of a column are equally long, so that an engine with plain keys only
 * can store partition ‖ order.
 */

/** The layout that this program reads and writes. Every change that another version would misread increases it. */
export const STORE_FORMAT_VERSION = 1;

/**
 * Longest order part of a key, in bytes. Longer state keys are cut into segments of this size (state-key-column.ts).
 * An entry of a sorted run must fit into a page of 4 KiB. B-trees of SQL servers take about 2,700 bytes.
 */
export const MAX_ORDER_BYTES = 1_024;

/** The six high bytes of a version or height are its partition, which 65,536 numbers share. */
export const BUCKET_PARTITION_BYTES = 6;
const BUCKET_ORDER_BYTES = 2;

/** One column. Lengths in bytes. */
export interface Column {
  /** One byte, never reused for a different column. */
  readonly number: number;
  readonly name: string;
  readonly partitionBytes: number;
  /** Minimum and maximum bytes of the order part; both 0 if a partition has one row. */
  readonly orderBytes: readonly [least: number, most: number];
}

export interface RowKey {
  readonly partition: Uint8Array;
  readonly order: Uint8Array;
}

export interface Row {
  readonly order: Buffer;
  readonly value: Buffer;
}

export interface ScannedRow extends Row {
  readonly partition: Buffer;
}

const columns: Column[] = [];
export const COLUMNS: readonly Column[] = columns;

export const IDENTITY = column(1, 'identity', 1, 0);
export const HEAD = column(2, 'head', 1, 0);
export const STATE = column(3, 'state', 32, 8);
export const ACCOUNT_KEYS = column(4, 'account_keys', 32, 1, MAX_ORDER_BYTES);
export const ACCOUNT_KEY_TAILS = column(5, 'account_key_tails', 64, 1, MAX_ORDER_BYTES);
export const STATE_KEYS = column(6, 'state_keys', 32, 0);
export const EVENTS = column(7, 'events', 40, 8);
export const MODULE_EVENTS = bucketColumn(8, 'module_events', 4);
export const TRANSACTION_INFOS = bucketColumn(10, 'transaction_infos');
export const BLOCKS_BY_HEIGHT = bucketColumn(11, 'blocks_by_height');
export const BLOCKS_BY_VERSION = bucketColumn(12, 'blocks_by_version');
export const EPOCHS = column(13, 'epochs', 1, 8);
export const VERSION_WRITES = bucketColumn(14, 'version_writes');
export const BALANCES = column(15, 'balances', 32, 32);
export const PRUNING = column(16, 'pruning', 1, 0, 32);
export const PRIMARY_STORES = column(17, 'primary_stores', 32, 0);
export const TRANSACTION_HASHES = column(18, 'transaction_hashes', 8, 8);
export const ACCOUNT_TRANSACTIONS = column(19, 'account_transactions', 32, 9);
export const TRANSACTIONS = bucketColumn(20, 'transactions');
export const EVENT_TYPES = column(21, 'event_types', 8, 8);

/** @throws RangeError when a key does not have the column's shape, which is a programming error. */
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

/** Lowest and highest order part of some rows of a partition, both inclusive. Absent: no bound. */
export interface OrderBounds {
  readonly from?: Uint8Array | undefined;
  readonly to?: Uint8Array | undefined;
}

/** @throws RangeError when partition or bounds do not have the column's shape. */
export function assertBounds(
  column: Column,
  partition: Uint8Array,
  { from, to }: OrderBounds,
): void {
  if (from !== undefined) assertKeyShape(column, partition, from);
  if (to !== undefined) assertKeyShape(column, partition, to);
  if (partition.length !== column.partitionBytes) {
    throw new RangeError(`column ${column.name} has no partition of ${partition.length} bytes`);
  }
}

function column(
  number: number,
  name: string,
  partitionBytes: number,
  minOrderBytes: number,
  maxOrderBytes = minOrderBytes,
): Column {
  const made: Column = { number, name, partitionBytes, orderBytes: [minOrderBytes, maxOrderBytes] };
  columns.push(made);
  return made;
}

/** @param moreBytes bytes of the order after the number */
function bucketColumn(number: number, name: string, moreBytes = 0): Column {
  return column(number, name, BUCKET_PARTITION_BYTES, BUCKET_ORDER_BYTES + moreBytes);
}
