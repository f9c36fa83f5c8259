/** What code can ask about the transaction that it runs for (docs/spec/vm.md §8.1). */
import type { EntryFunction } from '../move/transactions/executable.ts';
import type { Address } from '../move/types/address.ts';

export interface TransactionFacts {
  /** Table handles, aggregator keys and unique addresses are made of it; 32 bytes. */
  readonly sessionHash: Buffer;
  /** The SHA3-256 of a script; of other transactions no bytes. */
  readonly scriptHash: Uint8Array;
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
}
