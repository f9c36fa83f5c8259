/**
 * Transactions with their outcomes: the items of a node's BCS feed (docs/spec/ledger.md
 * §3.1). Hashes are over the original bytes, so a reader returns those too, as views of its input.
 */
import type { BcsReader } from '../bcs/bcs-reader.ts';
import { readHash } from '../bcs/fixed-bytes.ts';
import { type ContractEvent, MIN_EVENT_BYTES, readContractEvent } from './event.ts';
import { readTransaction, type Transaction } from './transaction.ts';
import { readTransactionInfo, type TransactionInfo } from './transaction-info.ts';
import { readWriteSet, type WriteSet } from './write-set.ts';

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
export interface EncodedOnChainData {
  readonly data: TransactionOnChainData;
  readonly bytes: OnChainDataBytes;
}

/** Fewest bytes of an item: version 8, empty genesis 5, info 108, no events 1, root 32, empty write set 2. */
export const MIN_ON_CHAIN_DATA_BYTES = 156;

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
