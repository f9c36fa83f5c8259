/**
 * One worker of a node with several processes: answers from the store, which it only reads, on the port that all
 * workers share. It takes orders from the primary and ends with it: when the channel closes, because the primary was
 * killed, node:cluster ends the process.
 */

import { createLogger } from '../metrics/logger.ts';
import type { ProcessMetrics } from '../metrics/metrics-process.ts';
import { NodeError } from '../node-error.ts';
import { asNodeError, openStoreReader } from '../open-store.ts';
import { wantedWorkerMetrics } from '../settings/metrics-setting.ts';
import type { NodeSettings } from '../settings/settings.ts';
import { StopList } from '../stop-list.ts';
import { stopSignal } from '../stop-signal.ts';
import { LOAD_INTERVAL_MS } from './cluster-balance.ts';
import { type ConnectionCounter, startInterface } from './worker-interface.ts';
import type { WorkerOrder, WorkerReport } from './worker-messages.ts';

/** Exit code of a worker that could not start. */
const EXIT_FAILED = 1;

/** Does what the primary says until it says stop, or somebody sends SIGTERM or SIGINT; then ends the process. */
export async function runWorker(): Promise<void> {
  // Before anything else: a signal for the whole group may come at any time.
  const stopped = stopSignal();
  const orders = new Orders();
  await report({ kind: 'hello' });
  const start = await Promise.race([orders.start, orders.stop, stopped]);
  if (typeof start !== 'object') process.exit(0);
  const { settings, place } = start;
  const stopList = new StopList();
  const metrics = await wantedWorkerMetrics(settings, place);
  const families = () => metrics?.families() ?? [];
  orders.onMetrics((question) => void report({ kind: 'metrics', question, families: families() }));
  try {
    orders.onClose(await answer(settings, stopList, metrics));
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

/** Tells the primary again and again how busy this worker is. @returns what ends it */
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

/** Tells the primary why this worker cannot start; what nobody foresaw goes to stderr, as of any process. */
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

/** Resolves when the primary's side of the channel has it, or never will. */
function report(message: WorkerReport): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send!(message, undefined, undefined, () => resolve());
    else resolve();
  });
}

/** Orders as they come. */
class Orders {
  readonly start: Promise<WorkerOrder & { readonly kind: 'start' }>;
  readonly stop: Promise<void>;
  #answerMetrics: (question: number) => void = () => undefined;
  #connections: ConnectionCounter | undefined;

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
      else if (order.kind === 'close') this.#connections?.close(order.connections);
      else this.#answerMetrics(order.question);
    });
  }

  /** @param connections of which some may have to be closed */
  onClose(connections: ConnectionCounter): void {
    this.#connections = connections;
  }

  onMetrics(answerMetrics: (question: number) => void): void {
    this.#answerMetrics = answerMetrics;
  }
}
