/**
 * The indexes of whole transactions, by hash and by sender (docs/data-layout.md, "Indexes of transactions"). Their rows
 * are derived from the transaction and its info, so they are computed again to delete or check a transaction.
 */

import { transactionHashIn } from '../../move/transactions/transaction-info.ts';
import {
  type ReplayProtector,
  readTransactionOrigin,
} from '../../move/transactions/transaction-origin.ts';
import type { Batch } from '../batch.ts';
import { ACCOUNT_TRANSACTIONS, type Column, type RowKey, TRANSACTION_HASHES } from './columns.ts';
import { decodeU64Key, encodeU64Key, U64_BYTES } from './order-key.ts';
import { RowCodec } from './row-codec.ts';

const NO_VALUE = new Uint8Array(0);
const HASH_PREFIX_BYTES = TRANSACTION_HASHES.partitionBytes;

export function hashPartition(hash: Uint8Array): Uint8Array {
  return hash.subarray(0, HASH_PREFIX_BYTES);
}

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
  const bytes = encodeU64Key(number);
  order[0] = tag;
  for (let at = 0; at < U64_BYTES; at += 1) order[1 + at] = bytes[at]!;
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
  readonly column: Column;
  readonly value: Uint8Array;
}

/**
 * The rows of a transaction in both indexes.
 * @param info BCS of its TransactionInfo
 * @param onChainData BCS of its TransactionOnChainData
 * @throws BcsError
 */
export function indexRows(version: bigint, info: Uint8Array, onChainData: Uint8Array): IndexRow[] {
  const partition = hashPartition(transactionHashIn(info));
  const order = encodeU64Key(version);
  const hashed = { column: TRANSACTION_HASHES, partition, order, value: NO_VALUE };
  const origin = readTransactionOrigin(onChainData);
  if (origin === undefined) return [hashed];
  const sent = { ...origin, version };
  const { column } = SENDER_TRANSACTION;
  const key = SENDER_TRANSACTION.keyOf(sent);
  return [hashed, { column, ...key, value: SENDER_TRANSACTION.encode(sent) }];
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
