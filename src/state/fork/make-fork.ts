/** Creates a fork: identifies the upstream's ledger and records its head at the fork's version. */

import { type BcsReader, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import { Batch } from '../../store/batch.ts';
import { FORK_ORIGIN } from '../../store/columns/fork-columns.ts';
import { HEAD_ROW, type Head, readHead } from '../../store/columns/head.ts';
import { LEDGER_IDENTITY } from '../../store/columns/identity-column.ts';
import type { Store, StoreReader } from '../../store/store.ts';
import type { ForkClient } from './fork-client.ts';
import {
  decodeAnswer,
  fetchBlock,
  fetchBlockStart,
  fetchTransactions,
  putTransaction,
} from './history-answers.ts';
import type { ForkAnchor } from './recorder.ts';
import { UpstreamFailure } from './upstream-failure.ts';

/** The parts of the ledger info that a fork uses (docs/spec/http.md §1.3). */
interface LedgerInfo {
  readonly chainId: number;
  readonly version: bigint;
  readonly oldestVersion: bigint;
  readonly oldestBlockHeight: bigint;
}

/** The ledger that a fork was made from; `undefined` if its creation was interrupted. @throws RowDamagedError */
export async function forkAnchor(store: StoreReader): Promise<ForkAnchor | undefined> {
  const head = await readHead(store);
  const identity = await LEDGER_IDENTITY.get(store);
  const origin = await FORK_ORIGIN.get(store);
  if (head === undefined || identity === undefined || origin === undefined) return undefined;
  return { chainId: identity.chainId, version: head.version, rootHash: origin.rootHash };
}

/**
 * Pins an empty fork at a version of the upstream, in one commit.
 * @param requestedVersion absent for the newest version
 * @throws LedgerError `fork_upstream_failed`, `version_pruned`
 */
export async function makeFork(
  store: Store,
  client: ForkClient,
  requestedVersion: bigint | undefined,
): Promise<ForkAnchor> {
  const info = readInfo(await client.ledgerInfo());
  const { chainId, oldestVersion } = info;
  const version = requestedVersion ?? info.version;
  if (version > info.version) {
    const detail = `it is at version ${info.version}, the fork is to be at ${version}`;
    throw new UpstreamFailure('upstream_behind', detail);
  }
  client.expect({ chainId, version });
  const batch = new Batch();
  const [item] = await fetchTransactions(client, version, 1);
  putTransaction(batch, item!);
  const block = await fetchBlock(client, 'version', version);
  const { height, timestampUsecs } = block;
  const { epoch } = await fetchBlockStart(client, batch, block);
  const { accumulatorRootHash: rootHash } = item!.data;
  const { oldestBlockHeight } = info;
  const head: Head = {
    ...{ version, timestampUsecs, epoch, blockHeight: height },
    ...{ oldestVersion, oldestBlockHeight, frozenRoots: [] },
  };
  FORK_ORIGIN.put(batch, undefined, { url: client.base, rootHash });
  // The upstream may have pruned genesis; the root covers it.
  const genesisWaypointHash = Buffer.alloc(HASH_BYTES);
  const identity = { chainId, genesisWaypointHash, keepsTransactions: true };
  LEDGER_IDENTITY.put(batch, undefined, identity);
  HEAD_ROW.publish(batch, undefined, head);
  await store.commit(batch);
  return { chainId, version, rootHash };
}

function readInfo(bytes: Buffer): LedgerInfo {
  return decodeAnswer('ledger info', () =>
    decodeBcs(bytes, (reader) => {
      const chainId = reader.u8();
      const number = () => readNumber(reader);
      const [, version, oldestVersion] = [number(), number(), number()];
      number();
      reader.variant(2, 'RoleType');
      const oldestBlockHeight = number();
      number();
      return { chainId, version, oldestVersion, oldestBlockHeight };
    }),
  );
}

/** A u64, which the BCS of the ledger info encodes as decimal digits. */
function readNumber(reader: BcsReader): bigint {
  const start = reader.offset;
  const text = reader.string();
  if (/^\d{1,20}$/.test(text)) return BigInt(text);
  throw reader.error('bad_value', 'digits of no number', start);
}
