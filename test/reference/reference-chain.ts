/**
 * A chain of a reference node with the node's answers: 1,533 versions, recorded on 2026-11-22. This project wrote none
 * of the expected values. `bundle.mjs` builds `chain.br`.
 */
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { buildApi } from '../../src/api/http/server.ts';
import type { ApiSettings } from '../../src/api/settings.ts';
import { initLedger } from '../../src/node/init.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { TestApi } from '../api/client.ts';
import { LogLines } from '../api/error-answers.ts';
import { apiSettings } from '../api/settings.ts';
import {
  openTestedLedger,
  openTestedReader,
  openTestedStore,
  testedLocation,
} from '../api/tested-ledger.ts';
import { NO_LOAD_BOUNDS } from '../api/unbounded.ts';
import { followerOf, NEVER } from '../ingest/feed-following.ts';

export const NEWEST_VERSION = 1_532;

const FEED_PAGE = 100;

/** The reference's headers of every answer that has them: always the same newest version. */
export const LEDGER_HEADERS = {
  'x-aptos-chain-id': '4',
  'x-aptos-ledger-version': String(NEWEST_VERSION),
  'x-aptos-ledger-oldest-version': '0',
  'x-aptos-ledger-timestampusec': '1771249440000000',
  'x-aptos-epoch': '5',
  'x-aptos-block-height': '150',
  'x-aptos-oldest-block-height': '0',
} as const;

/** One recorded request with its answer. Bodies ending in `_hex` are binary. */
export interface Recorded {
  readonly class?: string;
  readonly name?: string;
  readonly method?: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly body_hex?: string;
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly ledger_headers?: boolean;
    readonly body?: string;
    readonly body_hex?: string;
  };
}

let files: ReadonlyMap<string, Buffer> | undefined;

/** A file of the bundle. */
export function referenceFile(name: string): Buffer {
  files ??= readBundle();
  return files.get(name)!;
}

/** The lines of a recorded file. */
export function recordedLines<T = Recorded>(name: string): T[] {
  const lines = referenceFile(name).toString('utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}

function readBundle(): ReadonlyMap<string, Buffer> {
  const bundle = brotliDecompressSync(readFileSync(new URL('chain.br', import.meta.url)));
  let at = bundle.indexOf('\n') + 1;
  const index = JSON.parse(bundle.subarray(0, at).toString()) as [name: string, bytes: number][];
  return new Map(
    index.map(([name, bytes]) => {
      const file = bundle.subarray(at, at + bytes);
      at += bytes;
      return [name, file];
    }),
  );
}

/** Returns the transactions of a chain whose pages are in a folder of the bundle. */
function transactionsIn(folder: string): (version: number) => Buffer {
  let offsets: Readonly<Record<string, readonly number[]>> | undefined;
  return (version) => {
    const start = version - (version % FEED_PAGE);
    offsets ??= JSON.parse(referenceFile(`${folder}offsets.json`).toString()) as Record<
      string,
      number[]
    >;
    const ofPage = offsets[start]!;
    const page = referenceFile(`${folder}pages/${String(start).padStart(6, '0')}.bcs`);
    return page.subarray(ofPage[version - start], ofPage[version - start + 1]);
  };
}

/** BCS of the TransactionOnChainData of a version. */
export const referenceTransaction = transactionsIn('');

/** A recorded chain, as its node serves it to followers. */
export interface RecordedChain {
  readonly newestVersion: number;
  /** Folder of its genesis and waypoint in the bundle. */
  readonly folder?: string;
  /** Headers of every response. */
  readonly headers: Readonly<Record<string, string>>;
  /** BCS of the TransactionOnChainData of a version. */
  transaction(version: number): Buffer;
}

/** The ledger of the recorded simulations. */
export const SIMULATIONS_CHAIN: RecordedChain = {
  newestVersion: 399,
  folder: 'simulations/',
  headers: {
    ...LEDGER_HEADERS,
    'x-aptos-ledger-version': '399',
    'x-aptos-ledger-timestampusec': '1795459721128860',
    'x-aptos-epoch': '6',
    'x-aptos-block-height': '72',
  },
  transaction: transactionsIn('simulations/'),
};

const REFERENCE_CHAIN: RecordedChain = {
  newestVersion: NEWEST_VERSION,
  headers: LEDGER_HEADERS,
  transaction: referenceTransaction,
};

/** A server that serves a chain to followers. */
export async function startReferenceFeed({
  newestVersion,
  headers,
  transaction,
} = REFERENCE_CHAIN): Promise<Server & { readonly url: string }> {
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://feed');
    const isFeed = url.pathname === '/v1/transactions';
    const start = Number(url.searchParams.get('start') ?? 0);
    const limit = Math.min(FEED_PAGE, Number(url.searchParams.get('limit') ?? 25));
    const count = Math.max(0, Math.min(limit, newestVersion + 1 - start));
    const items = Array.from({ length: count }, (_, at) => transaction(start + at));
    const body = isFeed ? Buffer.concat([Buffer.of(count), ...items]) : Buffer.from('{}');
    const contentType = isFeed ? 'application/x-bcs' : 'application/json';
    response.writeHead(isFeed && count === 0 ? 400 : 200, {
      'content-type': contentType,
      ...headers,
    });
    response.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return Object.assign(server, { url: `http://127.0.0.1:${port}` });
}

/** The chain in a store of its own, created by `init` and following. */
export interface ReferenceLedger {
  readonly folder: string;
  readonly store: StoreReader;
  readonly api: TestApi;
  readonly log: LogLines;
  close(): Promise<void>;
}

/** Complete chains that this process has stored, for tests that follow in it. */
const stored = new Map<RecordedChain, string>();
process.on('exit', () => {
  for (const folder of stored.values()) rmSync(folder, { recursive: true, force: true });
});

/** Creates the store of the chain in a folder. */
export async function storeReferenceChain(
  folder: string,
  until = NEWEST_VERSION,
  chain = REFERENCE_CHAIN,
): Promise<void> {
  const isShared = until === chain.newestVersion && (await testedLocation(folder)) === folder;
  if (!isShared) return await makeReferenceChain(folder, until, chain);
  let made = stored.get(chain);
  if (made === undefined) {
    made = mkdtempSync(join(tmpdir(), 'daybook-reference-'));
    await makeReferenceChain(made, until, chain);
    stored.set(chain, made);
  }
  cpSync(made, folder, { recursive: true });
}

async function makeReferenceChain(
  folder: string,
  until: number,
  chain: RecordedChain,
): Promise<void> {
  const within = chain.folder ?? '';
  const genesis = mkdtempSync(join(tmpdir(), 'daybook-genesis-'));
  const file = join(genesis, 'genesis.blob');
  writeFileSync(file, referenceFile(`${within}genesis.blob`));
  await initLedger(
    await testedLocation(folder),
    file,
    referenceFile(`${within}waypoint.txt`).toString().trim(),
  );
  rmSync(genesis, { recursive: true });
  const feed = await startReferenceFeed(chain);
  const store = await openTestedStore({ directory: folder });
  try {
    const { follower, told } = await followerOf(feed.url, store, {
      until: BigInt(until),
      // The feed runs in this process, which may be busy.
      timeouts: { silenceTimeoutMs: 50_000, totalTimeoutMs: 50_000 },
    });
    await follower.run(NEVER);
    if (told.troubles.length > 0) throw told.troubles[0];
  } finally {
    await store.close();
    feed.close();
    feed.closeAllConnections();
  }
}

/** Follows the chain and serves it with the reference's header names. */
export async function serveReferenceChain(
  settings: Partial<ApiSettings> = {},
  chain = REFERENCE_CHAIN,
): Promise<ReferenceLedger> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-reference-'));
  await storeReferenceChain(folder, chain.newestVersion, chain);
  const store = await openTestedReader({ directory: folder });
  const log = new LogLines();
  const served = apiSettings({
    ...NO_LOAD_BOUNDS,
    headerPrefix: 'X-Aptos',
    nodeRole: 'validator',
    gitHash: 'eeaefbef88',
    ...settings,
  });
  const api = new TestApi(buildApi(openTestedLedger(store), served, log));
  return {
    folder,
    store,
    api,
    log,
    close: async () => {
      await api.close();
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Our response and the reference's, in one form for comparison. */
export async function askRecorded(
  api: TestApi,
  recorded: Recorded,
): Promise<{ readonly ours: unknown; readonly theirs: unknown }> {
  const { path, answer } = recorded;
  const body =
    recorded.body_hex === undefined ? recorded.body : Buffer.from(recorded.body_hex, 'hex');
  const method = recorded.method ?? (body === undefined ? 'GET' : 'POST');
  const reply = await api.request({ method, url: path, headers: recorded.headers, body });
  const isBinary = answer.body_hex !== undefined;
  const ours = {
    status: reply.statusCode,
    contentType: reply.headers['content-type'],
    cursor: reply.headers['x-aptos-cursor'],
    gasUsed: reply.headers['x-aptos-gas-used'],
    ledger: Object.fromEntries(
      Object.keys(LEDGER_HEADERS).map((name) => [name, reply.headers[name]]),
    ),
    body: isBinary ? reply.bytes.toString('hex') : reply.body,
  };
  const theirs = {
    status: answer.status,
    contentType: answer.headers['content-type'],
    cursor: answer.headers['x-aptos-cursor'],
    gasUsed: answer.headers['x-aptos-gas-used'],
    // The reference leaves them out of some errors; here every response has them (docs/differences.md).
    ledger: LEDGER_HEADERS,
    body: isBinary ? answer.body_hex : answer.body,
  };
  return { ours, theirs };
}
