/** `daybook init --backup`: a ledger from a backup of the reference. */
import { existsSync } from 'node:fs';
import { BackupError } from '../ingest/backup/backup-error.ts';
import { type BackupSource, FolderSource } from '../ingest/backup/backup-source.ts';
import { HttpSource } from '../ingest/backup/http-source.ts';
import {
  BackupRestore,
  type RestoredBackup,
  type RestoreProgress,
} from '../ingest/backup/restore.ts';
import { openVerifier } from '../ingest/feed/verifier.ts';
import { readWaypoint } from './init.ts';
import { NodeError } from './node-error.ts';
import { withResumedStore } from './open-store.ts';

export type { RestoredBackup, RestoreProgress };

interface BackupInit {
  /** Of genesis or of the end of a later epoch, or a file that contains it. */
  readonly waypoint: string;
  /** Over the workers of Citus. */
  readonly distribute: boolean;
}

/**
 * Makes a ledger of a backup in a folder or behind a URL; a run that was cut off is continued.
 * @throws NodeError `bad_input`, `file_not_readable`, `backup_refused`, `waypoint_mismatch`, `ledger_exists`,
 *   `data_not_usable`
 */
export async function initFromBackup(
  data: string,
  backup: string,
  { waypoint: waypointOrFile, distribute }: BackupInit,
  onProgress: (progress: RestoreProgress) => void,
): Promise<RestoredBackup> {
  const waypoint = readWaypoint(waypointOrFile);
  const source = sourceOf(backup);
  const verifier = openVerifier();
  // Ends what was requested ahead when the work ends early.
  const abort = new AbortController();
  try {
    const options = { waypoint, verifier, onProgress };
    const restore = await BackupRestore.open(source, options, abort.signal);
    return await withResumedStore(data, (store) => restore.into(store), isRefusal, distribute);
  } catch (cause) {
    if (!(cause instanceof BackupError)) throw cause;
    const code = cause.code === 'waypoint_mismatch' ? cause.code : 'backup_refused';
    throw new NodeError(code, cause.message, { cause });
  } finally {
    abort.abort();
    source.close();
    await verifier.close();
  }
}

/** Files that are missing or do not come now may be there later; what they contain does not change. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof BackupError)) return false;
  return error.code !== 'backup_unreachable' && error.code !== 'backup_incomplete';
}

/** @throws NodeError `bad_input`, `file_not_readable` */
function sourceOf(backup: string): BackupSource {
  if (/^https?:\/\//i.test(backup)) {
    if (URL.canParse(backup)) return new HttpSource(new URL(backup));
    throw new NodeError('bad_input', `--backup: ${backup} is not a URL`, { exitCode: 2 });
  }
  if (existsSync(backup)) return new FolderSource(backup);
  throw new NodeError('file_not_readable', `there is no backup ${backup}`);
}
