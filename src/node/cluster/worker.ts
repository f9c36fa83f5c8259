/**
 * The process of one worker, started by worker-pool.ts: answers from the store, which it only reads, on the port that
 * all workers share. It takes orders from the primary and ends with it: when the channel closes because the primary
 * was killed, node:cluster ends the process.
 */

import { createLogger } from '../metrics/logger.ts';
import type { ProcessMetrics } from '../metrics/metrics-process.ts';
import { NodeError } from '../node-error.ts';
import { asNodeError, openStoreReader } from '../open-store.ts';
import { wantedWorkerMetrics } from '../settings/metrics-setting.ts';
import type { NodeSettings } from '../settings/settings.ts';
import { StopList, stopSignal } from '../shutdown.ts';
import { type ConnectionCounter, startInterface } from './worker-interface.ts';
import type { WorkerOrder, WorkerReport } from './worker-messages.ts';

/** How often a worker reports its load, in milliseconds. */
const LOAD_INTERVAL_MS = 1_000;
/** Exit code of a worker that could not start. */
const EXIT_FAILED = 1;

/** Does what the primary orders until it orders to stop, or SIGTERM or SIGINT comes; then ends the process. */
async function runWorker(): Promise<void> {
  // First: a signal for the whole process group may come at any time.
  const stopped = stopSignal();
  const orders = new Orders();
  await report({ kind: 'hello' });
  const start = await Promise.race([orders.start, orders.stop, stopped]);
  if (typeof start !== 'object') process.exit(0);
  const { settings, place } = start;
  const stopList = new StopList();
  const metrics = await wantedWorkerMetrics(settings, place);
  const families = () => metrics?.families() ?? [];
  orders.onMetrics = (question) => void report({ kind: 'metrics', question, families: families() });
  try {
    orders.connections = await answer(settings, stopList, metrics);
  } catch (error) {
    await stopList.stop();
    await reportFailure(error);
    process.exit(EXIT_FAILED);
  }
  await Promise.race([stopped, orders.stop]);
  await stopList.stop();
  // What was counted since the last question.
  await report({ kind: 'metrics', question: null, families: families() });
  process.exit(0);
}

async function answer(
  settings: NodeSettings,
  stopList: StopList,
  metrics: ProcessMetrics | undefined,
): Promise<ConnectionCounter> {
  const logger = createLogger(settings.logLevel);
  const store = openStoreReader(settings.data);
  stopList.add('the store', () => store.close());
  const running = await startInterface(store, settings, logger, stopList, metrics);
  const { chainId, version } = running.state;
  await report({ kind: 'ready', port: running.port, chainId, version: String(version) });
  stopList.add('the reports', reportLoad(running.connections));
  return running.connections;
}

/** Reports how busy this worker is, at intervals. @returns a function that ends it */
function reportLoad(connections: ConnectionCounter): () => void {
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    void report({ kind: 'load', utilization, connections: connections.open });
  }, LOAD_INTERVAL_MS);
  return () => clearInterval(timer);
}

/** Tells the primary why this worker cannot start; an unexpected failure goes to stderr, as in any process. */
async function reportFailure(error: unknown): Promise<void> {
  const known = asNodeError(error);
  if (!(known instanceof NodeError)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`daybook: a worker failed unexpectedly: ${text}\n`);
    return;
  }
  const { code, message, exitCode } = known;
  await report({ kind: 'failed', code, message, exitCode });
}

/** Resolves when the message has been sent, or never can be. */
function report(message: WorkerReport): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send!(message, undefined, undefined, () => resolve());
    else resolve();
  });
}

/** Receives orders. */
class Orders {
  readonly start: Promise<WorkerOrder & { readonly kind: 'start' }>;
  readonly stop: Promise<void>;
  /** Answers a question for metrics. */
  onMetrics: (question: number) => void = () => undefined;
  /** The connections of which some may have to be closed. */
  connections: ConnectionCounter | undefined;

  constructor() {
    let start: (order: WorkerOrder & { readonly kind: 'start' }) => void;
    let stop: () => void;
    this.start = new Promise((resolve) => {
      start = resolve;
    });
    this.stop = new Promise((resolve) => {
      stop = resolve;
    });
    process.on('message', (order: WorkerOrder) => {
      if (order.kind === 'start') start(order);
      else if (order.kind === 'stop') stop();
      else if (order.kind === 'close') this.connections?.close(order.connections);
      else this.onMetrics(order.question);
    });
  }
}

await runWorker();
