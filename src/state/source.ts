/**
 * Sources of a ledger's data at one head: its state, its events and its other history. There are three sources: the
 * rows of a store (here), the data of another node (fork/), and writes in memory on top of any other source
 * (overlay-source.ts).
 */
import type { MaybePromise } from '../maybe-promise.ts';
import type { Address } from '../move/types/address.ts';
import type { HashedStateKey } from '../move/types/state-key.ts';
import type { StoredBalance } from '../store/columns/balance-column.ts';
import type { StreamId } from '../store/columns/event-column.ts';
import type { Head } from '../store/columns/head.ts';
import type { StateEntry } from '../store/columns/state-column.ts';
import type { EventStreamView } from '../store/read/event-pages.ts';
import {
  type AccountKeyPage,
  type AccountKeyQuery,
  type BalanceQuery,
  type BalanceRows,
  type StateWritesQuery,
  StoreView,
} from '../store/read/view.ts';
import type { StoreReader } from '../store/store.ts';

/** The values of state keys at a version that is at most that of the head. */
export interface StateSource {
  /** `undefined` when the key has no value. */
  state(key: HashedStateKey, version: bigint): MaybePromise<StateEntry | undefined>;

  stateMany(
    keys: readonly HashedStateKey[],
    version: bigint,
  ): MaybePromise<readonly (StateEntry | undefined)[]>;

  /** The writes to keys in a range of versions, deletions included, in the requested order. */
  stateWrites(
    keys: readonly HashedStateKey[],
    query: StateWritesQuery,
  ): MaybePromise<readonly (readonly StateEntry[])[]>;

  /**
   * State keys of an account, in the order of listings (docs/spec/ledger.md §5.4). Keys of other kinds, and keys
   * without a value, may be among them.
   */
  accountKeys(address: Address, query: AccountKeyQuery): Promise<AccountKeyPage>;

  /** An owner's balance of an asset, valid from the version in it; `undefined` if it must be read from state. */
  balance(owner: Uint8Array, metadata: Uint8Array): MaybePromise<StoredBalance | undefined>;

  balances(owner: Uint8Array, query: BalanceQuery): MaybePromise<BalanceRows>;
}

export type EventStream = Pick<EventStreamView, 'page' | 'lastSequenceNumber'>;

export interface EventSource {
  /** @param head a different head at the same version, for a stream that is retained further back */
  eventStream(stream: StreamId, head?: Head): EventStream;
}

/** Transactions, blocks, and what is looked up through them. */
export type HistorySource = Pick<
  StoreView,
  | 'blockByHeight'
  | 'blockOfVersion'
  | 'blocksOfVersions'
  | 'emitted'
  | 'lastVersionOfBlock'
  | 'transaction'
  | 'transactionInfos'
  | 'transactions'
  | 'typedEvents'
  | 'versionOfHash'
  | 'writtenKeys'
> & {
  sender(address: Address): Pick<ReturnType<StoreView['sender']>, 'bySequenceNumber' | 'byVersion'>;
};

/** Whether overridden data has been read. */
export interface OverrideReads {
  readonly areOverridden: boolean;
}

export interface LedgerSource {
  readonly head: Head;
  readonly isFrozen: boolean;
  readonly state: StateSource;
  readonly events: EventSource;
  readonly history: HistorySource;
  readonly overrides?: OverrideReads;
}

/** Opens the source that reads the store of a ledger at a head. */
export type OpenSource = (store: StoreReader, head: Head) => LedgerSource;

export const storedSource: OpenSource = (store, head) => {
  const view = new StoreView(store, head);
  return { head, isFrozen: false, state: view, events: view, history: view };
};
