/** `daybook snapshot` and `daybook init --snapshot`: the state of a ledger at a version, as files, and back. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FeedError } from '../ingest/feed/feed-error.ts';
import { parseTrustedRoot } from '../ingest/feed/known-history.ts';
import { openVerifier } from '../ingest/feed/verifier.ts';
import {
  type LoadedSnapshot,
  SnapshotLoad,
  type SnapshotSource,
} from '../ingest/snapshot/load-snapshot.ts';
import {
  type MadeSnapshot,
  makeSnapshot,
  type SnapshotProgress,
  type SnapshotRequest,
} from '../ingest/snapshot/make-snapshot.ts';
import { MANIFEST_NAME } from '../ingest/snapshot/manifest.ts';
import { SnapshotError } from '../ingest/snapshot/snapshot-error.ts';
import { openSnapshotFiles, packSnapshot } from '../ingest/snapshot/snapshot-files.ts';
import { WaypointTextError } from '../move/transactions/waypoint.ts';
import { NodeError, reasonOf } from './node-error.ts';
import { withReader, withResumedStore } from './open-store.ts';

/** What a snapshot in one file is named. */
const FILE_ENDING = '.tar';
/** What is added to the name of the folder where a snapshot is made. */
const UNFINISHED_ENDING = '.unfinished';
const PACKED_NAME = 'packed.tar';

export type { LoadedSnapshot, MadeSnapshot };

interface SnapshotInit {
  /** `VERSION:ROOT` each. */
  readonly trust: readonly string[];
  /** Over the workers of Citus. */
  readonly distribute: boolean;
}

/**
 * Makes a snapshot of a ledger, in a file if its name ends in `.tar`, else in a folder; a run that was cut off is
 * continued.
 * @throws NodeError `no_ledger`, `data_not_usable`, `snapshot_refused`, `snapshot_exists`
 */
export async function snapshotLedger(
  data: string,
  out: string,
  request: SnapshotRequest,
  onProgress: (progress: SnapshotProgress) => void,
): Promise<MadeSnapshot> {
  if (existsSync(out)) {
    throw new NodeError('snapshot_exists', `${out} exists already: give another --out`);
  }
  const folder = `${out}${UNFINISHED_ENDING}`;
  return await withSnapshotErrors(async () => {
    // Only the last step, renaming, was cut off.
    rmSync(join(folder, MANIFEST_NAME), { force: true });
    mkdirSync(dirname(out), { recursive: true });
    const made = await withReader(data, (store) =>
      makeSnapshot(store, folder, request, onProgress),
    );
    if (out.endsWith(FILE_ENDING)) {
      await packSnapshot(folder, join(folder, PACKED_NAME));
      renameSync(join(folder, PACKED_NAME), out);
      rmSync(folder, { recursive: true });
    } else {
      renameSync(folder, out);
    }
    return made;
  });
}

/**
 * Makes a ledger of a snapshot in a file or folder; a run that was cut off is continued.
 * @throws NodeError `bad_input`, `snapshot_refused`, `ledger_exists`, `data_not_usable`
 */
export async function initFromSnapshot(
  data: string,
  path: string,
  options: SnapshotInit,
  onProgress: (done: number, total: number) => void,
): Promise<LoadedSnapshot> {
  if (!existsSync(path)) throw new NodeError('file_not_readable', `there is no snapshot ${path}`);
  return await withSnapshotErrors(async () => {
    const source = await openSnapshotFiles(path);
    return await initFromSource(data, source, options, onProgress);
  });
}

/** The same of any source, which is closed. */
async function initFromSource(
  data: string,
  source: SnapshotSource,
  { trust, distribute }: SnapshotInit,
  onProgress: (done: number, total: number) => void,
): Promise<LoadedSnapshot> {
  const verifier = openVerifier();
  try {
    const load = await SnapshotLoad.open(source, {
      trustedRoots: trust.map(trustedRootOf),
      verifier,
      onProgress: (done) => onProgress(done, load.manifest.chunks.length),
    });
    return await withResumedStore(data, (store) => load.into(store), isRefusal, distribute);
  } finally {
    await verifier.close();
    await source.close();
  }
}

function trustedRootOf(text: string) {
  try {
    return parseTrustedRoot(text);
  } catch (cause) {
    if (!(cause instanceof WaypointTextError)) throw cause;
    throw new NodeError('bad_input', `--trust: ${cause.message}`, { cause, exitCode: 2 });
  }
}

/** What is wrong with a snapshot does not change when it is loaded again. */
function isRefusal(error: unknown): error is Error {
  return error instanceof SnapshotError || error instanceof FeedError;
}

async function withSnapshotErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (isRefusal(cause)) throw new NodeError('snapshot_refused', cause.message, { cause });
    const isFileError = cause instanceof Error && 'syscall' in cause;
    if (isFileError) throw new NodeError('data_not_usable', reasonOf(cause), { cause });
    throw cause;
  }
}
