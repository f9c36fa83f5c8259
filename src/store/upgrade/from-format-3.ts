/**
 * Format 3 had no indexes of transactions, and stored transactions in a column that engines do not compress. They move
 * to the present column, and get their rows in the indexes.
 */
import { Batch } from '../batch.ts';
import {
  BUCKET_PARTITION_BYTES,
  type Column,
  TRANSACTION_INFOS,
  TRANSACTIONS,
} from '../columns/columns.ts';
import { decodeBucketKey } from '../columns/order-key.ts';
import { decoding } from '../columns/row-codec.ts';
import { putIndexRows } from '../columns/transaction-index-column.ts';
import { RowDamagedError } from '../store-error.ts';
import type { UpgradeStep } from './upgrade-step.ts';

/** The column of transactions that format 3 has. */
export const OLD_TRANSACTIONS: Column = {
  number: 9,
  name: 'transactions',
  partitionBytes: BUCKET_PARTITION_BYTES,
  orderBytes: TRANSACTIONS.orderBytes,
};

/** Bounds of one commit. */
const PART = { maxRows: 2_000, maxBytes: 8 * 1024 * 1024 };

export function fromFormat3(part = PART): UpgradeStep {
  return {
    from: 3,
    oldColumns: [OLD_TRANSACTIONS],
    async next(store) {
      const rows = await store.scan(OLD_TRANSACTIONS, part);
      const last = rows[rows.length - 1];
      if (last === undefined) return undefined;
      const infos = await store.getMany(TRANSACTION_INFOS, rows);
      const batch = new Batch();
      rows.forEach((row, index) => {
        const { partition, order, value } = row;
        const info = infos[index];
        if (info === undefined) throw new RowDamagedError(TRANSACTION_INFOS, row, 'it is missing');
        batch.put(TRANSACTIONS, partition, order, value);
        const version = decodeBucketKey(partition, order);
        decoding(TRANSACTIONS, row, () => putIndexRows(batch, version, info, value));
        batch.delete(OLD_TRANSACTIONS, partition, order);
      });
      return { batch, below: decodeBucketKey(last.partition, last.order) + 1n };
    },
  };
}
