/** The snapshots that a node offers: those in a folder, as `daybook snapshot --out FOLDER/NAME` makes them. */
import { statSync } from 'node:fs';
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '../api/http/error-table.ts';
import type { OfferedFile, OfferedSnapshot, SnapshotOffer } from '../api/snapshot-offer.ts';
import { MAX_CHUNK_BYTES } from '../ingest/snapshot/chunk-file.ts';
import {
  CHUNK_NAME,
  MANIFEST_HEAD_BYTES,
  MANIFEST_NAME,
  manifestHead,
  UNFINISHED_ENDING,
} from '../ingest/snapshot/manifest.ts';
import { NodeError } from './node-error.ts';

/** Snapshots that are listed: the newest ones. */
export const MAX_OFFERED_SNAPSHOTS = 100;
/** Files that a process reads at the same time; each is in memory until it is sent. */
export const MAX_SNAPSHOT_READS = 8;
/** Names of folders that are looked into: none leads elsewhere. */
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
      if (!isOffered(name)) continue;
      const head = manifestHead(await beginningOf(join(this.#folder, name, MANIFEST_NAME)));
      if (head !== undefined) found.push({ name, ...head });
    }
    const ages = (a: OfferedSnapshot, b: OfferedSnapshot) =>
      Number(b.newestVersion - a.newestVersion) || Number(b.version - a.version);
    return found.sort(ages).slice(0, MAX_OFFERED_SNAPSHOTS);
  }

  async file(snapshot: string, name: string): Promise<OfferedFile | undefined> {
    const isName = name === MANIFEST_NAME || CHUNK_NAME.test(name);
    if (!(isName && isOffered(snapshot))) return undefined;
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
      const path = join(this.#folder, snapshot, name);
      const { size, mtimeMs, ino } = await stat(path);
      if (size > MAX_CHUNK_BYTES) return undefined;
      return { bytes: await readFile(path), tagCore: `${ino}-${size}-${Math.floor(mtimeMs)}` };
    } catch (cause) {
      if (isAbsent(cause)) return undefined;
      throw cause;
    } finally {
      this.#reading -= 1;
    }
  }
}

/** One that is being made has its manifest before its last name. */
function isOffered(name: string): boolean {
  return SNAPSHOT_NAME.test(name) && !name.endsWith(UNFINISHED_ENDING);
}

/** The first bytes of a file; none of a file that is absent. */
async function beginningOf(path: string): Promise<Buffer> {
  try {
    const file = await open(path, 'r');
    try {
      const bytes = Buffer.alloc(MANIFEST_HEAD_BYTES);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
      return bytes.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (isAbsent(cause)) return Buffer.alloc(0);
    throw cause;
  }
}

function isAbsent(cause: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'EISDIR'].includes((cause as NodeJS.ErrnoException).code ?? '');
}
