/** Writes transactions and what came of them as src/move/transactions reads them (docs/spec/ledger.md §1 to §3). */
import { type BcsWriter, encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import { writeHash } from '../../../src/move/bcs/fixed-bytes.ts';
import { writeContractEvent } from '../../../src/move/transactions/event.ts';
import { writeScriptCall } from '../../../src/move/transactions/executable.ts';
import {
  TRANSACTION_KINDS,
  type Transaction,
  type TransactionOnChainData,
} from '../../../src/move/transactions/transaction.ts';
import { writeTransactionInfo } from '../../../src/move/transactions/transaction-info.ts';
import {
  type SignedTransaction,
  writeRawTransaction,
} from '../../../src/move/transactions/user-transaction.ts';
import type {
  AggregateSignature,
  ValidatorTransaction,
} from '../../../src/move/transactions/validator-transaction.ts';
import {
  type WriteSet,
  type WriteSetEntry,
  writeWriteOp,
} from '../../../src/move/transactions/write-set.ts';
import { writeStateKey } from '../../../src/move/types/state-key.ts';
import { writeTransactionAuthenticator } from '../crypto/authenticator-writers.ts';
import { writeBlockEpilogue, writeBlockMetadata, writeBlockMetadataExt } from './block-writers.ts';

export function writeTransaction(writer: BcsWriter, transaction: Transaction): void {
  writer.uleb32(TRANSACTION_KINDS.indexOf(transaction.kind));
  switch (transaction.kind) {
    case 'user':
      writeSignedTransaction(writer, transaction.transaction);
      return;
    case 'genesis':
      writeWriteSetPayload(writer, transaction.payload);
      return;
    case 'blockMetadata':
      writeBlockMetadata(writer, transaction.metadata);
      return;
    case 'stateCheckpoint':
      writeHash(writer, transaction.blockId);
      return;
    case 'validator':
      writeValidatorTransaction(writer, transaction.transaction);
      return;
    case 'blockMetadataExt':
      writeBlockMetadataExt(writer, transaction.metadata);
      return;
    case 'blockEpilogue':
      writeBlockEpilogue(writer, transaction.epilogue);
  }
}

function writeWriteSetPayload(
  writer: BcsWriter,
  payload: Extract<Transaction, { kind: 'genesis' }>['payload'],
): void {
  if (payload.kind === 'script') {
    writer.uleb32(1).address(payload.executeAs);
    writeScriptCall(writer, payload.script);
    return;
  }
  writer.uleb32(0);
  writeWriteSet(writer, payload.writeSet);
  writer.vector(payload.events, writeContractEvent);
}

export function encodeTransaction(transaction: Transaction): Buffer {
  return encodeBcs((writer) => writeTransaction(writer, transaction));
}

export function writeSignedTransaction(writer: BcsWriter, signed: SignedTransaction): void {
  writeRawTransaction(writer, signed.raw);
  writeTransactionAuthenticator(writer, signed.authenticator);
}

export function writeValidatorTransaction(
  writer: BcsWriter,
  transaction: ValidatorTransaction,
): void {
  switch (transaction.kind) {
    case 'dkgResult':
      writer.uleb32(0);
      writeTranscript(writer, transaction);
      return;
    case 'observedJwkUpdate':
      writer.uleb32(1).bytes(transaction.issuer).u64(transaction.version);
      writer.vector(transaction.jwks, (inner, jwk) => inner.string(jwk.typeName).bytes(jwk.data));
      writeAggregateSignature(writer, transaction.signature);
      return;
    case 'chunkyDkgResult':
      writer.uleb32(2);
      writeTranscript(writer, transaction);
      writeAggregateSignature(writer, transaction.signature);
      writer.bytes(transaction.encryptionKey);
  }
}

function writeTranscript(
  writer: BcsWriter,
  value: Extract<ValidatorTransaction, { kind: 'dkgResult' | 'chunkyDkgResult' }>,
): void {
  writer.u64(value.epoch).address(value.author).bytes(value.transcript);
}

export function writeAggregateSignature(writer: BcsWriter, aggregate: AggregateSignature): void {
  writer.bytes(aggregate.validatorBitmask);
  writer.option(aggregate.signature, (inner, signature) => inner.bytes(signature));
}

/**
 * Writes entries in the canonical order, by the serialized bytes of their keys, whatever order they
 * come in.
 */
export function writeWrites(writer: BcsWriter, writes: readonly WriteSetEntry[]): void {
  const sorted = writes
    .map(({ key, op }) => ({ keyBytes: encodeBcs((inner) => writeStateKey(inner, key)), op }))
    .sort((left, right) => Buffer.compare(left.keyBytes, right.keyBytes));
  writer.length32(sorted.length);
  let previous: Buffer | undefined;
  for (const { keyBytes, op } of sorted) {
    if (previous?.equals(keyBytes)) throw new RangeError('a state key is written twice');
    previous = keyBytes;
    writer.fixed(keyBytes);
    writeWriteOp(writer, op);
  }
}

export function writeWriteSet(writer: BcsWriter, writeSet: WriteSet): void {
  writer.uleb32(writeSet.kind === 'v0' ? 0 : 1);
  writeWrites(writer, writeSet.writes);
  if (writeSet.kind === 'v0') return;
  writer.vector(writeSet.hotness, writeStateKey);
  writer.vector(writeSet.extensions, (inner, extension) => {
    inner.uleb32(0);
    writeWrites(inner, extension.writes);
  });
}

export function writeOnChainData(writer: BcsWriter, data: TransactionOnChainData): void {
  writer.u64(data.version);
  writeTransaction(writer, data.transaction);
  writeTransactionInfo(writer, data.info);
  writer.vector(data.events, writeContractEvent);
  writeHash(writer, data.accumulatorRootHash);
  writeWriteSet(writer, data.changes);
}
