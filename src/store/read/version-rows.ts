/** Reads rows of consecutive versions together: one round trip for a column, however many versions. */
import type { Column } from '../columns/columns.ts';
import { bucketEnd, decodeBucketKey, encodeBucketKey } from '../columns/order-key.ts';
import type { StoreReader } from '../store.ts';

/** Versions that long work reads together: some hundred kilobytes of transactions, handled in a few milliseconds. */
const VERSIONS_AT_ONCE = 128n;

/** The end of the versions to read together: they share a partition and are below `bound`. */
export function endOfVersions(first: bigint, bound: bigint): bigint {
  const ends = [first + VERSIONS_AT_ONCE, bucketEnd(first) + 1n, bound];
  return ends.reduce((low, end) => (end < low ? end : low));
}

/** Values of a column by version, from `first` to before `end`, which comes from `endOfVersions`. */
export async function versionRows(
  store: StoreReader,
  column: Column,
  first: bigint,
  end: bigint,
): Promise<ReadonlyMap<bigint, Buffer>> {
  const { partition, order: from } = encodeBucketKey(first);
  const { order: to } = encodeBucketKey(end - 1n);
  const rows = await store.range(column, partition, { from, to, limit: Number(end - first) });
  return new Map(rows.map(({ order, value }) => [decodeBucketKey(partition, order), value]));
}
