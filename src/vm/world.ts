/**
 * The machine's view of a ledger at one version. Every answer may be asynchronous: the machine waits between
 * instructions. Nothing here is written: changes stay in the run, which hands them over afterwards
 * (docs/spec/vm.md §5, §8.2).
 */
import type { MaybePromise } from '../maybe-promise.ts';
import type { ModuleLookup } from '../move/modules/lookup.ts';
import type { EntryFunction } from '../move/transactions/executable.ts';
import type { Address } from '../move/types/address.ts';
import type { StructTag } from '../move/types/type-tag.ts';

/** Scheduling of a run that is not over within its first turn. */
export interface RunTurns {
  /** Resolves when others have had their turn; rejects if the run is refused or must end. */
  nextTurn(): Promise<void>;
  /** Aborted when the run must end. @throws what the run is refused with */
  readonly signal: AbortSignal | undefined;
}

/** The size of the state: number of values, and bytes of keys and values. */
export interface StateUsage {
  readonly items: bigint;
  readonly bytes: bigint;
}

/** A resource group: its id, and its total length. */
export interface StoredGroup {
  readonly id: string;
  readonly bytes: number;
}

export interface World {
  readonly modules: ModuleLookup;
  /** Resolves when others have had their turn; long runs await it every few milliseconds. */
  nextTurn(): Promise<void>;
  /** The feature flags at that version. */
  isFeatureEnabled(flag: number): boolean;
  /**
   * The BCS of a resource, plain or member of a group; `undefined` if it does not exist.
   * @param onGroup is notified of a member's group before its value is returned
   */
  resource(
    address: Address,
    tag: StructTag,
    onGroup?: (group: StoredGroup) => void,
  ): MaybePromise<Uint8Array | undefined>;
  /** The BCS of an item of a table. @param key its BCS */
  tableItem(handle: Address, key: Uint8Array): MaybePromise<Uint8Array | undefined>;
  /** Absent if the usage is not counted. */
  readonly stateUsage?: (() => MaybePromise<StateUsage>) | undefined;
}

/**
 * Facts that code can query about its run (docs/spec/vm.md §8.1). A session is a part of a transaction: its prologue,
 * its function, its epilogue, or all of one that no user sent.
 */
export interface Session {
  /** Table handles, aggregator keys and unique addresses are derived from it; 32 bytes. */
  readonly hash: Buffer;
  /** The SHA3-256 of a script, or the hash of a validator's transaction; empty for other transactions. */
  readonly scriptHash: Uint8Array;
  /** Its number among all sessions of a transaction, u8. */
  readonly counter: number;
  /** Absent if no user sent the transaction. */
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
  /** The multisig account that it runs for; without a payload, its proposal is executed. */
  readonly multisig:
    | { readonly address: Address; readonly payload: EntryFunction | undefined }
    | undefined;
  /** Its index in its block; absent in simulations. */
  readonly index: number | undefined;
}
