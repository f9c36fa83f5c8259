/**
 * Reads the whole state at a version, and the end of every event stream at a version. Walks over a column in bounded
 * memory, in the order of its partitions.
 */

import type { MaybePromise } from '../../maybe-promise.ts';
import { U64_MAX } from '../../move/bcs/bcs-reader.ts';
import { StateTree } from '../../move/crypto/state-tree.ts';
import { type StateValue, stateValueHash } from '../../move/types/state-value.ts';
import { nextTurn } from '../../yield-budget.ts';
import { type Column, EVENTS, type RowKey, type ScannedRow, STATE } from '../columns/columns.ts';
import { decodeEventRow, decodeStreamId } from '../columns/event-column.ts';
import type { Head } from '../columns/head.ts';
import { encodeU64Key } from '../columns/order-key.ts';
import { decodeStateRow } from '../columns/state-column.ts';
import { MAX_SCAN_ROWS, type StoreReader } from '../store.ts';
import { EventStreamView } from './event-pages.ts';

const PAGE_BYTES = 4 * 1024 * 1024;
/** Number of leaves that `stateTreeAt` adds in one turn of the event loop, in a few milliseconds. */
const LEAVES_PER_TURN = 500;
const LAST_ORDER = encodeU64Key(U64_MAX);

export type StateReads = Pick<StoreReader, 'scan' | 'seekLast'>;

export interface LiveValue extends StateValue {
  readonly keyHash: Buffer;
}

/**
 * Every key that has a value at a version, ascending by key hash, page by page. A page may be empty.
 * @param version not below the oldest one and not above the head
 * @throws RowDamagedError
 */
export async function* liveState(
  store: StateReads,
  version: bigint,
): AsyncGenerator<readonly LiveValue[]> {
  const order = encodeU64Key(version);
  const walk = {
    isVisible: (row: ScannedRow) => Buffer.compare(row.order, order) <= 0,
    lastOf: async (partition: Buffer) => {
      const row = await store.seekLast(STATE, partition, order);
      return row && { partition, ...row };
    },
  };
  for await (const page of lastRows(store, STATE, walk)) {
    yield page.flatMap((row) => {
      const { bytes, metadata } = decodeStateRow(row.partition, row);
      return bytes === undefined ? [] : [{ keyHash: row.partition, bytes, metadata }];
    });
  }
}

/**
 * The tree of the whole state at a version; `undefined` if it has more values than `maxValues`.
 * @throws RowDamagedError
 */
export async function stateTreeAt(store: StateReads, version: bigint): Promise<StateTree>;
export async function stateTreeAt(
  store: StateReads,
  version: bigint,
  maxValues: number,
): Promise<StateTree | undefined>;
export async function stateTreeAt(
  store: StateReads,
  version: bigint,
  maxValues = Number.POSITIVE_INFINITY,
): Promise<StateTree | undefined> {
  const tree = new StateTree();
  for await (const page of liveState(store, version)) {
    for (const [index, value] of page.entries()) {
      tree.set(value.keyHash, stateValueHash(value));
      if (index % LEAVES_PER_TURN > 0) continue;
      // Leaves arrive in order, so the hashes above them are computed as they arrive and not all at the end.
      tree.rootHash();
      await nextTurn();
    }
    if (tree.count > maxValues) return undefined;
  }
  return tree;
}

/**
 * The newest event of each stream up to a version, ascending by stream, page by page. A page may be empty.
 * @throws RowDamagedError
 */
export async function* streamEnds(
  store: StoreReader,
  head: Head,
  version: bigint,
): AsyncGenerator<readonly ScannedRow[]> {
  const walk = {
    isVisible: (row: ScannedRow) => decodeEventRow(row.partition, row).version <= version,
    lastOf: async (partition: Buffer) => {
      const stream = new EventStreamView(store, { ...head, version }, decodeStreamId(partition));
      const number = await stream.lastSequenceNumber();
      if (number === undefined) return undefined;
      const order = encodeU64Key(number);
      const value = await store.get(EVENTS, partition, order);
      return value && { partition, order, value };
    },
  };
  yield* lastRows(store, EVENTS, walk);
}

interface Walk {
  /** The visible rows of a partition come first. */
  isVisible(row: ScannedRow): boolean;
  lastOf(partition: Buffer): MaybePromise<ScannedRow | undefined>;
}

async function* lastRows(
  store: Pick<StoreReader, 'scan'>,
  column: Column,
  { isVisible, lastOf }: Walk,
): AsyncGenerator<readonly ScannedRow[]> {
  let last: RowKey | undefined;
  for (;;) {
    const query = { after: last, maxRows: MAX_SCAN_ROWS, maxBytes: PAGE_BYTES };
    const rows = await store.scan(column, query);
    const end = rows[rows.length - 1]?.partition;
    if (end === undefined) return;
    const found: ScannedRow[] = [];
    let newest: ScannedRow | undefined;
    for (const row of rows) {
      if (newest !== undefined && !row.partition.equals(newest.partition)) {
        found.push(newest);
        newest = undefined;
      }
      // The last partition may continue beyond the page, far beyond if it has a row for every block.
      if (row.partition.equals(end)) break;
      if (isVisible(row)) newest = row;
    }
    const row = await lastOf(end);
    if (row !== undefined) found.push(row);
    yield found;
    last = { partition: end, order: LAST_ORDER };
  }
}
