/**
 * A snapshot whose files are fetched over HTTP: from a node that offers it, or from any server that has its folder.
 * Whatever goes wrong on the way, damage too, is tried again a few times.
 */
import http from 'node:http';
import https from 'node:https';
import { download } from '../feed/download.ts';
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

/** Times that a file whose bytes are wrong is downloaded: it may have been damaged on the way. */
export const MAX_DAMAGED_DOWNLOADS = 3;
/** Bounds of one attempt in time; the next one goes on where it ended. */
const TIMEOUTS = { silenceTimeoutMs: 10_000, totalTimeoutMs: 300_000 };
/** Most bytes of a list of snapshots. */
const MAX_LIST_BYTES = 64 * 1024;

/** Downloads files below a URL. */
class Folder {
  readonly #base: URL;
  readonly #timeouts: FeedTimeouts;
  readonly #agent: http.Agent;
  readonly #abort = new AbortController();

  constructor(base: URL, timeouts: FeedTimeouts) {
    this.#base = base;
    this.#timeouts = timeouts;
    const { Agent } = base.protocol === 'https:' ? https : http;
    this.#agent = new Agent({ keepAlive: true });
  }

  /** @param isWhole whether the bytes are those of the file @throws FeedError */
  async file(name: string, maxBytes: number, isWhole: (bytes: Buffer) => boolean): Promise<Buffer> {
    const url = new URL(this.#base);
    url.pathname += name;
    for (let damaged = 1; ; damaged += 1) {
      try {
        const bytes = await this.#bytes(url, maxBytes);
        if (isWhole(bytes)) return bytes;
      } catch (error) {
        const isTooLarge = error instanceof FeedError && error.code === 'page_too_large';
        if (!isTooLarge) throw error;
      }
      if (damaged < MAX_DAMAGED_DOWNLOADS) continue;
      throw new FeedError('page_malformed', `${url.href} is damaged, or something else`);
    }
  }

  async #bytes(url: URL, maxBytes: number): Promise<Buffer> {
    const limits = { maxBytes, ...this.#timeouts };
    const answer = await download(url, this.#agent, limits, this.#abort.signal);
    const { status, headers, body } = answer;
    if (status !== 200 && status !== 206) {
      throw statusError(url, { ...answer, body: new Uint8Array(body) });
    }
    const type = headers['content-type'];
    if (type?.startsWith('text/html') !== true) return body;
    const message = `${url.href} answers with a page (${type}), which is no file of a snapshot`;
    throw new FeedError('upstream_not_a_feed', message);
  }

  close(): void {
    this.#abort.abort();
    this.#agent.destroy();
  }
}

/** A snapshot in a folder of a server. */
export class SnapshotDownload implements SnapshotSource {
  readonly #folder: Folder;

  /** @param text the URL of the folder @throws FeedError `bad_upstream_url` */
  constructor(text: string, timeouts: FeedTimeouts = TIMEOUTS) {
    const url = urlOf(text);
    if (url.pathname.endsWith('.tar')) {
      throw badUrl(text, 'a snapshot in one file must be downloaded first');
    }
    if (!url.pathname.endsWith('/')) url.pathname += '/';
    this.#folder = new Folder(url, timeouts);
  }

  manifest(): Promise<Buffer> {
    return this.#folder.file(MANIFEST_NAME, MAX_MANIFEST_BYTES, isManifest);
  }

  chunk({ name, bytes, sha256 }: ChunkEntry): Promise<Uint8Array> {
    return this.#folder.file(name, bytes, (file) => sha256Hex(file) === sha256);
  }

  async close(): Promise<void> {
    this.#folder.close();
  }
}

/**
 * The URL of the newest snapshot that a node offers; `undefined` if it offers none.
 * @param node its URL, with or without `/v1`
 * @throws FeedError
 */
export async function newestSnapshotOf(
  node: string,
  timeouts: FeedTimeouts = TIMEOUTS,
): Promise<string | undefined> {
  const base = interfaceBase(node);
  base.pathname += '/-/';
  const folder = new Folder(base, timeouts);
  try {
    const bytes = await folder.file('snapshots', MAX_LIST_BYTES, isJson);
    const list: unknown = JSON.parse(bytes.toString('utf8'));
    if (Array.isArray(list) && list.length === 0) return undefined;
    const [newest] = Array.isArray(list) ? list : [];
    if (typeof newest?.name === 'string') {
      return `${base.href}snapshots/${encodeURIComponent(newest.name)}/`;
    }
    throw new FeedError('upstream_not_a_feed', `${base.href}snapshots has no list of snapshots`);
  } finally {
    folder.close();
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
