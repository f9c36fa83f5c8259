/** Roots of the transaction accumulator that are known from elsewhere: `--trust VERSION:ROOT`. */

import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { MerkleAccumulator } from '../../move/crypto/accumulator.ts';
import { readOnChainData } from '../../move/transactions/on-chain-data.ts';
import { parseWaypoint } from '../../move/transactions/waypoint.ts';
import type { Head } from '../../store/columns/head.ts';
import type { StoreReader } from '../../store/store.ts';
import { StoreView } from '../../store/view.ts';
import { PageError } from './feed-error.ts';
import type { TrustedRoot } from './page-prover.ts';

/**
 * Reads `VERSION:ROOT`, the root in 64 hex digits: the form of a waypoint, though the hash is another one.
 * @throws WaypointTextError
 */
export function parseTrustedRoot(text: string): TrustedRoot {
  const { version, hash } = parseWaypoint(text);
  return { version, root: hash };
}

/** The root of a ledger's accumulator at its head. */
export function headRoot({ version, frozenRoots }: Head): Buffer {
  return new MerkleAccumulator('TransactionAccumulator', version + 1n, frozenRoots).rootHash();
}

/**
 * Compares roots of versions that are in the store already.
 * @returns those that cannot be compared any more: of versions whose transactions are not kept
 * @throws PageError `trust_contradicts`
 */
export async function checkStoredRoots(
  store: StoreReader,
  head: Head,
  trustedRoots: readonly TrustedRoot[],
): Promise<TrustedRoot[]> {
  const incomparable: TrustedRoot[] = [];
  for (const trusted of trustedRoots) {
    if (trusted.version > head.version) continue;
    const root = await storedRoot(store, head, trusted.version);
    if (root === undefined) incomparable.push(trusted);
    else if (Buffer.compare(root, trusted.root) !== 0) throw contradiction(trusted, root);
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

function contradiction({ version, root }: TrustedRoot, stored: Buffer): PageError {
  const trusted = Buffer.from(root).toString('hex');
  return new PageError(
    'trust_contradicts',
    version,
    'accumulator_root_hash',
    `the ledger here comes to ${stored.toString('hex')}, trusted is ${trusted}`,
  );
}
