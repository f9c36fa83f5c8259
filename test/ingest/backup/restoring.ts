/** Restores backups in tests. */
import { BackupError } from '../../../src/ingest/backup/backup-error.ts';
import { type BackupSource, FolderSource } from '../../../src/ingest/backup/backup-source.ts';
import {
  type RestoredBackup,
  type RestoreProgress,
  restoreBackup,
  verifyBackup,
} from '../../../src/ingest/backup/restore.ts';
import { localVerifier } from '../../../src/ingest/feed/verifier.ts';
import { parseWaypoint } from '../../../src/move/transactions/waypoint.ts';
import type { Store } from '../../../src/store/store.ts';
import { MemoryStore } from '../../store/memory-store.ts';
import { NEVER } from '../feed-following.ts';
import type { WrittenBackup } from './backup-writer.ts';
import { rowsSince } from './snapshots.ts';

interface Restoring {
  readonly waypoint?: string;
  readonly source?: BackupSource;
  readonly onProgress?: (progress: RestoreProgress) => void;
}

/** Restores a backup into a store. */
export async function restored(
  backup: WrittenBackup,
  store: Store,
  restoring: Restoring = {},
): Promise<RestoredBackup> {
  const { waypoint = backup.waypoints[0]!, onProgress = () => undefined } = restoring;
  const source = restoring.source ?? new FolderSource(backup.folder);
  const trust = { kind: 'signatures', waypoint: parseWaypoint(waypoint) } as const;
  const options = { trust, verifier: localVerifier(), onProgress };
  const restore = await verifyBackup(source, options, NEVER);
  return await restoreBackup(restore, store);
}

/** Why a backup is refused, and at which file; `undefined` if it is restored. */
export async function refusal(
  backup: WrittenBackup,
  restoring: Restoring = {},
): Promise<{ readonly code: string; readonly file: string | undefined } | undefined> {
  try {
    await restored(backup, new MemoryStore(), restoring);
    return undefined;
  } catch (error) {
    if (error instanceof BackupError) return { code: error.code, file: error.file };
    throw error;
  }
}

/** Every row of a backup's ledger. */
export async function rowsOf(backup: WrittenBackup, restoring: Restoring = {}) {
  const store = new MemoryStore();
  await restored(backup, store, restoring);
  return await rowsSince(store, -1n);
}
