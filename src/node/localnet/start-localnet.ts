/**
 * A whole local network in this process: a ledger, the chain that writes it, the interface over it, and a faucet
 * (docs/localnet.md).
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { Server as SocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { readDefaultGenesis } from '../../chain/genesis/default-genesis.ts';
import { DEFAULT_SEED } from '../../chain/genesis/genesis-keys.ts';
import { Impersonation } from '../../chain/impersonation.ts';
import type { Mining } from '../../chain/local-chain.ts';
import { Committer } from '../../ingest/committer.ts';
import { readGenesis } from '../../ingest/genesis/genesis.ts';
import { chunkOfGenesis, computeGenesisHashes } from '../../ingest/genesis/genesis-waypoint.ts';
import { isPostgresUrl } from '../../store/postgres/location.ts';
import { PROCESS_FILE, WriterLock } from '../../store/sqlite/writer-lock.ts';
import { initLedger } from '../init.ts';
import { isLocalLedger, markLocalLedger } from '../local-ledger.ts';
import { redactedLocation } from '../locations/redacted-location.ts';
import { createLogger } from '../log.ts';
import { NodeError } from '../node-error.ts';
import { asNodeError, hasStore, withNewLedger } from '../open-store.ts';
import { closeApi, listenAll } from '../serve/http-interface.ts';
import { readInputFile } from '../settings/input.ts';
import { interfaceUrl, listen, parseListenAddress } from '../settings/listen-address.ts';
import { assertKnownNames, type NodeSettings, nodeSettingsWith } from '../settings/settings.ts';
import { StopList } from '../shutdown.ts';
import { firstAccounts } from './branch.ts';
import { controlAnswer } from './control-requests.ts';
import { faucetServer } from './faucet-server.ts';
import { type LedgerPlace, openForkedLedger } from './forked-ledger.ts';
import { Localnet, loadDump } from './localnet.ts';

export interface LocalnetOptions {
  /** Folder of the ledger, created if missing; absent: a temporary one, removed at the end. */
  readonly data?: string | undefined;
  /** Accounts with known keys and coins; 10 when absent. */
  readonly accounts?: number | undefined;
  /** The seed of their keys. */
  readonly seed?: string | undefined;
  /** When blocks are made; as soon as a transaction arrives when absent. */
  readonly mining?: Mining | undefined;
  /** HOST:PORT of the interface; a free port of 127.0.0.1 when absent. */
  readonly listen?: string | undefined;
  /** HOST:PORT of the faucet; a free port of 127.0.0.1 when absent. */
  readonly faucetListen?: string | undefined;
  /** HOST:PORT of the indexer's GraphQL; absent or empty: none. */
  readonly indexerListen?: string | undefined;
  /** HOST:PORT of the readiness check; absent or empty: none. */
  readonly readyListen?: string | undefined;
  /**
   * URL of a node, with `@VERSION` for another than the newest: the network continues its ledger. With the
   * setting `offline` a folder that has recorded it is enough.
   */
  readonly fork?: string | undefined;
  /** Genesis file, or its URL, in place of that of the default framework. */
  readonly genesis?: string | undefined;
  /** A dump to begin with, or the file of one; no ledger may exist yet. */
  readonly load?: string | Uint8Array | undefined;
  /** Whether instructions of published modules are counted, for `writeCoverage`. */
  readonly coverage?: boolean | undefined;
  readonly settings?: Partial<Omit<NodeSettings, 'data' | 'listen' | 'workers'>> | undefined;
}

const OPTIONS: Record<keyof LocalnetOptions, true> = {
  ...{ data: true, accounts: true, seed: true, mining: true, listen: true, faucetListen: true },
  ...{ indexerListen: true, readyListen: true, fork: true, genesis: true, load: true },
  ...{ coverage: true, settings: true },
};
/** Bytes of the file of a dump. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Prefix of the names of temporary folders. */
const TEMPORARY = 'daybook-localnet-';
/** How long such a folder may exist without its lock, in milliseconds. */
const UNLOCKED_MS = 60_000;
const INDEXER_FOLDER = 'indexer';
const ANY_PORT = '127.0.0.1:0';
const DEFAULT_ACCOUNTS = 10;

/** @throws NodeError as `daybook serve` does */
export async function startLocalnet(options: LocalnetOptions = {}): Promise<Localnet> {
  const stopList = new StopList();
  try {
    return await start(options, stopList);
  } catch (error) {
    await stopList.stop();
    throw asNodeError(error);
  }
}

async function start(options: LocalnetOptions, stopList: StopList): Promise<Localnet> {
  assertKnownNames('option', options, OPTIONS);
  const { mining = { kind: 'auto' }, seed = DEFAULT_SEED } = options;
  const data = options.data ?? temporaryFolder(stopList);
  if (isPostgresUrl(data)) {
    const message = 'the ledger of a local network is a folder: it cannot be in PostgreSQL';
    throw new NodeError('bad_setting', message);
  }
  const settings = await nodeSettingsWith({
    // Tests can wait for a late answer, but would fail if a busy machine refused one.
    ...{ logLevel: 'silent', headerPrefix: 'X-Aptos', maxBacklogMs: 0 },
    ...options.settings,
    ...{ data, listen: options.listen ?? ANY_PORT, workers: 1, sample: false },
    fork: options.fork ?? '',
  });
  const logger = createLogger(settings.logLevel);
  const isFork = options.fork !== undefined || settings.offline;
  const place: LedgerPlace = isFork
    ? await openForkedLedger(data, settings, stopList, logger)
    : { folder: data, makeLedger: (folder: string) => makeLedger(folder, options) };
  if (!(await hasStore(place.folder))) {
    await place.makeLedger(place.folder);
    markLocalLedger(data);
  } else if (!isLocalLedger(data)) {
    const message =
      `the ledger in ${redactedLocation(data)} is not that of a local network, which would add blocks of its own to it: ` +
      'give another folder';
    throw new NodeError('bad_setting', message);
  } else if (options.load !== undefined) {
    const message = `${redactedLocation(data)} holds a ledger already: load the dump into another folder`;
    throw new NodeError('ledger_exists', message);
  }
  const accounts = firstAccounts(seed, options.accounts ?? DEFAULT_ACCOUNTS);
  const impersonation = new Impersonation();
  let opening: Promise<Localnet>;
  const indexer = await startIndexer(() => opening, options, place, logger, stopList);
  const parts = {
    ...{ logger, place, impersonation, accounts, seed },
    isCovered: options.coverage === true,
    hasDefaultFramework: options.genesis === undefined && !isFork,
    settings: { ...settings, ...indexer?.settings },
  };
  opening = Localnet.open(parts, mining, stopList);
  const net = await opening;
  if (indexer !== undefined) stopList.add('the indexer', indexer.close);
  await serveInterface(net, settings, stopList);
  net.faucetUrl = await startFaucet(net, options.faucetListen ?? ANY_PORT, stopList);
  net.indexerUrl = indexer?.url ?? '';
  await startReadiness(options.readyListen, net.indexerUrl !== '', stopList);
  return net;
}

/** Requests go to the current branch. */
async function serveInterface(
  net: Localnet,
  settings: NodeSettings,
  stopList: StopList,
): Promise<void> {
  const { server } = net;
  server.off('request', net.api.handle);
  server.on('request', (request, response) => {
    if (controlAnswer(net, request, response) === undefined) net.answer(request, response);
  });
  const extraServers: SocketServer[] = [];
  const address = parseListenAddress(settings.listen);
  stopList.add('the interface', () => closeApi(net.api, extraServers, settings.shutdownTimeoutMs));
  net.url = interfaceUrl(address.host, await listenAll(server, address, extraServers));
}

function temporaryFolder(stopList: StopList): string {
  removeLeftFolders();
  const folder = mkdtempSync(join(tmpdir(), TEMPORARY));
  const lock = new WriterLock(folder);
  stopList.add('the temporary folder', () => {
    lock.release();
    rmSync(folder, { recursive: true, force: true });
  });
  return join(folder, 'ledger');
}

/** Removes folders of processes that were killed: a living process locks its own soon after creating it. */
function removeLeftFolders(): void {
  for (const name of readdirSync(tmpdir()).filter((one) => one.startsWith(TEMPORARY))) {
    const folder = join(tmpdir(), name);
    try {
      if (Date.now() - statSync(folder).mtimeMs < UNLOCKED_MS || isOwnerAlive(folder)) continue;
      // The process may be one that cannot be seen from here.
      new WriterLock(folder).release();
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Its process lives, or belongs to another user.
    }
  }
}

function isOwnerAlive(folder: string): boolean {
  const pid = Number(readFileSync(join(folder, PROCESS_FILE), 'utf8'));
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function makeLedger(data: string, { genesis: file, load }: LocalnetOptions): Promise<void> {
  if (load !== undefined) {
    await loadDump(
      data,
      typeof load === 'string' ? readInputFile(load, 'dump', MAX_FILE_BYTES) : load,
    );
    return;
  }
  if (file !== undefined) {
    await initLedger(data, file);
    return;
  }
  const genesis = readGenesis(readDefaultGenesis().transaction);
  const chunk = chunkOfGenesis(genesis, computeGenesisHashes(genesis));
  await withNewLedger(data, (writer) => new Committer(writer).pushAll([chunk]));
}

async function startFaucet(net: Localnet, address: string, stopList: StopList): Promise<string> {
  const { host, port } = await serve(
    faucetServer(async () => (await net.branch()).faucet),
    address,
    'faucet-listen',
    stopList,
  );
  return interfaceUrl(host, port).replace(/\/v1$/, '');
}

/** The tables are filled from the first request on: beside the ledger, or in memory if that has no folder. */
async function startIndexer(
  openNet: () => Promise<Localnet>,
  { indexerListen = '', data }: LocalnetOptions,
  { firstVersion }: LedgerPlace,
  logger: Logger,
  stopList: StopList,
) {
  if (indexerListen === '') return undefined;
  // Most tests need none.
  const [{ startIndexerServer }, { indexInThisThread }] = await Promise.all([
    import('../indexer/indexer-server.ts'),
    import('../indexer/indexing.ts'),
  ]);
  const location = data === undefined ? undefined : join(data, INDEXER_FOLDER);
  // In this thread, where a revert is seen at once.
  const ledger = { view: async () => (await (await openNet()).branch()).ledger.view() };
  const openIndexing = (onFailure: (error: unknown) => void) =>
    indexInThisThread({ ledger, location, firstVersion, onFailure });
  const listening = { indexer: location ?? 'memory', indexerListen };
  return await startIndexerServer(listening, openIndexing, logger, stopList);
}

/** The readiness answer of the reference's local network, for the runner of the TypeScript SDK. */
async function startReadiness(
  address: string | undefined,
  hasIndexer: boolean,
  stopList: StopList,
): Promise<void> {
  if (address === undefined || address === '') return;
  const ready = ['Node API', 'Faucet', ...(hasIndexer ? ['Indexer API'] : [])];
  const body = JSON.stringify({ ready, not_ready: [] });
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  await serve(server, address, 'ready-listen', stopList);
}

async function serve(server: Server, address: string, setting: string, stopList: StopList) {
  const { host, port: asked } = parseListenAddress(address, setting);
  const port = await listen(server, { host, port: asked });
  stopList.add(`the server of ${setting}`, () => {
    server.close();
    server.closeAllConnections();
  });
  return { host, port };
}
