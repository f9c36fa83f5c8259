/** Finds the streams and types that have new events, from the rows of the versions that emitted them. */
import { MODULE_EVENTS, VERSION_WRITES } from '../columns/columns.ts';
import { decodeModuleEventRow, moduleEventBounds, type StreamId } from '../columns/event-column.ts';
import { decodeBucketKey, encodeBucketKey } from '../columns/order-key.ts';
import { WRITES_OF_VERSION } from '../columns/version-writes-column.ts';
import type { StoreReader } from '../store.ts';
import { endOfVersions, versionRows } from './version-rows.ts';

/** Most versions, and most module events, that one part reads, in a few milliseconds. */
const MAX_VERSIONS = 32n;
const MAX_MODULE_EVENTS = 1_024;

/** Streams and types of the events that some versions emitted. Each may occur several times. */
export interface EmittedPart {
  readonly streams: readonly StreamId[];
  /** BCS of the types of module events. */
  readonly typeTags: readonly Uint8Array[];
  readonly next: bigint;
}

/**
 * Reads one part, in two round trips. A version without rows counts as one that emitted nothing.
 * @param first not above the head
 * @returns undefined if the first version has too many events for a part
 * @throws RowDamagedError
 */
export async function readEmitted(
  store: StoreReader,
  first: bigint,
  headVersion: bigint,
): Promise<EmittedPart | undefined> {
  const most = first + MAX_VERSIONS;
  let next = endOfVersions(first, most <= headVersion ? most : headVersion + 1n);
  const firstKey = encodeBucketKey(first);
  const [partition, bounds] = moduleEventBounds(firstKey, encodeBucketKey(next - 1n));
  const query = { ...bounds, limit: MAX_MODULE_EVENTS };
  const rows = await store.range(MODULE_EVENTS, partition, query);
  // The version of the last event may have more events.
  if (rows.length === MAX_MODULE_EVENTS) {
    next = decodeBucketKey(partition, rows[rows.length - 1]!.order);
    if (next === first) return undefined;
  }
  const writes = await versionRows(store, VERSION_WRITES, first, next);
  const streams = [...writes].flatMap(
    ([version, row]) => WRITES_OF_VERSION.decode(encodeBucketKey(version), row).events,
  );
  const typeTags = rows.map((row) => decodeModuleEventRow({ partition, ...row }).typeTag);
  return { streams, typeTags, next };
}
