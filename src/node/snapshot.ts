/** `daybook snapshot` and `daybook init --snapshot`: the state of a ledger at a version, as files, and back. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { FeedError, PageError } from '../ingest/feed/feed-error.ts';
import { parseTrustedRoots } from '../ingest/feed/known-history.ts';
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
import { type SnapshotManifest, UNFINISHED_ENDING } from '../ingest/snapshot/manifest.ts';
import { newestSnapshotOf, SnapshotDownload } from '../ingest/snapshot/snapshot-download.ts';
import { SnapshotError } from '../ingest/snapshot/snapshot-error.ts';
import { openSnapshotFiles, packSnapshot } from '../ingest/snapshot/snapshot-files.ts';
import { JOURNAL_NAME } from '../ingest/snapshot/snapshot-journal.ts';
import { formatWaypoint, type Waypoint } from '../move/transactions/waypoint.ts';
import { wellFormed } from './follow.ts';
import { readWaypoint } from './init.ts';
import { NodeError, reasonOf } from './node-error.ts';
import { withReader, withResumedStore } from './open-store.ts';
import { withSnapshotLock } from './snapshot-lock.ts';

/** What a snapshot in one file is named. */
const FILE_ENDING = '.tar';
const PACKED_NAME = 'packed.tar';

export type { LoadedSnapshot, MadeSnapshot };

interface SnapshotInit {
  /** `VERSION:ROOT` each. */
  readonly trust: readonly string[];
  /** Over the workers of Citus. */
  readonly distribute: boolean;
  /** Of the chain's genesis, or a file that contains it; absent: any. */
  readonly waypoint?: string | undefined;
}

/**
 * Makes a snapshot of a ledger, in a file if its name ends in `.tar`, else in a folder; a run that was cut off is
 * continued.
 * @throws NodeError `no_ledger`, `data_not_usable`, `snapshot_refused`, `snapshot_exists`, `snapshot_locked`
 */
export async function snapshotLedger(
  data: string,
  out: string,
  request: SnapshotRequest,
  onProgress: (progress: SnapshotProgress) => void,
): Promise<MadeSnapshot> {
  const folder = `${out}${UNFINISHED_ENDING}`;
  const make = async (): Promise<MadeSnapshot> => {
    if (existsSync(out)) {
      throw new NodeError('snapshot_exists', `${out} exists already: give another --out`);
    }
    const made = await withReader(data, (store) =>
      makeSnapshot(store, folder, request, onProgress),
    );
    if (out.endsWith(FILE_ENDING)) {
      await packSnapshot(folder, join(folder, PACKED_NAME));
      renameSync(join(folder, PACKED_NAME), out);
      rmSync(folder, { recursive: true });
    } else {
      renameSync(folder, out);
      rmSync(join(out, JOURNAL_NAME));
    }
    return made;
  };
  return await withSnapshotErrors(() => withSnapshotLock(folder, make));
}

/**
 * Makes a ledger of a snapshot in a file or folder, or at a URL; a run that was cut off is continued.
 * @throws NodeError `bad_input`, `snapshot_refused`, `snapshot_unavailable`, `ledger_exists`, `data_not_usable`
 */
export async function initFromSnapshot(
  data: string,
  path: string,
  options: SnapshotInit,
  onProgress: (done: number, total: number) => void,
): Promise<LoadedSnapshot> {
  return await withSnapshotErrors(async () => {
    const source = await openSource(path);
    return await initFromSource(data, source, options, onProgress);
  });
}

async function openSource(pathOrUrl: string): Promise<SnapshotSource> {
  if (/^https?:/i.test(pathOrUrl)) return new SnapshotDownload(pathOrUrl);
  if (existsSync(pathOrUrl)) return await openSnapshotFiles(pathOrUrl);
  throw new NodeError('file_not_readable', `there is no snapshot ${pathOrUrl}`);
}

/**
 * Makes a ledger of the newest snapshot that a node offers; a run that was cut off is continued if that snapshot is
 * still the newest.
 * @param onFound gets its URL
 * @throws NodeError as `initFromSnapshot`; `snapshot_unavailable` if the node offers none
 */
export async function initFromNode(
  data: string,
  { node, waypoint }: { readonly node: string; readonly waypoint?: string | undefined },
  onFound: (url: string) => void,
  onProgress: (done: number, total: number) => void,
): Promise<LoadedSnapshot> {
  const options = { trust: [], distribute: false, waypoint };
  const url = await withSnapshotErrors(() => newestSnapshotOf(node));
  if (url !== undefined) {
    onFound(url);
    return await withSnapshotErrors(() =>
      initFromSource(data, new SnapshotDownload(url), options, onProgress),
    );
  }
  const message = `${node} offers no snapshot: start without --bootstrap to replicate from genesis`;
  throw new NodeError('snapshot_unavailable', message);
}

/** The same of any source, which is closed. */
async function initFromSource(
  data: string,
  source: SnapshotSource,
  { trust, distribute, waypoint: textOrFile }: SnapshotInit,
  onProgress: (done: number, total: number) => void,
): Promise<LoadedSnapshot> {
  const verifier = openVerifier();
  try {
    const trustedRoots = wellFormed('--trust', () => parseTrustedRoots(trust));
    const waypoint = textOrFile === undefined ? undefined : readWaypoint(textOrFile);
    const load = await SnapshotLoad.open(source, {
      trustedRoots,
      verifier,
      onProgress: (done) => onProgress(done, load.manifest.chunks.length),
    });
    checkWaypoint(load.manifest, waypoint);
    return await withResumedStore(data, (store) => load.into(store), isRefusal, distribute);
  } finally {
    await verifier.close();
    await source.close();
  }
}

/** @throws SnapshotError `trust_contradicts` */
function checkWaypoint({ genesisWaypointHash: hash }: SnapshotManifest, waypoint?: Waypoint): void {
  if (waypoint === undefined || (waypoint.version === 0n && waypoint.hash.equals(hash))) return;
  const found = formatWaypoint({ version: 0n, hash });
  const message = `the snapshot is of genesis waypoint ${found}, not ${formatWaypoint(waypoint)}`;
  throw new SnapshotError('trust_contradicts', message);
}

/** What is wrong with a snapshot does not change when it is loaded again. */
function isRefusal(error: unknown): error is Error {
  return error instanceof SnapshotError || error instanceof PageError;
}

async function withSnapshotErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (isRefusal(cause)) throw new NodeError('snapshot_refused', cause.message, { cause });
    if (cause instanceof FeedError) {
      if (cause.code === 'bad_upstream_url') {
        throw new NodeError('bad_input', cause.message, { cause, exitCode: 2 });
      }
      const message = `the snapshot cannot be fetched: ${cause.message}; run the same command again to resume`;
      throw new NodeError('snapshot_unavailable', message, { cause });
    }
    const isFileError = cause instanceof Error && 'syscall' in cause;
    if (isFileError) throw new NodeError('data_not_usable', reasonOf(cause), { cause });
    throw cause;
  }
}
