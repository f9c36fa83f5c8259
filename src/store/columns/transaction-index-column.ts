/**
 * The indexes of whole transactions, by hash and by sender (docs/data-layout.md, "Indexes of transactions"). Their rows
 * follow from the transaction and its info: to delete or check a transaction, its keys are made again.
 */

import { transactionHashIn } from '../../move/transactions/transaction-info.ts';
import {
  type ReplayProtector,
  readTransactionOrigin,
} from '../../move/transactions/transaction-origin.ts';
import type { Batch } from '../batch.ts';
import { ACCOUNT_TRANSACTIONS, type RowKey, TRANSACTION_HASHES } from './columns.ts';
import { decodeU64Key, encodeU64Key, U64_BYTES } from './order-key.ts';
import { RowCodec } from './row-codec.ts';

const HASH_PREFIX_BYTES = TRANSACTION_HASHES.partitionBytes;

export function hashPartition(hash: Uint8Array): Uint8Array {
  return hash.subarray(0, HASH_PREFIX_BYTES);
}

interface HashedVersion {
  /** 32 bytes. */
  readonly hash: Uint8Array;
  readonly version: bigint;
}

const VERSION_OF_HASH = new RowCodec<HashedVersion, void>(
  TRANSACTION_HASHES,
  ({ hash, version }) => ({ partition: hashPartition(hash), order: encodeU64Key(version) }),
  { write: () => undefined, read: () => undefined },
);

export interface SenderTransaction {
  readonly version: bigint;
  readonly replayProtector: ReplayProtector;
}

interface SentTransaction extends SenderTransaction {
  /** 32 bytes. */
  readonly sender: Uint8Array;
}

/** The first byte of the order says which number follows. */
const BY_VERSION = 0;
const BY_SEQUENCE_NUMBER = 1;

export function orderByVersion(version: bigint): Buffer {
  return taggedOrder(BY_VERSION, version);
}

export function orderBySequenceNumber(sequenceNumber: bigint): Buffer {
  return taggedOrder(BY_SEQUENCE_NUMBER, sequenceNumber);
}

function taggedOrder(tag: number, number: bigint): Buffer {
  const order = Buffer.allocUnsafe(1 + U64_BYTES);
  order[0] = tag;
  order.set(encodeU64Key(number), 1);
  return order;
}

export const SENDER_TRANSACTION = new RowCodec<SentTransaction, SenderTransaction>(
  ACCOUNT_TRANSACTIONS,
  ({ sender, version, replayProtector: { kind, value } }) => ({
    partition: sender,
    order: kind === 'nonce' ? orderByVersion(version) : orderBySequenceNumber(value),
  }),
  {
    write: (writer, { version, replayProtector: { kind, value } }) =>
      writer.u64(kind === 'nonce' ? value : version),
    read(reader, { order }) {
      const number = decodeU64Key(Buffer.from(order), 1);
      const start = reader.offset;
      const other = reader.u64();
      if (order[0] === BY_VERSION) {
        return { version: number, replayProtector: { kind: 'nonce', value: other } };
      }
      if (order[0] === BY_SEQUENCE_NUMBER) {
        return { version: other, replayProtector: { kind: 'sequenceNumber', value: number } };
      }
      throw reader.error('bad_value', `an order that begins with ${order[0]}`, start);
    },
  },
);

interface IndexRow extends RowKey {
  readonly column: typeof TRANSACTION_HASHES;
  readonly value: Buffer;
}

/**
 * The rows of a transaction in both indexes.
 * @param info BCS of its TransactionInfo
 * @param onChainData BCS of its TransactionOnChainData
 * @throws BcsError
 */
export function indexRows(version: bigint, info: Uint8Array, onChainData: Uint8Array): IndexRow[] {
  const hashed = { hash: transactionHashIn(info), version };
  const rows = [rowOf(VERSION_OF_HASH, hashed, undefined)];
  const origin = readTransactionOrigin(onChainData);
  if (origin === undefined) return rows;
  const sent = { ...origin, version };
  rows.push(rowOf(SENDER_TRANSACTION, sent, sent));
  return rows;
}

function rowOf<Name, Value>(codec: RowCodec<Name, Value>, name: Name, value: Value): IndexRow {
  return { column: codec.column, ...codec.keyOf(name), value: codec.encode(value) };
}

export function putIndexRows(
  batch: Batch,
  version: bigint,
  info: Uint8Array,
  onChainData: Uint8Array,
): void {
  for (const { column, partition, order, value } of indexRows(version, info, onChainData)) {
    batch.put(column, partition, order, value);
  }
}
