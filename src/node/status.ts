/** `daybook status`: what a ledger is and how much each column contains. */
import { readHead } from '../store/columns/head.ts';
import { LEDGER_IDENTITY } from '../store/columns/identity-column.ts';
import { emptyStoreError, withReader } from './open-store.ts';

/** The object that `status --json` prints; versions and heights are decimal strings as in the API. */
export interface StatusReport {
  readonly chain_id: number;
  readonly ledger_version: string;
  readonly oldest_ledger_version: string;
  /** Microseconds since 1970. */
  readonly ledger_timestamp: string;
  readonly epoch: string;
  readonly block_height: string;
  readonly oldest_block_height: string;
  /** Rows and bytes by column name. */
  readonly columns: Readonly<Record<string, { readonly rows: number; readonly bytes: number }>>;
}

/** Reads the state of the ledger in a folder, next to any writer. @throws NodeError */
export function ledgerStatus(dataFolder: string): Promise<StatusReport> {
  return withReader(dataFolder, async (store) => {
    const head = await readHead(store);
    const identity = await LEDGER_IDENTITY.get(store);
    if (head === undefined || identity === undefined) throw emptyStoreError(dataFolder);
    const columns = await store.statistics();
    return {
      chain_id: identity.chainId,
      ledger_version: String(head.version),
      oldest_ledger_version: String(head.oldestVersion),
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
