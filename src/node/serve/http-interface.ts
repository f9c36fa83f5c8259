/** The API of one process: the ledger over its store, HTTP over that, and their metrics. */
import { lookup } from 'node:dns/promises';
import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Server as SocketServer } from 'node:net';
import type { Logger } from 'pino';
import type { NodeFacts } from '../../api/http/node-facts.ts';
import type { RequestObserver } from '../../api/http/observers.ts';
import { readPageFiles } from '../../api/http/page-files.ts';
import { type Api, buildApi, damageWatch } from '../../api/http/server.ts';
import { Admission, WORK_KINDS } from '../../api/load/admission.ts';
import { API_CONSTANTS } from '../../api/settings.ts';
import { newCaches, openLedger } from '../../ledger/open.ts';
import { type OpenSource, storedSource } from '../../state/source.ts';
import type { RunObserver } from '../../vm/observer.ts';
import { isLocalLedger } from '../local-ledger.ts';
import { isSampleLedger } from '../sample-resource.ts';
import { type ListenAddress, listen, parseListenAddress } from '../settings/listen-address.ts';
import type { NodeSettings } from '../settings/settings.ts';
import { upstreamBase } from '../settings/upstream-url.ts';
import type { StopList } from '../shutdown.ts';
import { openAccessLog } from './metrics/access-log.ts';
import type { ProcessMetrics } from './metrics/process-metrics.ts';
import type { NodeStore } from './node-store.ts';
import type { SnapshotFolder } from './snapshot-offer.ts';
import type { HttpUpstream } from './upstream.ts';

/** How often a stopping node closes idle connections, in milliseconds. */
const IDLE_SWEEP_INTERVAL_MS = 50;
const OVERLOAD_INTERVAL_MS = 5_000;
const LOCALHOST = 'localhost';

type ServedLedger = Pick<ReturnType<typeof openLedger>, 'view' | 'cacheSizes' | 'waitingReads'>;
type Served = Pick<NodeStore, 'store' | 'openSource' | 'chain'> & {
  /** Absent: that of the store. */
  readonly ledger?: ServedLedger | undefined;
  /** What the ledger info says of the program, for clients that insist on it. */
  readonly gitHash?: string;
  /** Whether requests may control it (src/node/localnet/control-requests.ts). */
  readonly isControlled?: boolean;
  /** Set for a network on top of a fork: the first version of its own. */
  readonly firstVersion?: bigint | undefined;
  readonly observer?: RunObserver | undefined;
};

/**
 * Serves a store at the configured address; stopping is added to the list.
 * @param metrics counts requests, if present
 * @returns the server, its port, and the state of the ledger at the start
 * @throws NodeError `bad_setting`, `listen_failed`
 */
export async function startInterface(
  served: Served,
  settings: NodeSettings,
  logger: Logger,
  stopList: StopList,
  metrics: ProcessMetrics | undefined,
) {
  const address = parseListenAddress(settings.listen);
  const { api, state } = await openInterface(served, settings, logger, stopList, metrics);
  const extraServers: SocketServer[] = [];
  stopList.add('the interface', () => closeApi(api, extraServers, settings.shutdownTimeoutMs));
  return { server: api.server, port: await listenAll(api.server, address, extraServers), state };
}

/** The same without listening. @param server one that has served another store before; absent: a new one */
export async function openInterface(
  served: Served,
  settings: NodeSettings,
  logger: Logger,
  stopList: StopList,
  metrics?: ProcessMetrics,
  server?: Server,
) {
  const { store, openSource, chain, gitHash = API_CONSTANTS.gitHash, ledger: ownLedger } = served;
  const source = sourceOf(settings.data, openSource);
  const ledger = ownLedger ?? openLedger(store, newCaches(), source, served.observer);
  const { state } = await ledger.view();
  const isSample = openSource === undefined && (await isSampleLedger(store));
  const admission = new Admission(settings, () => ledger.waitingReads());
  const damage = damageWatch(logger);
  const upstream = await openUpstream(settings, logger, stopList);
  const observers: RequestObserver[] = [];
  if (metrics !== undefined) observers.push(metrics.requests.observe);
  const accessLog = openAccessLog(settings);
  if (accessLog !== undefined) {
    observers.push(accessLog.observe);
    stopList.add('the access log', () => accessLog.close());
  }
  const api = buildApi(ledger, { ...API_CONSTANTS, ...settings, gitHash }, logger, {
    admission,
    damage,
    observers,
    pageFiles: readPageFiles({
      isSample,
      indexerPort: indexerPortOf(settings),
      node: nodeFacts(served, settings, state.version),
    }),
    upstream,
    chain,
    snapshots: await openSnapshots(settings),
    server,
  });
  const { listeners } = api;
  const cacheSizes = () => ledger.cacheSizes();
  metrics?.watch({ admission, damage, upstream, store, listeners, cacheSizes });
  stopList.add('the watch on overload', watchOverload(admission, logger));
  return { api, state, ledger };
}

/** Facts about the node for the page. */
function nodeFacts(
  { openSource, isControlled = false, firstVersion }: Served,
  { fork }: NodeSettings,
  version: bigint,
): NodeFacts {
  const forked = firstVersion === undefined ? version : firstVersion - 1n;
  const host = URL.parse(fork.replace(/@\d+$/, ''))?.host ?? 'a recording';
  return {
    isControlled,
    ...(openSource !== undefined && { fork: { host, version: String(forked) } }),
  };
}

/** Nothing is immutable in the ledger of a local network: a revert makes other versions of the same numbers. */
function sourceOf(data: string, openSource: OpenSource = storedSource): OpenSource {
  if (!isLocalLedger(data)) return openSource;
  return (...at) => ({ ...openSource(...at), overrides: { areOverridden: false } });
}

/** @returns `undefined` without an indexer */
function indexerPortOf({ indexer, indexerListen }: NodeSettings): number | undefined {
  return indexer === '' ? undefined : parseListenAddress(indexerListen).port;
}

async function openUpstream(
  settings: NodeSettings,
  logger: Logger,
  stopList: StopList,
): Promise<HttpUpstream | undefined> {
  const base = upstreamBase(settings);
  if (base === undefined) return undefined;
  // Most nodes have none.
  const { HttpUpstream } = await import('./upstream.ts');
  const upstream = new HttpUpstream(base, logger);
  stopList.add('the upstream', () => upstream.close());
  return upstream;
}

async function openSnapshots({ snapshots }: NodeSettings): Promise<SnapshotFolder | undefined> {
  if (snapshots === '') return undefined;
  // Most nodes offer none.
  const { SnapshotFolder } = await import('./snapshot-offer.ts');
  return new SnapshotFolder(snapshots);
}

/** @param extraServers gets the servers of other addresses of the same host @returns the port */
export async function listenAll(
  server: Server,
  address: ListenAddress,
  extraServers: SocketServer[],
): Promise<number> {
  const port = await listen(server, address);
  if (address.host === LOCALHOST)
    extraServers.push(...(await listenOnOtherAddresses(server, port)));
  return port;
}

/**
 * Listens on the other addresses of `localhost` if available: the IPv6 one in addition to the IPv4 one. Their
 * connections are handed to the server.
 */
async function listenOnOtherAddresses(server: Server, port: number): Promise<SocketServer[]> {
  const { address: first } = server.address() as AddressInfo;
  const addresses = await lookup(LOCALHOST, { all: true }).catch(() => []);
  const listening: SocketServer[] = [];
  for (const { address: host } of addresses.filter(({ address }) => address !== first)) {
    const extraServer = createServer({ allowHalfOpen: true, noDelay: true });
    extraServer.on('connection', (socket) => server.emit('connection', socket));
    const isListening = await listen(extraServer, { host, port }).catch(() => false);
    if (isListening !== false) listening.push(extraServer);
  }
  return listening;
}

/** Stops accepting, waits for running requests, then closes the remaining connections. */
export async function closeApi(
  api: Api,
  extraServers: readonly SocketServer[],
  timeoutMs: number,
): Promise<void> {
  const timer = setTimeout(() => api.server.closeAllConnections(), timeoutMs);
  // A connection whose last request was running when the stop began stays open after its response, so it has to be
  // closed here.
  const sweep = setInterval(() => api.server.closeIdleConnections(), IDLE_SWEEP_INTERVAL_MS);
  const closed = extraServers.map((server) => new Promise((resolve) => server.close(resolve)));
  try {
    await Promise.all([api.close(), ...closed]);
  } finally {
    clearTimeout(timer);
    clearInterval(sweep);
  }
}

/** Logs at intervals how many requests were refused, if any were. @returns a function that stops it */
function watchOverload(admission: Admission, logger: Logger): () => void {
  const seen = new Map(WORK_KINDS.map((kind) => [kind, admission.refusedCount(kind)]));
  const logRefusals = (): void => {
    const refused: Record<string, number> = {};
    for (const kind of WORK_KINDS) {
      const count = admission.refusedCount(kind);
      const since = count - (seen.get(kind) ?? 0);
      seen.set(kind, count);
      if (since > 0) refused[kind] = since;
    }
    if (Object.keys(refused).length === 0) return;
    const facts = { refused, interval_ms: OVERLOAD_INTERVAL_MS };
    logger.warn(facts, 'overloaded: requests were refused');
  };
  const timer = setInterval(logRefusals, OVERLOAD_INTERVAL_MS).unref();
  return () => {
    clearInterval(timer);
    logRefusals();
  };
}
