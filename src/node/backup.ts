/** `daybook init --backup` and `--snapshot`: a ledger from a backup of the reference, or a snapshot of Daybook. */
import { existsSync } from 'node:fs';
import { BackupError } from '../ingest/backup/backup-error.ts';
import { type BackupSource, FolderSource } from '../ingest/backup/backup-source.ts';
import { HttpSource, newestSnapshotOf } from '../ingest/backup/http-source.ts';
import {
  type BackupTrust,
  type RestoredBackup,
  type RestoreProgress,
  restoreBackup,
  verifyBackup,
} from '../ingest/backup/restore.ts';
import { parseTrustedRoots } from '../ingest/feed/known-history.ts';
import { openVerifier } from '../ingest/feed/verifier.ts';
import { interfaceBase, urlOf } from '../remote/node-url.ts';
import { wellFormed } from './follow.ts';
import { readWaypoint } from './init.ts';
import { NodeError } from './node-error.ts';
import { withResumedStore } from './open-store.ts';

export type { RestoredBackup, RestoreProgress };

interface BackupInit {
  /** Whether validators must have signed the root of the state, which needs `waypoint`. */
  readonly isSigned: boolean;
  /** The waypoint of genesis (with signatures also that of a later epoch's end), or a file that contains it. */
  readonly waypoint?: string | undefined;
  /** Trusted roots, `VERSION:ROOT`, if there are no signatures. */
  readonly trust?: readonly string[] | undefined;
  readonly distribute?: boolean | undefined;
}

/**
 * Creates a ledger from a backup in a folder or behind a URL; an interrupted run is continued.
 * @throws NodeError `bad_input`, `file_not_readable`, `backup_refused`, `waypoint_mismatch`, `ledger_exists`,
 *   `data_not_usable`
 */
export async function initFromBackup(
  data: string,
  location: string,
  init: BackupInit,
  onProgress: (progress: RestoreProgress) => void,
): Promise<RestoredBackup> {
  const trust = trustOf(init);
  const source = sourceOf(location);
  const verifier = openVerifier();
  // Cancels read-ahead requests when the work ends early.
  const abort = new AbortController();
  return await withBackupErrors(async () => {
    try {
      const options = { trust, verifier, onProgress };
      const backup = await verifyBackup(source, options, abort.signal);
      return await withResumedStore(
        data,
        (store) => restoreBackup(backup, store),
        isRefusal,
        init.distribute,
      );
    } finally {
      abort.abort();
      source.close();
      await verifier.close();
    }
  });
}

/**
 * Creates a ledger from the newest snapshot that a node offers; an interrupted run is continued if that snapshot is
 * still the newest.
 * @param onFound gets its URL
 * @throws NodeError as `initFromBackup`; `snapshot_unavailable` if the node offers none
 */
export async function initFromNode(
  data: string,
  { node, waypoint }: { readonly node: string; readonly waypoint?: string | undefined },
  onFound: (url: string) => void,
  onProgress: (progress: RestoreProgress) => void,
): Promise<RestoredBackup> {
  const base = wellFormed('--follow', () => interfaceBase(node));
  const url = await withBackupErrors(() => newestSnapshotOf(base));
  if (url === undefined) {
    const message = `${node} offers no snapshot: start without --bootstrap to replicate from genesis`;
    throw new NodeError('snapshot_unavailable', message);
  }
  onFound(url.href);
  return await initFromBackup(data, url.href, { isSigned: false, waypoint }, onProgress);
}

function trustOf({ isSigned, waypoint: textOrFile, trust = [] }: BackupInit): BackupTrust {
  const waypoint = textOrFile === undefined ? undefined : readWaypoint(textOrFile);
  if (!isSigned) {
    const roots = wellFormed('--trust', () => parseTrustedRoots(trust));
    return { kind: 'roots', roots, genesis: waypoint };
  }
  if (waypoint === undefined) throw new RangeError('signatures need a waypoint');
  return { kind: 'signatures', waypoint };
}

/** Missing or unreachable files may become available later; their content does not change. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof BackupError)) return false;
  return error.code !== 'backup_unreachable' && error.code !== 'backup_incomplete';
}

/** @throws NodeError `file_not_readable`, `bad_input` */
function sourceOf(location: string): BackupSource {
  if (/^https?:/i.test(location))
    return new HttpSource(wellFormed('the URL', () => urlOf(location)));
  if (existsSync(location)) return new FolderSource(location);
  throw new NodeError('file_not_readable', `there is no backup ${location}`);
}

async function withBackupErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof BackupError)) throw cause;
    const code = cause.code === 'waypoint_mismatch' ? cause.code : 'backup_refused';
    throw new NodeError(code, cause.message, { cause });
  }
}
