/** Sums up the rows of the indexes of transactions; versions.ts has the sums of what they should be. */
import {
  ACCOUNT_TRANSACTIONS,
  type Column,
  type ScannedRow,
  TRANSACTION_HASHES,
} from '../store/columns/columns.ts';
import { decodeU64Key } from '../store/columns/order-key.ts';
import { SENDER_TRANSACTION } from '../store/columns/transaction-index-column.ts';
import { keyText } from '../store/store-error.ts';
import { columnPages, reportAbove, type VerifyContext } from './context.ts';

/** @param onPageDone as that of columnPages */
export async function verifyTransactionHashes(
  context: VerifyContext,
  onPageDone: () => void,
): Promise<void> {
  await addRows(context, TRANSACTION_HASHES, ({ order }) => decodeU64Key(order), onPageDone);
}

/** @param onPageDone as that of columnPages */
export async function verifyAccountTransactions(
  context: VerifyContext,
  onPageDone: () => void,
): Promise<void> {
  const sentVersion = (row: ScannedRow) => SENDER_TRANSACTION.decode(row, row.value).version;
  await addRows(context, ACCOUNT_TRANSACTIONS, sentVersion, onPageDone);
}

/** @param versionOf throws RowDamagedError */
async function addRows(
  context: VerifyContext,
  column: Column,
  versionOf: (row: ScannedRow) => bigint,
  onPageDone: () => void,
): Promise<void> {
  const { damages, found, identity, progress, view } = context;
  for await (const page of columnPages(context, column, { onPageDone })) {
    for (const row of page) {
      const version = damages.decodedNow(() => versionOf(row));
      if (version === undefined) continue;
      if (version > view.head.version) reportAbove(context, column, row);
      else if (version >= progress.clearedBelow && identity.keepsTransactions) {
        found.add(column, row, row.value);
      } else {
        const isCleared = version < progress.clearedBelow;
        const detail = 'there should be no such row';
        damages.add({ column: column.name, key: keyText(row), version, detail, isCleared });
      }
    }
  }
}
