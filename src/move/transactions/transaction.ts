/** Transactions of all kinds, as the ledger holds them (docs/spec/ledger.md §1.1). */

import { type BcsReader, decodeBcs } from '../bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../bcs/bcs-writer.ts';
import { readHash, writeHash } from '../bcs/fixed-bytes.ts';
import { domainHash } from '../crypto/hash.ts';
import type { Address } from '../types/address.ts';
import {
  type BlockEpilogue,
  type BlockMetadata,
  type BlockMetadataExt,
  readBlockEpilogue,
  readBlockMetadata,
  readBlockMetadataExt,
  writeBlockEpilogue,
  writeBlockMetadata,
  writeBlockMetadataExt,
} from './block-transaction.ts';
import {
  type ContractEvent,
  MIN_EVENT_BYTES,
  readContractEvent,
  writeContractEvent,
} from './event.ts';
import { readScriptCall, type Script, writeScriptCall } from './executable.ts';
import {
  readSignedTransaction,
  type SignedTransaction,
  writeSignedTransaction,
} from './user-transaction.ts';
import {
  readValidatorTransaction,
  type ValidatorTransaction,
  writeValidatorTransaction,
} from './validator-transaction.ts';
import { readWriteSet, type WriteSet, writeWriteSet } from './write-set.ts';

/** What a genesis transaction does: a given change, or whatever running a script changes. */
type WriteSetPayload =
  | {
      readonly kind: 'direct';
      readonly writeSet: WriteSet;
      readonly events: readonly ContractEvent[];
    }
  | { readonly kind: 'script'; readonly executeAs: Address; readonly script: Script };

export type Transaction =
  | { readonly kind: 'user'; readonly transaction: SignedTransaction }
  | { readonly kind: 'genesis'; readonly payload: WriteSetPayload }
  | { readonly kind: 'blockMetadata'; readonly metadata: BlockMetadata }
  /** `blockId`: 32 bytes. */
  | { readonly kind: 'stateCheckpoint'; readonly blockId: Buffer }
  | { readonly kind: 'validator'; readonly transaction: ValidatorTransaction }
  | { readonly kind: 'blockMetadataExt'; readonly metadata: BlockMetadataExt }
  | { readonly kind: 'blockEpilogue'; readonly epilogue: BlockEpilogue };

/** The kinds of transaction by their variant index on the wire. */
export const TRANSACTION_KINDS: readonly Transaction['kind'][] = [
  'user',
  'genesis',
  'blockMetadata',
  'stateCheckpoint',
  'validator',
  'blockMetadataExt',
  'blockEpilogue',
];

/** Reads a transaction. @throws BcsError */
export function readTransaction(reader: BcsReader): Transaction {
  const kind = TRANSACTION_KINDS[reader.variant(TRANSACTION_KINDS.length, 'Transaction')]!;
  switch (kind) {
    case 'user':
      return { kind, transaction: readSignedTransaction(reader) };
    case 'genesis':
      return { kind, payload: readWriteSetPayload(reader) };
    case 'blockMetadata':
      return { kind, metadata: readBlockMetadata(reader) };
    case 'stateCheckpoint':
      return { kind, blockId: readHash(reader) };
    case 'validator':
      return { kind, transaction: readValidatorTransaction(reader) };
    case 'blockMetadataExt':
      return { kind, metadata: readBlockMetadataExt(reader) };
    case 'blockEpilogue':
      return { kind, epilogue: readBlockEpilogue(reader) };
  }
}

/** Writes a transaction. */
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

function readWriteSetPayload(reader: BcsReader): WriteSetPayload {
  if (reader.variant(2, 'WriteSetPayload') === 1) {
    const executeAs = reader.address();
    return { kind: 'script', executeAs, script: readScriptCall(reader) };
  }
  const writeSet = readWriteSet(reader);
  return { kind: 'direct', writeSet, events: reader.vector(MIN_EVENT_BYTES, readContractEvent) };
}

function writeWriteSetPayload(writer: BcsWriter, payload: WriteSetPayload): void {
  if (payload.kind === 'script') {
    writer.uleb32(1).address(payload.executeAs);
    writeScriptCall(writer, payload.script);
    return;
  }
  writer.uleb32(0);
  writeWriteSet(writer, payload.writeSet);
  writer.vector(payload.events, writeContractEvent);
}

/** The transaction whose BCS is exactly `bytes`. @throws BcsError */
export function decodeTransaction(bytes: Uint8Array): Transaction {
  return decodeBcs(bytes, readTransaction);
}

/** The BCS of a transaction. */
export function encodeTransaction(transaction: Transaction): Buffer {
  return encodeBcs((writer) => writeTransaction(writer, transaction));
}

/** A transaction's hash: of its own bytes with the leading variant (docs/spec/ledger.md §2.7 step 1). */
export function transactionHash(transactionBytes: Uint8Array): Buffer {
  return domainHash('Transaction', transactionBytes);
}
