/**
 * Transactions with all that came of them: the items of the BCS feed of a node (docs/spec/ledger.md
 * §3.1). Hashes are of the bytes as they came, so a reader gives those too, as views on its input.
 */
import { type BcsReader, decodeBcs } from '../bcs/bcs-reader.ts';
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import { readHash, writeHash } from '../bcs/fixed-bytes.ts';
import {
  type ContractEvent,
  MIN_EVENT_BYTES,
  readContractEvent,
  writeContractEvent,
} from './event.ts';
import { readTransaction, type Transaction, writeTransaction } from './transaction.ts';
import {
  readTransactionInfo,
  type TransactionInfo,
  writeTransactionInfo,
} from './transaction-info.ts';
import {
  readSignedTransaction,
  type SignedTransaction,
  writeSignedTransaction,
} from './user-transaction.ts';
import { readWriteSet, type WriteSet, writeWriteSet } from './write-set.ts';

export interface TransactionOnChainData {
  readonly version: bigint;
  readonly transaction: Transaction;
  readonly info: TransactionInfo;
  readonly events: readonly ContractEvent[];
  /** Root of the transaction accumulator after this version, 32 bytes. */
  readonly accumulatorRootHash: Buffer;
  /**
   * All that was written; for a genesis transaction the writes stand here and in the transaction.
   */
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
export interface EncodedOnChainData {
  readonly data: TransactionOnChainData;
  readonly bytes: OnChainDataBytes;
}

/** The answer for one version or hash: committed, or still waiting. */
export type TransactionData =
  | { readonly kind: 'onChain'; readonly item: EncodedOnChainData }
  | { readonly kind: 'pending'; readonly transaction: SignedTransaction };

/**
 * Fewest bytes of an item: version 8, empty genesis 5, info 108, no events 1, root 32, empty write
 * set 2.
 */
export const MIN_ON_CHAIN_DATA_BYTES = 156;

/** Reads a feed item. @throws BcsError */
export function readOnChainData(reader: BcsReader): EncodedOnChainData {
  const start = reader.offset;
  const version = reader.u64();
  const [transaction, transactionBytes] = readWithBytes(reader, readTransaction);
  const [info, infoBytes] = readWithBytes(reader, readTransactionInfo);
  const count = reader.length(MIN_EVENT_BYTES);
  const events: ContractEvent[] = [];
  const eventBytes: Buffer[] = [];
  for (let index = 0; index < count; index += 1) {
    const [event, bytes] = readWithBytes(reader, readContractEvent);
    events.push(event);
    eventBytes.push(bytes);
  }
  const accumulatorRootHash = readHash(reader);
  const [changes, changesBytes] = readWithBytes(reader, readWriteSet);
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

/** Writes a feed item from its values. */
export function writeOnChainData(writer: BcsWriter, data: TransactionOnChainData): void {
  writer.u64(data.version);
  writeTransaction(writer, data.transaction);
  writeTransactionInfo(writer, data.info);
  writer.vector(data.events, writeContractEvent);
  writeHash(writer, data.accumulatorRootHash);
  writeWriteSet(writer, data.changes);
}

/** A whole page of the feed. @throws BcsError */
export function decodeOnChainDataPage(page: Uint8Array): EncodedOnChainData[] {
  return decodeBcs(page, (reader) => reader.vector(MIN_ON_CHAIN_DATA_BYTES, readOnChainData));
}

/** Reads the answer for one version or hash. @throws BcsError */
export function readTransactionData(reader: BcsReader): TransactionData {
  if (reader.variant(2, 'TransactionData') === 0) {
    return { kind: 'onChain', item: readOnChainData(reader) };
  }
  return { kind: 'pending', transaction: readSignedTransaction(reader) };
}

/** Writes the answer for one version or hash. */
export function writeTransactionData(writer: BcsWriter, answer: TransactionData): void {
  if (answer.kind === 'onChain') {
    writer.uleb32(0);
    writeOnChainData(writer, answer.item.data);
  } else {
    writer.uleb32(1);
    writeSignedTransaction(writer, answer.transaction);
  }
}
