/** A committed transaction as JSON (docs/spec/transactions.md §2). */
import type { MaybePromise } from '../../maybe-promise.ts';
import { BcsReader } from '../../move/bcs/bcs-reader.ts';

/** The JSON text of a transaction, from the BCS of its TransactionOnChainData. */
export function transactionJson(item: Buffer): MaybePromise<string> {
  return JSON.stringify({ version: String(new BcsReader(item).u64()) });
}
