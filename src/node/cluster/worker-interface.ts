/** The interface of one process: the ledger over its store, HTTP over that, and what watches both. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { Admission } from '../../api/http/overload.ts';
import { readPageFiles, registerPage } from '../../api/http/page.ts';
import type { RequestObserver } from '../../api/http/request-observer.ts';
import { buildApi } from '../../api/http/server.ts';
import type { LedgerState } from '../../ledger/api-contract.ts';
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
      // The answer says so, and its connection ends after it.
      response.shouldKeepAlive = false;
    });
  }

  /** How many are open. */
  get open(): number {
    return this.#open;
  }

  /** Lets so many go, each after its next answer. */
  close(count: number): void {
    this.#toClose = count;
  }
}

/**
 * Answers from a store at the address of the settings; stopping goes on the list.
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
  const api = buildApi(ledger, settings, logger, { admission, observers });
  registerPage(api, readPageFiles(), settings);
  stopList.add('the interface', () => closeApi(api, settings.shutdownTimeoutMs));
  stopList.add('the watch on overload', watchOverload(admission, logger));
  const connections = new ConnectionCounter(api.server);
  return { port: await listen(api, address), state, connections };
}

async function listen(api: FastifyInstance, { host, port }: ListenAddress): Promise<number> {
  try {
    await api.listen({ host, port });
  } catch (cause) {
    throw listenFailure({ host, port }, cause);
  }
  return (api.server.address() as AddressInfo).port;
}

/** Stops accepting, waits for requests under way, then cuts what is left. */
async function closeApi(api: FastifyInstance, timeoutMs: number): Promise<void> {
  const cut = setTimeout(() => api.server.closeAllConnections(), timeoutMs);
  // A connection whose last request was under way when the stop began is kept alive after its answer: nobody else
  // would close it before the time is up.
  const sweep = setInterval(() => api.server.closeIdleConnections(), IDLE_SWEEP_INTERVAL_MS);
  try {
    await api.close();
  } finally {
    clearTimeout(cut);
    clearInterval(sweep);
  }
}
