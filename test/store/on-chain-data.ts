/** Small transactions for tests in wire format, derived from a version. */

import {
  Transaction,
  TransactionOnChainData,
  transactionHash,
} from '../../src/move/transactions/transaction.ts';
import { TransactionInfo } from '../../src/move/transactions/transaction-info.ts';
import type { ReplayProtector } from '../../src/move/transactions/transaction-origin.ts';
import { ORDERLESS_SEQUENCE_NUMBER } from '../../src/move/transactions/user-transaction.ts';
import type { Address } from '../../src/move/types/address.ts';

interface StoredTransaction {
  /** BCS of the TransactionInfo. */
  readonly info: Buffer;
  /** BCS of the TransactionOnChainData. */
  readonly transaction: Buffer;
}

/** The info of a transaction, with any hashes. */
export const INFO_OF_TESTS: TransactionOnChainData['info'] = {
  kind: 'v0',
  gasUsed: 0n,
  status: { kind: 'success' },
  transactionHash: filled(0),
  eventRootHash: filled(1),
  stateChangeHash: filled(2),
  stateCheckpointHash: undefined,
  auxiliaryInfoHash: undefined,
};

/** A transaction of a version: by default a state checkpoint whose block is the version. */
export function storedTransaction(
  version: number,
  transaction: Transaction = { kind: 'stateCheckpoint', blockId: filled(version) },
): StoredTransaction {
  const info = {
    ...INFO_OF_TESTS,
    gasUsed: BigInt(version),
    transactionHash: transactionHash(Transaction.encode(transaction)),
  };
  const data: TransactionOnChainData = {
    version: BigInt(version),
    transaction,
    info,
    events: [],
    accumulatorRootHash: filled(3),
    changes: { kind: 'v0', writes: [] },
  };
  return {
    info: TransactionInfo.encode(info),
    transaction: TransactionOnChainData.encode(data),
  };
}

export function sequence(value: bigint): ReplayProtector {
  return { kind: 'sequenceNumber', value };
}

export function nonce(value: bigint): ReplayProtector {
  return { kind: 'nonce', value };
}

/** A user transaction that does nothing. */
export function sentBy(sender: Address, { kind, value }: ReplayProtector): Transaction {
  const replayProtectionNonce = kind === 'nonce' ? value : undefined;
  const extraConfig = { kind: 'v1', multisigAddress: undefined, replayProtectionNonce } as const;
  const raw = {
    sender,
    sequenceNumber: kind === 'nonce' ? ORDERLESS_SEQUENCE_NUMBER : value,
    payload: { kind: 'payload', executable: { kind: 'empty' }, extraConfig } as const,
    maxGasAmount: 1n,
    gasUnitPrice: 1n,
    expirationTimestampSecs: 1n,
    chainId: 4,
  };
  const authenticator = { kind: 'singleSender', sender: { kind: 'noAccount' } } as const;
  return { kind: 'user', transaction: { raw, authenticator } };
}

/** 32 bytes that end with a number. */
function filled(number: number): Buffer {
  const bytes = Buffer.alloc(32);
  bytes.writeUInt32BE(number, 28);
  return bytes;
}
