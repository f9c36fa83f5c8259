/**
 * The composition root: opens the store, the ledger over it and the interface over that, and listens. Nothing starts
 * because it was imported; what was started is stopped by one list.
 */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { readPageFiles, registerPage } from '../api/page.ts';
import { buildApi } from '../api/server.ts';
import { openLedger } from '../ledger/open.ts';
import { readHead } from '../store/head.ts';
import type { StoreReader } from '../store/store.ts';
import { LedgerWriter } from '../store/writer.ts';
import { interfaceUrl, type ListenAddress, parseListenAddress } from './listen-address.ts';
import { createLogger } from './logger.ts';
import { NodeError } from './node-error.ts';
import {
  asNodeError,
  emptyStoreError,
  hasStore,
  openStoreReader,
  openStoreWriter,
} from './open-store.ts';
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
    throw asNodeError(error);
  }
}

async function start(settings: NodeSettings, stopList: StopList): Promise<RunningNode> {
  const listenAddress = parseListenAddress(settings.listen);
  const logger = createLogger(settings.logLevel);
  if (!hasStore(settings.data)) await makeSmallSample(settings.data, logger);
  const store = await openStore(settings, stopList, logger);
  if ((await readHead(store)) === undefined) throw emptyStoreError(settings.data);
  const ledger = openLedger(store);
  const { state } = await ledger.view();
  const api = buildApi(ledger, settings, logger);
  registerPage(api, readPageFiles(), settings);
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

/** A newcomer has no genesis file: there is something to ask all the same. */
async function makeSmallSample(dataFolder: string, logger: Logger): Promise<void> {
  // Loaded here: the generator is needed once in a folder's life.
  const { makeSample, SMALL_SAMPLE } = await import('./sample.ts');
  const { transactions, seed } = SMALL_SAMPLE;
  logger.info({ data: dataFolder, transactions, seed: String(seed) }, 'no ledger: making a sample');
  const { seconds } = await makeSample(dataFolder, SMALL_SAMPLE);
  logger.info({ seconds }, 'sample ledger made');
}

/** Opens the store, for writing only when this node writes. */
async function openStore(
  settings: NodeSettings,
  stopList: StopList,
  logger: Logger,
): Promise<StoreReader> {
  if (settings.produce === 0) {
    warnOfIdlePruning(settings, logger);
    const reader = openStoreReader(settings.data);
    stopList.add('the store', () => reader.close());
    return reader;
  }
  const store = await openStoreWriter(settings.data);
  stopList.add('the store', () => store.close());
  const writer = await LedgerWriter.open(store);
  const { startPruning } = await import('./prune.ts');
  const pruning = await startPruning(writer, settings, logger);
  stopList.add('the pruner', () => pruning.stop());
  const { startProducing } = await import('./producer.ts');
  const producer = await startProducing(writer, settings.produce, logger);
  stopList.add('the producer', () => producer.stop());
  return store;
}

/** Settings of pruning have no effect in a node that does not write. */
function warnOfIdlePruning(settings: NodeSettings, logger: Logger): void {
  const { keepVersions, keepSeconds, keepAccounts, keepAccountsFile } = settings;
  if (keepVersions === 0 && keepSeconds === 0 && keepAccounts === '' && keepAccountsFile === '') {
    return;
  }
  logger.warn('nothing is pruned: this node does not write; daybook prune does');
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
