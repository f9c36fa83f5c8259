/**
 * What the machine sees of a ledger, at one version. All of it may be answered later: the machine waits between
 * instructions. Nothing here is written: what code changes stays in the run, which hands it over
 * afterwards (docs/spec/vm.md §5, §8.2).
 */
import type { MaybePromise } from '../maybe-promise.ts';
import type { ModuleLookup } from '../move/modules/lookup.ts';
import type { EntryFunction } from '../move/transactions/executable.ts';
import type { Address } from '../move/types/address.ts';
import type { StructTag } from '../move/types/type-tag.ts';

/** For whom a run goes on that is not over within its first turn. */
export interface RunTurns {
  /** Resolves when others had their turn; rejects when the run is refused or is to end. */
  nextTurn(): Promise<void>;
  /** Aborted when the run is to end. @throws what the run is refused with */
  readonly signal: AbortSignal | undefined;
}

/** How much state there is: values, and bytes of their keys and themselves. */
export interface StateUsage {
  readonly items: bigint;
  readonly bytes: bigint;
}

/** A group of resources: what names it, and the length of all of it. */
export interface StoredGroup {
  readonly id: string;
  readonly bytes: number;
}

export interface World {
  readonly modules: ModuleLookup;
  /** Resolves when others had their turn: long runs wait for it every few milliseconds. */
  nextTurn(): Promise<void>;
  /** The feature flags at that version. */
  isFeatureEnabled(flag: number): boolean;
  /**
   * The BCS of a resource, plain or member of a group; `undefined` if it does not exist.
   * @param noteGroup is told the group of a member before its value is given
   */
  resource(
    address: Address,
    tag: StructTag,
    noteGroup?: (group: StoredGroup) => void,
  ): MaybePromise<Uint8Array | undefined>;
  /** The BCS of an item of a table. @param key its BCS */
  tableItem(handle: Address, key: Uint8Array): MaybePromise<Uint8Array | undefined>;
  /** Absent where nobody counts. */
  readonly stateUsage?: (() => MaybePromise<StateUsage>) | undefined;
}

/**
 * What code can ask about what it runs for (docs/spec/vm.md §8.1). A part of a transaction: its prologue, its
 * function, its epilogue, or all of one that no user sent.
 */
export interface Session {
  /** Table handles, aggregator keys and unique addresses are made of it; 32 bytes. */
  readonly hash: Buffer;
  /** The SHA3-256 of a script, or the hash of a validator's transaction; of other transactions no bytes. */
  readonly scriptHash: Uint8Array;
  /** Its number among all sessions that a transaction may have, u8. */
  readonly counter: number;
  /** Absent where no user sent the transaction. */
  readonly transaction: TransactionFacts | undefined;
}

export interface TransactionFacts {
  readonly sender: Address;
  readonly secondarySigners: readonly Address[];
  readonly gasPayer: Address;
  /** Gas units. */
  readonly maxGasAmount: bigint;
  /** Octas. */
  readonly gasUnitPrice: bigint;
  readonly chainId: number;
  readonly isOrderless: boolean;
  readonly entryFunction: EntryFunction | undefined;
  /** What it has a multisig account execute; without a payload what was proposed. */
  readonly multisig:
    | { readonly address: Address; readonly payload: EntryFunction | undefined }
    | undefined;
  /** Its index in its block; absent in simulations. */
  readonly index: number | undefined;
}
