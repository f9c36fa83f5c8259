/** The API over a real store in a temporary folder, which `init` has filled from a genesis file. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { buildApi } from '../../src/api/http/server.ts';
import { initLedger } from '../../src/node/init.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { TestApi, type TestReply } from './client.ts';
import { LogLines } from './error-answers.ts';
import {
  GenesisFile,
  genesisPath,
  genesisPresent,
  NETWORK_NAMES,
  NETWORKS,
  type Network,
  readGenesisFile,
} from './genesis-file.ts';
import { SMALL_CHAIN_ID, smallGenesisFile, writeSmallGenesis } from './genesis-small.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger, openTestedReader, testedLocation } from './tested-ledger.ts';
import { NO_LOAD_BOUNDS } from './unbounded.ts';

/** A genesis that tests serve: a real one, or the handmade one. */
export type LedgerName = Network | 'small';

/** A genesis served for the duration of a `describe`. */
export interface Served {
  readonly name: LedgerName;
  /** The file's contents, read by the tests' own decoder. */
  readonly file: GenesisFile;
  /** GET with an Accept header. Asserts the ledger headers, and that nothing was logged. */
  ask(url: string, accept: string): Promise<TestReply>;
  /** Body of a JSON response, which must be a 200. */
  json(url: string): Promise<string>;
  /** Body of a BCS response, which must be a 200. */
  bcs(url: string): Promise<Buffer>;
}

/** Runs `body` for the small genesis, and for those of `networks` that exist. */
export function describeServed(
  title: string,
  networks: readonly Network[],
  body: (served: Served) => void,
): void {
  describe(`${title}, small genesis made by hand`, () => body(serveGenesis('small')));
  for (const network of networks) {
    describe.skipIf(!genesisPresent)(`${title}, ${network} (needs ../shared/genesis)`, () => {
      body(serveGenesis(network));
    });
  }
}

/** The real networks. */
export const ALL_NETWORKS: readonly Network[] = NETWORK_NAMES;

function serveGenesis(name: LedgerName): Served {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-served-'));
  const log = new LogLines();
  let app: TestApi;
  let store: StoreReader;
  let file: GenesisFile;
  beforeAll(async () => {
    file = name === 'small' ? new GenesisFile(smallGenesisFile()) : readGenesisFile(name);
    await initFrom(name, await testedLocation(folder));
    store = await openTestedReader({ directory: folder });
    app = new TestApi(buildApi(openTestedLedger(store), apiSettings(NO_LOAD_BOUNDS), log));
  });
  afterAll(async () => {
    await app.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });
  async function ask(url: string, accept: string): Promise<TestReply> {
    const response = await app.request({ url, headers: { accept } });
    expectLedgerHeaders(response, name);
    expect(log).toEqual(new LogLines());
    return response;
  }
  async function success(url: string, type: string, contentType: string) {
    const response = await ask(url, type);
    expect([url, response.statusCode, response.headers['content-type']]).toEqual([
      url,
      200,
      contentType,
    ]);
    return response;
  }
  return {
    name,
    get file() {
      return file;
    },
    ask,
    json: async (url) =>
      (await success(url, 'application/json', 'application/json; charset=utf-8')).body,
    bcs: async (url) => (await success(url, 'application/x-bcs', 'application/x-bcs')).bytes,
  };
}

async function initFrom(name: LedgerName, folder: string): Promise<void> {
  if (name !== 'small') {
    const waypoint = genesisPath(NETWORKS[name].waypointFile);
    await initLedger(folder, genesisPath(`${name}.blob`), waypoint);
    return;
  }
  const genesis = writeSmallGenesis();
  await initLedger(folder, genesis.path);
  rmSync(genesis.folder, { recursive: true });
}

/** The seven headers of a ledger with only genesis (docs/spec/ledger.md §2.1), and no similar ones. */
function expectLedgerHeaders(response: TestReply, name: LedgerName): void {
  const chainId = name === 'small' ? SMALL_CHAIN_ID : NETWORKS[name].chainId;
  const ledger = Object.entries(response.headers).filter(([header]) => header.startsWith('x-'));
  expect(Object.fromEntries(ledger)).toEqual({
    'x-node-chain-id': String(chainId),
    'x-node-ledger-version': '0',
    'x-node-ledger-oldest-version': '0',
    'x-node-ledger-timestampusec': '0',
    'x-node-epoch': '0',
    'x-node-block-height': '0',
    'x-node-oldest-block-height': '0',
  });
}

/** Compares bytes, because a matcher's walk through large buffers takes seconds. */
export function expectBytes(actual: Uint8Array, expected: Buffer): void {
  if (expected.equals(actual)) return;
  expect(Buffer.from(actual).toString('hex')).toBe(expected.toString('hex'));
  expect(actual.length).toBe(expected.length);
}
