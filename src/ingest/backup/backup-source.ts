/** Storages of backups (docs/spec/backup.md §3.1). They do not verify the files. */
import { constants } from 'node:buffer';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { BackupError, malformed } from './backup-error.ts';

/** The folder of the metadata files, and the ending of their names. */
export const METADATA_FOLDER = 'metadata';
const METADATA_END = '.meta';

/** Maximum number of metadata files: ten times as many as mainnet would have without any compaction. */
export const MAX_METADATA_FILES = 500_000;
/** Maximum number of lines of all metadata files. Each backup may be in its own file and in a compacted one. */
export const MAX_METADATA_LINES = 2 * MAX_METADATA_FILES;
/** Maximum size of a metadata file in bytes, as stored and unpacked: about 80,000 lines. */
export const MAX_METADATA_BYTES = 16 * 1024 * 1024;
/**
 * Maximum size of a manifest in bytes, as stored and unpacked: 24,000 chunks. That is a state of 2.9 TiB with the chunk
 * size of the reference's tool. Parsing nested JSON takes up to 50 times its bytes.
 */
export const MAX_MANIFEST_BYTES = 8 * 1024 * 1024;
/**
 * Maximum size of any other file in bytes, as stored and unpacked: four times what the reference’s tool writes by
 * default.
 */
export const MAX_FILE_BYTES = Math.min(512 * 1024 * 1024, constants.MAX_LENGTH);

/** A part of a file handle (docs/spec/backup.md §3.1). It cannot lead out of the backup. */
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9._-]{2,126}$/;

export interface BackupSource {
  /** How often a damaged file is read in total. The transport may have damaged it. */
  readonly attempts: number;
  /** Handles of all metadata files. @throws BackupError */
  metadataFiles(signal: AbortSignal): Promise<readonly string[]>;
  /**
   * A file as it is stored.
   * @throws BackupError `backup_incomplete` if the file does not exist, `backup_malformed` if it is too long
   */
  read(handle: string, signal: AbortSignal, maxBytes: number): Promise<Buffer>;
  close(): void;
}

/** @throws BackupError for a handle that is not of the form FOLDER/FILE */
export function checkHandle(handle: string, file: string): string {
  const parts = handle.split('/');
  if (parts.length === 2 && parts.every(isBackupName)) return handle;
  throw malformed(file, `not a file of this backup: ${JSON.stringify(handle.slice(0, 200))}`);
}

export function isBackupName(name: string): boolean {
  return NAME.test(name);
}

export function isMetadataFile(name: string): boolean {
  return name.endsWith(METADATA_END) && isBackupName(name);
}

export class FolderSource implements BackupSource {
  readonly attempts = 1;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async metadataFiles(): Promise<readonly string[]> {
    const folder = join(this.#folder, METADATA_FOLDER);
    const names = await readdir(folder).catch((cause: unknown) => {
      const detail = `${this.#folder} is not a backup: it has no folder ${METADATA_FOLDER}`;
      throw new BackupError('backup_incomplete', detail, undefined, { cause });
    });
    return names.filter(isMetadataFile).map((name) => `${METADATA_FOLDER}/${name}`);
  }

  async read(handle: string, signal: AbortSignal, maxBytes: number): Promise<Buffer> {
    const path = join(this.#folder, handle);
    try {
      const { size } = await stat(path);
      if (size > maxBytes) {
        throw malformed(handle, `${size} bytes, at most ${maxBytes} are read`);
      }
      return await readFile(path, { signal });
    } catch (cause) {
      if (cause instanceof BackupError || signal.aborted) throw cause;
      const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
      const code = isMissing ? 'backup_incomplete' : 'backup_unreachable';
      const detail = isMissing ? 'there is no such file' : (cause as Error).message;
      throw new BackupError(code, detail, handle, { cause });
    }
  }

  close(): void {}
}

const gunzipped = promisify(gunzip);
const gzipped = promisify(gzip);
const GZIP_MAGIC = Buffer.of(0x1f, 0x8b);

/** Whether a manifest, a chunk or a metadata file is compressed. For proofs the first bytes do not show this. */
export function isGzip(bytes: Buffer): boolean {
  return bytes.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC);
}

/** @throws BackupError for bytes that are not gzip, or unpack to more than `maxBytes` */
export async function unzip(
  bytes: Buffer,
  file: string,
  maxBytes = MAX_FILE_BYTES,
): Promise<Buffer> {
  try {
    return await gunzipped(bytes, { maxOutputLength: maxBytes });
  } catch (cause) {
    throw malformed(file, `does not unpack: ${(cause as Error).message}`, cause);
  }
}

/** Compresses bytes like the files of public backups. */
export async function zip(bytes: Buffer): Promise<Buffer> {
  return await gzipped(bytes);
}
