/** Checks that the indexes of transactions have no rows but those that versions wrote; versions.ts looks for these. */
import {
  ACCOUNT_TRANSACTIONS,
  type Column,
  type ScannedRow,
  TRANSACTION_HASHES,
  TRANSACTION_INFOS,
  TRANSACTIONS,
} from '../store/columns/columns.ts';
import { decodeU64Key, encodeBucketKey } from '../store/columns/order-key.ts';
import { decoding } from '../store/columns/row-codec.ts';
import { indexRows, SENDER_TRANSACTION } from '../store/columns/transaction-index-column.ts';
import { keyText } from '../store/store-error.ts';
import { DamageList, noteAbove, scanColumn, type VerifyContext } from './context.ts';

interface Index {
  readonly column: Column;
  readonly reached: bigint;
  /** @throws RowDamagedError */
  versionOf(row: ScannedRow): bigint;
}

export async function verifyTransactionIndexes(context: VerifyContext): Promise<void> {
  const { hashes, sent } = context.reached;
  const hashIndex: Index = {
    column: TRANSACTION_HASHES,
    reached: hashes,
    versionOf: ({ order }) => decodeU64Key(order),
  };
  const senderIndex: Index = {
    column: ACCOUNT_TRANSACTIONS,
    reached: sent,
    versionOf: (row) => SENDER_TRANSACTION.decode(row, row.value).version,
  };
  for (const index of [hashIndex, senderIndex]) {
    const before = context.damages.count;
    const rows = await countRows(context, index);
    if (rows === index.reached) continue;
    await nameUnwrittenRows(context, index);
    if (context.damages.count > before) continue;
    const detail = `${rows} rows, ${index.reached} were found by their versions`;
    context.damages.column(index.column, detail);
  }
}

async function countRows(context: VerifyContext, { column, versionOf }: Index): Promise<bigint> {
  const { damages, identity, progress, view } = context;
  let rows = 0n;
  for await (const row of scanColumn(context, column)) {
    const version = await damages.decoded(() => versionOf(row));
    if (version === undefined) continue;
    if (version > view.head.version) noteAbove(context, column, row);
    else if (version >= progress.clearedBelow && identity.keepsTransactions) rows += 1n;
    else {
      const isCleared = version < progress.clearedBelow;
      const detail = 'there should be no such row';
      damages.add({ column: column.name, key: keyText(row), version, detail, isCleared });
    }
  }
  return rows;
}

/** Reports the rows that are not those of the transaction of their version. */
async function nameUnwrittenRows(context: VerifyContext, { column, versionOf }: Index) {
  const { damages, progress, view } = context;
  for await (const row of scanColumn(context, column)) {
    // A row that does not decode is reported already.
    const version = await new DamageList().decoded(() => versionOf(row));
    if (version === undefined) continue;
    if (version < progress.clearedBelow || version > view.head.version) continue;
    const written = await damages.decoded(() => writtenRows(context, version), version);
    const isWritten = written?.some(
      (made) =>
        made.column === column &&
        row.partition.equals(made.partition) &&
        row.order.equals(made.order),
    );
    if (isWritten !== true) damages.row(column, row, 'its version did not write it', version);
  }
}

async function writtenRows({ store }: VerifyContext, version: bigint) {
  const key = encodeBucketKey(version);
  const info = await store.get(TRANSACTION_INFOS, key.partition, key.order);
  const bytes = await store.get(TRANSACTIONS, key.partition, key.order);
  if (info === undefined || bytes === undefined) return [];
  return decoding(TRANSACTIONS, key, () => indexRows(version, info, bytes));
}
