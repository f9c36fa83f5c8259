/** The snapshots that a node offers: those in a folder, as `daybook snapshot --out FOLDER/NAME` makes them. */
import { statSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ApiError } from '../../api/error-table.ts';
import type { OfferedFile, OfferedSnapshot, SnapshotOffer } from '../../api/snapshot-offer.ts';
import { BackupError } from '../../ingest/backup/backup-error.ts';
import { readUnpacked } from '../../ingest/backup/backup-files.ts';
import { newestSnapshot, readBackupIndex } from '../../ingest/backup/backup-index.ts';
import {
  FolderSource,
  isBackupName,
  isMetadataFile,
  METADATA_FOLDER,
} from '../../ingest/backup/backup-source.ts';
import { LEDGER_FILE, parseLedgerFacts } from '../../ingest/backup/ledger-facts.ts';
import { UNFINISHED_ENDING } from '../../ingest/backup/make-snapshot.ts';
import { NodeError } from '../node-error.ts';

/** Snapshots that are listed: the newest ones. */
export const MAX_OFFERED_SNAPSHOTS = 100;
/** Files that a process reads at the same time; each is in memory until it is sent. */
export const MAX_SNAPSHOT_READS = 8;
/** Largest file that is sent: more than a chunk with one of the largest values. */
export const MAX_OFFERED_BYTES = 96 * 1024 * 1024;
/** What is read of a snapshot for the list: `daybook snapshot` makes two metadata files of one line. */
const LISTED = { maxFiles: 10, maxLines: 10, maxFileBytes: 64 * 1024 };
const MAX_FACTS_BYTES = 8 * 1024 * 1024;
const NEVER = new AbortController().signal;
/** Names of folders that are read: none leads elsewhere. */
const SNAPSHOT_NAME = /^[A-Za-z0-9][\w.-]{0,127}$/;
const RETRY_AFTER_SECS = 1;

export class SnapshotFolder implements SnapshotOffer {
  readonly #folder: string;
  #reading = 0;

  /** @throws NodeError `bad_setting` when there is no such folder */
  constructor(folder: string) {
    this.#folder = folder;
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
    throw new NodeError('bad_setting', `snapshots: there is no folder ${folder}`, { exitCode: 2 });
  }

  async list(): Promise<readonly OfferedSnapshot[]> {
    const found: OfferedSnapshot[] = [];
    for (const name of await readdir(this.#folder)) {
      const snapshot = isOffered(name) ? await this.#read(name) : undefined;
      if (snapshot !== undefined) found.push(snapshot);
    }
    const ages = (a: OfferedSnapshot, b: OfferedSnapshot) =>
      Number(b.newestVersion - a.newestVersion) || Number(b.version - a.version);
    return found.sort(ages).slice(0, MAX_OFFERED_SNAPSHOTS);
  }

  async metadataNames(snapshot: string): Promise<readonly string[] | undefined> {
    if (!isOffered(snapshot)) return undefined;
    try {
      const names = await readdir(join(this.#folder, snapshot, METADATA_FOLDER));
      return names.filter(isMetadataFile);
    } catch (cause) {
      if (isAbsent(cause)) return undefined;
      throw cause;
    }
  }

  async file(snapshot: string, folder: string, name: string): Promise<OfferedFile | undefined> {
    if (!(isOffered(snapshot) && isBackupName(folder) && isBackupName(name))) return undefined;
    if (this.#reading >= MAX_SNAPSHOT_READS) {
      const retry = { retryAfterSecs: RETRY_AFTER_SECS };
      throw new ApiError(
        503,
        'internal_error',
        'Too many files of snapshots are being read',
        retry,
      );
    }
    this.#reading += 1;
    try {
      const path = join(this.#folder, snapshot, folder, name);
      const { size, mtimeMs, ino } = await stat(path);
      if (size > MAX_OFFERED_BYTES) return undefined;
      return { bytes: await readFile(path), tagCore: `${ino}-${size}-${Math.floor(mtimeMs)}` };
    } catch (cause) {
      if (isAbsent(cause)) return undefined;
      throw cause;
    } finally {
      this.#reading -= 1;
    }
  }

  /** Reads what the files of a snapshot say, unverified; `undefined` if Daybook did not make it. */
  async #read(name: string): Promise<OfferedSnapshot | undefined> {
    const source = new FolderSource(join(this.#folder, name));
    try {
      const index = await readBackupIndex(source, NEVER, LISTED);
      const { version, manifest } = newestSnapshot(index);
      const file = `${dirname(manifest)}/${LEDGER_FILE}`;
      const bytes = await readUnpacked(source, file, NEVER, MAX_FACTS_BYTES);
      const { chainId, newestVersion, timestampUsecs } = parseLedgerFacts(bytes, file);
      return { name, chainId, version, newestVersion, timestampUsecs };
    } catch (cause) {
      if (cause instanceof BackupError) return undefined;
      throw cause;
    }
  }
}

/** One that is being made gets its name when it is whole. */
function isOffered(name: string): boolean {
  return SNAPSHOT_NAME.test(name) && !name.endsWith(UNFINISHED_ENDING);
}

function isAbsent(cause: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'EISDIR'].includes((cause as NodeJS.ErrnoException).code ?? '');
}
