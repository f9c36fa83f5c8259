/**
 * A backup behind a URL: in a public bucket of Amazon S3 or Google Cloud Storage, or on a server that lists its
 * folders.
 */
import type { Answer } from '../../remote/answer.ts';
import { download } from '../../remote/download.ts';
import { RemoteError } from '../../remote/remote-error.ts';
import { RemoteServer } from '../../remote/remote-server.ts';
import { BackupError } from './backup-error.ts';
import {
  type BackupSource,
  isMetadataFile,
  MAX_METADATA_FILES,
  METADATA_FOLDER,
} from './backup-source.ts';

/** Maximum number of files that are downloaded at once. */
const MAX_CONNECTIONS = 16;
export const MAX_DAMAGED_DOWNLOADS = 3;
/** Time limits of one attempt. The next attempt resumes the download. */
const TIMEOUTS = { silenceTimeoutMs: 60_000, totalTimeoutMs: 600_000 };
/** Statuses for a file that does not exist. A bucket that does not permit listing returns 403. */
const MISSING = [403, 404, 410];
/** Maximum size of a list of files in bytes. A bucket lists a thousand files at once. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;
const MAX_SNAPSHOT_LIST_BYTES = 64 * 1024;

export class HttpSource implements BackupSource {
  readonly attempts = MAX_DAMAGED_DOWNLOADS;
  readonly #server: RemoteServer;
  readonly #timeouts: typeof TIMEOUTS;

  /** @param base the folder of the backup, `http:` or `https:` */
  constructor(base: URL, timeouts = TIMEOUTS) {
    const folder = new URL(base);
    folder.pathname = base.pathname.replace(/\/*$/, '/');
    this.#server = new RemoteServer(folder, MAX_CONNECTIONS);
    this.#timeouts = timeouts;
  }

  /** Takes the names from the server's list of the folder, or else from the bucket's list. */
  async metadataFiles(signal: AbortSignal): Promise<readonly string[]> {
    const folder = new URL(`${METADATA_FOLDER}/`, this.#server.base);
    const page = await this.#get(folder, MAX_LIST_BYTES, signal);
    const text = page.status === 200 ? page.body.toString('utf8') : '';
    let names = [...text.matchAll(/href="(?:\.\/)?([^"/]*)"/gi)].map(([, name]) => name!);
    if (names.length === 0) names = await this.#bucketNames(folder, signal);
    const files = names.filter(isMetadataFile).map((name) => `${METADATA_FOLDER}/${name}`);
    if (files.length > 0) return files;
    const detail = `${folder.href} has no metadata files, or cannot be listed: it is not a backup`;
    throw new BackupError('backup_incomplete', detail);
  }

  async read(handle: string, signal: AbortSignal, maxBytes: number): Promise<Buffer> {
    const url = new URL(handle, this.#server.base);
    const { status, headers, body } = await this.#get(url, maxBytes, signal);
    const type = headers['content-type'] ?? '';
    const isFile = status === 200 || status === 206;
    if (isFile && !type.startsWith('text/html')) return body;
    const isMissing = MISSING.includes(status);
    const code = isMissing ? 'backup_incomplete' : 'backup_unreachable';
    const answer = isFile ? `a page (${type}), which is not a file of a backup` : String(status);
    throw new BackupError(code, `the server answers with ${answer}`, handle);
  }

  close(): void {
    this.#server.close();
  }

  /** Lists the bucket, which is the host or the first part of the path. */
  async #bucketNames(folder: URL, signal: AbortSignal): Promise<string[]> {
    const [, first = '', ...rest] = folder.pathname.split('/');
    const buckets = [
      { path: '/', prefix: [first, ...rest].join('/') },
      { path: `/${first}`, prefix: rest.join('/') },
    ];
    for (const { path, prefix } of buckets) {
      const names: string[] = [];
      for (let marker = ''; ; ) {
        const url = new URL(path, folder);
        url.searchParams.set('prefix', prefix);
        if (marker !== '') url.searchParams.set('marker', marker);
        const { status, body } = await this.#get(url, MAX_LIST_BYTES, signal);
        const list = body.toString('utf8');
        if (status !== 200 || !list.includes('<ListBucketResult')) break;
        const keys = [...list.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key!);
        names.push(...keys.map((key) => key.slice(prefix.length)));
        const last = keys[keys.length - 1];
        const isWhole = last === undefined || !/<IsTruncated>true</.test(list);
        if (isWhole || names.length > MAX_METADATA_FILES) return names;
        marker = last;
      }
    }
    return [];
  }

  async #get(url: URL, maxBytes: number, signal: AbortSignal): Promise<Answer> {
    try {
      return await download(this.#server, url, { maxBytes, ...this.#timeouts }, signal);
    } catch (cause) {
      if (!(cause instanceof RemoteError)) throw cause;
      const isTooLong = cause.code === 'page_too_large';
      const code = isTooLong ? 'backup_malformed' : 'backup_unreachable';
      throw new BackupError(code, cause.message, undefined, { cause });
    }
  }
}

/**
 * The URL of the newest snapshot that a node offers (docs/extensions.md); `undefined` if it offers none.
 * @param node the base of its interface
 * @throws BackupError
 */
export async function newestSnapshotOf(node: URL): Promise<URL | undefined> {
  const base = new URL(`${node.href}/-/`);
  const source = new HttpSource(base);
  try {
    const bytes = await source.read(
      'snapshots',
      new AbortController().signal,
      MAX_SNAPSHOT_LIST_BYTES,
    );
    const name = newestNameIn(bytes.toString('utf8'));
    return name === undefined ? undefined : new URL(`snapshots/${encodeURIComponent(name)}`, base);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    const detail = `${base.href}snapshots has no list of snapshots`;
    throw new BackupError('backup_malformed', detail, undefined, { cause });
  } finally {
    source.close();
  }
}

/** @throws SyntaxError for anything but a list of snapshots */
function newestNameIn(text: string): string | undefined {
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) throw new SyntaxError('not a list');
  const [newest] = list;
  if (newest === undefined) return undefined;
  if (typeof newest?.name !== 'string') throw new SyntaxError('not a snapshot');
  return newest.name;
}
