/**
 * A node in several processes: this one, the primary, writes the store when the node writes and keeps the workers
 * running; they answer. Readers need no lock to see what was committed (ARCHITECTURE.md), so a request passes
 * through the primary only as a connection.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createLogger } from '../metrics/logger.ts';
import { counter, gauge, type MetricFamily, plain } from '../metrics/metrics-family.ts';
import { NodeError } from '../node-error.ts';
import { asNodeError } from '../open-store.ts';
import { type RunningNode, readyLine } from '../running-node.ts';
import {
  interfaceUrl,
  type ListenAddress,
  listenFailure,
  parseListenAddress,
} from '../settings/listen-address.ts';
import { startWantedMetrics } from '../settings/metrics-setting.ts';
import type { NodeSettings } from '../settings/settings.ts';
import { StopList } from '../stop-list.ts';
import { WorkerPool } from './cluster-workers.ts';

/** How many free ports are tried: between finding one and listening on it somebody else may take it. */
const MAX_PORTS_TRIED = 3;

/**
 * Starts a node whose answering is done by workers; resolves when all of them answer.
 * @param count of workers, 1 or more
 * @throws NodeError as startNode, and `worker_failed`; all that was started is stopped
 */
export async function startCluster(settings: NodeSettings, count: number): Promise<RunningNode> {
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
  const address = parseListenAddress(settings.listen);
  const logger = createLogger(settings.logLevel);
  const pools: WorkerPool[] = [];
  const newPool = (): WorkerPool => {
    const pool = new WorkerPool(settings, count, logger);
    pools.push(pool);
    pool.fork();
    return pool;
  };
  const stopWorkers = () => Promise.all(pools.map((pool) => pool.stop()));
  // If there is no store to answer from, workers that wait have to be stopped; else they stop first.
  stopList.add('the workers that wait', stopWorkers);
  let pool = newPool();
  // Loaded while the workers load what they need.
  const { openNodeStore } = await import('../node-store.ts');
  const nodeStore = await openNodeStore(settings, stopList, logger);
  const metrics = async () => [workerFamilies(pool), ...(await pool.metrics())];
  await startWantedMetrics(settings, nodeStore, logger, stopList, metrics);
  stopList.add('the workers', stopWorkers);
  for (;;) {
    try {
      const { port, chainId, version } = await pool.listen(
        await withPort(settings.listen, address),
      );
      const ready = readyLine(interfaceUrl(address.host, port), chainId, BigInt(version));
      logger.info({ ...ready, workers: count }, 'answering');
      return { ready, logger, failed: pool.failed, stop: () => stopList.stop() };
    } catch (error) {
      const isTaken = error instanceof NodeError && error.code === 'listen_failed';
      if (!isTaken || address.port !== 0 || pools.length === MAX_PORTS_TRIED) throw error;
      await pool.stop();
      pool = newPool();
    }
  }
}

/** The address with a port that is not 0: the workers have to name the one they share. */
async function withPort(listen: string, { host, port }: ListenAddress): Promise<string> {
  return port === 0 ? listen.replace(/:0+$/, `:${await freePort(host)}`) : listen;
}

/** A port that nobody listens on now. @throws NodeError `listen_failed` */
async function freePort(host: string): Promise<number> {
  const server = createServer();
  try {
    await once(server.listen(0, host), 'listening');
  } catch (cause) {
    throw listenFailure({ host, port: 0 }, cause);
  }
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function workerFamilies(pool: WorkerPool): MetricFamily[] {
  return [
    gauge('daybook_workers', 'Workers that answer.', plain(pool.readyCount)),
    counter('daybook_worker_restarts_total', 'Workers started again.', plain(pool.restarts)),
  ];
}
