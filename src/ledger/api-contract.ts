/**
 * What the API may ask of a ledger. All answers of one view come from one reading of the head: take a view at the
 * start of a request and use nothing else (docs/spec/http.md §3.1).
 */

import type { MaybePromise } from '../maybe-promise.ts';
import type { ModuleLookup } from '../move/modules/lookup.ts';
import type { Address } from '../move/types/address.ts';
import type { StructTag } from '../move/types/type-tag.ts';

/** The ledger's state as the response headers show it. */
export interface LedgerState {
  /** u8. */
  readonly chainId: number;
  readonly version: bigint;
  readonly oldestVersion: bigint;
  /** Microseconds since 1970. */
  readonly timestampUsecs: bigint;
  readonly epoch: bigint;
  readonly blockHeight: bigint;
  readonly oldestBlockHeight: bigint;
}

/** What a balance is asked of: a coin by its type, or a fungible asset by its metadata address. */
export type Asset =
  | { readonly kind: 'coin'; readonly type: StructTag }
  | { readonly kind: 'fungibleAsset'; readonly metadata: Address };

/** A published module at a version. */
export interface ModuleAnswer {
  /** The stored bytes, as they are. */
  readonly bytes: Uint8Array;
  /** `{"bytecode":"0x…","abi":…}` as JSON text; kept per stored module. */
  json(): string;
  /** The version whose write this module is: with address and name it identifies the answer for ever. */
  readonly writtenAtVersion: bigint;
}

/** Which events of a stream are wanted. */
export interface EventPageRequest {
  readonly address: Address;
  readonly creationNumber: bigint;
  /** First sequence number; absent: the newest page. */
  readonly start?: bigint | undefined;
  /** 1 or more, already reduced to the maximum page size. */
  readonly limit: number;
}

/** What an event page is written in. */
export type EventPageForm = 'json' | 'bcs';

/** Bytes that are kept outside of memory. */
export interface KeptBody {
  /** The bytes, in memory of their own; `undefined` once they are no longer kept. */
  read(): Uint8Array | undefined;
  /**
   * The same in memory that the next body will be lent in, too: for who is done with it before this turn ends, or says
   * `leave` before that.
   */
  lend(): Uint8Array | undefined;
  /** Leaves what was lent last to who has it. */
  leave(): void;
}

/** A page of events. */
export interface EventPageAnswer {
  /** UTF-8 of JSON, or BCS. */
  readonly body: Uint8Array;
  /** What `contentTag` makes of the body, where that is at hand. */
  readonly tagCore?: string;
  /** Where the same bytes can be had again, if they are kept. */
  readonly kept?: KeptBody;
}

/** An account at a version. */
export interface AccountAnswer {
  readonly sequenceNumber: bigint;
  readonly authenticationKey: Uint8Array;
  /** BCS of `0x1::account::Account`: as stored, or of the default account. */
  readonly bytes: Uint8Array;
}

/** A resource at a version. */
export interface ResourceAnswer {
  /** The stored bytes, those of the member for one in a group. */
  readonly bytes: Uint8Array;
  /** `{"type":"…","data":{…}}` as JSON text, rendered by the types of the version read. */
  json(): Promise<string>;
}

/** Which items of an account are wanted. */
export interface ListingRequest {
  readonly address: Address;
  readonly version: bigint;
  /** The physical state key of the first item; absent: from the beginning. */
  readonly start?: Buffer | undefined;
  /** Most state keys, 1 or more, already reduced to the maximum page size. */
  readonly limit: number;
}

/** A page of an account's resources or modules. */
export interface Listing {
  /** JSON text of the array, in the order of the state keys. */
  json(): Promise<string>;
  /** BCS of a map: struct tag → bytes, or `{address}::{name}` as a string → bytes. */
  bcs(): Buffer;
  /** Hex of the physical state key that the next page begins with, without `0x`; `undefined` on the last page. */
  readonly cursor: string | undefined;
}

/** What an event stream is asked by. */
export interface EventStreamId {
  readonly address: Address;
  readonly creationNumber: bigint;
}

/** What can be asked of an account. */
export interface AccountQuestions {
  /** Throws `account_not_found`. */
  account(address: Address, version: bigint): Promise<AccountAnswer>;
  /** Throws `resource_not_found`. */
  resource(address: Address, tag: StructTag, version: bigint): Promise<ResourceAnswer>;
  /** A page of resources, groups opened; nothing for an account that has none. */
  resources(request: ListingRequest): Promise<Listing>;
  /** A page of modules; nothing for an account that has none. */
  modules(request: ListingRequest): Promise<Listing>;
  /**
   * The stream whose handle stands in a field of a resource at the latest version. Throws `resource_not_found`,
   * `struct_field_not_found`, `invalid_input`.
   */
  eventStream(address: Address, holder: StructTag, fieldName: string): Promise<EventStreamId>;
}

/** A block. */
export interface BlockAnswer {
  readonly height: bigint;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** Microseconds since 1970. */
  readonly timestampUsecs: bigint;
  readonly firstVersion: bigint;
  /** Of the newest block it moves with the ledger. */
  readonly lastVersion: bigint;
}

/** What can be asked of the ledger's history. */
export interface HistoryQuestions {
  /** Throws `block_pruned`, `block_not_found`. */
  blockByHeight(height: bigint): Promise<BlockAnswer>;
  /** Throws `version_pruned`, `version_not_found`, `block_not_found`. */
  blockByVersion(version: bigint): Promise<BlockAnswer>;
  /**
   * BCS of the TransactionOnChainData of each version from `start` on, as stored; fewer than `limit` where the ledger
   * ends. Without `start` the newest ones. Throws `invalid_input` above the latest version, `version_pruned`,
   * `transactions_not_kept`.
   * @param operation as messages name it
   */
  transactions(
    start: bigint | undefined,
    limit: number,
    operation: string,
  ): Promise<readonly Buffer[]>;
  /** The same of one version. Throws `transaction_not_found`, `version_pruned`, `transactions_not_kept`. */
  transaction(version: bigint, operation: string): Promise<Buffer>;
}

/** One ledger at one moment; immutable. Methods throw LedgerError. */
export interface LedgerView {
  readonly state: LedgerState;
  /**
   * The version to read at: `asked`, or the latest. Throws `version_not_found` above the latest and
   * `version_pruned` below the oldest; of an account whose history is kept, below what of it is whole.
   */
  resolveVersion(asked: bigint | undefined, account?: Address): bigint;
  /** Throws `module_not_found`. */
  module(address: Address, name: string, version: bigint): MaybePromise<ModuleAnswer>;
  balance(account: Address, asset: Asset, version: bigint): MaybePromise<bigint>;
  /** Events, ascending: as JSON an array of event records, as BCS a vector of versioned events. */
  eventPage(request: EventPageRequest, form: EventPageForm): MaybePromise<EventPageAnswer>;
  readonly accounts: AccountQuestions;
  readonly history: HistoryQuestions;
  /** Modules of the latest state, loaded under the on-chain limits (docs/spec/move.md §4.2). */
  readonly lookupModule: ModuleLookup;
}

/** A ledger that can be asked. */
export interface LedgerReader {
  /** The state now. Throws `ledger_unavailable` when there is none. */
  view(): MaybePromise<LedgerView>;
}
