/** Where every event stream ends at a version: a walk over the column of events in bounded memory. */
import { EVENTS, type RowKey, type ScannedRow } from './columns/columns.ts';
import { decodeEventRow, decodeStreamId } from './columns/event-column.ts';
import type { Head } from './columns/head.ts';
import { encodeU64Key, U64_MAX } from './columns/order-key.ts';
import { EventStreamView } from './event-pages.ts';
import { MAX_SCAN_ROWS, type StoreReader } from './store.ts';

/** Bytes of rows that are read at once. */
const PAGE_BYTES = 4 * 1024 * 1024;
const LAST_ORDER = encodeU64Key(U64_MAX);

/**
 * The newest event of each stream up to a version, ascending by stream, page by page. A page may be empty.
 * @param after the stream (its partition) after which it begins; absent: from the first
 * @throws RowDamagedError
 */
export async function* streamEnds(
  store: StoreReader,
  head: Head,
  version: bigint,
  after?: Uint8Array,
): AsyncGenerator<readonly ScannedRow[]> {
  let last: RowKey | undefined = after && { partition: after, order: LAST_ORDER };
  for (;;) {
    const query = { after: last, maxRows: MAX_SCAN_ROWS, maxBytes: PAGE_BYTES };
    const rows = await store.scan(EVENTS, query);
    const end = rows[rows.length - 1]?.partition;
    if (end === undefined) return;
    const ends: ScannedRow[] = [];
    let newest: ScannedRow | undefined;
    for (const row of rows) {
      if (newest !== undefined && !row.partition.equals(newest.partition)) {
        ends.push(newest);
        newest = undefined;
      }
      // The last stream may go on beyond the page, for long if it has an event in every block.
      if (row.partition.equals(end)) break;
      if (decodeEventRow(row.partition, row).version <= version) newest = row;
    }
    const row = await lastRow(store, { ...head, version }, end);
    if (row !== undefined) ends.push(row);
    yield ends;
    last = { partition: end, order: LAST_ORDER };
  }
}

async function lastRow(
  store: StoreReader,
  head: Head,
  partition: Buffer,
): Promise<ScannedRow | undefined> {
  const stream = new EventStreamView(store, head, decodeStreamId(partition));
  const number = await stream.lastSequenceNumber();
  if (number === undefined) return undefined;
  const order = encodeU64Key(number);
  const value = await store.get(EVENTS, partition, order);
  return value && { partition, order, value };
}
