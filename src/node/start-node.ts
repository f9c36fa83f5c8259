/**
 * The composition root: opens the store, the ledger over it and the interface over that, and listens. Nothing starts
 * because it was imported; what was started is stopped by one list.
 */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { buildApi } from '../api/server.ts';
import { openLedger } from '../ledger/open.ts';
import { interfaceUrl, type ListenAddress, parseListenAddress } from './listen-address.ts';
import { createLogger } from './logger.ts';
import { NodeError } from './node-error.ts';
import { openStoreReader } from './open-store.ts';
import type { NodeSettings } from './settings.ts';
import { StopList } from './stop-list.ts';

/** The line that says that a node answers (design §5). */
export interface ReadyLine {
  readonly event: 'ready';
  /** Of the interface, ending in `/v1`. */
  readonly url: string;
  readonly pid: number;
  readonly chain_id: number;
  readonly ledger_version: string;
}

/** A node that answers. */
export interface RunningNode {
  readonly ready: ReadyLine;
  readonly logger: Logger;
  /** Finishes requests under way, up to the configured time, and gives everything back. Calls after the first wait. */
  stop(): Promise<void>;
}

/**
 * Starts a node and resolves when it answers.
 * @throws NodeError: `no_ledger`, `data_not_usable`, `bad_setting`, `listen_failed`; all that was started is stopped.
 */
export async function startNode(settings: NodeSettings): Promise<RunningNode> {
  const stopList = new StopList();
  try {
    return await start(settings, stopList);
  } catch (error) {
    await stopList.stop();
    throw error;
  }
}

async function start(settings: NodeSettings, stopList: StopList): Promise<RunningNode> {
  const listenAddress = parseListenAddress(settings.listen);
  const logger = createLogger(settings.logLevel);
  const store = openStoreReader(settings.data);
  stopList.add('the store', () => store.close());
  const ledger = openLedger(store);
  const { state } = await ledger.view();
  const api = buildApi(ledger, settings, logger);
  stopList.add('the interface', () => closeApi(api, settings.shutdownTimeoutMs));
  const port = await listen(api, listenAddress);
  const ready: ReadyLine = {
    event: 'ready',
    url: interfaceUrl(listenAddress.host, port),
    pid: process.pid,
    chain_id: state.chainId,
    ledger_version: String(state.version),
  };
  logger.info(ready, 'answering');
  return { ready, logger, stop: () => stopList.stop() };
}

async function listen(api: FastifyInstance, { host, port }: ListenAddress): Promise<number> {
  try {
    await api.listen({ host, port });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NodeError('listen_failed', `cannot listen on ${host}:${port}: ${reason}`, { cause });
  }
  return (api.server.address() as AddressInfo).port;
}

/** Stops accepting, waits for requests under way, then cuts what is left. */
async function closeApi(api: FastifyInstance, timeoutMs: number): Promise<void> {
  const cut = setTimeout(() => api.server.closeAllConnections(), timeoutMs);
  try {
    await api.close();
  } finally {
    clearTimeout(cut);
  }
}
