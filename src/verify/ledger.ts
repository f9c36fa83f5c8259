/**
 * Verifies a whole ledger: recomputes every hash, compares the columns with each other, and computes digests of all
 * columns. What it checks and what it cannot: docs/storage.md.
 */
import {
  COLUMNS,
  type Column,
  HEAD,
  IDENTITY,
  PRUNING,
  STORE_FORMAT_VERSION,
  TRANSACTION_INFOS,
  TRANSACTIONS,
  VERSION_WRITES,
} from '../store/columns/columns.ts';
import { type Head, oldestTransaction, openHead } from '../store/columns/head.ts';
import { FORMAT, FORMAT_KEY, LEDGER_IDENTITY } from '../store/columns/identity-column.ts';
import { readPinnedAccounts, readPruneProgress } from '../store/columns/pruning-column.ts';
import { type ColumnDigest, columnDigest } from '../store/read/digest.ts';
import { StoreView } from '../store/read/view.ts';
import type { StoreReader } from '../store/store.ts';
import { RowDamagedError, StoreError } from '../store/store-error.ts';
import { verifyBalances } from './balances.ts';
import { verifyBlocks } from './blocks.ts';
import {
  type Damage,
  DamageList,
  rowsByVersion,
  scanColumn,
  type VerifyContext,
} from './context.ts';
import { verifyEvents } from './events.ts';
import { verifyState } from './state.ts';
import { verifyStateRoot } from './state-root.ts';
import { verifyTransactionIndexes } from './transaction-indexes.ts';
import { verifyVersions } from './versions.ts';

export interface VerifyReport {
  readonly head: Head;
  readonly columns: readonly ColumnDigest[];
  /** The first damages found; `damageCount` counts all. */
  readonly damages: readonly Damage[];
  readonly damageCount: number;
  /** Whether the ledger was pruned meanwhile: apparent damage may then be pruned data. */
  readonly prunedMeanwhile: boolean;
  readonly hashedVersions: bigint;
  /** The version at which the root of the state was compared; `undefined` if no recent transaction info states one. */
  readonly stateRootVersion: bigint | undefined;
}

export interface VerifyProgress {
  /** What is checked: `versions`, a column's name, or `digest of` it. */
  readonly what: string;
  readonly done: number;
}

/**
 * Examines the ledger of a store.
 * @throws StoreError `ledger_empty`; RowDamagedError when head or identity do not decode: then nothing can be examined
 */
export async function verifyLedger(
  store: StoreReader,
  onProgress: (progress: VerifyProgress) => void = () => undefined,
  maxListed?: number,
): Promise<VerifyReport> {
  const head = await openHead(store);
  const context = await contextOf(store, head, onProgress, maxListed);
  const { damages } = context;
  await checkFixedRows(context);
  await examineEngine(context, onProgress);
  await verifyVersions(context, (done) => onProgress({ what: 'versions', done }));
  await verifyByVersion(context);
  await verifyTransactionIndexes(context);
  await verifyState(context);
  const onKeys = (done: number) => onProgress({ what: 'state root', done });
  const stateRootVersion = await verifyStateRoot(context, onKeys);
  await verifyBalances(context);
  await verifyEvents(context);
  await verifyBlocks(context);
  const columns: ColumnDigest[] = [];
  for (const column of COLUMNS) {
    const onRows = (done: number) => onProgress({ what: `digest of ${column.name}`, done });
    try {
      columns.push(await columnDigest(store, column, onRows));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      damages.failure(column, 'has no digest', error);
    }
  }
  const now = await openHead(store);
  if (now.version === head.version) damages.addAll(context.above);
  const { clearedBelow } = context.progress;
  const prunedMeanwhile =
    (await readPruneProgress(store)).clearedBelow !== clearedBelow ||
    now.oldestVersion !== head.oldestVersion;
  return {
    head,
    columns,
    damages: damages.listed,
    damageCount: damages.count,
    prunedMeanwhile,
    hashedVersions: context.identity.keepsTransactions ? head.version + 1n - clearedBelow : 0n,
    stateRootVersion,
  };
}

async function contextOf(
  store: StoreReader,
  head: Head,
  onProgress: (progress: VerifyProgress) => void,
  maxListed: number | undefined,
): Promise<VerifyContext> {
  const identity = await LEDGER_IDENTITY.get(store);
  if (identity === undefined) {
    throw new RowDamagedError(IDENTITY, LEDGER_IDENTITY.keyOf(), 'it is missing');
  }
  const rowsOf = new Map<Column, number>();
  return {
    store,
    view: new StoreView(store, head),
    identity,
    progress: await readPruneProgress(store),
    pinned: await readPinnedAccounts(store),
    damages: new DamageList(maxListed),
    above: new DamageList(maxListed),
    reached: { state: 0n, events: 0n, moduleEvents: 0n, writes: 0n, hashes: 0n, sent: 0n },
    onRows: (column, rows) => {
      const done = (rowsOf.get(column) ?? 0) + rows;
      rowsOf.set(column, done);
      onProgress({ what: column.name, done });
    },
  };
}

async function examineEngine(
  { damages, store }: VerifyContext,
  onProgress: (progress: VerifyProgress) => void,
): Promise<void> {
  const onBlocks = ({ name }: Column, done: number): void => {
    onProgress({ what: `index of ${name}`, done });
  };
  for (const { column, detail, isOfPages } of (await store.examine?.(onBlocks)) ?? []) {
    damages.add({ column: column.name, detail, isOfIndex: true, isOfEngine: isOfPages });
  }
}

/** Checks the rows that are few: identity, head, pruning. */
async function checkFixedRows(context: VerifyContext): Promise<void> {
  const { damages, pinned, progress, store, view } = context;
  const { head } = view;
  const { partition, order } = FORMAT_KEY;
  const format = await store.get(IDENTITY, partition, order);
  if (format === undefined || !format.equals(FORMAT.encode(STORE_FORMAT_VERSION))) {
    damages.row(IDENTITY, FORMAT_KEY, 'it is not the format of this program');
  }
  // The first byte of the partition identifies the row; the progress row of pruning has no order.
  for (const [column, isKnown] of [
    [IDENTITY, (row: number) => row <= 1],
    [HEAD, (row: number) => row === 0],
    [PRUNING, (row: number, orderBytes: number) => row === 1 || row + orderBytes === 0],
  ] as const) {
    for await (const row of scanColumn(context, column)) {
      if (isKnown(row.partition[0]!, row.order.length)) continue;
      damages.row(column, row, 'there is no such row');
    }
  }
  if (head.oldestVersion > head.version) {
    damages.add({ column: HEAD.name, detail: `its oldest version is ${head.oldestVersion}` });
  }
  if (progress.clearedBelow > oldestTransaction(head)) {
    damages.column(PRUNING, `cleared below ${progress.clearedBelow}, above the oldest version`);
  }
  for (const [account, since] of pinned) {
    if (since <= head.oldestVersion) continue;
    damages.add({ column: PRUNING.name, detail: `account ${account} is pinned from ${since} on` });
  }
}

/** Checks that the columns by version have rows only for existing versions. */
async function verifyByVersion(context: VerifyContext): Promise<void> {
  const { damages, identity, progress, reached } = context;
  for (const column of [TRANSACTION_INFOS, TRANSACTIONS, VERSION_WRITES]) {
    let rows = 0n;
    for await (const { row, version } of rowsByVersion(context, column)) {
      rows += 1n;
      const isWanted = column !== TRANSACTIONS || identity.keepsTransactions;
      if (version < progress.clearedBelow || !isWanted) {
        damages.row(column, row, 'there should be no such row', version);
      }
    }
    // verifyVersions has reported missing rows of the other two.
    if (column === VERSION_WRITES && rows !== reached.writes) {
      damages.column(column, `${rows} rows, ${reached.writes} were found by their versions`);
    }
  }
}
