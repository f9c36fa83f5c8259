/**
 * Verifies a whole ledger: recomputes every hash, compares the columns with each other, and computes digests of all
 * columns. Each row is read once, in its order; what must be compared across orders is compared by sums (row-sums.ts).
 * What it checks and what it cannot: docs/storage.md.
 */
import { COLUMNS, IDENTITY } from '../store/columns/columns.ts';
import { HEAD_KEY, HEAD_ROW, type Head, openHead } from '../store/columns/head.ts';
import { LEDGER_IDENTITY } from '../store/columns/identity-column.ts';
import { readPinnedAccounts, readPruneProgress } from '../store/columns/pruning-column.ts';
import type { ColumnDigest } from '../store/read/digest.ts';
import { StoreView } from '../store/read/view.ts';
import type { StoreReader } from '../store/store.ts';
import { RowDamagedError } from '../store/store-error.ts';
import { awaitLedger } from './awaited-ledger.ts';
import { examineColumns, type SavedColumns, stepOf } from './columns.ts';
import {
  columnPages,
  type Damage,
  DamageList,
  type ListedDamages,
  type VerifyContext,
} from './context.ts';
import { reportDifferences, SUMMED_COLUMNS } from './differences.ts';
import { newSecret, RowSums, type SavedSums } from './row-sums.ts';
import {
  findingsOf,
  type OnSave,
  PartSaver,
  readDigests,
  readPart,
  type SavedDigest,
  type SavedPart,
  savedDigests,
} from './saved-part.ts';
import { assertIsContinued, DamagedRows, newRun, type SavedRun } from './saved-run.ts';
import { type SavedVersions, verifyVersions } from './versions.ts';

export interface VerifyReport {
  readonly head: Head;
  readonly columns: readonly ColumnDigest[];
  /** The first damages found; `damageCount` counts all. */
  readonly damages: readonly Damage[];
  readonly damageCount: number;
  /** Whether the ledger was pruned meanwhile: apparent damage may then be pruned data. */
  readonly wasPruned: boolean;
  readonly hashedVersions: bigint;
  /** The version at which the root of the state was compared; `undefined` if no recent transaction info states one. */
  readonly stateRootVersion: bigint | undefined;
  /** Versions committed since, which are not covered. */
  readonly laterVersions: bigint;
  /** Where a run was continued. */
  readonly continuedFrom: ContinuedFrom | undefined;
}

interface ContinuedFrom {
  /** The first version that it has examined; above the head if all were examined before. */
  readonly version: bigint;
  /** A column, or another step of the examination. */
  readonly step: string;
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
  readonly examineVersions?: ExamineVersions | undefined;
  readonly saving?: RunSaving | undefined;
}

export type ExamineVersions = (request: VersionsRequest, onSave: OnSave) => Promise<VersionsReport>;

/** How a run is saved from time to time, to be continued by another one. */
interface RunSaving {
  /** The run that is to be continued; absent: a new one begins. */
  readonly run: SavedRun | undefined;
  /** How long it takes at least from one save of a part to the next, in milliseconds. */
  readonly intervalMs: number;
  onSave(run: SavedRun): void;
}

/** A request to examine the versions. */
export interface VersionsRequest {
  /** The row of the head when verification began. */
  readonly head: Uint8Array;
  /** Versions below it had been cleared by then. */
  readonly clearedBelow: bigint;
  readonly secret: Uint8Array;
  readonly maxListed: number | undefined;
  /** Progress on the versions that the continued run has saved. */
  readonly saved?: Uint8Array | undefined;
  /** As that of RunSaving; absent: nothing is saved. */
  readonly saveIntervalMs?: number | undefined;
}

export interface VersionsReport {
  readonly damages: ListedDamages;
  /** Rows above the head; nothing when it has moved. */
  readonly above: ListedDamages;
  /** Sums of the rows that must exist according to the versions. */
  readonly expectedSums: SavedSums;
  /** False if the rows of some version are unknown. */
  readonly isComplete: boolean;
  readonly digests: readonly SavedDigest[];
}

/**
 * Examines the ledger of a store.
 * @throws StoreError `ledger_empty`; RowDamagedError when head or identity do not decode: then nothing can be examined;
 *   SavedRunError when the ledger is not that of the run that is to be continued
 */
export async function verifyLedger(
  store: StoreReader,
  { onProgress = () => undefined, maxListed, examineVersions, saving }: VerifyOptions = {},
): Promise<VerifyReport> {
  const saved = saving?.run;
  if (saved !== undefined) await assertIsContinued(store, saved);
  const run = saved ?? (await newRun(store, newSecret()));
  const { secret, clearedBelow } = run;
  const head = HEAD_ROW.decode(HEAD_KEY, run.head);
  const saves = new Saves(store, run, saving?.onSave);
  const columns = partOf<SavedColumns>(saved?.columns);
  const context = await contextOf(store, head, { maxListed, secret }, columns, onProgress);
  const request = {
    ...{ head: run.head, clearedBelow, secret, maxListed, saved: saved?.versions },
    saveIntervalMs: saving?.intervalMs,
  };
  const examine: ExamineVersions =
    examineVersions ??
    ((versionsRequest, save) => verifyVersionsOf(store, versionsRequest, onProgress, save));
  const saver = new PartSaver(saving && saves.of('columns'), saving?.intervalMs);
  const onRows = (what: string, done: number) => onProgress({ what, done });
  const [versions, { stateRootVersion, areKeysKnown }] = await Promise.all([
    examine(request, saves.of('versions')),
    examineColumns(context, saver, columns?.state, onRows),
  ]);
  const damages = new DamageList(maxListed);
  damages.addAll(versions.damages);
  damages.addAll(context.damages);
  context.above.addAll(versions.above);
  const reportContext = { ...context, damages };
  for (const [column, digest] of readDigests(versions.digests)) context.digests.set(column, digest);
  await compareSums(reportContext, versions, areKeysKnown);
  // Columns that no check reads are read here, for the digests.
  for (const column of COLUMNS) {
    if (!context.digests.has(column)) for await (const _ of columnPages(reportContext, column));
  }
  await saves.flush();
  const now = await openHead(store);
  if (now.version === head.version) damages.addAll(context.above);
  const wasPruned =
    (await readPruneProgress(store)).clearedBelow !== clearedBelow ||
    now.oldestVersion !== head.oldestVersion;
  return {
    head,
    columns: COLUMNS.map((column) => context.digests.get(column)).filter(
      (one) => one !== undefined,
    ),
    damages: damages.listed,
    damageCount: damages.count,
    wasPruned,
    hashedVersions: context.identity.keepsTransactions ? head.version + 1n - clearedBelow : 0n,
    stateRootVersion,
    laterVersions: now.version - head.version,
    continuedFrom: saved && continuedFrom(saved, head),
  };
}

/** Saves of both parts, one after the other. */
class Saves {
  readonly #onSave: RunSaving['onSave'] | undefined;
  readonly #damagedRows: DamagedRows;
  #run: SavedRun;
  #last: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(store: StoreReader, run: SavedRun, onSave: RunSaving['onSave'] | undefined) {
    this.#onSave = onSave;
    this.#run = run;
    this.#damagedRows = new DamagedRows(store, run.damagedRows);
  }

  /** Returns the function that saves a part. It throws if an earlier save has failed: this ends the examination. */
  of(name: 'versions' | 'columns'): OnSave {
    return (part, damages) => {
      if (this.#failure !== undefined) throw this.#failure;
      this.#last = this.#last.then(() => this.#save({ [name]: part }, damages));
      this.#last.catch((error: unknown) => {
        this.#failure = error;
      });
    };
  }

  async #save(part: Partial<SavedRun>, damages: readonly Damage[]): Promise<void> {
    await this.#damagedRows.record(damages);
    this.#run = { ...this.#run, ...part, damagedRows: this.#damagedRows.all };
    this.#onSave?.(this.#run);
  }

  /** Waits for the last one. @throws what a save has failed with */
  async flush(): Promise<void> {
    await this.#last;
  }
}

function continuedFrom(saved: SavedRun, head: Head): ContinuedFrom {
  const versions = partOf<VersionsState>(saved.versions)?.state;
  const columns = partOf<SavedColumns>(saved.columns)?.state;
  const isDone = versions !== undefined && 'report' in versions;
  return {
    version: isDone ? head.version + 1n : (versions?.next ?? saved.clearedBelow),
    step: stepOf(columns?.step),
  };
}

/** The progress on versions, or the final report. */
type VersionsState = SavedVersions | { readonly report: VersionsReport };

function partOf<State>(saved: Uint8Array | undefined): SavedPart<State> | undefined {
  return saved && readPart<State>(saved);
}

/**
 * Examines the versions of a ledger, and the columns by version.
 * @throws StoreError `store_behind` when the store stays behind what the request says of the ledger
 */
export async function verifyVersionsOf(
  store: StoreReader,
  request: VersionsRequest,
  onProgress: (progress: VerifyProgress) => void,
  onSave: OnSave = () => undefined,
): Promise<VersionsReport> {
  const { clearedBelow, saveIntervalMs } = request;
  const part = partOf<VersionsState>(request.saved);
  const state = part?.state;
  if (state !== undefined && 'report' in state) return state.report;
  const head = HEAD_ROW.decode(HEAD_KEY, request.head);
  await awaitLedger(store, { head, clearedBelow });
  const context = await contextOf(store, head, request, part, () => undefined);
  const saver = new PartSaver(saveIntervalMs === undefined ? undefined : onSave, saveIntervalMs);
  const expectedSums = new RowSums(request.secret, state?.expectedSums);
  const onVersions = (done: number) => onProgress({ what: 'versions', done });
  const run = { expectedSums, saver, saved: state, onVersions };
  const isComplete = await verifyVersions(context, run);
  const { damages, digests } = context;
  // Compared here: the caller may read its head from a server that is behind.
  const isAtHead = (await openHead(store)).version === head.version;
  const above = isAtHead ? context.above : new DamageList();
  const report = {
    damages: { listed: damages.listed, count: damages.count },
    above: { listed: above.listed, count: above.count },
    expectedSums: expectedSums.save(),
    isComplete,
    digests: savedDigests(digests),
  };
  saver.saveIfDue(context, () => ({ report }), true);
  return report;
}

/** Compares the rows that columns have with those that versions made. */
async function compareSums(
  context: VerifyContext,
  { isComplete, expectedSums: saved }: VersionsReport,
  areKeysKnown: boolean,
): Promise<void> {
  const { damages, found, secret } = context;
  const expected = new RowSums(secret, saved);
  const different = SUMMED_COLUMNS.filter((column) => !expected.isEqual(column, found));
  // Without a version, its rows seem to be too many: only those that it recorded can be looked up.
  const columns = isComplete ? different : SUMMED_COLUMNS;
  const before = damages.count;
  await reportDifferences(context, columns, areKeysKnown);
  if (damages.count > before || !isComplete) return;
  for (const column of different) damages.column(column, 'its rows are not those of the versions');
}

async function contextOf(
  store: StoreReader,
  head: Head,
  { maxListed, secret }: Pick<VersionsRequest, 'maxListed' | 'secret'>,
  part: SavedPart<unknown> | undefined,
  onProgress: (progress: VerifyProgress) => void,
): Promise<VerifyContext> {
  const identity = await LEDGER_IDENTITY.get(store);
  if (identity === undefined) {
    throw new RowDamagedError(IDENTITY, LEDGER_IDENTITY.keyOf(), 'it is missing');
  }
  const findings = findingsOf(secret, maxListed, part?.findings);
  const reads = [...findings.reads];
  const rowsOf = new Map(reads.map(([column, { digest }]) => [column, digest?.rows ?? 0]));
  return {
    store,
    view: new StoreView(store, head),
    identity,
    progress: await readPruneProgress(store),
    pinned: await readPinnedAccounts(store),
    secret,
    ...findings,
    onRows: (column, rows) => {
      const done = (rowsOf.get(column) ?? 0) + rows;
      rowsOf.set(column, done);
      onProgress({ what: column.name, done });
    },
  };
}
