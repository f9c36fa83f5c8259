/** A node with a small sample ledger that page tests can grow and prune. Needs `npm run build`. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bulkChunks } from '../../bench/bulk-ledger/bulk-ledger.ts';
import { readPageFiles } from '../../src/api/http/page-files.ts';
import { buildApi } from '../../src/api/http/server.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { Block } from '../../src/store/columns/block-column.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { apiSettings } from '../api/settings.ts';
import { NO_LOAD_BOUNDS } from '../api/unbounded.ts';

const SEED = 11;
const TRANSACTIONS = 2_400;
const ACCOUNTS = 40;
const CHUNK_TRANSACTIONS = 60;
/** Size of the ledger at the beginning; `grow` adds the rest. */
const FIRST_TRANSACTIONS = 1_800;

/** A serving node, and functions that change its ledger. */
export interface PageNode {
  /** Without a slash at the end. */
  readonly origin: string;
  /** Commits another chunk. */
  grow(): Promise<void>;
  /** Prunes everything below the first block at or above `version`; returns that block's first version. */
  pruneBelow(version: bigint): Promise<bigint>;
  /** Status and body of a GET. */
  get(path: string): Promise<{ readonly status: number; readonly text: string }>;
  /** Stops responding, or responds again under the same origin. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a node on a free port. Its ledger initially has at least `transactions`; with 1, only genesis. */
export async function startPageNode(transactions = FIRST_TRANSACTIONS): Promise<PageNode> {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-page-'));
  const store = await openSqliteStore({ directory });
  const writer = await LedgerWriter.open(store);
  const blocks: Block[] = [];
  const chunks = bulkChunks({
    seed: SEED,
    transactions: TRANSACTIONS,
    accounts: ACCOUNTS,
    chunkTransactions: CHUNK_TRANSACTIONS,
  });
  const grow = async (): Promise<void> => {
    const next = chunks.next();
    if (next.done === true) throw new Error('the sample ledger is used up');
    await writer.append(next.value);
    blocks.push(...next.value.blocks);
  };
  while ((writer.head?.version ?? -1n) + 1n < transactions) await grow();
  const listen = async (port: number) => {
    const api = buildApi(openLedger(store), apiSettings(NO_LOAD_BOUNDS), console, {
      pageFiles: readPageFiles({ isSample: true }),
    });
    api.server.listen(port, '127.0.0.1');
    await once(api.server, 'listening');
    return api;
  };
  let api = await listen(0);
  const { port } = api.server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const pause = async (): Promise<void> => {
    const closed = api.close();
    api.server.closeAllConnections();
    await closed;
  };
  return {
    origin,
    grow,
    pause,
    pruneBelow: async (version) => {
      const block = blocks.find(({ firstVersion }) => firstVersion >= version);
      if (block === undefined) throw new Error(`no block begins at or above version ${version}`);
      await writer.advanceOldest(block);
      return block.firstVersion;
    },
    get: async (path) => {
      const response = await fetch(origin + path);
      return { status: response.status, text: await response.text() };
    },
    resume: async () => {
      api = await listen(port);
    },
    stop: async () => {
      await pause();
      await store.close();
      rmSync(directory, { recursive: true });
    },
  };
}
