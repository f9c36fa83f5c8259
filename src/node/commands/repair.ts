/** Verifies the ledger of a folder, and repairs it from another node. */
import { FeedClient } from '../../ingest/feed/feed-client.ts';
import { interfaceBase } from '../../remote/node-url.ts';
import { RemoteError } from '../../remote/remote-error.ts';
import { isStoreError, isTransient, RowDamagedError, StoreError } from '../../store/store-error.ts';
import { type VerifyProgress, type VerifyReport, verifyLedger } from '../../verify/ledger.ts';
import {
  LedgerRepair,
  MAX_DAMAGES_AT_ONCE,
  type RepairCounts,
} from '../../verify/repair/repair.ts';
import { type SavedRun, SavedRunError } from '../../verify/saved-run.ts';
import { wellFormed } from '../follow.ts';
import { NodeError } from '../node-error.ts';
import {
  asNodeError,
  emptyStoreError,
  hasStore,
  noLedgerError,
  openStoreReader,
  openStoreWriter,
} from '../open-store.ts';
import { RunFile } from '../verification/run-file.ts';
import { VersionsThread } from '../verification/versions-thread.ts';

export type { VerifyProgress, VerifyReport };

/** How often each thread saves its progress, in milliseconds; a kill loses at most this. */
const SAVE_INTERVAL_MS = 5_000;

interface FolderOptions {
  readonly maxListed?: number | undefined;
  /** The file that keeps the progress; absent: it is not kept. */
  readonly progressFile?: string | undefined;
}

/** Maximum repairs, each followed by an examination: keys come after versions, balances after keys. */
const MAX_ROUNDS = 20;

export interface RepairReport {
  readonly report: VerifyReport;
  readonly repaired: RepairCounts;
  readonly damagesBefore: number;
}

/**
 * Nobody else may write the ledger meanwhile; readers may continue. It may be stopped and run again.
 * @param commitBytes size from which a commit is made; absent: the best size
 * @throws NodeError `no_ledger`, `data_not_usable`, `bad_input`; `damaged` when the engine cannot read its pages, or
 *   the source fails or has another history
 */
export async function repairFolder(
  data: string,
  from: string,
  onProgress: (progress: VerifyProgress) => void,
  commitBytes?: number,
): Promise<RepairReport> {
  const base = wellFormed('--from', () => interfaceBase(from));
  if (!(await hasStore(data))) throw await noLedgerError(data);
  const client = new FeedClient(base, 1);
  const store = await openStoreWriter(data);
  const onVersions = (done: number) => onProgress({ what: 'repaired versions', done });
  const repair = new LedgerRepair(store, client, { onVersions, commitBytes });
  const { repaired } = repair;
  const examine = () => verifyFolder(data, onProgress, { maxListed: MAX_DAMAGES_AT_ONCE });
  try {
    let report = await examine();
    const damagesBefore = report.damageCount;
    for (let round = 0; round < MAX_ROUNDS && report.damageCount > 0; round += 1) {
      // A commit would change pages that the engine cannot walk.
      if (report.damages.some(({ isEngineFailure }) => isEngineFailure === true)) break;
      const { versions, rows } = repaired;
      const before = textOf(report);
      await repair.repair(report);
      if (repaired.versions + repaired.rows === versions + rows) break;
      report = await examine();
      // Rewriting other rows did not help; versions may have to be written again.
      if (repaired.versions === versions && textOf(report) === before) break;
    }
    return { report, repaired, damagesBefore };
  } catch (cause) {
    if (!(cause instanceof RemoteError)) throw asNodeError(cause);
    const message = `cannot repair from ${from}: ${cause.message}; ${writtenText(repaired)}`;
    throw new NodeError('damaged', message, { cause });
  } finally {
    client.close();
    await store.close();
  }
}

function writtenText({ versions, rows }: RepairCounts): string {
  if (versions + rows === 0) return 'nothing was written';
  return `before, ${versions} versions and ${rows} other rows were repaired`;
}

function textOf({ damages }: VerifyReport): string {
  return damages.map(({ column, key, detail }) => `${column} ${key} ${detail}\n`).join('');
}

const REPLACE =
  'put a good copy of the folder in its place, ' +
  'or create the ledger again (daybook init, daybook follow)';

export function remedyOf({ damages, wasPruned }: VerifyReport, repaired?: RepairCounts): string {
  if (wasPruned) {
    return 'the ledger was pruned meanwhile: stop the node that prunes and verify again';
  }
  if (damages.some(({ isEngineFailure }) => isEngineFailure === true)) {
    return `the engine cannot walk its own pages, so nothing can be repaired in place: ${REPLACE}`;
  }
  if (repaired === undefined) {
    return `repair it from another node (daybook verify --repair --from URL), ${REPLACE}`;
  }
  if (repaired.unavailable > 0) {
    const count = repaired.unavailable;
    const versions = count === 1 ? '1 damaged version' : `${count} damaged versions`;
    return `the source does not have ${versions}: repair from a node that has them, or ${REPLACE}`;
  }
  return `what is left cannot be repaired from another node: ${REPLACE}`;
}

/**
 * Verifies a ledger; readers and a writer may continue meanwhile.
 * @throws NodeError `no_ledger`, `data_not_usable`; `damaged` when the ledger cannot be read to its end; `bad_input`
 *   when the run of a file cannot be continued
 */
export async function verifyFolder(
  data: string,
  onProgress: (progress: VerifyProgress) => void,
  { maxListed, progressFile }: FolderOptions = {},
): Promise<VerifyReport> {
  const store = await openStoreReader(data);
  const versions = new VersionsThread(data, onProgress);
  const file = progressFile === undefined ? undefined : new RunFile(progressFile, data);
  try {
    const saving = file && {
      ...{ run: file.read(), intervalMs: SAVE_INTERVAL_MS },
      onSave: (run: SavedRun) => file.write(run),
    };
    const examineVersions = versions.examine;
    const report = await verifyLedger(store, { onProgress, maxListed, examineVersions, saving });
    file?.remove();
    return report;
  } catch (cause) {
    if (cause instanceof SavedRunError) throw file!.refusal(cause.message);
    if (!(cause instanceof StoreError)) throw cause;
    if (isStoreError(cause, 'ledger_empty')) throw emptyStoreError(data);
    if (isTransient(cause)) throw asNodeError(cause);
    const isRow = cause instanceof RowDamagedError;
    const message = `${isRow ? '' : 'the store cannot be read: '}${cause.message}; ${REPLACE}`;
    throw new NodeError('damaged', message, { cause });
  } finally {
    await versions.close();
    await store.close();
  }
}
