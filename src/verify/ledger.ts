/**
 * Verifies a whole ledger: recomputes every hash, compares the columns with each other, and computes digests of all
 * columns. Each row is read once, in its order; what must be compared across orders is compared by sums (row-sums.ts).
 * What it checks and what it cannot: docs/storage.md.
 */
import {
  COLUMNS,
  type Column,
  HEAD,
  IDENTITY,
  PRUNING,
  STORE_FORMAT_VERSION,
} from '../store/columns/columns.ts';
import {
  HEAD_KEY,
  HEAD_ROW,
  type Head,
  oldestTransaction,
  openHead,
} from '../store/columns/head.ts';
import { FORMAT, FORMAT_KEY, LEDGER_IDENTITY } from '../store/columns/identity-column.ts';
import { readPinnedAccounts, readPruneProgress } from '../store/columns/pruning-column.ts';
import type { ColumnDigest } from '../store/read/digest.ts';
import { StoreView } from '../store/read/view.ts';
import type { StoreReader } from '../store/store.ts';
import { RowDamagedError } from '../store/store-error.ts';
import { KnownKeys } from './account-keys.ts';
import { awaitLedger } from './awaited-ledger.ts';
import { BalanceKeys, verifyBalances } from './balances.ts';
import { verifyBlocks } from './blocks.ts';
import {
  columnPages,
  type Damage,
  DamageList,
  type ListedDamages,
  scanColumn,
  type VerifyContext,
} from './context.ts';
import { nameDifferences, SUMMED_COLUMNS } from './differences.ts';
import { verifyEvents } from './events.ts';
import { newSecret, RowSums, type SavedSums } from './row-sums.ts';
import { verifyState } from './state.ts';
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

interface VerifyOptions {
  readonly onProgress?: (progress: VerifyProgress) => void;
  readonly maxListed?: number | undefined;
  /** Examines the versions in another thread, with a reader of its own; absent: in this one. */
  readonly examineVersions?: ((request: VersionsRequest) => Promise<VersionsReport>) | undefined;
}

/** What is asked of who examines the versions. */
export interface VersionsRequest {
  /** The row of the head when verification began. */
  readonly head: Uint8Array;
  /** What pruning had cleared then. */
  readonly clearedBelow: bigint;
  readonly secret: Uint8Array;
  readonly maxListed: number | undefined;
}

export interface VersionsReport {
  readonly damages: ListedDamages;
  /** Rows above the head; nothing when it has moved. */
  readonly above: ListedDamages;
  /** The rows that versions say there are. */
  readonly made: SavedSums;
  /** False if a version did not say it. */
  readonly hasMadeAll: boolean;
  readonly digests: readonly (readonly [name: string, digest: ColumnDigest | undefined])[];
}

/**
 * Examines the ledger of a store.
 * @throws StoreError `ledger_empty`; RowDamagedError when head or identity do not decode: then nothing can be examined
 */
export async function verifyLedger(
  store: StoreReader,
  { onProgress = () => undefined, maxListed, examineVersions }: VerifyOptions = {},
): Promise<VerifyReport> {
  const head = await openHead(store);
  const secret = newSecret();
  const context = await contextOf(store, head, { maxListed, secret }, onProgress);
  const { clearedBelow } = context.progress;
  const request = { head: HEAD_ROW.encode(head), clearedBelow, secret, maxListed };
  const [versions, { stateRootVersion, areKeysKnown }] = await Promise.all([
    (examineVersions ?? ((asked) => verifyVersionsOf(store, asked, onProgress)))(request),
    examineColumns(context, onProgress),
  ]);
  const damages = new DamageList(maxListed);
  damages.addAll(versions.damages);
  damages.addAll(context.damages);
  context.above.addAll(versions.above);
  const whole = { ...context, damages };
  for (const column of COLUMNS) {
    const saved = versions.digests.find(([name]) => name === column.name);
    if (saved !== undefined) context.digests.set(column, digestOf(column, saved[1]));
  }
  await compareSums(whole, versions, areKeysKnown);
  // What no check reads is read here, for the digests.
  for (const column of COLUMNS) {
    if (!context.digests.has(column)) for await (const _ of columnPages(whole, column));
  }
  const now = await openHead(store);
  if (now.version === head.version) damages.addAll(context.above);
  const prunedMeanwhile =
    (await readPruneProgress(store)).clearedBelow !== clearedBelow ||
    now.oldestVersion !== head.oldestVersion;
  return {
    head,
    columns: COLUMNS.map((column) => context.digests.get(column)).filter(
      (one) => one !== undefined,
    ),
    damages: damages.listed,
    damageCount: damages.count,
    prunedMeanwhile,
    hashedVersions: context.identity.keepsTransactions ? head.version + 1n - clearedBelow : 0n,
    stateRootVersion,
  };
}

/**
 * Examines the versions of a ledger, and the columns by version.
 * @throws StoreError `store_behind` when the store stays behind what the request says of the ledger
 */
export async function verifyVersionsOf(
  store: StoreReader,
  request: VersionsRequest,
  onProgress: (progress: VerifyProgress) => void,
): Promise<VersionsReport> {
  const head = HEAD_ROW.decode(HEAD_KEY, request.head);
  await awaitLedger(store, { head, clearedBelow: request.clearedBelow });
  const context = await contextOf(store, head, request, () => undefined);
  const made = new RowSums(request.secret);
  const onVersions = (done: number) => onProgress({ what: 'versions', done });
  const hasMadeAll = await verifyVersions(context, made, onVersions);
  const { damages, digests } = context;
  // The head that who asks reads at the end may be that of a server that is behind.
  const isAtHead = (await openHead(store)).version === head.version;
  const above = isAtHead ? context.above : new DamageList();
  return {
    damages: { listed: damages.listed, count: damages.count },
    above: { listed: above.listed, count: above.count },
    made: made.save(),
    hasMadeAll,
    digests: [...digests].map(([column, digest]) => [column.name, digest] as const),
  };
}

interface ColumnsReport {
  /** The version at which the root of the state was compared. */
  readonly stateRootVersion: bigint | undefined;
  /** False if keys of state may be unknown. */
  readonly areKeysKnown: boolean;
}

/** Examines what is in another order than that of versions. */
async function examineColumns(
  context: VerifyContext,
  onProgress: (progress: VerifyProgress) => void,
): Promise<ColumnsReport> {
  await checkFixedRows(context);
  await examineEngine(context, onProgress);
  await verifyTransactionIndexes(context);
  const keys = new KnownKeys(context);
  const stateRootVersion = await verifyState(context, keys);
  const balances = new BalanceKeys(context);
  await keys.examine((some) => balances.check(some.map(({ key }) => key)));
  await verifyBalances(context);
  await verifyEvents(context);
  await verifyBlocks(context);
  const areKeysKnown = keys.areComplete;
  if (!areKeysKnown) await keys.nameDifferences();
  return { stateRootVersion, areKeysKnown };
}

/** Compares the rows that columns have with those that versions made. */
async function compareSums(
  context: VerifyContext,
  { hasMadeAll, made: saved }: VersionsReport,
  areKeysKnown: boolean,
): Promise<void> {
  const { damages, found, secret } = context;
  const made = new RowSums(secret, saved);
  const different = SUMMED_COLUMNS.filter((column) => !made.isEqual(column, found));
  // Without a version, its rows seem to be too many: only those that it recorded can be looked up.
  const columns = hasMadeAll ? different : SUMMED_COLUMNS;
  const before = damages.count;
  await nameDifferences(context, columns, areKeysKnown);
  if (damages.count > before || !hasMadeAll) return;
  for (const column of different) damages.column(column, 'its rows are not those of the versions');
}

function digestOf(column: Column, saved: ColumnDigest | undefined): ColumnDigest | undefined {
  return saved && { ...saved, column, digest: Buffer.from(saved.digest) };
}

async function contextOf(
  store: StoreReader,
  head: Head,
  { maxListed, secret }: Pick<VersionsRequest, 'maxListed' | 'secret'>,
  onProgress: (progress: VerifyProgress) => void,
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
    secret,
    found: new RowSums(secret),
    digests: new Map(),
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
