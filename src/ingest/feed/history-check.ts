/** Whether an upstream tells the history that is here: asked before anything is taken from it. */
import type { Head } from '../../store/columns/head.ts';
import type { LedgerIdentity } from '../../store/columns/identity-column.ts';
import type { StoreReader } from '../../store/store.ts';
import { StoreView } from '../../store/view.ts';
import { type FeedClient, MAX_PAGE_BYTES, type UpstreamState } from './feed-client.ts';
import { FeedError } from './feed-error.ts';
import { checkItem, itemsOf } from './page-prover.ts';
import { headRoot } from './trusted-root.ts';

/** @throws FeedError `other_chain` when the upstream says it is of another chain than this ledger */
export function checkChain(identity: LedgerIdentity, { chainId }: UpstreamState): void {
  if (chainId === undefined || chainId === identity.chainId) return;
  throw new FeedError(
    'other_chain',
    `the upstream is of chain ${chainId}, the ledger here of chain ${identity.chainId}: ` +
      'nothing was taken from it',
  );
}

/**
 * Compares the newest version that both have: its info, which covers its transaction, events and writes, and at our
 * head the root, which covers every version before it.
 * @throws FeedError `upstream_pruned` when the upstream cannot go on where this ledger ends; `history_contradicts`;
 *   PageError for an item that is not what its own hashes say
 */
export async function checkHistory(
  client: FeedClient,
  store: StoreReader,
  head: Head,
  state: UpstreamState,
  signal: AbortSignal,
): Promise<void> {
  const { ledgerVersion = head.version, oldestVersion = 0n } = state;
  if (head.version + 1n < oldestVersion) {
    throw new FeedError(
      'upstream_pruned',
      `the upstream begins with version ${oldestVersion}, here comes ${head.version + 1n} next: ` +
        'follow a node that keeps more',
    );
  }
  const isBehind = ledgerVersion < head.version;
  const version = isBehind ? ledgerVersion : head.version;
  if (version < oldestVersion) return;
  const stored = await new StoreView(store, head).transactionInfo(version);
  // Pruned here: the accumulator still tells, with the first page.
  if (stored === undefined) return;
  const page = await client.page(version, 1, MAX_PAGE_BYTES, signal);
  const [item] = itemsOf(page.bytes, version);
  if (item === undefined) throw new RangeError('a page has one item or more');
  checkItem(item, version);
  const sameInfo = item.bytes.info.equals(stored);
  const sameRoot = isBehind || item.data.accumulatorRootHash.equals(headRoot(head));
  if (sameInfo && sameRoot) return;
  const part = sameInfo ? 'accumulator root' : 'transaction info';
  throw new FeedError(
    'history_contradicts',
    `the upstream’s history is another one: at version ${version} its ${part} differs from the ` +
      'one here; nothing was taken from it',
  );
}
