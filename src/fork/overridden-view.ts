/** A fork as some overrides show it: at its version they are read first, below it the ledger is what it was. */
import { andThen, type MaybePromise, together } from '../maybe-promise.ts';
import { type Address, addressFromBytes } from '../move/types/address.ts';
import type { HashedStateKey, Path } from '../move/types/state-key.ts';
import { encodeStreamId, type StoredEvent, type StreamId } from '../store/columns/event-column.ts';
import type { Head } from '../store/columns/head.ts';
import { U64_MAX } from '../store/columns/order-key.ts';
import type { StateEntry } from '../store/columns/state-column.ts';
import {
  type EventPage,
  type EventPageQuery,
  EventStreamView,
  firstOfNewest,
} from '../store/event-pages.ts';
import type { StoreReader } from '../store/store.ts';
import type {
  AccountKeyPage,
  AccountKeyQuery,
  BalanceQuery,
  BalanceRows,
  OverrideReads,
} from '../store/view.ts';
import type { ForkSource } from './fork-recorder.ts';
import { ForkView } from './fork-view.ts';
import { OverrideKind, OverrideListKind, type OverrideState } from './override-state.ts';

/** By state key hash; without bytes there is no value. */
export const OVERRIDDEN_VALUES = new OverrideKind<{ readonly bytes: Buffer | undefined }>('value');
/** By address: state keys of an account with overridden values. */
export const OVERRIDDEN_KEYS = new OverrideListKind<{
  readonly physical: Buffer;
  readonly kind: Path['kind'];
}>('keys');
/** By address: metadata of the assets of which an account's balance is overridden. */
export const OVERRIDDEN_ASSETS = new OverrideListKind<Buffer>('assets');
/** By stream: events after the last one of the ledger. */
export const APPENDED_EVENTS = new OverrideListKind<StoredEvent>('events');

export function hashName(hash: Uint8Array): string {
  return Buffer.from(hash).toString('latin1');
}

export function streamName(stream: StreamId): string {
  return encodeStreamId(stream).toString('latin1');
}

export class OverriddenView extends ForkView {
  readonly #store: StoreReader;
  readonly #state: OverrideState;
  readonly #reads = { areOverridden: false };

  constructor(store: StoreReader, head: Head, source: ForkSource, state: OverrideState) {
    super(store, head, source);
    this.#store = store;
    this.#state = state;
  }

  override get overrides(): OverrideReads {
    return this.#reads;
  }

  override state(
    key: HashedStateKey,
    version = this.head.version,
  ): MaybePromise<StateEntry | undefined> {
    const found = this.#isAt(version)
      ? OVERRIDDEN_VALUES.in(this.#state, hashName(key.hash))
      : undefined;
    if (found === undefined) return super.state(key, version);
    this.#reads.areOverridden = true;
    const { bytes } = found;
    return bytes && { version, bytes, metadata: undefined, deletedKey: undefined };
  }

  override stateMany(
    keys: readonly HashedStateKey[],
    version = this.head.version,
  ): MaybePromise<readonly (StateEntry | undefined)[]> {
    return together(keys.map((key) => () => this.state(key, version)));
  }

  override async accountKeys(address: Address, query: AccountKeyQuery): Promise<AccountKeyPage> {
    const { from, limit, version, kinds } = query;
    const overridden = this.#isAt(version) ? OVERRIDDEN_KEYS.in(this.#state, address) : [];
    const own = overridden
      .filter(({ kind }) => kinds === undefined || kinds.includes(kind))
      .map(({ physical }) => physical);
    const page = await super.accountKeys(address, query);
    const merged = this.#merged(page.keys, own, (key) => key, { from, limit, next: page.next });
    return { keys: merged.items, next: merged.next };
  }

  override async balances(owner: Uint8Array, query: BalanceQuery): Promise<BalanceRows> {
    const { from, limit, version } = query;
    const account = addressFromBytes(owner);
    const overridden = this.#isAt(version) ? OVERRIDDEN_ASSETS.in(this.#state, account) : [];
    const own = overridden.map((metadata) => {
      const holder = { owner: Buffer.from(owner), metadata };
      // Of no version: the amount is read from state.
      return [holder, { version: U64_MAX, coin: 0n, fungible: 0n }] as const;
    });
    const page = await super.balances(owner, query);
    const bounds = { from, limit, next: page.next };
    const merged = this.#merged(page.rows, own, ([{ metadata }]) => metadata, bounds);
    return { rows: merged.items, next: merged.next };
  }

  override eventStream(stream: StreamId, head = this.head): EventStreamView {
    const events = APPENDED_EVENTS.in(this.#state, streamName(stream));
    const ledger = super.eventStream(stream, head);
    if (events.length === 0) return ledger;
    return new LongerEventStream(this.#store, head, stream, { ledger, events, reads: this.#reads });
  }

  #isAt(version: bigint): boolean {
    return version === this.head.version && !this.#state.isEmpty;
  }

  /** A page with the overridden items that belong to it. @param own in any order, also several times */
  #merged<T>(
    page: readonly T[],
    own: readonly T[],
    keyOf: (item: T) => Buffer,
    {
      from,
      limit,
      next,
    }: { from: Uint8Array | undefined; limit: number; next: Buffer | undefined },
  ): { readonly items: readonly T[]; readonly next: Buffer | undefined } {
    const isWithin = (item: T): boolean => {
      const key = keyOf(item);
      const isAfterStart = from === undefined || Buffer.compare(key, from) >= 0;
      return isAfterStart && (next === undefined || Buffer.compare(key, next) < 0);
    };
    const within = own.filter(isWithin);
    if (within.length === 0) return { items: page, next };
    this.#reads.areOverridden = true;
    const byKey = new Map([...page, ...within].map((item) => [hashName(keyOf(item)), item]));
    const all = [...byKey.values()].sort((a, b) => Buffer.compare(keyOf(a), keyOf(b)));
    const after = all[limit];
    return { items: all.slice(0, limit), next: after === undefined ? next : keyOf(after) };
  }
}

interface LongerStreamSources {
  readonly ledger: EventStreamView;
  /** At least one. */
  readonly events: readonly StoredEvent[];
  readonly reads: { areOverridden: boolean };
}

/** A stream with appended events. */
class LongerEventStream extends EventStreamView {
  readonly #sources: LongerStreamSources;

  constructor(store: StoreReader, head: Head, stream: StreamId, sources: LongerStreamSources) {
    super(store, head, stream);
    this.#sources = sources;
  }

  override page({ start, limit }: EventPageQuery): MaybePromise<EventPage> {
    const { ledger, events, reads } = this.#sources;
    const { sequenceNumber: first } = events[0]!;
    const from = start ?? firstOfNewest(this.lastSequenceNumber(), limit);
    const end = from + BigInt(limit);
    if (end <= first) return ledger.page({ start: from, limit });
    reads.areOverridden = true;
    const own = events.filter((one) => one.sequenceNumber >= from && one.sequenceNumber < end);
    if (from >= first) return { events: own, pruned: undefined };
    const page = ledger.page({ start: from, limit: Number(first - from) });
    return andThen(page, (before) => ({ ...before, events: [...before.events, ...own] }));
  }

  override lastSequenceNumber(): bigint {
    const { events, reads } = this.#sources;
    reads.areOverridden = true;
    return events.at(-1)!.sequenceNumber;
  }

  override firstRetainedSequenceNumber(): MaybePromise<bigint | undefined> {
    const { ledger, events } = this.#sources;
    const first = ledger.firstRetainedSequenceNumber();
    return andThen(first, (found) => found ?? events[0]!.sequenceNumber);
  }
}
