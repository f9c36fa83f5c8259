/**
 * Format 5 had the same rows, but LMDB stored those of a version apart, and state uncompressed; format 6 had all of
 * state in a B-tree of its own. What the engine still has in the old places, or without an index, is put again.
 */
import { Batch } from '../batch.ts';
import { BUCKET_PARTITION_BYTES } from '../columns/columns.ts';
import { decodeBucketKey } from '../columns/order-key.ts';
import type { UpgradeStep } from './upgrade-step.ts';

/** Bounds of one commit. */
const PART = { maxRows: 4_000, maxBytes: 4 * 1024 * 1024 };

export function putAgain(from: number, part = PART): UpgradeStep {
  let below = 0n;
  return {
    from,
    oldColumns: [],
    async next(store) {
      const rows = (await store.outdatedRows?.(part)) ?? [];
      if (rows.length === 0) return undefined;
      const batch = new Batch();
      for (const { column, partition, order, value } of rows) {
        batch.put(column, partition, order, value);
        const isByVersion = partition.length === BUCKET_PARTITION_BYTES;
        if (isByVersion) below = decodeBucketKey(partition, order) + 1n;
      }
      return { batch, below };
    },
  };
}
