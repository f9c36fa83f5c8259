/** The file of an examination that can be continued: what the run has saved, behind a checksum. */
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { sha3 } from '../../move/crypto/hash.ts';
import { isPostgresUrl } from '../../store/postgres/location.ts';
import { storeFileOf, syncToDisk } from '../../store/sqlite/files.ts';
import type { SavedRun } from '../../verify/saved-run.ts';
import { redactedLocation } from '../locations/redacted-location.ts';
import { NodeError, reasonOf } from '../node-error.ts';
import { packageVersion } from '../settings/settings.ts';

/** Begins each file; its number is that of the format. */
const MARK = Buffer.from('daybook verify 1\n');
const CHECKSUM_BYTES = 32;
/** Only its owner reads it: it has rows of the ledger, and the secret of the run. */
const FILE_MODE = 0o600;

interface SavedFile {
  /** The version of the program: another one may make other checks. */
  readonly program: string;
  readonly place: string;
  readonly run: SavedRun;
}

export class RunFile {
  readonly #path: string;
  readonly #place: string;

  /** @param data where the ledger is */
  constructor(path: string, data: string) {
    this.#path = path;
    this.#place = placeOf(data);
  }

  /** The run that was saved; `undefined` without a file. @throws NodeError `bad_input` for a file of anything else */
  read(): SavedRun | undefined {
    const bytes = bytesOfFile(this.#path);
    if (bytes === undefined) return undefined;
    const contentAt = MARK.length + CHECKSUM_BYTES;
    const checksum = bytes.subarray(MARK.length, contentAt);
    const content = bytes.subarray(contentAt);
    const isMarked = bytes.subarray(0, MARK.length).equals(MARK);
    if (!isMarked) throw this.refusal('it is not of this command, or of another format');
    if (!sha3(content).equals(checksum)) throw this.refusal('it is damaged');
    const { program, place, run } = deserialize(content) as SavedFile;
    if (program !== packageVersion()) throw this.refusal(`it is of version ${program} of Daybook`);
    if (place !== this.#place) throw this.refusal('it is of another ledger');
    return run;
  }

  /** Writes the file, as a whole or not at all. @throws NodeError `file_not_readable` */
  write(run: SavedRun): void {
    const content = serialize({ program: packageVersion(), place: this.#place, run });
    const unfinished = `${this.#path}.new`;
    try {
      const bytes = Buffer.concat([MARK, sha3(content), content]);
      writeFileSync(unfinished, bytes, { mode: FILE_MODE });
      syncToDisk(unfinished);
      renameSync(unfinished, this.#path);
    } catch (cause) {
      const message = `cannot write ${this.#path}: ${reasonOf(cause)}`;
      throw new NodeError('file_not_readable', message, { cause });
    }
  }

  remove(): void {
    rmSync(this.#path, { force: true });
  }

  refusal(why: string): NodeError {
    const message =
      `${this.#path} cannot be continued: ${why}; ` +
      'delete it to begin from the start, or name another file with --progress';
    return new NodeError('bad_input', message, { exitCode: 2 });
  }
}

/** The bytes of a file; `undefined` without it. @throws NodeError `file_not_readable` */
export function bytesOfFile(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new NodeError('file_not_readable', `cannot read ${path}: ${reasonOf(cause)}`, { cause });
  }
}

/**
 * Distinguishes a ledger from a copy, which may be damaged elsewhere. A copy in its place may have the inode number
 * of the removed file.
 */
function placeOf(data: string): string {
  if (isPostgresUrl(data)) return redactedLocation(data);
  const file = statSync(storeFileOf(data), { bigint: true, throwIfNoEntry: false });
  return `${resolve(data)} ${file?.ino} ${file?.birthtimeNs}`;
}
