/**
 * A ledger that continues from the version of a fork. What this node has committed since then is in its own store;
 * everything before comes from the fork (docs/localnet.md).
 */
import { andThen, type MaybePromise, mapInOrder } from '../../maybe-promise.ts';
import { U64_MAX } from '../../move/bcs/bcs-reader.ts';
import type { Address } from '../../move/types/address.ts';
import type { HashedStateKey } from '../../move/types/state-key.ts';
import type { Block } from '../../store/columns/block-column.ts';
import type { Head } from '../../store/columns/head.ts';
import type { StateEntry } from '../../store/columns/state-column.ts';
import type { SenderTransaction } from '../../store/columns/transaction-index-column.ts';
import {
  type EventPage,
  type EventPageQuery,
  firstOfNewest,
} from '../../store/read/event-pages.ts';
import type { TransactionSummary, VersionBounds } from '../../store/read/transaction-lookup.ts';
import {
  type AccountKeyPage,
  type AccountKeyQuery,
  type BalanceQuery,
  type BalanceRows,
  type StateWritesQuery,
  StoreView,
} from '../../store/read/view.ts';
import { mergedPage } from '../merged-page.ts';
import type {
  EventStream,
  HistorySource,
  LedgerSource,
  OpenSource,
  StateSource,
} from '../source.ts';

/** @param fork the ledger at the fork's version */
export function continuedSource(fork: LedgerSource): OpenSource {
  return (store, head) => {
    const own = new StoreView(store, head);
    return {
      head,
      isFrozen: false,
      state: new ContinuedState(fork, own),
      events: {
        eventStream: (stream, at) =>
          new ContinuedStream(fork.events.eventStream(stream), own.eventStream(stream, at)),
      },
      history: new ContinuedHistory(fork, own),
    };
  };
}

class ContinuedState implements StateSource {
  readonly #fork: StateSource;
  readonly #last: bigint;
  readonly #own: StoreView;

  constructor({ state, head }: LedgerSource, own: StoreView) {
    this.#fork = state;
    this.#last = head.version;
    this.#own = own;
  }

  state(key: HashedStateKey, version: bigint): MaybePromise<StateEntry | undefined> {
    return andThen(this.#newest([key], version), ([entry]) =>
      this.#orFromFork(entry, key, version),
    );
  }

  stateMany(
    keys: readonly HashedStateKey[],
    version: bigint,
  ): MaybePromise<readonly (StateEntry | undefined)[]> {
    return andThen(this.#newest(keys, version), (entries) =>
      mapInOrder(keys, (key, at) => this.#orFromFork(entries[at], key, version)),
    );
  }

  #newest(
    keys: readonly HashedStateKey[],
    version: bigint,
  ): MaybePromise<readonly (StateEntry | undefined)[]> {
    if (version <= this.#last) return [];
    const query = { from: this.#last + 1n, to: version, limit: 1, isDescending: true };
    return andThen(this.#own.stateWrites(keys, query), (lists) => lists.map(([entry]) => entry));
  }

  #orFromFork(
    entry: StateEntry | undefined,
    key: HashedStateKey,
    version: bigint,
  ): MaybePromise<StateEntry | undefined> {
    if (entry === undefined) return this.#fork.state(key, this.#forkVersion(version));
    return entry.bytes === undefined ? undefined : entry;
  }

  stateWrites(
    keys: readonly HashedStateKey[],
    query: StateWritesQuery,
  ): MaybePromise<readonly (readonly StateEntry[])[]> {
    const { from, to, limit, isDescending } = query;
    const last = this.#last;
    const before =
      from > last
        ? keys.map(() => [])
        : this.#fork.stateWrites(keys, { ...query, to: this.#forkVersion(to) });
    const since =
      to <= last
        ? keys.map(() => [])
        : this.#own.stateWrites(keys, { ...query, from: from > last ? from : last + 1n });
    return andThen(before, (older: readonly (readonly StateEntry[])[]) =>
      andThen(since, (newer: readonly (readonly StateEntry[])[]) =>
        older.map((old, at) =>
          (isDescending ? [...newer[at]!, ...old] : [...old, ...newer[at]!]).slice(0, limit),
        ),
      ),
    );
  }

  async accountKeys(address: Address, query: AccountKeyQuery): Promise<AccountKeyPage> {
    const page = await this.#fork.accountKeys(address, {
      ...query,
      version: this.#forkVersion(query.version),
    });
    if (query.version <= this.#last) return page;
    const own = await this.#own.accountKeys(address, query);
    const { items, next } = mergedPage(page.keys, own.keys, (key) => key, {
      ...query,
      next: earlier(page.next, own.next),
    });
    return { keys: items, next };
  }

  /** Always unknown: no balance index covers both. */
  balance(): undefined {
    return undefined;
  }

  async balances(owner: Uint8Array, query: BalanceQuery): Promise<BalanceRows> {
    // No ledger reaches the version of this row, so the amount is read from state.
    const row = { version: U64_MAX, coin: 0n, fungible: 0n };
    const page = await this.#fork.balances(owner, {
      ...query,
      version: this.#forkVersion(query.version),
    });
    const own = await this.#own.balances(owner, query);
    const inexact = ({ rows }: BalanceRows) => rows.map(([holder]) => [holder, row] as const);
    const bounds = { ...query, next: earlier(page.next, own.next) };
    const { items, next } = mergedPage(
      inexact(page),
      inexact(own),
      ([{ metadata }]) => Buffer.from(metadata),
      bounds,
    );
    return { rows: items, next };
  }

  #forkVersion(version: bigint): bigint {
    return version > this.#last ? this.#last : version;
  }
}

function earlier(one: Buffer | undefined, other: Buffer | undefined): Buffer | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Buffer.compare(one, other) < 0 ? one : other;
}

class ContinuedStream implements EventStream {
  readonly #fork: EventStream;
  readonly #own: EventStream;

  constructor(fork: EventStream, own: EventStream) {
    this.#fork = fork;
    this.#own = own;
  }

  async page({ start, limit }: EventPageQuery): Promise<EventPage> {
    const [last, lastOfFork] = [
      await this.#own.lastSequenceNumber(),
      await this.#fork.lastSequenceNumber(),
    ];
    const first = lastOfFork === undefined ? 0n : lastOfFork + 1n;
    const newest = last ?? lastOfFork;
    const from = start ?? (newest === undefined ? 0n : firstOfNewest(newest, limit));
    if (from >= first) return await this.#own.page({ start: from, limit });
    const page = await this.#fork.page({ start: from, limit });
    const left = limit - page.events.length;
    if (left === 0 || last === undefined || page.pruned !== undefined) return page;
    const rest = await this.#own.page({ start: first, limit: left });
    return { ...page, events: [...page.events, ...rest.events] };
  }

  lastSequenceNumber(): MaybePromise<bigint | undefined> {
    return andThen(
      this.#own.lastSequenceNumber(),
      (last) => last ?? this.#fork.lastSequenceNumber(),
    );
  }
}

class ContinuedHistory implements HistorySource {
  readonly #fork: HistorySource;
  readonly #forkHead: Head;
  readonly #own: StoreView;

  constructor({ history, head }: LedgerSource, own: StoreView) {
    this.#fork = history;
    this.#forkHead = head;
    this.#own = own;
  }

  #sourceOf(version: bigint): HistorySource {
    return version > this.#forkHead.version ? this.#own : this.#fork;
  }

  typedEvents(query: Parameters<HistorySource['typedEvents']>[0]) {
    return this.#fork.typedEvents(query);
  }

  emitted(first: bigint) {
    return this.#sourceOf(first).emitted(first);
  }

  blockOfVersion(version: bigint): MaybePromise<Block | undefined> {
    return this.#sourceOf(version).blockOfVersion(version);
  }

  blocksOfVersions(versions: readonly bigint[]): MaybePromise<readonly (Block | undefined)[]> {
    return mapInOrder(versions, (version) => this.blockOfVersion(version));
  }

  blockByHeight(height: bigint): MaybePromise<Block | undefined> {
    const isOwn = height > this.#forkHead.blockHeight;
    return (isOwn ? this.#own : this.#fork).blockByHeight(height);
  }

  lastVersionOfBlock(block: Block): MaybePromise<bigint | undefined> {
    return this.#sourceOf(block.firstVersion).lastVersionOfBlock(block);
  }

  transaction(version: bigint): MaybePromise<Buffer | undefined> {
    return this.#sourceOf(version).transaction(version);
  }

  writtenKeys(version: bigint) {
    return this.#sourceOf(version).writtenKeys(version);
  }

  transactions(first: bigint, limit: number): Promise<readonly Buffer[]> {
    return this.#rows(first, limit, (source, from, most) => source.transactions(from, most));
  }

  transactionInfos(first: bigint, limit: number): Promise<readonly Buffer[]> {
    return this.#rows(first, limit, (source, from, most) => source.transactionInfos(from, most));
  }

  async #rows(
    first: bigint,
    limit: number,
    read: (source: HistorySource, first: bigint, limit: number) => Promise<readonly Buffer[]>,
  ): Promise<readonly Buffer[]> {
    const { version: last } = this.#forkHead;
    if (first > last) return await read(this.#own, first, limit);
    const count = last - first + 1n < BigInt(limit) ? Number(last - first + 1n) : limit;
    const rows = await read(this.#fork, first, count);
    if (rows.length < count || count === limit) return rows;
    return [...rows, ...(await read(this.#own, last + 1n, limit - count))];
  }

  versionOfHash(hash: Uint8Array): MaybePromise<bigint | undefined> {
    return andThen(this.#own.versionOfHash(hash), (own) => own ?? this.#fork.versionOfHash(hash));
  }

  sender(address: Address): ReturnType<HistorySource['sender']> {
    const { version: last } = this.#forkHead;
    const [fork, own] = [this.#fork.sender(address), this.#own.sender(address)];
    return {
      async bySequenceNumber(
        first: bigint,
        end: bigint,
        limit: number,
      ): Promise<SenderTransaction[]> {
        const before = await fork.bySequenceNumber(first, end, limit);
        if (before.length === limit) return before;
        return [...before, ...(await own.bySequenceNumber(first, end, limit - before.length))];
      },
      async byVersion(bounds: VersionBounds, limit: number): Promise<TransactionSummary[]> {
        if ('from' in bounds) {
          const before = bounds.from > last ? [] : await fork.byVersion(bounds, limit);
          const left = limit - before.length;
          return left === 0 ? before : [...before, ...(await own.byVersion(bounds, left))];
        }
        const since = await own.byVersion(bounds, limit);
        const left = limit - since.length;
        if (left === 0) return since;
        const before = bounds.to > last ? { to: last } : bounds;
        return [...(await fork.byVersion(before, left)), ...since];
      },
    };
  }
}
