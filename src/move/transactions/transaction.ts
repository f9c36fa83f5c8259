/** Transactions of all kinds, as the ledger holds them (docs/spec/ledger.md §1.1). */

import { BcsReader } from '../bcs/bcs-reader.ts';
import { type BcsWriter, encodeBcs } from '../bcs/bcs-writer.ts';
import { readHash, writeHash } from '../bcs/fixed-bytes.ts';
import { domainHash } from '../crypto/hash.ts';
import { ADDRESS_BYTES, type Address } from '../types/address.ts';
import {
  type BlockEpilogue,
  type BlockMetadata,
  type BlockMetadataExt,
  readBlockEpilogue,
  readBlockMetadata,
  readBlockMetadataExt,
} from './block-transaction.ts';
import {
  type ContractEvent,
  MIN_EVENT_BYTES,
  readContractEvent,
  writeContractEvent,
} from './event.ts';
import { readScriptCall, type Script } from './executable.ts';
import { readTransactionPayload, writeTransactionPayload } from './payload.ts';
import {
  readTransactionInfo,
  type TransactionInfo,
  writeTransactionInfo,
} from './transaction-info.ts';
import { readSignedTransaction, type SignedTransaction } from './user-transaction.ts';
import { readValidatorTransaction, type ValidatorTransaction } from './validator-transaction.ts';
import { readWriteSet, type WriteSet, type WriteSetEntry, writeWriteSet } from './write-set.ts';

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

/** Variant of WriteSetPayload; the other one is a script. */
const DIRECT = 0;

function readWriteSetPayload(reader: BcsReader): WriteSetPayload {
  if (reader.variant(2, 'WriteSetPayload') === 1) {
    const executeAs = reader.address();
    return { kind: 'script', executeAs, script: readScriptCall(reader) };
  }
  const writeSet = readWriteSet(reader);
  return { kind: 'direct', writeSet, events: reader.vector(MIN_EVENT_BYTES, readContractEvent) };
}

/** A transaction that changes the state as given, with its variant. @param writes in the order of their keys' BCS */
export function encodeWriteSetTransaction(
  writes: readonly WriteSetEntry[],
  events: readonly ContractEvent[],
): Buffer {
  return encodeBcs((writer) => {
    writer.uleb32(TRANSACTION_KINDS.indexOf('genesis')).uleb32(DIRECT);
    writeWriteSet(writer, writes);
    writer.vector(events, writeContractEvent);
  });
}

/**
 * A transaction's hash, over its bytes including the leading variant (docs/spec/ledger.md §2.7 step 1). Not for an
 * encrypted payload that a node has tried to decrypt: see `storedTransactionHash`.
 */
export function transactionHash(transactionBytes: Uint8Array): Buffer {
  return domainHash('Transaction', transactionBytes);
}

/** Where the payload of a user transaction begins: after the variant, the sender and the sequence number. */
const PAYLOAD_OFFSET = 1 + ADDRESS_BYTES + 8;

/**
 * The hash of a transaction as the ledger holds it. A node that has tried to decrypt a payload stores what came of it;
 * the hash is that of the transaction as it was submitted (docs/spec/backup.md §4.7).
 */
export function storedTransactionHash(bytes: Buffer, transaction: Transaction): Buffer {
  const payload = transaction.kind === 'user' ? transaction.transaction.raw.payload : undefined;
  if (payload?.kind !== 'encrypted' || payload.payload.state === 'encrypted') {
    return transactionHash(bytes);
  }
  const stored = new BcsReader(bytes, PAYLOAD_OFFSET);
  readTransactionPayload(stored);
  const { content } = payload.payload;
  const submitted = encodeBcs((writer) => {
    writer.fixed(bytes.subarray(0, PAYLOAD_OFFSET));
    writeTransactionPayload(writer, { ...payload, payload: { state: 'encrypted', content } });
    writer.fixed(bytes.subarray(stored.offset));
  });
  return transactionHash(submitted);
}

export interface TransactionOnChainData {
  readonly version: bigint;
  readonly transaction: Transaction;
  readonly info: TransactionInfo;
  readonly events: readonly ContractEvent[];
  /** Root of the transaction accumulator after this version, 32 bytes. */
  readonly accumulatorRootHash: Buffer;
  /** All that was written; a genesis transaction has its writes here and in the transaction. */
  readonly changes: WriteSet;
}

/** The exact bytes of the parts that are hashed, and of the whole, as views on the input. */
interface OnChainDataBytes {
  readonly whole: Buffer;
  readonly transaction: Buffer;
  readonly info: Buffer;
  readonly events: readonly Buffer[];
  readonly changes: Buffer;
}

/** A feed item, decoded and as it came. */
export type EncodedOnChainData = OnChainDataOf<ContractEvent, WriteSet>;

/** Fewest bytes of an item: version 8, empty genesis 5, info 108, no events 1, root 32, empty write set 2. */
export const MIN_ON_CHAIN_DATA_BYTES = 156;

export function readOnChainData(reader: BcsReader): EncodedOnChainData {
  return readOnChainDataWith(reader, readContractEvent, readWriteSet);
}

/** A feed item whose events and changes are read in another way. */
export interface OnChainDataOf<Event, Changes> {
  readonly data: Omit<TransactionOnChainData, 'events' | 'changes'> & {
    readonly events: readonly Event[];
    readonly changes: Changes;
  };
  readonly bytes: OnChainDataBytes;
}

export function readOnChainDataWith<Event, Changes>(
  reader: BcsReader,
  readEvent: (reader: BcsReader) => Event,
  readChanges: (reader: BcsReader) => Changes,
): OnChainDataOf<Event, Changes> {
  const start = reader.offset;
  const version = reader.u64();
  const [transaction, transactionBytes] = readWithBytes(reader, readTransaction);
  const [info, infoBytes] = readWithBytes(reader, readTransactionInfo);
  const count = reader.itemCount(MIN_EVENT_BYTES);
  const events: Event[] = [];
  const eventBytes: Buffer[] = [];
  for (let index = 0; index < count; index += 1) {
    const [event, bytes] = readWithBytes(reader, readEvent);
    events.push(event);
    eventBytes.push(bytes);
  }
  const accumulatorRootHash = readHash(reader);
  const [changes, changesBytes] = readWithBytes(reader, readChanges);
  return {
    data: { version, transaction, info, events, accumulatorRootHash, changes },
    bytes: {
      whole: reader.buffer.subarray(start, reader.offset),
      transaction: transactionBytes,
      info: infoBytes,
      events: eventBytes,
      changes: changesBytes,
    },
  };
}

/**
 * Writes the item of a user transaction.
 * @param signed BCS of the SignedTransaction
 */
export function writeUserTransactionItem(
  writer: BcsWriter,
  signed: Uint8Array,
  {
    version,
    info,
    events,
    accumulatorRootHash,
    writes,
  }: Pick<TransactionOnChainData, 'version' | 'info' | 'events' | 'accumulatorRootHash'> & {
    readonly writes: readonly WriteSetEntry[];
  },
): void {
  writer.u64(version).uleb32(TRANSACTION_KINDS.indexOf('user')).fixed(signed);
  writeTransactionInfo(writer, info);
  writer.vector(events, writeContractEvent);
  writeHash(writer, accumulatorRootHash);
  writeWriteSet(writer, writes);
}

function readWithBytes<T>(reader: BcsReader, read: (reader: BcsReader) => T): [T, Buffer] {
  const start = reader.offset;
  const value = read(reader);
  return [value, reader.buffer.subarray(start, reader.offset)];
}
