/** Packs a batch into pieces of memory that can be transferred between threads. */
import type { Batch } from '../batch.ts';
import { type Column, MAX_ORDER_BYTES } from '../columns/columns.ts';
import { NO_ORDER } from '../columns/order-key.ts';
import { CLEAR_VERSION, DELETE_RANGE, PackedRows } from '../packed-rows.ts';

const ALL_ONES = Buffer.alloc(MAX_ORDER_BYTES + 1, 0xff);

/** An order that is longer and higher than any in the column. */
export function afterAllOrders(column: Column): Buffer {
  return ALL_ONES.subarray(0, column.orderBytes[1] + 1);
}

/** Range deletions come first, published rows last. The caller owns the batch's rows from now on. */
export function packBatch(batch: Batch): readonly Buffer<ArrayBuffer>[] {
  const ranges = new PackedRows();
  for (const { column, partition, from, to, isOfClearedVersion } of batch.ranges) {
    if (isOfClearedVersion) continue;
    const end = Buffer.concat([Buffer.of(column.number), partition, to ?? afterAllOrders(column)]);
    ranges.add(DELETE_RANGE, column.number, partition, from ?? NO_ORDER, end);
  }
  for (const { partition, order } of batch.clearedVersions) {
    ranges.add(CLEAR_VERSION, 0, partition, order);
  }
  return [...ranges.take(), ...batch.packedRows.take(), ...batch.packedPublished.take()];
}
