/** Transactions of all kinds, as the ledger holds them (docs/spec/ledger.md §1.1). */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import { address, type CodecValue, hash, list, structCodec, u64, variants } from '../bcs/codec.ts';
import { domainHash } from '../crypto/hash.ts';
import { BlockEpilogue, BlockMetadata, BlockMetadataExt } from './block-transaction.ts';
import { ContractEvent } from './event.ts';
import { Script } from './executable.ts';
import { TransactionInfo } from './transaction-info.ts';
import { SignedTransaction } from './user-transaction.ts';
import { ValidatorTransaction } from './validator-transaction.ts';
import { WriteSet, type WriteSetEntry } from './write-set.ts';

/** The effect of a genesis transaction: a given change, or the changes of running a script. */
const WriteSetPayload = variants('WriteSetPayload', {
  direct: { writeSet: WriteSet, events: list(ContractEvent) },
  script: { executeAs: address, script: Script },
});

export const Transaction = variants('Transaction', {
  user: { transaction: SignedTransaction },
  genesis: { payload: WriteSetPayload },
  blockMetadata: { metadata: BlockMetadata },
  stateCheckpoint: { blockId: hash },
  validator: { transaction: ValidatorTransaction },
  blockMetadataExt: { metadata: BlockMetadataExt },
  blockEpilogue: { epilogue: BlockEpilogue },
});
export type Transaction = CodecValue<typeof Transaction>;
export const TRANSACTION_KINDS = Transaction.kinds;

/** Kinds that are the last of a block. A block also ends with the transaction that ends an epoch. */
export const BLOCK_ENDS: readonly Transaction['kind'][] = ['stateCheckpoint', 'blockEpilogue'];

/** A transaction that changes the state as given, with its variant. @param writes in the order of their keys' BCS */
export function encodeWriteSetTransaction(
  writes: readonly WriteSetEntry[],
  events: readonly ContractEvent[],
): Buffer {
  const payload = { kind: 'direct', writeSet: { kind: 'v0', writes }, events } as const;
  return Transaction.encode({ kind: 'genesis', payload });
}

/**
 * A transaction's hash, over its bytes including the leading variant (docs/spec/ledger.md §2.7 step 1). Not for an
 * encrypted payload that a node has tried to decrypt: see `storedTransactionHash`.
 */
export function transactionHash(transactionBytes: Uint8Array): Buffer {
  return domainHash('Transaction', transactionBytes);
}

/**
 * The hash of a transaction as the ledger holds it. A node that has tried to decrypt a payload stores the result, but
 * the hash is that of the transaction as it was submitted (docs/spec/backup.md §4.7).
 */
export function storedTransactionHash(bytes: Buffer, transaction: Transaction): Buffer {
  if (transaction.kind !== 'user') return transactionHash(bytes);
  const { raw, authenticator } = transaction.transaction;
  const { payload } = raw;
  if (payload.kind !== 'encrypted' || payload.payload.state === 'encrypted') {
    return transactionHash(bytes);
  }
  const submitted = { state: 'encrypted', content: payload.payload.content } as const;
  const signed = { raw: { ...raw, payload: { ...payload, payload: submitted } }, authenticator };
  return transactionHash(Transaction.encode({ kind: 'user', transaction: signed }));
}

export const TransactionOnChainData = structCodec({
  version: u64,
  transaction: Transaction,
  info: TransactionInfo,
  events: list(ContractEvent),
  /** Root of the transaction accumulator after this version. */
  accumulatorRootHash: hash,
  /** All writes; a genesis transaction has its writes here and in the transaction. */
  changes: WriteSet,
});
export type TransactionOnChainData = CodecValue<typeof TransactionOnChainData>;

/** The exact bytes of the parts that are hashed, and of the whole, as views on the input. */
interface OnChainDataBytes {
  readonly whole: Buffer;
  readonly transaction: Buffer;
  readonly info: Buffer;
  readonly events: readonly Buffer[];
  readonly changes: Buffer;
}

/** A feed item, decoded and as received. */
export type EncodedOnChainData = OnChainDataOf<ContractEvent, WriteSet>;

export function readOnChainData(reader: BcsReader): EncodedOnChainData {
  return readOnChainDataWith(reader, ContractEvent.read, WriteSet.read);
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
  const [transaction, transactionBytes] = readWithBytes(reader, Transaction.read);
  const [info, infoBytes] = readWithBytes(reader, TransactionInfo.read);
  const count = reader.itemCount(ContractEvent.minBytes);
  const events: Event[] = [];
  const eventBytes: Buffer[] = [];
  for (let index = 0; index < count; index += 1) {
    const [event, bytes] = readWithBytes(reader, readEvent);
    events.push(event);
    eventBytes.push(bytes);
  }
  const accumulatorRootHash = hash.read(reader);
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

function readWithBytes<T>(reader: BcsReader, read: (reader: BcsReader) => T): [T, Buffer] {
  const start = reader.offset;
  const value = read(reader);
  return [value, reader.buffer.subarray(start, reader.offset)];
}
