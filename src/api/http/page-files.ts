/**
 * The page at `/` and the API documentation at `/v1/spec`: files of the build, including Swagger UI. They are read at
 * start and every file has its own route, so a request path never becomes a path on disk.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtFile } from '../../built.ts';
import { contentDigest } from '../../move/crypto/hash.ts';
import type { NodeFacts } from './node-facts.ts';
import type { HeaderList } from './response-writing.ts';

/** Files are under this path; `/` and `/v1/spec` are the two documents. */
const FILE_PREFIX = '/page/';
/** Names below this one contain a digest of the content. */
const HASHED_PREFIX = `${FILE_PREFIX}assets/`;
/** Documents that are served at other paths, by their name in the folder. */
const DOCUMENT_PATHS: ReadonlyMap<string, string> = new Map([
  ['index.html', '/'],
  ['spec.html', '/v1/spec'],
]);

const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
]);

const PAGE_POLICY =
  "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
  "object-src 'none'";
/** Swagger UI's own style sheet holds its icons as data URLs. */
const SPEC_POLICY = `${PAGE_POLICY}; img-src 'self' data:`;
/** The page calls the indexer on the host that it was opened from, which is not known here. */
const withIndexer = (port: number): string =>
  `${PAGE_POLICY}; connect-src 'self' http://*:${port} https://*:${port}`;

export class PageFilesError extends Error {
  readonly code = 'page_files_unreadable';

  constructor(folder: string, problem: string, options?: ErrorOptions) {
    super(`page files in ${folder}: ${problem}; run "npm run build"`, options);
    this.name = 'PageFilesError';
  }
}

export interface PageFile {
  /** The only path it is served at. */
  readonly path: string;
  readonly contentType: string;
  /** Whether the bytes at this path never change. */
  readonly isImmutable: boolean;
  readonly securityHeaders: HeaderList;
  readonly bytes: Buffer;
  readonly tagCore: string;
}

/** Replaced in both documents by a note that they show a sample ledger, if they do. */
const SAMPLE_MARK = '<!-- sample -->';
const SAMPLE_NOTE =
  '<aside class="sample-note" aria-label="Sample">This is a sample ledger. A generator made its ' +
  'accounts and transactions; nothing here comes from a network.</aside>';
/** Replaced in the documents by the port of the indexer, if there is one, and by the node's facts. */
const INDEXER_MARK = '<!-- indexer -->';
const NODE_MARK = '<!-- node -->';

interface DocumentFacts {
  /** Whether the documents say that they show a sample ledger. */
  readonly isSample?: boolean;
  /** The port of the indexer's GraphQL; absent if there is no indexer. */
  readonly indexerPort?: number | undefined;
  readonly node?: NodeFacts;
}

/**
 * Reads the page's files.
 * @throws PageFilesError if the page is not built, or the folder contains files that are not part of it
 */
export function readPageFiles({
  folder = fileURLToPath(builtFile('web/')),
  ...facts
}: DocumentFacts & { readonly folder?: string } = {}): PageFile[] {
  const names = listFiles(folder);
  for (const document of DOCUMENT_PATHS.keys()) {
    if (!names.includes(document)) throw new PageFilesError(folder, `${document} is missing`);
  }
  return names.map((name) =>
    readPageFile(folder, name, DOCUMENT_PATHS.get(name) ?? FILE_PREFIX + name, facts),
  );
}

function listFiles(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, '/').length))
      .sort();
  } catch (cause) {
    throw new PageFilesError(folder, 'the folder cannot be read', { cause });
  }
}

function readPageFile(folder: string, name: string, path: string, facts: DocumentFacts): PageFile {
  const contentType = CONTENT_TYPES.get(extname(name));
  if (contentType === undefined)
    throw new PageFilesError(folder, `${name} is not part of the page`);
  let bytes = readFileSync(join(folder, name));
  if (DOCUMENT_PATHS.has(name)) bytes = Buffer.from(documentText(bytes.toString('utf8'), facts));
  return {
    path,
    contentType,
    isImmutable: path.startsWith(HASHED_PREFIX),
    securityHeaders: [
      'content-security-policy',
      policyOf(path, facts),
      'x-content-type-options',
      'nosniff',
      'referrer-policy',
      'no-referrer',
    ],
    bytes,
    tagCore: contentDigest(bytes),
  };
}

function documentText(
  text: string,
  { isSample = false, indexerPort, node = {} }: DocumentFacts,
): string {
  const indexer =
    indexerPort === undefined ? '' : `<meta name="indexer-port" content="${indexerPort}">`;
  const facts = JSON.stringify(node).replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return text
    .replace(SAMPLE_MARK, isSample ? SAMPLE_NOTE : '')
    .replace(INDEXER_MARK, indexer)
    .replace(NODE_MARK, () => `<meta name="node" content="${facts}">`);
}

function policyOf(path: string, { indexerPort }: DocumentFacts): string {
  if (path === '/v1/spec') return SPEC_POLICY;
  return path === '/' && indexerPort !== undefined ? withIndexer(indexerPort) : PAGE_POLICY;
}
