/** `daybook status`: what a ledger is and how much each column contains. */
import { FORK_LAYOUT, FORK_ORIGIN } from '../store/columns/fork-columns.ts';
import { readHead } from '../store/columns/head.ts';
import { LEDGER_IDENTITY } from '../store/columns/identity-column.ts';
import { openSqliteReader } from '../store/sqlite/sqlite-store.ts';
import type { StoreReader } from '../store/store.ts';
import { isStoreError } from '../store/store-error.ts';
import { NodeError } from './node-error.ts';
import { emptyStoreError, withReader } from './open-store.ts';

export type StatusReport = Awaited<ReturnType<typeof statusOf>>;

/**
 * Reads the state of the ledger, or of the fork, in a folder, next to any writer.
 * @returns the object that `status --json` prints; versions and heights are decimal strings as in the API
 * @throws NodeError
 */
export async function ledgerStatus(data: string): Promise<StatusReport> {
  try {
    return await withReader(data, (store) => statusOf(store, data));
  } catch (error) {
    if (!(error instanceof NodeError && isStoreError(error.cause, 'store_is_fork'))) throw error;
  }
  const fork = openSqliteReader({ directory: data, layout: FORK_LAYOUT });
  return await statusOf(fork, data).finally(() => fork.close());
}

async function statusOf(store: StoreReader, data: string) {
  const head = await readHead(store);
  const identity = await LEDGER_IDENTITY.get(store);
  if (head === undefined || identity === undefined) throw emptyStoreError(data);
  const origin = await FORK_ORIGIN.get(store);
  const columns = await store.statistics();
  return {
    ...(origin && { fork_of: origin.url }),
    chain_id: identity.chainId,
    ledger_version: String(head.version),
    oldest_ledger_version: String(head.oldestVersion),
    /** Microseconds since 1970. */
    ledger_timestamp: String(head.timestampUsecs),
    epoch: String(head.epoch),
    block_height: String(head.blockHeight),
    oldest_block_height: String(head.oldestBlockHeight),
    columns: Object.fromEntries(
      columns.map(({ column, rows, bytes }) => [column.name, { rows, bytes }]),
    ),
  };
}
