/** The transactions of a ledger as JSON, a page at a time. Reading is most of the work, so a thread may do it. */
import type { LedgerView } from '../ledger/ledger-view.ts';
import { YieldBudget } from '../yield-budget.ts';

const OPERATION = 'Indexing';

interface BlockSpan {
  readonly height: bigint;
  readonly firstVersion: bigint;
  readonly lastVersion: bigint;
}

export interface LedgerPage {
  /** An array in UTF-8, of at least one transaction. */
  readonly json: Uint8Array;
  /** The blocks of all versions of the page, perhaps with versions beyond it. */
  readonly blocks: readonly BlockSpan[];
}

export interface PageReader {
  /** Rejects with LedgerError. */
  read(start: bigint, limit: number): Promise<LedgerPage>;
  close(): Promise<void>;
}

/** @param limit at most the number of versions from `start` to the newest */
export async function readPage(
  { history }: LedgerView,
  start: bigint,
  limit: number,
): Promise<LedgerPage> {
  const pieces = await history.transactionsJson(start, limit, OPERATION, new YieldBudget());
  const blocks: BlockSpan[] = [];
  for (let version = start; version < start + BigInt(limit); ) {
    const { height, firstVersion, lastVersion } = await history.blockByVersion(version);
    blocks.push({ height, firstVersion, lastVersion });
    version = lastVersion + 1n;
  }
  return { json: Buffer.concat(pieces), blocks };
}
