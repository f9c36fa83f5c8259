/** The API of one process: the ledger over its store, HTTP over that, and their metrics. */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Server as SocketServer } from 'node:net';
import type { Logger } from 'pino';
import type { RequestObserver } from '../../api/http/observers.ts';
import { Admission } from '../../api/http/overload.ts';
import { readPageFiles } from '../../api/http/page-files.ts';
import { type Api, buildApi } from '../../api/http/server.ts';
import type { LedgerState } from '../../ledger/ledger-view.ts';
import { openLedger } from '../../ledger/open.ts';
import type { StoreReader } from '../../store/store.ts';
import { openAccessLog } from '../metrics/access-log.ts';
import { watchOverload } from '../metrics/log.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import {
  type ListenAddress,
  listenFailure,
  parseListenAddress,
} from '../settings/listen-address.ts';
import type { NodeSettings } from '../settings/settings.ts';
import type { StopList } from '../shutdown.ts';

/** How often a stopping node closes connections that wait for nothing, in milliseconds. */
const IDLE_SWEEP_INTERVAL_MS = 50;

/** The host name with several addresses. */
const LOCALHOST = 'localhost';

/** An interface that answers. */
export interface RunningInterface {
  readonly port: number;
  /** The ledger at the start. */
  readonly state: LedgerState;
  readonly connections: ConnectionCounter;
}

/** The connections of an interface. */
export class ConnectionCounter {
  #open = 0;
  #toClose = 0;

  constructor(server: Server) {
    server.on('connection', (socket) => {
      this.#open += 1;
      socket.once('close', () => {
        this.#open -= 1;
      });
    });
    server.prependListener('request', (_request, response) => {
      if (this.#toClose === 0) return;
      this.#toClose -= 1;
      // The response announces it, and the connection is closed after it.
      response.shouldKeepAlive = false;
    });
  }

  /** How many are open. */
  get open(): number {
    return this.#open;
  }

  /** Closes this many connections, each after its next response. */
  close(count: number): void {
    this.#toClose = count;
  }
}

/**
 * Serves a store at the configured address; stopping is added to the list.
 * @param metrics counts requests when it is there
 * @throws NodeError `bad_setting`, `listen_failed`
 */
export async function startInterface(
  store: StoreReader,
  settings: NodeSettings,
  logger: Logger,
  stopList: StopList,
  metrics: ProcessMetrics | undefined,
): Promise<RunningInterface> {
  const address = parseListenAddress(settings.listen);
  const ledger = openLedger(store);
  const { state } = await ledger.view();
  const admission = new Admission(settings);
  const observers: RequestObserver[] = [];
  if (metrics !== undefined) {
    metrics.watch({ admission, cacheSizes: () => ledger.cacheSizes() });
    observers.push(metrics.requests.observe);
  }
  const accessLog = openAccessLog(settings);
  if (accessLog !== undefined) {
    observers.push(accessLog.observe);
    stopList.add('the access log', () => accessLog.close());
  }
  const api = buildApi(ledger, settings, logger, {
    admission,
    observers,
    pageFiles: readPageFiles(),
  });
  const further: SocketServer[] = [];
  stopList.add('the interface', () => closeApi(api, further, settings.shutdownTimeoutMs));
  stopList.add('the watch on overload', watchOverload(admission, logger));
  const connections = new ConnectionCounter(api.server);
  const port = await listen(api.server, address);
  if (address.host === LOCALHOST) further.push(...(await listenFurther(api.server, port)));
  return { port, state, connections };
}

async function listen(server: SocketServer, address: ListenAddress): Promise<number> {
  try {
    server.listen(address);
    await once(server, 'listening');
  } catch (cause) {
    throw listenFailure(address, cause);
  }
  return (server.address() as AddressInfo).port;
}

/**
 * Listens on the other addresses of `localhost` if available: the IPv6 one besides the IPv4 one. Their
 * connections are handed to the server.
 */
async function listenFurther(server: Server, port: number): Promise<SocketServer[]> {
  const { address: first } = server.address() as AddressInfo;
  const addresses = await lookup(LOCALHOST, { all: true }).catch(() => []);
  const listening: SocketServer[] = [];
  for (const { address: host } of addresses.filter(({ address }) => address !== first)) {
    const further = createServer({ allowHalfOpen: true, noDelay: true });
    further.on('connection', (socket) => server.emit('connection', socket));
    const isListening = await listen(further, { host, port }).then(
      () => true,
      () => false,
    );
    if (isListening) listening.push(further);
  }
  return listening;
}

/** Stops accepting, waits for running requests, then closes the remaining connections. */
async function closeApi(
  api: Api,
  further: readonly SocketServer[],
  timeoutMs: number,
): Promise<void> {
  const cut = setTimeout(() => api.server.closeAllConnections(), timeoutMs);
  // A connection whose last request was running when the stop began stays open after its response, so it has to be
  // closed here.
  const sweep = setInterval(() => api.server.closeIdleConnections(), IDLE_SWEEP_INTERVAL_MS);
  const closed = further.map((server) => new Promise((resolve) => server.close(resolve)));
  try {
    await Promise.all([api.close(), ...closed]);
  } finally {
    clearTimeout(cut);
    clearInterval(sweep);
  }
}
