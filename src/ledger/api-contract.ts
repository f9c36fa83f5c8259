/**
 * What the API may ask of a ledger. All answers of one view come from one reading of the head: take a view at the
 * start of a request and use nothing else (spec/http.md §3.1).
 */
import type { Address } from '../move/address.ts';
import type { MaybePromise, ModuleLookup } from '../move/module/lookup.ts';
import type { StructTag } from '../move/type-tag.ts';

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

/** One ledger at one moment; immutable. Methods throw LedgerError. */
export interface LedgerView {
  readonly state: LedgerState;
  /**
   * The version to read at: `asked`, or the latest. Throws `version_not_found` above the latest and
   * `version_pruned` below the oldest.
   */
  resolveVersion(asked: bigint | undefined): bigint;
  /** Throws `module_not_found`. */
  module(address: Address, name: string, version: bigint): MaybePromise<ModuleAnswer>;
  balance(account: Address, asset: Asset, version: bigint): MaybePromise<bigint>;
  /** JSON text of the array of event records, ascending. */
  eventsJson(request: EventPageRequest): MaybePromise<string>;
  /** BCS of the vector of versioned events, ascending. */
  eventsBcs(request: EventPageRequest): MaybePromise<Buffer>;
  /** Modules of the latest state, loaded under the on-chain limits (spec/move.md §4.2). */
  readonly lookupModule: ModuleLookup;
}

/** A ledger that can be asked. */
export interface LedgerReader {
  /** The state now. Throws `ledger_unavailable` when there is none. */
  view(): MaybePromise<LedgerView>;
}
