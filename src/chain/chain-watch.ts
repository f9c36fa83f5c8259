/** Observes what a local network executes, for reports about tests that ran on it. */
import type { TransactionOutput } from '../execution/execute.ts';
import type { SignedTransaction } from '../move/transactions/user-transaction.ts';
import type { RunObserver } from '../vm/observer.ts';

export interface ChainWatch {
  /** Observes all code that runs; absent if nothing does. */
  readonly runs?: RunObserver | undefined;
  /** Gets each user transaction that is put into a block, also failed ones, before the block is committed. */
  added(transaction: SignedTransaction, output: TransactionOutput): void;
}
