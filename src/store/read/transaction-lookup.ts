/** Finds transactions by hash and by sender, up to a head, with the indexes of docs/data-layout.md. */

import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { U64_MAX } from '../../move/bcs/bcs-reader.ts';
import { transactionHashIn } from '../../move/transactions/transaction-info.ts';
import {
  ACCOUNT_TRANSACTIONS,
  type Row,
  type RowKey,
  TRANSACTION_HASHES,
  TRANSACTION_INFOS,
} from '../columns/columns.ts';
import type { Head } from '../columns/head.ts';
import { decodeU64Key, encodeBucketKey, encodeU64Key } from '../columns/order-key.ts';
import { decoding } from '../columns/row-codec.ts';
import {
  hashPartition,
  orderBySequenceNumber,
  orderByVersion,
  SENDER_TRANSACTION,
  type SenderTransaction,
} from '../columns/transaction-index-column.ts';
import type { RangeQuery, StoreReader } from '../store.ts';
import { firstNumberAbove } from './event-pages.ts';

/**
 * The version of the transaction with a hash; `undefined` if none up to the head has it, or it is pruned.
 * @throws RowDamagedError
 */
export function versionOfHash(
  store: StoreReader,
  head: Head,
  hash: Uint8Array,
): MaybePromise<bigint | undefined> {
  return versionUpTo(store, hash, encodeU64Key(head.version));
}

/** The newest version with this hash, among those whose hashes share their first bytes. */
function versionUpTo(
  store: StoreReader,
  hash: Uint8Array,
  order: Buffer,
): MaybePromise<bigint | undefined> {
  return andThen(store.seekLast(TRANSACTION_HASHES, hashPartition(hash), order), (row) => {
    if (row === undefined) return undefined;
    const version = decodeU64Key(row.order);
    return andThen(transactionHashAt(store, version), (found) => {
      if (found?.equals(hash) === true) return version;
      return version === 0n ? undefined : versionUpTo(store, hash, encodeU64Key(version - 1n));
    });
  });
}

function transactionHashAt(store: StoreReader, version: bigint): MaybePromise<Buffer | undefined> {
  const key = encodeBucketKey(version);
  return andThen(
    store.get(TRANSACTION_INFOS, key.partition, key.order),
    (info) => info && hashIn(key, info),
  );
}

function hashIn(key: RowKey, info: Buffer): Buffer {
  return decoding(TRANSACTION_INFOS, key, () => transactionHashIn(info));
}

export type VersionBounds = { readonly from: bigint } | { readonly to: bigint };

export interface TransactionSummary extends SenderTransaction {
  /** 32 bytes. */
  readonly hash: Buffer;
}

/** The user transactions that an account has sent. Methods reject with RowDamagedError. */
export class SenderView {
  readonly #store: StoreReader;
  readonly #head: Head;
  readonly #sender: Uint8Array;

  /** @param sender 32 bytes */
  constructor(store: StoreReader, head: Head, sender: Uint8Array) {
    this.#store = store;
    this.#head = head;
    this.#sender = sender;
  }

  /** Transactions by sequence number, ascending. It omits those that are pruned or do not exist yet. */
  async bySequenceNumber(first: bigint, last: bigint, limit: number): Promise<SenderTransaction[]> {
    const from = orderBySequenceNumber(first);
    const found = await this.#range({ from, to: orderBySequenceNumber(last), limit });
    return found.filter(({ version }) => version <= this.#head.version);
  }

  /** Transactions with and without sequence number, by version, ascending; at most `limit`. */
  async byVersion(bounds: VersionBounds, limit: number): Promise<TransactionSummary[]> {
    const isUpwards = 'from' in bounds;
    const { version: newest } = this.#head;
    const first = isUpwards ? bounds.from : 0n;
    const last = isUpwards || bounds.to > newest ? newest : bounds.to;
    const others = { from: orderByVersion(first), to: orderByVersion(last), limit };
    const both = [
      isUpwards ? this.#numberedFrom(first, limit) : this.#numberedTo(last, limit),
      this.#range({ ...others, reverse: !isUpwards }),
    ];
    const all = (await Promise.all(both))
      .flat()
      .sort((left, right) => (left.version < right.version ? -1 : 1));
    const listed = isUpwards ? all.slice(0, limit) : all.slice(-limit);
    const keys = listed.map(({ version }) => encodeBucketKey(version));
    const infos = await this.#store.getMany(TRANSACTION_INFOS, keys);
    return listed.flatMap((sent, index) => {
      const info = infos[index];
      // It was pruned after the row was read.
      if (info === undefined) return [];
      return [{ ...sent, hash: hashIn(keys[index]!, info) }];
    });
  }

  async #numberedFrom(version: bigint, limit: number): Promise<SenderTransaction[]> {
    const first = version === 0n ? 0n : await this.#firstAbove(version - 1n);
    return first === undefined ? [] : this.bySequenceNumber(first, U64_MAX, limit);
  }

  async #numberedTo(version: bigint, limit: number): Promise<SenderTransaction[]> {
    const firstAbove = await this.#firstAbove(version);
    if (firstAbove === 0n) return [];
    const to = orderBySequenceNumber(firstAbove === undefined ? U64_MAX : firstAbove - 1n);
    return this.#range({ from: orderBySequenceNumber(0n), to, limit, reverse: true });
  }

  #firstAbove(version: bigint): Promise<bigint | undefined> {
    return firstNumberAbove(version, U64_MAX, async (number) => {
      const order = orderBySequenceNumber(number);
      const row = await this.#store.seekLast(ACCOUNT_TRANSACTIONS, this.#sender, order);
      const found = row && this.#decode(row);
      if (found?.replayProtector.kind !== 'sequenceNumber') return undefined;
      return { sequenceNumber: found.replayProtector.value, version: found.version };
    });
  }

  async #range(query: RangeQuery): Promise<SenderTransaction[]> {
    const rows = await this.#store.range(ACCOUNT_TRANSACTIONS, this.#sender, query);
    return rows.map((row) => this.#decode(row));
  }

  #decode(row: Row): SenderTransaction {
    return SENDER_TRANSACTION.decode({ partition: this.#sender, order: row.order }, row.value);
  }
}
