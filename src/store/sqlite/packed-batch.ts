/** A batch as one piece of memory, which changes hands between threads. */
import type { Batch } from '../batch.ts';
import { type Column, MAX_ORDER_BYTES } from '../columns/columns.ts';
import { NO_ORDER } from '../columns/order-key.ts';
import { IN_ENTRY } from './placed-values.ts';

export const PUT = 0;
export const DELETE = 1;
export const DELETE_RANGE = 2;
export const CLEAR_VERSION = 3;
/** Most bytes that an operation takes besides its parts. */
const OPERATION_BYTES = 12;
const MAX_PARTITION_BYTES = 64;
const ALL_ONES = Buffer.alloc(MAX_ORDER_BYTES + 1, 0xff);

/** An order part longer and higher than every one the column has. */
export function afterAllOrders(column: Column): Buffer {
  return ALL_ONES.subarray(0, column.orderBytes[1] + 1);
}

/** Keys begin with the number of their column, and values with IN_ENTRY: most become entries as they are. */
export interface PackedOperation {
  readonly kind: number;
  readonly key: Buffer;
  /** The value of a row that is put, behind its place. */
  readonly placed: Buffer | undefined;
  readonly to: Buffer | undefined;
}

/** Deletions of ranges come first, the published rows last. */
export function packBatch(batch: Batch): Buffer<ArrayBuffer> {
  const operations =
    batch.ranges.length + batch.clearedVersions.length + batch.rows.length + batch.published.length;
  const rangeBytes = batch.ranges.length * 2 * (MAX_PARTITION_BYTES + MAX_ORDER_BYTES + 1);
  const packed = Buffer.from(
    new ArrayBuffer(batch.byteLength + operations * OPERATION_BYTES + rangeBytes),
  );
  let at = 0;
  const part = (bytes: Uint8Array): void => {
    packed.set(bytes, at);
    at += bytes.length;
  };
  const key = (column: number, partition: Uint8Array, order: Uint8Array): void => {
    at = packed.writeUInt16LE(1 + partition.length + order.length, at);
    packed[at] = column;
    at += 1;
    part(partition);
    part(order);
  };
  for (const { column, partition, from, to, isOfClearedVersion } of batch.ranges) {
    if (isOfClearedVersion) continue;
    at = packed.writeUInt8(DELETE_RANGE, at);
    key(column.number, partition, from ?? NO_ORDER);
    key(column.number, partition, to ?? afterAllOrders(column));
  }
  for (const { partition, order } of batch.clearedVersions) {
    at = packed.writeUInt8(CLEAR_VERSION, at);
    key(0, partition, order);
  }
  for (const rows of [batch.rows, batch.published]) {
    for (const { column, partition, order, value } of rows) {
      packed[at] = value === undefined ? DELETE : PUT;
      at += 1;
      key(column.number, partition, order);
      if (value === undefined) continue;
      at = packed.writeUInt32LE(1 + value.length, at);
      packed[at] = IN_ENTRY;
      at += 1;
      part(value);
    }
  }
  return packed.subarray(0, at);
}

export function* unpackBatch(packed: Buffer): Generator<PackedOperation> {
  let at = 0;
  const bytes = (length: number): Buffer => {
    at += length;
    return packed.subarray(at - length, at);
  };
  const key = (): Buffer => {
    at += 2;
    return bytes(packed[at - 2]! | (packed[at - 1]! << 8));
  };
  while (at < packed.length) {
    const kind = packed[at]!;
    at += 1;
    const operation = { kind, key: key(), placed: undefined, to: undefined };
    if (kind === DELETE_RANGE) yield { ...operation, to: key() };
    else if (kind === PUT) {
      at += 4;
      yield { ...operation, placed: bytes(packed.readUInt32LE(at - 4)) };
    } else yield operation;
  }
}
