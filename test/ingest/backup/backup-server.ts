/**
 * Serves a backup in a folder, like a bucket or like a server with directory listings; it can break off its responses.
 */
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export interface ServerManners {
  /**
   * `pages`: an HTML page of links for each folder; else a bucket named by the host, or by the first segment of the
   * path.
   */
  readonly lists: 'pages' | 'host' | 'path' | 'nothing';
  /** Maximum number of names in one response of a bucket. */
  readonly namesAtOnce?: number;
  /** Number of bytes after which the connection is cut, at the n-th request of a file; `undefined`: it is not cut. */
  readonly cutAfter?: (file: string, request: number) => number | undefined;
  /** Status to send instead of the file, at its n-th request. */
  readonly refuse?: (file: string, request: number) => number | undefined;
  /** Whether the request is never answered. */
  readonly hangs?: (file: string, request: number) => boolean;
  /** Whether ranges are served; default true. */
  readonly hasRanges?: boolean;
  /** Entity tag at the n-th request of a file. */
  readonly tag?: (file: string, request: number) => string;
}

export interface BackupServer {
  readonly url: URL;
  /** Requests of files, with the first requested byte. */
  readonly requests: { readonly file: string; readonly start: number }[];
}

/** Serves a folder under `/base/e1/`, until the test has finished. */
export async function serveBackup(folder: string, manners: ServerManners): Promise<BackupServer> {
  const requests: { file: string; start: number }[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://backup');
    const list = listOf(folder, url, manners);
    if (list !== undefined) {
      response.end(list);
      return;
    }
    const file = url.pathname.replace(/^\/base\/e1\//, '');
    answerFile(folder, file, manners, requests, request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: new URL(`http://127.0.0.1:${port}/base/e1`), requests };
}

function listOf(folder: string, url: URL, manners: ServerManners): string | undefined {
  const { lists, namesAtOnce = 1_000 } = manners;
  const names = readdirSync(join(folder, 'metadata')).sort();
  if (lists === 'pages' && url.pathname === '/base/e1/metadata/') {
    const links = names.map((name) => `<li><a href="${name}">${name}</a>`);
    return `<html><a href="../">up</a><a href="/x.meta">x</a>${links.join('\n')}</html>`;
  }
  const prefix = lists === 'host' ? 'base/e1/metadata/' : 'e1/metadata/';
  const bucket = lists === 'host' ? '/' : '/base';
  const isBucket = (lists === 'host' || lists === 'path') && url.pathname === bucket;
  if (!isBucket || url.searchParams.get('prefix') !== prefix) return undefined;
  const keys = ['', ...names].map((name) => prefix + name);
  const marker = url.searchParams.get('marker') ?? '';
  const after = keys.filter((key) => key > marker);
  const page = after.slice(0, namesAtOnce);
  const isTruncated = page.length < after.length;
  const contents = page.map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`);
  return (
    `<?xml version="1.0"?><ListBucketResult><Name>b</Name><IsTruncated>${isTruncated}` +
    `</IsTruncated>${contents.join('')}</ListBucketResult>`
  );
}

function answerFile(
  folder: string,
  file: string,
  manners: ServerManners,
  requests: BackupServer['requests'],
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const count = requests.filter((earlier) => earlier.file === file).length + 1;
  const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
  requests.push({ file, start: Number(from ?? 0) });
  if (manners.hangs?.(file, count) === true) return;
  const refused = manners.refuse?.(file, count);
  const path = join(folder, file);
  const isFile = file.split('/').length === 2 && existsSync(path) && !file.endsWith('/');
  if (refused !== undefined || !isFile) {
    response.writeHead(refused ?? 404, { 'retry-after': '0' }).end('no');
    return;
  }
  const bytes = readFileSync(path);
  const etag = manners.tag?.(file, count) ?? '"one"';
  const isSame = (request.headers['if-range'] ?? etag) === etag;
  const start = manners.hasRanges !== false && isSame ? Number(from ?? 0) : 0;
  const range = { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` };
  response.writeHead(start > 0 ? 206 : 200, { etag, ...(start > 0 ? range : {}) });
  const cut = manners.cutAfter?.(file, count);
  if (cut === undefined || cut >= bytes.length - start) response.end(bytes.subarray(start));
  else response.write(bytes.subarray(start, start + cut), () => response.destroy());
}
