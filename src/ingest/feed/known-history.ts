/** Compares an upstream with known history: this ledger, and trusted roots (`--trust`). */
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { MerkleAccumulator } from '../../move/crypto/accumulator.ts';
import { readOnChainData } from '../../move/transactions/transaction.ts';
import { parseWaypoint } from '../../move/transactions/waypoint.ts';
import type { LedgerState } from '../../remote/answer.ts';
import { RemoteError } from '../../remote/remote-error.ts';
import type { Head } from '../../store/columns/head.ts';
import type { LedgerIdentity } from '../../store/columns/identity-column.ts';
import { StoreView } from '../../store/read/view.ts';
import type { StoreReader } from '../../store/store.ts';
import { type FeedClient, MAX_PAGE_BYTES } from './feed-client.ts';
import { PageError } from './page-error.ts';
import { checkItem, itemsOf, type TrustedRoot } from './page-verifier.ts';

/** @throws RemoteError `other_chain` when the upstream's chain is not this ledger's */
export function checkChain(identity: LedgerIdentity, { chainId }: LedgerState): void {
  if (chainId === undefined || chainId === identity.chainId) return;
  throw new RemoteError(
    'other_chain',
    `the upstream is of chain ${chainId}, the ledger here of chain ${identity.chainId}: ` +
      'nothing was taken from it',
  );
}

/**
 * Compares the newest version that both have. Its info covers its transaction, events and writes. At our head the root
 * is compared too, which covers every version before it.
 * @throws RemoteError `upstream_pruned` if the upstream has pruned the next version; `history_contradicts`; PageError
 *   for an item that does not match its own hashes
 */
export async function checkHistory(
  client: FeedClient,
  store: StoreReader,
  head: Head,
  state: LedgerState,
  signal: AbortSignal,
): Promise<void> {
  const { ledgerVersion = head.version, oldestVersion = 0n } = state;
  if (head.version + 1n < oldestVersion) {
    throw new RemoteError(
      'upstream_pruned',
      `the upstream’s first version is ${oldestVersion}, the next one here is ${head.version + 1n}: ` +
        'follow a node that has pruned less',
    );
  }
  const isBehind = ledgerVersion < head.version;
  const version = isBehind ? ledgerVersion : head.version;
  if (version < oldestVersion) return;
  const stored = await new StoreView(store, head).transactionInfo(version);
  // The info is pruned here. The first page will be checked against the accumulator.
  if (stored === undefined) return;
  const page = await client.page(version, 1, MAX_PAGE_BYTES, signal);
  const [item] = itemsOf(page.bytes, version);
  if (item === undefined) throw new RangeError('a page has one item or more');
  checkItem(item, version);
  const sameInfo = item.bytes.info.equals(stored);
  const sameRoot = isBehind || item.data.accumulatorRootHash.equals(headRoot(head));
  if (sameInfo && sameRoot) return;
  const part = sameInfo ? 'accumulator root' : 'transaction info';
  throw new RemoteError(
    'history_contradicts',
    `the upstream’s history is another one: at version ${version} its ${part} differs from the ` +
      'one here; nothing was taken from it',
  );
}

/** Two values of `--trust` contradict one another. */
export class TrustTextError extends Error {
  readonly code = 'contradicting_roots';
}

/**
 * Parses texts of the form `VERSION:ROOT`, the root in 64 hex digits, with `0x` or without: the syntax of a waypoint.
 * @throws WaypointTextError; TrustTextError for two roots of one version
 */
export function parseTrustedRoots(texts: readonly string[]): readonly TrustedRoot[] {
  const roots = new Map<bigint, TrustedRoot>();
  for (const text of texts) {
    const waypoint = parseWaypoint(text.replace(/:0x/i, ':'));
    const trusted = { version: waypoint.version, root: waypoint.hash };
    const { version, root } = roots.get(trusted.version) ?? trusted;
    if (Buffer.compare(root, trusted.root) !== 0) {
      const [one, other] = [root, trusted.root].map((hash) => Buffer.from(hash).toString('hex'));
      throw new TrustTextError(`version ${version} has two roots, ${one} and ${other}: give one`);
    }
    roots.set(version, trusted);
  }
  return [...roots.values()];
}

/**
 * Compares trusted roots of versions that are already stored.
 * @returns those that cannot be compared, because their transactions are not stored
 * @throws PageError `trust_contradicts`
 */
export async function checkStoredRoots(
  store: StoreReader,
  head: Head,
  trustedRoots: readonly TrustedRoot[],
): Promise<TrustedRoot[]> {
  const incomparable: TrustedRoot[] = [];
  for (const trusted of trustedRoots) {
    const { version } = trusted;
    if (version > head.version) continue;
    const root = await storedRoot(store, head, version);
    if (root === undefined) incomparable.push(trusted);
    else if (!root.equals(trusted.root)) {
      const trustedHex = Buffer.from(trusted.root).toString('hex');
      const detail = `the accumulator root here is ${root.toString('hex')}, the trusted one is ${trustedHex}`;
      const field = 'accumulator_root_hash';
      throw new PageError({ code: 'trust_contradicts', version, field, detail });
    }
  }
  return incomparable;
}

async function storedRoot(
  store: StoreReader,
  head: Head,
  version: bigint,
): Promise<Buffer | undefined> {
  if (version === head.version) return headRoot(head);
  const [item] = await new StoreView(store, head).transactions(version, 1);
  if (item === undefined) return undefined;
  return readOnChainData(new BcsReader(item)).data.accumulatorRootHash;
}

function headRoot({ version, frozenRoots }: Head): Buffer {
  return new MerkleAccumulator('TransactionAccumulator', version + 1n, frozenRoots).rootHash();
}
