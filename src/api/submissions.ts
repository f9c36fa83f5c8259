/** The chain of this process, as the interface uses it: src/chain/local-chain.ts behind node's adapter. */
import type { ForeignTransaction } from '../ledger/transactions/pending.ts';

export interface Submissions {
  /**
   * Takes a transaction.
   * @param signed BCS of the SignedTransaction
   * @returns what waits now, and its hash, 32 bytes
   * @throws SubmitError, LedgerError; or rejects with them
   */
  submit(signed: Buffer): Promise<{ readonly hash: Buffer; readonly signed: Buffer }>;
  /** Takes several before any of them is in a block. @returns for each `undefined`, or why it is refused */
  submitAll(signed: readonly Buffer[]): Promise<readonly (Error | undefined)[]>;
  /** Resolves when a block is committed next, or a transaction dropped. */
  changed(): Promise<void>;
  transactionByHash(hash: Uint8Array): Promise<ForeignTransaction | undefined>;
}
