/** The whole state at a version, in the order of its key hashes: a walk over the column of state in bounded memory. */
import type { StateValue } from '../move/types/state-value.ts';
import { type RowKey, STATE } from './columns/columns.ts';
import { encodeU64Key, U64_MAX } from './columns/order-key.ts';
import { decodeStateRow, type StateEntry } from './columns/state-column.ts';
import { MAX_SCAN_ROWS, type StoreReader } from './store.ts';

/** Bytes of rows that are read at once. */
const PAGE_BYTES = 4 * 1024 * 1024;
const LAST_ORDER = encodeU64Key(U64_MAX);

/** The reads that a walk over the state needs. */
export type StateReads = Pick<StoreReader, 'scan' | 'seekLast'>;

/** A key that has a value, by its hash. */
export interface LiveValue extends StateValue {
  readonly keyHash: Buffer;
}

/**
 * Every key that has a value at a version, ascending by key hash, page by page. A page may be empty.
 * @param version not below the oldest one and not above the head
 * @param after the key hash after which it begins; absent: from the first
 * @throws RowDamagedError
 */
export async function* liveState(
  store: StateReads,
  version: bigint,
  after?: Uint8Array,
): AsyncGenerator<readonly LiveValue[]> {
  const order = encodeU64Key(version);
  let last: RowKey | undefined = after && { partition: after, order: LAST_ORDER };
  for (;;) {
    const query = { after: last, maxRows: MAX_SCAN_ROWS, maxBytes: PAGE_BYTES };
    const rows = await store.scan(STATE, query);
    const end = rows[rows.length - 1]?.partition;
    if (end === undefined) return;
    const live: LiveValue[] = [];
    for (const [index, row] of rows.entries()) {
      // Of each key its last row up to the version counts.
      const next = rows[index + 1];
      if (row.partition.equals(end)) break;
      if (Buffer.compare(row.order, order) > 0) continue;
      const isSuperseded =
        next!.partition.equals(row.partition) && Buffer.compare(next!.order, order) <= 0;
      if (!isSuperseded) addLive(live, row.partition, decodeStateRow(row.partition, row));
    }
    // The last key may go on beyond the page, for long if it is written in every block.
    const newest = await store.seekLast(STATE, end, order);
    if (newest !== undefined) addLive(live, end, decodeStateRow(end, newest));
    yield live;
    last = { partition: end, order: LAST_ORDER };
  }
}

function addLive(live: LiveValue[], keyHash: Buffer, { bytes, metadata }: StateEntry): void {
  if (bytes !== undefined) live.push({ keyHash, bytes, metadata });
}
