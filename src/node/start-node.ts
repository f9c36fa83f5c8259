/**
 * The composition root: opens the store, starts its writers and the API. Nothing starts on import; one list stops
 * everything that was started.
 */
import { availableParallelism } from 'node:os';
import type { Logger } from 'pino';
import type { WorkerPool } from './cluster/worker-pool.ts';
import { createLogger } from './metrics/log.ts';
import type { ProcessMetrics } from './metrics/process-metrics.ts';
import { asNodeError } from './open-store.ts';
import { interfaceUrl, parseListenAddress } from './settings/listen-address.ts';
import type { NodeSettings } from './settings/settings.ts';
import { StopList } from './shutdown.ts';

/** The line that `daybook serve` prints when the node answers. */
interface ReadyLine {
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
  /** Rejects when the node cannot continue and has to be stopped. Never resolves. */
  readonly failed: Promise<never>;
  /** Finishes requests in flight, up to the configured time, and releases everything. */
  stop(): Promise<void>;
}

/** How many processes answer by the setting `workers`. */
export function workerCount({ workers }: Pick<NodeSettings, 'workers'>): number {
  return workers === 0 ? availableParallelism() : workers;
}

/**
 * Starts a node and resolves when it answers.
 * @param count processes that answer: 1 for this one; more are workers, and this one only writes the store. Readers
 *   need no lock to see what was committed, so a request passes through its worker only
 * @throws NodeError: `no_ledger`, `data_not_usable`, `bad_setting`, `listen_failed`, `worker_failed`; all that was
 *   started is stopped
 */
export async function startNode(settings: NodeSettings, count = 1): Promise<RunningNode> {
  const stopList = new StopList();
  try {
    return await start(settings, count, stopList);
  } catch (error) {
    await stopList.stop();
    throw asNodeError(error);
  }
}

async function start(
  settings: NodeSettings,
  count: number,
  stopList: StopList,
): Promise<RunningNode> {
  const { host } = parseListenAddress(settings.listen);
  const logger = createLogger(settings.logLevel);
  const workers = count === 1 ? undefined : await forkWorkers(settings, count, logger, stopList);
  // Loaded while the workers load their modules.
  const { openNodeStore } = await import('./node-store.ts');
  const nodeStore = await openNodeStore(settings, stopList, logger);
  let metrics: ProcessMetrics | undefined;
  if (settings.metricsListen !== '') {
    const { startMetrics } = await import('./metrics/node-metrics.ts');
    const ofWorkers = workers === undefined ? undefined : () => workers.metrics();
    metrics = await startMetrics(settings, nodeStore, logger, stopList, ofWorkers);
  }
  const listen = async () => {
    if (workers !== undefined) {
      // From now on they are the first to stop.
      stopList.add('the workers', () => workers.stop());
      return await workers.listen();
    }
    const { startInterface } = await import('./cluster/worker-interface.ts');
    const { store } = nodeStore;
    const { port, state } = await startInterface(store, settings, logger, stopList, metrics);
    return { port, chainId: state.chainId, version: String(state.version) };
  };
  const { port, chainId, version } = await listen();
  const ready: ReadyLine = {
    event: 'ready',
    url: interfaceUrl(host, port),
    pid: process.pid,
    chain_id: chainId,
    ledger_version: version,
  };
  logger.info(workers === undefined ? ready : { ...ready, workers: count }, 'answering');
  const failed = workers?.failed ?? new Promise<never>(() => undefined);
  return { ready, logger, failed, stop: () => stopList.stop() };
}

/** Starts worker processes, which load; if there is no store to answer from, they are stopped. */
async function forkWorkers(
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
