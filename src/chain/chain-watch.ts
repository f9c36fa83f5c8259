/** Who is told of what a local network executes, for reports about tests that ran on it. */
import type { TransactionOutput } from '../execution/execute.ts';
import type { SignedTransaction } from '../move/transactions/user-transaction.ts';
import type { RunObserver } from '../vm/observer.ts';

export interface ChainWatch {
  /** Sees all code that runs; absent: nothing does. */
  readonly runs?: RunObserver | undefined;
  /** Gets each transaction of a user that comes into a block, failed ones too, before that block is committed. */
  added(transaction: SignedTransaction, output: TransactionOutput): void;
}
