/**
 * `POST /v1/transactions/simulate` (docs/spec/transactions.md §9.4) runs a signed transaction on the newest state and
 * shows it as it would be committed.
 */
import type { MaybePromise } from '../maybe-promise.ts';
import { BcsError } from '../move/bcs/bcs-reader.ts';
import { CountingReader } from '../move/bcs/counting-reader.ts';
import { TransactionAuthenticator } from '../move/crypto/authenticator.ts';
import { HASH_BYTES } from '../move/crypto/hash.ts';
import {
  Transaction,
  TransactionOnChainData,
  transactionHash,
} from '../move/transactions/transaction.ts';
import { RawTransaction, type SignedTransaction } from '../move/transactions/user-transaction.ts';
import { LedgerError } from '../state/ledger-error.ts';
import { signatureState } from './authentication/valid-signatures.ts';
import type { UserTransactionOutput } from './run-user-transaction.ts';

/**
 * Largest transaction that is simulated, with its signatures; no chain accepts one as large. It is verified, hashed and
 * rendered in one go.
 */
export const MAX_SIMULATED_BYTES = 256 * 1024;
/** Maximum number of items in all its lists: arguments, type arguments at any level, keys, signers. */
export const MAX_SIMULATED_ITEMS = 1_024;

/** Gas parameters that the node is to choose. */
export interface GasEstimates {
  readonly isMaxGasAmountLargest: boolean;
  /** If absent, the price of the transaction. */
  readonly price: 'usual' | 'prioritized' | undefined;
}

/** Gas parameters in place of those of the transaction. */
interface GasOverride {
  readonly maxGasAmount: bigint | undefined;
  readonly gasUnitPrice: bigint | undefined;
}

/** A transaction to simulate, with its bytes. */
interface Submitted {
  readonly transaction: SignedTransaction;
  /** BCS of the raw transaction. */
  readonly rawBytes: Buffer;
  readonly authenticatorBytes: Buffer;
}

const ZERO_HASH = Buffer.alloc(HASH_BYTES);

/** @param signed BCS. @throws LedgerError `invalid_input` */
export function readSubmitted(signed: Buffer): Submitted {
  if (signed.length > MAX_SIMULATED_BYTES) {
    const text = `Transactions of more than ${MAX_SIMULATED_BYTES} bytes are not simulated`;
    throw new LedgerError('invalid_input', text);
  }
  const reader = new CountingReader(signed, 0, MAX_SIMULATED_ITEMS);
  try {
    const raw = RawTransaction.read(reader);
    const end = reader.offset;
    const authenticator = TransactionAuthenticator.read(reader);
    reader.finish();
    checkPayload(raw);
    return {
      transaction: { raw, authenticator },
      rawBytes: signed.subarray(0, end),
      authenticatorBytes: signed.subarray(end),
    };
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    const text = `Failed to deserialize input into SignedTransaction: ${cause.detail}`;
    throw new LedgerError('invalid_input', text, { cause });
  }
}

/** Payloads that the reference refuses, whoever signs them. @throws LedgerError `invalid_input` */
function checkPayload({ payload }: RawTransaction): void {
  const refuse = (text: string): never => {
    throw new LedgerError('invalid_input', text);
  };
  const executable = payload.kind === 'payload' ? payload.executable : payload;
  const hasMultisig =
    payload.kind === 'payload' && payload.extraConfig.multisigAddress !== undefined;
  if (executable.kind === 'script') {
    if (executable.code.length === 0) refuse('Script payload bytecode must not be empty');
    if (hasMultisig) refuse('Script transaction payload must not be a multisig transaction');
  }
  if (executable.kind === 'moduleBundle') refuse('Module bundle payload has been removed');
  if (executable.kind === 'empty' && !hasMultisig) {
    refuse('Empty transaction payload must be a multisig transaction');
  }
  if (executable.kind === 'encrypted') {
    if (payload.kind === 'payload') refuse('Encrypted executable is not supported in PayloadV1');
    refuse('Encrypted transactions cannot be simulated');
  }
}

export function withGas(submitted: Submitted, gas: GasOverride): Submitted {
  const { raw, authenticator } = submitted.transaction;
  const changed = {
    ...raw,
    maxGasAmount: gas.maxGasAmount ?? raw.maxGasAmount,
    gasUnitPrice: gas.gasUnitPrice ?? raw.gasUnitPrice,
  };
  return {
    ...submitted,
    transaction: { raw: changed, authenticator },
    rawBytes: RawTransaction.encode(changed),
  };
}

export interface SimulatedItem {
  /** BCS of a TransactionOnChainData. */
  readonly item: Buffer;
  /** Appended to its outcome. */
  readonly statusSuffix: string;
  /** Gas units. */
  readonly gasUsed: bigint;
}

/**
 * Rejects with LedgerError `invalid_input` for one that is properly signed.
 * @param version of the state that it is run on, which is also shown as its own
 */
export async function simulatedItem(
  { transaction, rawBytes }: Submitted,
  version: bigint,
  simulate: (transaction: SignedTransaction) => MaybePromise<UserTransactionOutput>,
): Promise<SimulatedItem> {
  if ((await signatureState(transaction, rawBytes)) === 'valid') {
    const text = 'Simulated transactions must not have a valid signature';
    throw new LedgerError('invalid_input', text);
  }
  const { status, message, writes, events, gasUsed } = await simulate(transaction);
  const user = { kind: 'user', transaction } as const;
  const info = {
    kind: 'v0',
    gasUsed,
    status,
    transactionHash: transactionHash(Transaction.encode(user)),
    eventRootHash: ZERO_HASH,
    stateChangeHash: ZERO_HASH,
    stateCheckpointHash: undefined,
    auxiliaryInfoHash: undefined,
  } as const;
  const changes = { kind: 'v0', writes } as const;
  const outcome = { info, events, accumulatorRootHash: ZERO_HASH, changes };
  const item = TransactionOnChainData.encode({ version, transaction: user, ...outcome });
  const statusSuffix = message === undefined ? '' : `\nExecution failed with message: ${message}`;
  return { item, statusSuffix, gasUsed };
}
