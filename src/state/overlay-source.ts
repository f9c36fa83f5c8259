/** A source with an overlay on top of it. */

import { andThen, type MaybePromise, together } from '../maybe-promise.ts';
import { U64_MAX } from '../move/bcs/bcs-reader.ts';
import { type Address, addressBytes } from '../move/types/address.ts';
import {
  type HashedStateKey,
  hashedPhysicalKey,
  parsePhysicalStateKey,
} from '../move/types/state-key.ts';
import { encodeStreamId, type StoredEvent } from '../store/columns/event-column.ts';
import type { StateEntry } from '../store/columns/state-column.ts';
import { type EventPage, type EventPageQuery, firstOfNewest } from '../store/read/event-pages.ts';
import type {
  AccountKeyPage,
  AccountKeyQuery,
  BalanceQuery,
  BalanceRows,
  StateWritesQuery,
} from '../store/read/view.ts';
import { mergedPage } from './merged-page.ts';
import type { Overlay } from './overlay.ts';
import type { EventStream, LedgerSource, StateSource } from './source.ts';

interface Reads {
  areOverridden: boolean;
}

/**
 * Reads look into the overlay first. `overrides` of the source tells whether any of them found something there.
 * @param head may be newer than the head of the source below, whose newest state then holds for later versions too
 */
export function overlaidSource(
  base: LedgerSource,
  overlay: Overlay,
  head = base.head,
): LedgerSource {
  const reads: Reads = { areOverridden: false };
  return {
    ...base,
    head,
    state: new OverlaidState(base, overlay, reads),
    events: {
      eventStream: (stream, at) => {
        const events = overlay.list('events', encodeStreamId(stream));
        const before = base.events.eventStream(stream, at);
        return events.length === 0 ? before : new ExtendedEventStream(before, events, reads);
      },
    },
    overrides: reads,
  };
}

class OverlaidState implements StateSource {
  readonly #base: StateSource;
  readonly #newest: bigint;
  readonly #overlay: Overlay;
  readonly #reads: Reads;

  constructor({ state, head }: LedgerSource, overlay: Overlay, reads: Reads) {
    this.#base = state;
    this.#newest = head.version;
    this.#overlay = overlay;
    this.#reads = reads;
  }

  state(key: HashedStateKey, version: bigint): MaybePromise<StateEntry | undefined> {
    const found = this.#overlay.find(key.hash, version);
    if (found === undefined) return this.#base.state(key, this.#baseVersion(version));
    this.#reads.areOverridden = true;
    return found.bytes && found;
  }

  stateMany(
    keys: readonly HashedStateKey[],
    version: bigint,
  ): MaybePromise<readonly (StateEntry | undefined)[]> {
    return together(keys.map((key) => () => this.state(key, version)));
  }

  stateWrites(
    keys: readonly HashedStateKey[],
    query: StateWritesQuery,
  ): MaybePromise<readonly (readonly StateEntry[])[]> {
    const { from, to, limit, isDescending } = query;
    const upTo = { ...query, to: this.#baseVersion(to) };
    const base = from > upTo.to ? keys.map(() => []) : this.#base.stateWrites(keys, upTo);
    return andThen(base, (lists: readonly (readonly StateEntry[])[]) =>
      lists.map((list, at) => {
        const writes = this.#overlay.list('writes', keys[at]!.hash).map(({ entry }) => entry);
        const own = writes.filter(({ version }) => version >= from && version <= to);
        if (own.length > 0) this.#reads.areOverridden = true;
        return (isDescending ? [...own.reverse(), ...list] : [...list, ...own]).slice(0, limit);
      }),
    );
  }

  async accountKeys(address: Address, query: AccountKeyQuery): Promise<AccountKeyPage> {
    const { version, kinds } = query;
    const own = this.#overlay.list('keys', addressBytes(address)).filter((physical) => {
      const key = parsePhysicalStateKey(physical);
      const kind = key.kind === 'accessPath' ? key.parsed?.kind : undefined;
      const isMatchingKind = kinds === undefined || (kind !== undefined && kinds.includes(kind));
      return (
        isMatchingKind &&
        this.#overlay.find(hashedPhysicalKey(physical).hash, version) !== undefined
      );
    });
    const { keys, next } = await this.#base.accountKeys(address, {
      ...query,
      version: this.#baseVersion(version),
    });
    const page = this.#merged(keys, own, (key) => key, { ...query, next });
    return { keys: page.items, next: page.next };
  }

  /** Always unknown: the balance index of the source below does not contain the overlay. */
  balance(): undefined {
    return undefined;
  }

  async balances(owner: Uint8Array, query: BalanceQuery): Promise<BalanceRows> {
    // No ledger reaches the version of this row, so the amount is read from state.
    const row = { version: U64_MAX, coin: 0n, fungible: 0n };
    const holderOf = (metadata: Buffer) => ({ owner: Buffer.from(owner), metadata });
    const assets = this.#overlay.list('assets', owner);
    const { rows, next } = await this.#base.balances(owner, {
      ...query,
      version: this.#baseVersion(query.version),
    });
    const own = assets.map((metadata) => [holderOf(metadata), row] as const);
    const inexact = rows.map(([holder]) => [holder, row] as const);
    const page = this.#merged(inexact, own, ([{ metadata }]) => metadata, { ...query, next });
    return { rows: page.items, next: page.next };
  }

  #baseVersion(version: bigint): bigint {
    return version > this.#newest ? this.#newest : version;
  }

  #merged<T>(
    page: readonly T[],
    own: readonly T[],
    ...rest: [orderOf: (item: T) => Buffer, bounds: Parameters<typeof mergedPage>[3]]
  ): ReturnType<typeof mergedPage<T>> {
    const merged = mergedPage(page, own, ...rest);
    if (merged.items.some((item) => own.includes(item))) this.#reads.areOverridden = true;
    return merged;
  }
}

class ExtendedEventStream implements EventStream {
  readonly #before: EventStream;
  readonly #events: readonly StoredEvent[];
  readonly #reads: Reads;

  /** @param events at least one */
  constructor(before: EventStream, events: readonly StoredEvent[], reads: Reads) {
    this.#before = before;
    this.#events = events;
    this.#reads = reads;
  }

  page({ start, limit }: EventPageQuery): MaybePromise<EventPage> {
    const first = this.#events[0]!.sequenceNumber;
    const from = start ?? firstOfNewest(this.lastSequenceNumber(), limit);
    const end = from + BigInt(limit);
    if (end <= first) return this.#before.page({ start: from, limit });
    this.#reads.areOverridden = true;
    const own = this.#events.filter(
      ({ sequenceNumber }) => sequenceNumber >= from && sequenceNumber < end,
    );
    if (from >= first) return { events: own, pruned: undefined };
    const page = this.#before.page({ start: from, limit: Number(first - from) });
    return andThen(page, (before) => ({ ...before, events: [...before.events, ...own] }));
  }

  lastSequenceNumber(): bigint {
    this.#reads.areOverridden = true;
    return this.#events.at(-1)!.sequenceNumber;
  }
}
