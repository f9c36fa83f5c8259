/**
 * What pruning leaves on record: how far deleting has come, and the accounts whose history is kept
 * whole with the version it is whole from. Readers decide by it what is gone and what is not.
 */

import type { MaybePromise } from '../../maybe-promise.ts';
import { andThen } from '../../maybe-promise.ts';
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { readHash, writeHash } from '../../move/bcs/fixed-bytes.ts';
import { HASH_BYTES } from '../../move/crypto/hash.ts';
import {
  ADDRESS_BYTES,
  type Address,
  addressBytes,
  addressFromBytes,
} from '../../move/types/address.ts';
import type { Batch } from '../batch.ts';
import type { StoreReader } from '../store.ts';
import { RowDamagedError } from '../store-error.ts';
import { PRUNING } from './columns.ts';
import { frozenRootCount } from './head.ts';
import { NO_ORDER } from './order-key.ts';
import { decodeRow } from './row-codec.ts';

const PROGRESS_ROW = Buffer.of(0);
const KEPT_ROWS = Buffer.of(1);

/** Most accounts whose history one store keeps: readers hold the list in memory. */
export const MAX_KEPT_ACCOUNTS = 10_000;

/**
 * Time for those who took a head before a new oldest version was published, in milliseconds:
 * deleting begins no sooner after it.
 */
export const READER_GRACE_MS = 10_000;

/** How far deleting has come. */
export interface PruneProgress {
  /** Of the versions below, everything that nothing kept needs is deleted. */
  readonly clearedBelow: bigint;
  /**
   * The accumulator's full subtrees before that version, as in Head: what the infos that are left
   * can still be checked with.
   */
  readonly frozenRoots: readonly Buffer[];
}

/** Where a ledger stands that was never pruned. */
export const NOTHING_CLEARED: PruneProgress = { clearedBelow: 0n, frozenRoots: [] };

/** Accounts whose history is kept, each with the version from which it is whole. */
export type KeptAccounts = ReadonlyMap<Address, bigint>;

/** Records how far deleting has come, when all other changes of the batch are stored. */
export function putPruneProgress(batch: Batch, progress: PruneProgress): void {
  const value = encodeBcs((writer) => {
    writer.u64(progress.clearedBelow).vector(progress.frozenRoots, writeHash);
  });
  batch.publish(PRUNING, PROGRESS_ROW, NO_ORDER, value);
}

/** How far deleting has come. @throws RowDamagedError */
export function readPruneProgress(store: StoreReader): MaybePromise<PruneProgress> {
  return andThen(store.get(PRUNING, PROGRESS_ROW, NO_ORDER), (value) =>
    value === undefined ? NOTHING_CLEARED : decodePruneProgress(value),
  );
}

/** Reads the progress row's value. @throws RowDamagedError */
export function decodePruneProgress(value: Uint8Array): PruneProgress {
  return decodeRow(PRUNING, PROGRESS_ROW, NO_ORDER, value, (reader) => {
    const clearedBelow = reader.u64();
    const start = reader.offset;
    const frozenRoots = reader.vector(HASH_BYTES, (inner) => Buffer.from(readHash(inner)));
    if (frozenRoots.length !== frozenRootCount(clearedBelow)) {
      const detail = `${frozenRoots.length} roots before version ${clearedBelow}`;
      throw reader.error('bad_value', detail, start);
    }
    return { clearedBelow, frozenRoots };
  });
}

/** Records that an account's history is kept, whole from a version on. */
export function putKeptAccount(batch: Batch, account: Address, since: bigint): void {
  const value = encodeBcs((writer) => writer.u64(since));
  batch.put(PRUNING, KEPT_ROWS, addressBytes(account), value);
}

/** All kept accounts. @throws RowDamagedError */
export function readKeptAccounts(store: StoreReader): MaybePromise<KeptAccounts> {
  const rows = store.range(PRUNING, KEPT_ROWS, { limit: MAX_KEPT_ACCOUNTS });
  return andThen(rows, (found) => {
    const kept = new Map<Address, bigint>();
    for (const { order, value } of found) {
      if (order.length !== ADDRESS_BYTES) {
        throw new RowDamagedError(PRUNING.name, KEPT_ROWS, order, 'the key is no address');
      }
      kept.set(addressFromBytes(order), decodeSince(order, value));
    }
    return kept;
  });
}

/** The version from which an account's history is whole; `undefined` when it is not kept. */
export function readKeptAccount(
  store: StoreReader,
  account: Address,
): MaybePromise<bigint | undefined> {
  const order = addressBytes(account);
  return andThen(store.get(PRUNING, KEPT_ROWS, order), (value) =>
    value === undefined ? undefined : decodeSince(order, value),
  );
}

function decodeSince(order: Uint8Array, value: Uint8Array): bigint {
  return decodeRow(PRUNING, KEPT_ROWS, order, value, (reader) => reader.u64());
}
