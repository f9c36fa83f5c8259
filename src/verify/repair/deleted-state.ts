/**
 * Rows of state that pruning has deleted, and that count again because the index has lost their deletions. Their values
 * are gone. A row that another one supersedes at or below the oldest version is in no answer. That the other rows were
 * deleted is proved by the root of the state, which is right without them.
 */
import { checkpointUpTo, MAX_CHECKPOINT_DISTANCE, stateRootAt } from '../../ingest/checkpoint.ts';
import { Batch } from '../../store/batch.ts';
import { type RowKey, STATE } from '../../store/columns/columns.ts';
import type { Head } from '../../store/columns/head.ts';
import { decodeU64Key, encodeU64Key } from '../../store/columns/order-key.ts';
import { readPinnedAccounts } from '../../store/columns/pruning-column.ts';
import type { StateReads } from '../../store/read/live-state.ts';
import { StoreView } from '../../store/read/view.ts';
import type { Store, StoreReader } from '../../store/store.ts';
import { isDamaged, RowDamagedError } from '../../store/store-error.ts';

/**
 * Removes rows of state from before the oldest version that cannot be read, as far as they are known to be deleted.
 * @param rows damaged ones
 * @returns how many were removed
 */
export async function removeDeleted(
  store: Store,
  head: Head,
  rows: readonly RowKey[],
): Promise<number> {
  const { oldestVersion, version: newest } = head;
  // Superseded rows of pinned accounts stay.
  if ((await readPinnedAccounts(store)).size > 0) return 0;
  const superseded = new Batch();
  const others: RowKey[] = [];
  for (const row of rows) {
    if (!(await isUnreadable(store, row))) continue;
    if (await isFollowed(store, row, oldestVersion)) {
      superseded.delete(STATE, row.partition, row.order);
    } else others.push(row);
  }
  await store.commit(superseded);
  if (others.length === 0) return superseded.size;
  const farthest = oldestVersion + BigInt(MAX_CHECKPOINT_DISTANCE) - 1n;
  const view = new StoreView(store, head);
  const checkpoint = await checkpointUpTo(view, farthest < newest ? farthest : newest);
  if (checkpoint === undefined) return superseded.size;
  const { version, stateRoot } = checkpoint;
  const deleted = new Batch();
  for (const row of others) {
    if (await isFollowed(store, row, version)) continue;
    deleted.delete(STATE, row.partition, row.order);
  }
  if (!(await rootWithout(store, version, deleted))?.equals(stateRoot)) return superseded.size;
  await store.commit(deleted);
  return superseded.size + deleted.size;
}

async function isUnreadable(store: StoreReader, { partition, order }: RowKey): Promise<boolean> {
  try {
    await store.get(STATE, partition, order);
    return false;
  } catch (error) {
    if (!(error instanceof RowDamagedError)) throw error;
    return true;
  }
}

/** Whether the key of a row has another one, readable or not, up to a version. */
async function isFollowed(
  store: StoreReader,
  { partition, order }: RowKey,
  version: bigint,
): Promise<boolean> {
  const from = encodeU64Key(decodeU64Key(Buffer.from(order)) + 1n);
  try {
    const bounds = { from, to: encodeU64Key(version), limit: 1 };
    return (await store.range(STATE, partition, bounds)).length > 0;
  } catch (error) {
    if (!(error instanceof RowDamagedError)) throw error;
    return true;
  }
}

/** Reads of state that leave out damaged rows of some keys, by their hashes in hex. */
function readsWithout(store: StoreReader, left: ReadonlySet<string>): StateReads {
  const isLeft = (error: unknown): error is RowDamagedError =>
    error instanceof RowDamagedError && left.has(Buffer.from(error.row.partition).toString('hex'));
  return {
    async scan(column, query) {
      for (let { after } = query; ; ) {
        try {
          return await store.scan(column, { ...query, after });
        } catch (error) {
          if (!isLeft(error)) throw error;
          after = error.row;
        }
      }
    },
    async seekLast(...key) {
      try {
        return await store.seekLast(...key);
      } catch (error) {
        if (!isLeft(error)) throw error;
        return undefined;
      }
    },
  };
}

/** The root of the state at a version without the keys of a batch; `undefined` if another value cannot be read. */
async function rootWithout(
  store: StoreReader,
  version: bigint,
  { rows }: Batch,
): Promise<Buffer | undefined> {
  const left = new Set(rows.map(({ partition }) => Buffer.from(partition).toString('hex')));
  try {
    return await stateRootAt(readsWithout(store, left), version);
  } catch (error) {
    if (!isDamaged(error)) throw error;
    return undefined;
  }
}
