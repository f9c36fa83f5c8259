/** What code can ask about what it runs for (docs/spec/vm.md §8.1). */
import type { EntryFunction } from '../move/transactions/executable.ts';
import type { Address } from '../move/types/address.ts';

/** A part of a transaction: its prologue, its function, its epilogue, or all of one that no user sent. */
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
