/** Transactions that users have submitted and that are not in a block yet. */
import { TransactionPayload } from '../move/transactions/payload.ts';
import { transactionHash } from '../move/transactions/transaction.ts';
import type { SignedTransaction } from '../move/transactions/user-transaction.ts';
import type { Address } from '../move/types/address.ts';

/** Variant of Transaction for user transactions, which precedes the SignedTransaction. */
const USER_VARIANT = Buffer.of(0);

export interface PendingTransaction {
  readonly transaction: SignedTransaction;
  /** BCS of the Transaction: its variant, then the SignedTransaction. */
  readonly bytes: Buffer;
  readonly hash: Buffer;
  readonly sender: Address;
  /** Absent unless the transaction is orderless. */
  readonly nonce: bigint | undefined;
  readonly payload: Buffer;
}

/** @param signed BCS of the transaction */
export function pendingTransaction(
  transaction: SignedTransaction,
  signed: Buffer,
): PendingTransaction {
  const { sender, payload } = transaction.raw;
  const bytes = Buffer.concat([USER_VARIANT, signed]);
  return {
    transaction,
    bytes,
    hash: transactionHash(bytes),
    sender,
    nonce: payload.kind === 'payload' ? payload.extraConfig.replayProtectionNonce : undefined,
    payload: TransactionPayload.encode(payload),
  };
}

/** BCS of the SignedTransaction. */
export function signedBytes({ bytes }: PendingTransaction): Buffer {
  return bytes.subarray(USER_VARIANT.length);
}
