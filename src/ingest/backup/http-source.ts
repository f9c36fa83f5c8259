/**
 * A backup behind a URL: in a public bucket of Amazon S3 or Google Cloud Storage, or on a server that lists its
 * folders.
 */
import http from 'node:http';
import https from 'node:https';
import { type Download, download } from '../feed/download.ts';
import { FeedError } from '../feed/feed-error.ts';
import { BackupError } from './backup-error.ts';
import {
  type BackupSource,
  isMetadataFile,
  MAX_METADATA_FILES,
  METADATA_FOLDER,
} from './backup-source.ts';

/** Files that are downloaded at once, at most. */
const MAX_CONNECTIONS = 16;
/** Bounds of one attempt in time; the next one goes on where it ended. */
const TIMEOUTS = { silenceTimeoutMs: 60_000, totalTimeoutMs: 600_000 };
/** Answers for a file that is not there; a bucket that must not be listed answers 403. */
const MISSING = [403, 404, 410];
/** Most bytes of a list of files: a bucket gives a thousand at once. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;

export class HttpSource implements BackupSource {
  readonly #base: URL;
  readonly #agent: http.Agent;
  readonly #timeouts: typeof TIMEOUTS;

  /** @param base the folder of the backup, `http:` or `https:` */
  constructor(base: URL, timeouts = TIMEOUTS) {
    this.#base = new URL(base);
    this.#base.pathname = base.pathname.replace(/\/*$/, '/');
    this.#timeouts = timeouts;
    const { Agent } = base.protocol === 'https:' ? https : http;
    this.#agent = new Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS });
  }

  /** From the list of the folder that a server gives, or from that of the bucket. */
  async metadataFiles(signal: AbortSignal): Promise<readonly string[]> {
    const folder = new URL(`${METADATA_FOLDER}/`, this.#base);
    const page = await this.#get(folder, MAX_LIST_BYTES, signal);
    let names = page.status === 200 ? linksIn(page.body.toString('utf8')) : [];
    if (names.length === 0) names = await this.#bucketNames(folder, signal);
    const files = names.filter(isMetadataFile).map((name) => `${METADATA_FOLDER}/${name}`);
    if (files.length > 0) return files;
    const detail = `${folder.href} has no metadata files, or cannot be listed: it is not a backup`;
    throw new BackupError('backup_incomplete', detail);
  }

  async read(handle: string, signal: AbortSignal, maxBytes: number): Promise<Buffer> {
    const { status, body } = await this.#get(new URL(handle, this.#base), maxBytes, signal);
    if (status === 200 || status === 206) return body;
    const isMissing = MISSING.includes(status);
    const code = isMissing ? 'backup_incomplete' : 'backup_unreachable';
    throw new BackupError(code, `the server answers ${status}`, handle);
  }

  close(): void {
    this.#agent.destroy();
  }

  /** The bucket is the host, or the first part of the path. */
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

  async #get(url: URL, maxBytes: number, signal: AbortSignal): Promise<Download> {
    try {
      return await download(url, this.#agent, { maxBytes, ...this.#timeouts }, signal);
    } catch (cause) {
      if (!(cause instanceof FeedError)) throw cause;
      const isTooLong = cause.code === 'page_too_large';
      const code = isTooLong ? 'backup_malformed' : 'backup_unreachable';
      throw new BackupError(code, cause.message, undefined, { cause });
    }
  }
}

/** Names of files that a page of a server links to, in the folder itself. */
function linksIn(page: string): string[] {
  return [...page.matchAll(/href="(?:\.\/)?([^"/]*)"/gi)].map(([, name]) => name!);
}
