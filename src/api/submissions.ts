/** The chain of this process, as the interface uses it: src/chain/local-chain.ts behind node's adapter. */
import type { ForeignTransaction } from '../ledger/transactions/pending.ts';

export interface Submissions {
  /**
   * Takes a transaction.
   * @param signed BCS of the SignedTransaction
   * @returns the pending transaction and its hash, 32 bytes
   * @throws SubmitError, LedgerError; or rejects with them
   */
  submit(signed: Buffer): Promise<{ readonly hash: Buffer; readonly signed: Buffer }>;
  /** Takes several before any of them is in a block. @returns for each `undefined`, or the error that refuses it */
  submitAll(signed: readonly Buffer[]): Promise<readonly (Error | undefined)[]>;
  /** Resolves when the next block is committed, or a transaction is dropped. */
  changed(): Promise<void>;
  transactionByHash(hash: Uint8Array): Promise<ForeignTransaction | undefined>;
}
