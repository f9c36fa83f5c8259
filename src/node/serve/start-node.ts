/**
 * The composition root: opens the store, starts its writers and the API. Nothing starts on import; one list stops
 * everything that was started.
 */
import { availableParallelism } from 'node:os';
import type { Logger } from 'pino';
import type { OverridableLedger } from '../../ledger/overrides/overrides.ts';
import { createLogger } from '../log.ts';
import { asNodeError, assertLocation } from '../open-store.ts';
import { isSampleLedger } from '../sample-resource.ts';
import { checkFree, interfaceUrl, parseListenAddress } from '../settings/listen-address.ts';
import { unknownVariables } from '../settings/setting-sources.ts';
import { NODE_SETTINGS, type NodeSettings } from '../settings/settings.ts';
import { upstreamBase } from '../settings/upstream-url.ts';
import { StopList } from '../shutdown.ts';
import type { WorkerPool } from './cluster/worker-pool.ts';
import type { ProcessMetrics } from './metrics/process-metrics.ts';
import type { NodeStore } from './node-store.ts';

interface ReadyLine {
  readonly event: 'ready';
  /** The URL of the API; it ends in `/v1`. */
  readonly url: string;
  readonly pid: number;
  readonly chain_id: number;
  readonly ledger_version: string;
  /** Absent without an indexer. */
  readonly indexer_url?: string;
  /** Absent for the ledger of a network. */
  readonly sample?: true;
  /** Absent for a ledger of its own. */
  readonly fork?: true;
}

interface RunningNode {
  readonly ready: ReadyLine;
  readonly logger: Logger;
  /** Set only for a fork, if requested. */
  readonly overrides?: OverridableLedger | undefined;
  /** Rejects when the node cannot continue and has to be stopped. Never resolves. */
  readonly failed: Promise<never>;
  /** Finishes requests in flight, up to the configured time, and releases everything. */
  stop(): Promise<void>;
}

/**
 * Starts a node and resolves when it answers. With one worker, this process does everything. With more, workers answer
 * and this process only writes the store: readers need no lock to see what was committed, so a request passes through
 * its worker only.
 * @param isOverridable whether a fork can be overridden
 * @throws NodeError: `no_ledger`, `data_not_usable`, `bad_setting`, `listen_failed`, `worker_failed`; everything that
 *   was started is stopped
 */
export async function startNode(
  settings: NodeSettings,
  isOverridable = false,
): Promise<RunningNode> {
  const stopList = new StopList();
  try {
    return await start(settings, stopList, isOverridable);
  } catch (error) {
    await stopList.stop();
    throw asNodeError(error);
  }
}

async function start(
  requested: NodeSettings,
  stopList: StopList,
  isOverridable: boolean,
): Promise<RunningNode> {
  const address = parseListenAddress(requested.listen);
  assertLocation(requested.data);
  const upstream = upstreamBase(requested);
  const logger = createLogger(requested.logLevel);
  warnOfVariables(logger);
  const isFork = requested.fork !== '' || requested.offline;
  const indexer =
    requested.indexer === '' ? undefined : await listenForIndexer(requested, logger, stopList);
  const settings = { ...requested, ...indexer?.settings };
  const workerCount = settings.workers === 0 && !isFork ? availableParallelism() : settings.workers;
  const count = Math.max(1, workerCount);
  const workers = count > 1 ? await startWorkers(settings, count, logger, stopList) : undefined;
  // Loaded while the workers load their modules.
  const { openNodeStore, checkStoreSettings } = await import('./node-store.ts');
  await checkStoreSettings(settings);
  // Before making a sample that could not be served.
  await checkFree(address);
  const nodeStore = await openNodeStore(settings, stopList, logger);
  const overrides = isOverridable ? await openOverridable(nodeStore) : undefined;
  let metrics: ProcessMetrics | undefined;
  if (settings.metricsListen !== '') {
    const { startMetrics } = await import('./metrics/node-metrics.ts');
    const workerMetrics = workers === undefined ? undefined : () => workers.metrics();
    metrics = await startMetrics(settings, nodeStore, logger, stopList, workerMetrics);
  }
  const listen = async () => {
    const serve = async (at: NodeSettings, counts: ProcessMetrics | undefined) => {
      const { startInterface } = await import('./http-interface.ts');
      const served = { ...nodeStore, ledger: overrides };
      const { port, state } = await startInterface(served, at, logger, stopList, counts);
      return { port, ...state };
    };
    if (workers === undefined) return await serve(settings, metrics);
    // The workers pass on what the chain of this process takes.
    const chain = nodeStore.chain && (await serve(workerSettings(settings), undefined));
    // From now on they are the first to stop.
    stopList.add('the workers', () => workers.stop());
    return await workers.listen(chain && `http://127.0.0.1:${chain.port}`);
  };
  const { port, chainId, version } = await listen();
  await indexer?.begin(stopList);
  const ready: ReadyLine = {
    event: 'ready',
    url: interfaceUrl(address.host, port),
    pid: process.pid,
    chain_id: chainId,
    ledger_version: String(version),
    ...(indexer !== undefined && { indexer_url: indexer.url }),
    ...(isFork && { fork: true as const }),
    ...(!isFork && (await isSampleLedger(nodeStore.store)) && { sample: true as const }),
  };
  // Every log line has the process id.
  const facts = {
    ...ready,
    pid: undefined,
    ...(workers && { workers: count }),
    upstream: upstream?.origin,
  };
  logger.info(facts, 'answering');
  const never = new Promise<never>(() => undefined);
  const failed = Promise.race([workers?.failed ?? never, nodeStore.lost ?? never]);
  failed.catch(() => undefined);
  return { ready, logger, overrides, failed, stop: () => stopList.stop() };
}

/** Starts the indexer's GraphQL, which answers once the ledger exists. */
async function listenForIndexer(settings: NodeSettings, logger: Logger, stopList: StopList) {
  // Most nodes have none.
  const { startIndexerOf } = await import('../indexer/indexer-server.ts');
  return await startIndexerOf(settings, logger, stopList);
}

async function startWorkers(
  settings: NodeSettings,
  count: number,
  logger: Logger,
  stopList: StopList,
): Promise<WorkerPool> {
  const { WorkerPool } = await import('./cluster/worker-pool.ts');
  const workers = new WorkerPool(settings, count, logger);
  stopList.add('the workers', () => workers.stop());
  return workers;
}

/** An interface that only this node's workers know. Their requests are logged where they come from clients. */
function workerSettings(settings: NodeSettings): NodeSettings {
  // All of them are one client here; each bounds its own clients.
  const unbounded = { maxBacklogMs: 0, maxUnsentBytes: 0 };
  return { ...settings, ...unbounded, listen: '127.0.0.1:0', accessLog: 'off' };
}

function warnOfVariables(logger: Logger): void {
  for (const unknown of unknownVariables(NODE_SETTINGS, process.env)) {
    logger.warn(unknown, 'environment variable ignored: there is no such setting');
  }
}

async function openOverridable({ store, openSource }: NodeStore) {
  if (openSource === undefined) return undefined;
  const { OverridableLedger } = await import('../../ledger/overrides/overrides.ts');
  return new OverridableLedger(store, openSource);
}
