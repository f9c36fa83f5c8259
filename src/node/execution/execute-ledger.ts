/** Runs the transactions of a ledger again, in threads, and compares roots of its state meanwhile. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { oldestTransaction, openHead } from '../../store/columns/head.ts';
import { LEDGER_IDENTITY } from '../../store/columns/identity-column.ts';
import { isPostgresUrl } from '../../store/postgres/location.ts';
import { StoreView } from '../../store/read/view.ts';
import type { StoreReader } from '../../store/store.ts';
import type { VersionRange } from '../../verify/execution/batch.ts';
import type { Difference } from '../../verify/execution/replay.ts';
import { compareRoots } from '../../verify/execution/state-roots.ts';
import { NodeError } from '../node-error.ts';
import { asNodeError, emptyStoreError, withReader } from '../open-store.ts';
import { packageVersion } from '../settings/settings.ts';
import { assertReplaceable, ExecutionProgress } from './execution-progress.ts';
import { runBatches } from './execution-threads.ts';

/** Versions of a batch, which each thread loses when the command is killed. */
const BATCH_VERSIONS = 100n;

interface ExecutionRequest {
  /** Absent: one for each core. */
  readonly threads: number | undefined;
  /** Where progress is kept; absent: in the folder of the ledger. */
  readonly progressFile: string | undefined;
  /** @param done how many versions were run since the command began @param total how many it is to run */
  onProgress(done: number, total: number): void;
}

export interface ExecutionReport extends VersionRange {
  readonly listed: readonly Difference[];
  readonly different: number;
  readonly open: number;
  /** Transactions whose signatures could not be verified. */
  readonly unverified: number;
  readonly stateRoots: number;
  readonly rootsUpTo: bigint | undefined;
}

/** Readers and a writer may continue meanwhile. @throws NodeError; or rejects with it */
export async function executeLedger(
  data: string,
  request: ExecutionRequest,
): Promise<ExecutionReport> {
  return await withReader(data, async (store) => {
    const head = await openHead(store);
    const identity = await LEDGER_IDENTITY.get(store);
    if (identity === undefined) throw emptyStoreError(data);
    if (!identity.keepsTransactions) {
      const message = 'the ledger stores no whole transactions, so there is nothing to execute';
      throw new NodeError('bad_input', message);
    }
    const ownFile = isPostgresUrl(data) ? undefined : join(data, 'execution-progress.json');
    const file = request.progressFile ?? ownFile;
    const genesis = identity.genesisWaypointHash.toString('hex');
    if (request.progressFile !== undefined) assertReplaceable(request.progressFile, genesis);
    const progress = new ExecutionProgress(file, { program: packageVersion(), genesis });
    // A transaction below the oldest version has no state to run on.
    const oldest = oldestTransaction(head);
    const range = { first: oldest === 0n ? 0n : oldest + 1n, last: head.version };
    await runAll(data, store, range, progress, request);
    progress.finish();
    const { listed, counts, rootsUpTo } = progress;
    const ascending = [...listed].sort((left, right) => Number(left.version - right.version));
    return { ...range, ...counts, listed: ascending, rootsUpTo };
  });
}

async function runAll(
  data: string,
  store: StoreReader,
  range: VersionRange,
  progress: ExecutionProgress,
  { threads = availableParallelism(), onProgress }: ExecutionRequest,
): Promise<void> {
  const batches = [...progress.remaining(range, BATCH_VERSIONS)];
  const total = batches.reduce((sum, { first, last }) => sum + Number(last + 1n - first), 0);
  let done = 0;
  const roots = compareAll(store, range, progress);
  const running = runBatches(data, batches, Math.min(threads, batches.length), {
    onVersions: (versions) => {
      done += versions;
      onProgress(done, total);
    },
    onBatch: (result) => {
      progress.addBatch(result);
      progress.save();
    },
  });
  try {
    await Promise.all([running, roots]);
  } catch (cause) {
    throw asNodeError(cause);
  }
}

async function compareAll(
  store: StoreReader,
  { first, last }: VersionRange,
  progress: ExecutionProgress,
): Promise<void> {
  const after = progress.rootsUpTo;
  const begin = after === undefined || after < first ? first : after + 1n;
  if (begin > last) return;
  const view = new StoreView(store, { ...(await openHead(store)), version: last });
  for await (const { version, compared, difference } of compareRoots(store, view, begin)) {
    progress.rootsUpTo = version;
    progress.counts.stateRoots += compared;
    if (difference !== undefined) progress.addDifference(difference);
  }
}
