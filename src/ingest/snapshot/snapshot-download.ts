/**
 * A snapshot whose files are fetched over HTTP: from a node that offers it, or from any server that has its folder.
 * Whatever goes wrong on the way, damage too, is tried again a few times.
 */
import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { retryDelayMs } from '../feed/backoff.ts';
import { exchange } from '../feed/exchange.ts';
import { type FeedTimeouts, statusError } from '../feed/feed-client.ts';
import { FeedError } from '../feed/feed-error.ts';
import { badUrl, interfaceBase, urlOf } from '../feed/interface-url.ts';
import type { SnapshotSource } from './load-snapshot.ts';
import {
  type ChunkEntry,
  MANIFEST_NAME,
  MAX_MANIFEST_BYTES,
  parseManifest,
  sha256Hex,
} from './manifest.ts';
import { SnapshotError } from './snapshot-error.ts';

interface DownloadLimits {
  /** Times that a file is asked for. */
  readonly attempts: number;
  readonly timeouts: FeedTimeouts;
}

/** The waits between attempts add up to about a minute. */
const DOWNLOAD_LIMITS: DownloadLimits = {
  attempts: 9,
  timeouts: { silenceTimeoutMs: 10_000, totalTimeoutMs: 300_000 },
};

/** Most bytes of a list of snapshots. */
const MAX_LIST_BYTES = 64 * 1024;

/** Fetches files below a URL. */
class Download {
  readonly #base: URL;
  readonly #limits: DownloadLimits;
  readonly #agent: http.Agent;
  readonly #abort = new AbortController();

  constructor(base: URL, limits: DownloadLimits) {
    this.#base = base;
    this.#limits = limits;
    const { Agent } = base.protocol === 'https:' ? https : http;
    this.#agent = new Agent({ keepAlive: true });
  }

  /**
   * @param isWhole whether the bytes are those of the file
   * @throws FeedError of the last attempt
   */
  async file(name: string, maxBytes: number, isWhole: (bytes: Buffer) => boolean): Promise<Buffer> {
    const url = new URL(this.#base);
    url.pathname += name;
    const { signal } = this.#abort;
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.#attempt(url, maxBytes, isWhole);
      } catch (error) {
        if (!(error instanceof FeedError) || failures >= this.#limits.attempts) throw error;
        // At first contact a wrong address is likelier than a node that is starting.
        const isHopeless = error.remedy === 'stop' || error.code === 'upstream_not_a_feed';
        if (isHopeless) throw error;
        await sleep(retryDelayMs(failures, error.retryAfterMs), undefined, { signal });
      }
    }
  }

  async #attempt(url: URL, maxBytes: number, isWhole: (bytes: Buffer) => boolean): Promise<Buffer> {
    const asked = { method: 'GET', headers: { 'accept-encoding': 'identity' } } as const;
    const limits = { maxBytes, ...this.#limits.timeouts };
    const answer = await exchange(url, this.#agent, asked, limits, this.#abort.signal);
    if (answer.status !== 200) throw statusError(url, answer);
    const bytes = Buffer.from(answer.body.buffer);
    if (isWhole(bytes)) return bytes;
    const type = answer.headers['content-type'] ?? 'nothing';
    const isPage = type.startsWith('text/html');
    const what = isPage ? `a page (${type}), which is no file of a snapshot` : 'damaged bytes';
    throw new FeedError(
      isPage ? 'upstream_not_a_feed' : 'page_malformed',
      `${url.href} answers with ${what}`,
    );
  }

  close(): void {
    this.#abort.abort();
    this.#agent.destroy();
  }
}

/** A snapshot in a folder of a server. */
export class SnapshotDownload implements SnapshotSource {
  readonly #download: Download;

  /** @param text the URL of the folder @throws FeedError `bad_upstream_url` */
  constructor(text: string, limits = DOWNLOAD_LIMITS) {
    const url = urlOf(text);
    if (url.pathname.endsWith('.tar')) {
      throw badUrl(text, 'a snapshot in one file must be downloaded first');
    }
    if (!url.pathname.endsWith('/')) url.pathname += '/';
    this.#download = new Download(url, limits);
  }

  manifest(): Promise<Buffer> {
    return this.#download.file(MANIFEST_NAME, MAX_MANIFEST_BYTES, isManifest);
  }

  chunk({ name, bytes, sha256 }: ChunkEntry): Promise<Uint8Array> {
    return this.#download.file(name, bytes, (file) => sha256Hex(file) === sha256);
  }

  async close(): Promise<void> {
    this.#download.close();
  }
}

/**
 * The URL of the newest snapshot that a node offers; `undefined` if it offers none.
 * @param node its URL, with or without `/v1`
 * @throws FeedError
 */
export async function newestSnapshotOf(
  node: string,
  limits = DOWNLOAD_LIMITS,
): Promise<string | undefined> {
  const base = interfaceBase(node);
  base.pathname += '/-/';
  const download = new Download(base, limits);
  try {
    const bytes = await download.file('snapshots', MAX_LIST_BYTES, isJson);
    const list: unknown = JSON.parse(bytes.toString('utf8'));
    if (Array.isArray(list) && list.length === 0) return undefined;
    const [newest] = Array.isArray(list) ? list : [];
    if (typeof newest?.name === 'string') {
      return `${base.href}snapshots/${encodeURIComponent(newest.name)}/`;
    }
    throw new FeedError('upstream_not_a_feed', `${base.href}snapshots has no list of snapshots`);
  } finally {
    download.close();
  }
}

/** Anything but damage is for the reader of the manifest to refuse. */
function isManifest(bytes: Buffer): boolean {
  try {
    parseManifest(bytes);
    return true;
  } catch (error) {
    return !(error instanceof SnapshotError && error.code === 'damaged');
  }
}

function isJson(bytes: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object';
  } catch {
    return false;
  }
}
