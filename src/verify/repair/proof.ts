/**
 * Proves versions of another node against this ledger: the accumulator of all infos, with theirs in the place of the
 * stored ones, must be the one of the head. Then an item is proved by its info, and its root by the accumulator.
 */
import { MerkleAccumulator } from '../../move/crypto/accumulator.ts';
import type { EncodedOnChainData } from '../../move/transactions/transaction.ts';
import { transactionInfoHash } from '../../move/transactions/transaction-info.ts';
import { RemoteError } from '../../remote/remote-error.ts';
import { TRANSACTION_INFOS } from '../../store/columns/columns.ts';
import type { Head } from '../../store/columns/head.ts';
import { encodeBucketKey } from '../../store/columns/order-key.ts';
import type { PruneProgress } from '../../store/columns/pruning-column.ts';
import type { StoreReader } from '../../store/store.ts';
import { isDamaged } from '../../store/store-error.ts';
import type { VersionSource } from './version-source.ts';

interface ProvedVersion {
  readonly infoHash: Buffer;
  readonly accumulatorRoot: Buffer;
}

export class Proof {
  readonly #versions: ReadonlyMap<bigint, ProvedVersion>;

  private constructor(versions: ReadonlyMap<bigint, ProvedVersion>) {
    this.#versions = versions;
  }

  /**
   * @param versions ascending, from the first that is not cleared up to the head
   * @param unavailable how many other damaged versions the source does not have
   * @throws RemoteError `history_contradicts` when the source's versions are not those of this ledger
   */
  static async of(
    store: StoreReader,
    head: Head,
    { clearedBelow, frozenRoots }: PruneProgress,
    versions: readonly bigint[],
    source: VersionSource,
    unavailable: number,
  ): Promise<Proof> {
    const infoHashes = new Map<bigint, Buffer>();
    for await (const { bytes, data } of source.items(versions)) {
      infoHashes.set(data.version, transactionInfoHash(bytes.info));
    }
    const proved = new Map<bigint, ProvedVersion>();
    const accumulator = new MerkleAccumulator('TransactionAccumulator', clearedBelow, frozenRoots);
    for (let version = clearedBelow; version <= head.version; version += 1n) {
      const fetched = infoHashes.get(version);
      accumulator.append(fetched ?? (await storedInfoHash(store, version)));
      if (fetched === undefined) continue;
      proved.set(version, { infoHash: fetched, accumulatorRoot: accumulator.rootHash() });
    }
    const roots = accumulator.frozenSubtreeRoots;
    const isProved =
      roots.length === head.frozenRoots.length &&
      roots.every((root, index) => root.equals(head.frozenRoots[index]!));
    if (!isProved) throw new RemoteError('history_contradicts', contradiction(unavailable));
    return new Proof(proved);
  }

  /** @throws RemoteError for an item that is not the one that was proved */
  check({ bytes, data }: EncodedOnChainData): void {
    const proved = this.#versions.get(data.version);
    if (
      proved?.infoHash.equals(transactionInfoHash(bytes.info)) === true &&
      proved.accumulatorRoot.equals(data.accumulatorRootHash)
    ) {
      return;
    }
    throw new RemoteError(
      'history_contradicts',
      `version ${data.version}: its info or accumulator root is not the one that is proved`,
    );
  }
}

function contradiction(unavailable: number): string {
  const causes = ['the source has another history', 'the head is damaged'];
  if (unavailable > 0) {
    causes.unshift(`an info is damaged in one of ${unavailable} versions that the source lacks`);
  }
  return (
    'the accumulator of this ledger, with the source’s transaction infos in the damaged places, ' +
    `is not the one of its head: ${causes.join(', or ')}`
  );
}

/** A stored info that cannot be read, and is not fetched either, leaves the proof wrong. */
async function storedInfoHash(store: StoreReader, version: bigint): Promise<Buffer> {
  const { partition, order } = encodeBucketKey(version);
  try {
    const info = await store.get(TRANSACTION_INFOS, partition, order);
    return transactionInfoHash(info ?? Buffer.alloc(0));
  } catch (error) {
    if (!isDamaged(error)) throw error;
    return transactionInfoHash(Buffer.alloc(0));
  }
}
