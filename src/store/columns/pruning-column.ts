/**
 * The records of pruning: how far deletion has come, and the pinned accounts, whose history is retained, with the
 * version from which it is complete. Readers use them to know what is deleted.
 */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { hashes, structCodec, u64 } from '../../move/bcs/codec.ts';
import {
  ADDRESS_BYTES,
  type Address,
  addressBytes,
  addressFromBytes,
} from '../../move/types/address.ts';
import type { StoreReader } from '../store.ts';
import { RowDamagedError } from '../store-error.ts';
import { PRUNING } from './columns.ts';
import { frozenRootCount } from './head.ts';
import { NO_ORDER } from './order-key.ts';
import { RowCodec } from './row-codec.ts';

const PROGRESS_PARTITION = Buffer.of(0);
const PINNED_PARTITION = Buffer.of(1);

/** Maximum number of pinned accounts: readers hold the list in memory. */
export const MAX_PINNED_ACCOUNTS = 10_000;

/**
 * Time for readers that took a head before a new oldest version was published, in milliseconds. Deletion does not begin
 * earlier than this after the publication.
 */
export const READER_GRACE_MS = 10_000;

export interface PruneProgress {
  /** Everything below this version is deleted, unless something retained needs it. */
  readonly clearedBelow: bigint;
  /** The accumulator's full subtrees before that version, as in Head. The remaining infos are checked with them. */
  readonly frozenRoots: readonly Buffer[];
}

const NOTHING_CLEARED: PruneProgress = { clearedBelow: 0n, frozenRoots: [] };

/** Pinned accounts, each with the version from which its history is complete. */
export type PinnedAccounts = ReadonlyMap<Address, bigint>;

const progress = structCodec<PruneProgress>({ clearedBelow: u64, frozenRoots: hashes });

export const PRUNE_PROGRESS = new RowCodec<void, PruneProgress>(
  PRUNING,
  () => ({ partition: PROGRESS_PARTITION, order: NO_ORDER }),
  {
    write: progress.write,
    read(reader) {
      const found = progress.read(reader);
      const roots = found.frozenRoots.length;
      if (roots === frozenRootCount(found.clearedBelow)) return found;
      throw reader.error('bad_value', `${roots} roots before version ${found.clearedBelow}`);
    },
  },
);

export const PINNED_ACCOUNT = new RowCodec<Address, bigint>(
  PRUNING,
  (account) => ({ partition: PINNED_PARTITION, order: addressBytes(account) }),
  u64,
);

/** How far deletion has come in a store, even if it was never pruned. @throws RowDamagedError */
export function readPruneProgress(store: StoreReader): MaybePromise<PruneProgress> {
  return andThen(PRUNE_PROGRESS.get(store), (progress) => progress ?? NOTHING_CLEARED);
}

export function readPinnedAccounts(store: StoreReader): MaybePromise<PinnedAccounts> {
  const rows = store.range(PRUNING, PINNED_PARTITION, { limit: MAX_PINNED_ACCOUNTS });
  return andThen(rows, (found) => {
    const pinned = new Map<Address, bigint>();
    for (const { order, value } of found) {
      const key = { partition: PINNED_PARTITION, order };
      if (order.length !== ADDRESS_BYTES) {
        throw new RowDamagedError(PRUNING, key, 'the key is not an address');
      }
      pinned.set(addressFromBytes(order), PINNED_ACCOUNT.decode(key, value));
    }
    return pinned;
  });
}
