/** `daybook status`: what a ledger is and how much each column contains. */
import { readHead } from '../store/columns/head.ts';
import { LEDGER_IDENTITY } from '../store/columns/identity-column.ts';
import { emptyStoreError, withReader } from './open-store.ts';

export type StatusReport = Awaited<ReturnType<typeof ledgerStatus>>;

/**
 * Reads the state of the ledger in a folder, next to any writer.
 * @returns the object that `status --json` prints; versions and heights are decimal strings as in the API
 * @throws NodeError
 */
export function ledgerStatus(data: string) {
  return withReader(data, async (store) => {
    const head = await readHead(store);
    const identity = await LEDGER_IDENTITY.get(store);
    if (head === undefined || identity === undefined) throw emptyStoreError(data);
    const columns = await store.statistics();
    return {
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
  });
}
