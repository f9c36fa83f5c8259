/**
 * Transactions and their infos by version, byte for byte as they came: the first is what the feed
 * hands out (docs/spec/ledger.md §3.1), the second what hashes are checked with (§3.3).
 */
import type { Batch } from '../batch.ts';
import { TRANSACTION_INFOS, TRANSACTIONS } from './columns.ts';
import { encodeBucketKey } from './order-key.ts';

/** Files the BCS of a TransactionOnChainData. */
export function putTransaction(batch: Batch, version: bigint, bytes: Uint8Array): void {
  const { partition, order } = encodeBucketKey(version);
  batch.put(TRANSACTIONS, partition, order, bytes);
}

/** Files the BCS of a TransactionInfo. */
export function putTransactionInfo(batch: Batch, version: bigint, bytes: Uint8Array): void {
  const { partition, order } = encodeBucketKey(version);
  batch.put(TRANSACTION_INFOS, partition, order, bytes);
}
