/**
 * A view of a ledger at one head: everything written at or below the head's version and nothing above it, however far
 * the writer has advanced since. A view never changes, except that rows pruned after it was opened may be missing. The
 * caller decides how to respond to a version below the oldest (410); the view only returns the rows that exist.
 */
import { andThen, type MaybePromise, mapInOrder, settle } from '../../maybe-promise.ts';
import { type Address, addressBytes } from '../../move/types/address.ts';
import type { HashedStateKey, Path } from '../../move/types/state-key.ts';
import { BALANCE, type BalanceHolder, type StoredBalance } from '../columns/balance-column.ts';
import { BLOCK_BY_HEIGHT, BLOCK_BY_VERSION, type Block } from '../columns/block-column.ts';
import {
  BALANCES,
  BLOCKS_BY_VERSION,
  type Column,
  type Row,
  STATE,
  TRANSACTION_INFOS,
  TRANSACTIONS,
  VERSION_WRITES,
} from '../columns/columns.ts';
import type { StreamId } from '../columns/event-column.ts';
import { type Head, oldestTransaction, openHead } from '../columns/head.ts';
import { bucketEnd, bucketStart, encodeBucketKey, encodeU64Key } from '../columns/order-key.ts';
import { decoding } from '../columns/row-codec.ts';
import { decodeStateRow, type StateEntry } from '../columns/state-column.ts';
import { walkAccountKeys } from '../columns/state-key-column.ts';
import { type WrittenKeys, writtenKeysIn } from '../columns/version-writes-column.ts';
import { MAX_RANGE_ROWS, type StoreReader } from '../store.ts';
import { isDamaged } from '../store-error.ts';
import { type EmittedPart, readEmitted } from './emitted-events.ts';
import { EventStreamView } from './event-pages.ts';
import { SenderView, versionOfHash } from './transaction-lookup.ts';
import { readTypedEvents, type TypedEventPart, type TypedEventQuery } from './typed-events.ts';

export interface AccountKeyPage {
  readonly keys: readonly Buffer[];
  /** The physical key that the next page begins with; `undefined` on the last page. */
  readonly next: Buffer | undefined;
}

export interface AccountKeyQuery {
  /** Where the list begins: a physical key, or bytes that begin like one. */
  readonly from?: Uint8Array | undefined;
  /** 1 to MAX_RANGE_ROWS. */
  readonly limit: number;
  /** Keys that were not written at or below this version are left out. */
  readonly version: bigint;
  /** The kinds that the caller needs. A store that requests keys from another node requests only these. Absent: all. */
  readonly kinds?: readonly Path['kind'][];
}

export interface StateWritesQuery {
  readonly from: bigint;
  readonly to: bigint;
  /** Most writes of each key, 1 to MAX_RANGE_ROWS. */
  readonly limit: number;
  readonly isDescending: boolean;
}

/** Selects rows of an owner's balances. They include all balances that exist at a version. */
export interface BalanceQuery {
  readonly from: Uint8Array | undefined;
  /** 1 to MAX_RANGE_ROWS - 1. */
  readonly limit: number;
  readonly version: bigint;
}

export interface BalanceRows {
  readonly rows: readonly (readonly [BalanceHolder, StoredBalance])[];
  readonly next: Buffer | undefined;
}

/** Opens a view of the newest head. @throws StoreError `ledger_empty`, RowDamagedError */
export function openView(store: StoreReader): MaybePromise<StoreView> {
  return andThen(openHead(store), (head) => new StoreView(store, head));
}

/**
 * Reads at a head. A version above the head is a programming error (RangeError): callers resolve versions first.
 * Methods throw RowDamagedError for rows that do not decode.
 */
export class StoreView {
  readonly head: Head;
  readonly #store: StoreReader;
  readonly #headOrder: Buffer;

  constructor(store: StoreReader, head: Head) {
    this.#store = store;
    this.head = head;
    this.#headOrder = encodeU64Key(head.version);
  }

  state(
    { hash }: HashedStateKey,
    version = this.head.version,
  ): MaybePromise<StateEntry | undefined> {
    const row = this.#store.seekLast(STATE, hash, this.#orderOf(version));
    return andThen(row, (found) => existingState(hash, found));
  }

  stateMany(
    keys: readonly HashedStateKey[],
    version = this.head.version,
  ): MaybePromise<readonly (StateEntry | undefined)[]> {
    const order = this.#orderOf(version);
    const rowKeys = keys.map(({ hash }) => ({ partition: hash, order }));
    return andThen(this.#store.seekLastMany(STATE, rowKeys), (rows) =>
      rows.map((row, index) => existingState(keys[index]!.hash, row)),
    );
  }

  /** Writes to keys, deletions included, in the requested order. */
  stateWrites(
    keys: readonly HashedStateKey[],
    { from, to, limit, isDescending }: StateWritesQuery,
  ): MaybePromise<readonly (readonly StateEntry[])[]> {
    const range = { from: encodeU64Key(from), to: this.#orderOf(to), limit, reverse: isDescending };
    const ranges = keys.map(({ hash }) => ({ partition: hash, ...range }));
    return andThen(this.#store.rangeMany(STATE, ranges), (found) =>
      found.map((rows, at) => rows.map((row) => decodeStateRow(keys[at]!.hash, row))),
    );
  }

  /**
   * An owner's balance of an asset. It is valid from the version that it contains; for older versions, and if it is
   * `undefined`, read state. Both addresses have 32 bytes.
   */
  balance(owner: Uint8Array, metadata: Uint8Array): MaybePromise<StoredBalance | undefined> {
    return BALANCE.get(this.#store, { owner, metadata });
  }

  /** A page of an owner's balances, each like that of `balance`. It includes balances of 0. */
  balances(owner: Uint8Array, { from, limit }: BalanceQuery): MaybePromise<BalanceRows> {
    return andThen(this.#store.range(BALANCES, owner, { from, limit: limit + 1 }), (found) => ({
      rows: found.slice(0, limit).map(({ order, value }) => {
        const row = BALANCE.decode({ partition: owner, order }, value);
        return [{ owner: Buffer.from(owner), metadata: order }, row] as const;
      }),
      next: found[limit]?.order,
    }));
  }

  /** @param head a different head at the same version, for a stream that is retained further back */
  eventStream(stream: StreamId, head = this.head): EventStreamView {
    return new EventStreamView(this.#store, head, stream);
  }

  typedEvents(query: TypedEventQuery): MaybePromise<TypedEventPart> {
    this.#orderOf(query.end);
    return readTypedEvents(this.#store, query);
  }

  /**
   * The streams and types of some events that versions from `first` on emitted; `undefined` if they are not known.
   * Versions that are pruned meanwhile look as if they had emitted nothing.
   */
  emitted(first: bigint): MaybePromise<EmittedPart | undefined> {
    this.#orderOf(first);
    // A server may be behind the one that the head was read from. Versions that it lacks would look empty, too.
    if (this.#store.server !== undefined) return undefined;
    if (first < oldestTransaction(this.head)) return undefined;
    return readEmitted(this.#store, first, this.head.version);
  }

  /**
   * Keys under an account in the order of listings (docs/spec/ledger.md §5.4), written at or below a
   * version. `stateMany` tells whether they still have a value.
   */
  async accountKeys(address: Address, query: AccountKeyQuery): Promise<AccountKeyPage> {
    const { from, limit, version } = query;
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_RANGE_ROWS) {
      throw new RangeError(`limit is ${limit}, it must be 1 to ${MAX_RANGE_ROWS}`);
    }
    this.#orderOf(version);
    const keys: Buffer[] = [];
    for await (const { key, firstVersion } of walkAccountKeys(this.#store, address, from)) {
      if (firstVersion > version) continue;
      if (keys.length === limit) return { keys, next: key };
      keys.push(key);
    }
    return { keys, next: undefined };
  }

  /** The block that a version belongs to; `undefined`, or an older block, when it is not retained. */
  blockOfVersion(version: bigint): MaybePromise<Block | undefined> {
    this.#orderOf(version);
    return this.#lastBlockFrom(version, this.head.oldestVersion);
  }

  /** `blockOfVersion` for many versions, in their order. */
  blocksOfVersions(versions: readonly bigint[]): MaybePromise<readonly (Block | undefined)[]> {
    const keys = versions.map(encodeBucketKey);
    return andThen(this.#store.seekLastMany(BLOCKS_BY_VERSION, keys), (rows) =>
      mapInOrder(rows, (row, at) => {
        if (row === undefined) return this.blockOfVersion(versions[at]!);
        const { partition } = keys[at]!;
        return BLOCK_BY_VERSION.decode({ partition, order: row.order }, row.value);
      }),
    );
  }

  /** The first retained block that begins at or after a version; `undefined` when there is none up to the head. */
  blockFromVersion(version: bigint): MaybePromise<Block | undefined> {
    if (version > this.head.version) return undefined;
    if (version < this.head.oldestVersion) return this.blockFromVersion(this.head.oldestVersion);
    const { partition, order } = encodeBucketKey(version);
    const rows = this.#store.range(BLOCKS_BY_VERSION, partition, { from: order, limit: 1 });
    return andThen(rows, ([row]) => {
      if (row === undefined) return this.blockFromVersion(bucketEnd(version) + 1n);
      const block = BLOCK_BY_VERSION.decode({ partition, order: row.order }, row.value);
      return block.firstVersion <= this.head.version ? block : undefined;
    });
  }

  blockByHeight(height: bigint): MaybePromise<Block | undefined> {
    if (height > this.head.blockHeight) return undefined;
    return BLOCK_BY_HEIGHT.get(this.#store, height);
  }

  /**
   * The last version of a block: before the next block's first, or the head's (docs/spec/ledger.md §2.3); `undefined`
   * when the next block has been pruned.
   */
  lastVersionOfBlock(block: Block): MaybePromise<bigint | undefined> {
    if (block.height === this.head.blockHeight) return this.head.version;
    return andThen(this.blockByHeight(block.height + 1n), (next) => next && next.firstVersion - 1n);
  }

  /** BCS of the TransactionInfo of a version; `undefined` when it is not retained. */
  transactionInfo(version: bigint): MaybePromise<Buffer | undefined> {
    this.#orderOf(version);
    const { partition, order } = encodeBucketKey(version);
    return this.#store.get(TRANSACTION_INFOS, partition, order);
  }

  /** BCS of the TransactionInfo of up to `limit` versions from `first` on, without a gap; fewer at the head. */
  transactionInfos(first: bigint, limit: number): Promise<readonly Buffer[]> {
    return this.#byVersion(TRANSACTION_INFOS, first, limit);
  }

  /**
   * BCS of the TransactionOnChainData of up to `limit` versions from `first` on, without a gap; fewer at the head, and
   * none where they are not stored.
   */
  transactions(first: bigint, limit: number): Promise<readonly Buffer[]> {
    return this.#byVersion(TRANSACTIONS, first, limit);
  }

  /** BCS of the TransactionOnChainData of a version; `undefined` when it is not retained, or not stored at all. */
  transaction(version: bigint): MaybePromise<Buffer | undefined> {
    const { partition, order } = encodeBucketKey(version);
    return this.#store.get(TRANSACTIONS, partition, order);
  }

  /** The keys that a version wrote; `undefined` if the row is missing or damaged, or if hashing the keys is faster. */
  writtenKeys(version: bigint): MaybePromise<WrittenKeys | undefined> {
    if (this.#store.server !== undefined) return undefined;
    const key = encodeBucketKey(version);
    return settle(
      () =>
        andThen(
          this.#store.get(VERSION_WRITES, key.partition, key.order),
          (row) => row && decoding(VERSION_WRITES, key, () => writtenKeysIn(row)),
        ),
      (keys) => keys,
      (failure) => {
        if (isDamaged(failure)) return undefined;
        throw failure;
      },
    );
  }

  async #byVersion(column: Column, first: bigint, limit: number): Promise<readonly Buffer[]> {
    const found: Buffer[] = [];
    let version = first;
    while (found.length < limit && version <= this.head.version) {
      const { partition, order: from } = encodeBucketKey(version);
      const query = { from, limit: limit - found.length };
      const rows = await this.#store.range(column, partition, query);
      for (const { order, value } of rows) {
        if (version > this.head.version) return found;
        if (Buffer.compare(order, encodeBucketKey(version).order) !== 0) return found;
        found.push(value);
        version += 1n;
      }
      if (rows.length === 0) return found;
    }
    return found;
  }

  /** The version of the transaction with a hash of 32 bytes; `undefined` if no retained transaction has it. */
  versionOfHash(hash: Uint8Array): MaybePromise<bigint | undefined> {
    return versionOfHash(this.#store, this.head, hash);
  }

  sender(address: Address): SenderView {
    return new SenderView(this.#store, this.head, addressBytes(address));
  }

  /** The last block that begins at or below `version`; buckets below the oldest version are empty. */
  #lastBlockFrom(version: bigint, oldest: bigint): MaybePromise<Block | undefined> {
    const { partition, order } = encodeBucketKey(version);
    return andThen(this.#store.seekLast(BLOCKS_BY_VERSION, partition, order), (row) => {
      if (row !== undefined) {
        return BLOCK_BY_VERSION.decode({ partition, order: row.order }, row.value);
      }
      const start = bucketStart(version);
      return start <= oldest ? undefined : this.#lastBlockFrom(start - 1n, oldest);
    });
  }

  /** @throws RangeError for a version that this view cannot show. */
  #orderOf(version: bigint): Buffer {
    if (version === this.head.version) return this.#headOrder;
    if (version < 0n || version > this.head.version) {
      throw new RangeError(`version ${version} is outside 0 to ${this.head.version}`);
    }
    return encodeU64Key(version);
  }
}

function existingState(keyHash: Uint8Array, row: Row | undefined): StateEntry | undefined {
  if (row === undefined) return undefined;
  const entry = decodeStateRow(keyHash, row);
  return entry.bytes === undefined ? undefined : entry;
}
