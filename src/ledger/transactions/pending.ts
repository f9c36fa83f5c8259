/**
 * Transactions that this ledger does not have yet but another node has: pending, or committed above this ledger's
 * version (docs/spec/transactions.md §1.5, §2.4, §4).
 */
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import { storedTransactionHash, Transaction } from '../../move/transactions/transaction.ts';
import { SignedTransaction } from '../../move/transactions/user-transaction.ts';

export interface ForeignTransaction {
  /** The version at which the other node has committed it; undefined while it is pending there. */
  readonly version: bigint | undefined;
  /** BCS of its SignedTransaction; undefined when no user signed it. */
  readonly signed: Buffer | undefined;
}

const ANSWERS = 2;
const PENDING_VARIANT = 1;
/** The variant of a user transaction, which precedes its SignedTransaction. */
const USER_VARIANT = Buffer.of(0);

/**
 * The transaction in a node's answer for a hash, in BCS.
 * @returns undefined if it is a different transaction
 * @throws BcsError
 */
export function readForeignTransaction(
  answer: Buffer,
  hash: Uint8Array,
): ForeignTransaction | undefined {
  const reader = new BcsReader(answer);
  if (reader.variant(ANSWERS, 'TransactionData') === PENDING_VARIANT) {
    const signed = answer.subarray(reader.offset);
    const transaction = SignedTransaction.read(reader);
    reader.finish();
    const bytes = Buffer.concat([USER_VARIANT, signed]);
    const found = storedTransactionHash(bytes, { kind: 'user', transaction });
    return found.equals(hash) ? { version: undefined, signed } : undefined;
  }
  const version = reader.u64();
  const start = reader.offset;
  const transaction = Transaction.read(reader);
  const bytes = answer.subarray(start, reader.offset);
  if (!storedTransactionHash(bytes, transaction).equals(hash)) return undefined;
  const isUser = transaction.kind === 'user';
  return { version, signed: isUser ? bytes.subarray(USER_VARIANT.length) : undefined };
}

export function pendingBcs(signed: Buffer): Buffer {
  return Buffer.concat([Buffer.of(PENDING_VARIANT), signed]);
}
