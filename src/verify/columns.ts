/** Examines the columns whose order is not that of versions, step by step: a run can be continued within most steps. */
import {
  type Column,
  HEAD,
  IDENTITY,
  PRUNING,
  STORE_FORMAT_VERSION,
} from '../store/columns/columns.ts';
import { oldestTransaction } from '../store/columns/head.ts';
import { FORMAT, FORMAT_KEY } from '../store/columns/identity-column.ts';
import { KnownKeys, type SavedKeys } from './account-keys.ts';
import { BalanceKeys, verifyBalances, verifyPrimaryStores } from './balances.ts';
import { verifyBlocks } from './blocks.ts';
import { scanColumn, type VerifyContext } from './context.ts';
import { type SavedEvents, verifyEvents } from './events.ts';
import type { PartSaver } from './saved-part.ts';
import { type SavedState, verifyState } from './state.ts';
import { verifyAccountTransactions, verifyTransactionHashes } from './transaction-indexes.ts';

/** Gets the name of a column, or `index of` it, and how many rows or blocks are examined. */
type OnRows = (what: string, done: number) => void;

/** How far columns were examined. */
export interface SavedColumns {
  readonly step: number;
  /** Within the step; absent: it begins. */
  readonly within: unknown;
  readonly keys: SavedKeys;
  readonly report: ColumnsReport;
}

interface ColumnsReport {
  /** The version at which the root of the state was compared. */
  stateRootVersion: bigint | undefined;
  /** False if keys of state may be unknown. */
  areKeysKnown: boolean;
}

interface ColumnsRun {
  readonly context: VerifyContext;
  readonly keys: KnownKeys;
  readonly report: ColumnsReport;
  readonly onRows: OnRows;
}

/**
 * @param saved how far the run that is continued was within the step
 * @param save offers to save the step after the rows that it has read
 */
type Step = (
  run: ColumnsRun,
  saved: unknown,
  save: (within: () => unknown) => void,
) => Promise<void>;

const NOTHING = (): undefined => undefined;

const STEPS: readonly (readonly [what: string, step: Step])[] = [
  ['head', ({ context }) => checkFixedRows(context)],
  ['engine', ({ context, onRows }) => examineEngine(context, onRows)],
  [
    'transaction_hashes',
    ({ context }, _, save) => verifyTransactionHashes(context, () => save(NOTHING)),
  ],
  [
    'account_transactions',
    ({ context }, _, save) => verifyAccountTransactions(context, () => save(NOTHING)),
  ],
  [
    'state',
    async ({ context, keys, report }, saved, save) => {
      const state = { keys, saved: saved as SavedState | undefined, onPageDone: save };
      report.stateRootVersion = await verifyState(context, state);
    },
  ],
  [
    'account_keys',
    async ({ context, keys }, _, save) => {
      const balances = new BalanceKeys(context);
      const check = (some: readonly { readonly key: Buffer }[]) =>
        balances.check(some.map(({ key }) => key));
      await keys.examine(check, () => save(NOTHING));
    },
  ],
  ['account_key_tails', ({ keys }) => keys.examineTails()],
  ['balances', ({ context }, _, save) => verifyBalances(context, () => save(NOTHING))],
  ['primary_stores', ({ context }, _, save) => verifyPrimaryStores(context, () => save(NOTHING))],
  [
    'events',
    ({ context }, saved, save) => verifyEvents(context, saved as SavedEvents | undefined, save),
  ],
  ['blocks', ({ context }) => verifyBlocks(context)],
  [
    'known keys',
    async ({ keys, report }) => {
      report.areKeysKnown = keys.areComplete;
      if (!report.areKeysKnown) await keys.reportDifferences();
    },
  ],
];

/** The name of a step; the last one, which has no number, compares columns and versions. */
export function stepOf(step = 0): string {
  return STEPS[step]?.[0] ?? 'differences';
}

export async function examineColumns(
  context: VerifyContext,
  saver: PartSaver,
  saved: SavedColumns | undefined,
  onRows: OnRows,
): Promise<ColumnsReport> {
  const keys = new KnownKeys(context, saved?.keys);
  const report = saved?.report ?? { stateRootVersion: undefined, areKeysKnown: false };
  const first = saved?.step ?? 0;
  const stateAt = (step: number, within?: unknown): SavedColumns => ({
    ...{ step, within, report },
    keys: keys.save(),
  });
  for (const [index, [, run]] of STEPS.entries()) {
    if (index < first) continue;
    await run(
      { context, keys, report, onRows },
      index === first ? saved?.within : undefined,
      (within) => saver.saveIfDue(context, () => stateAt(index, within())),
    );
    saver.saveIfDue(context, () => stateAt(index + 1), index + 1 === STEPS.length);
  }
  return report;
}

async function examineEngine({ damages, store }: VerifyContext, onRows: OnRows): Promise<void> {
  const onBlocks = ({ name }: Column, done: number): void => onRows(`index of ${name}`, done);
  for (const { column, detail, isOfPages } of (await store.examine?.(onBlocks)) ?? []) {
    damages.add({ column: column.name, detail, isIndexDamage: true, isEngineFailure: isOfPages });
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
