/**
 * The process of one worker, started by worker-pool.ts: answers from the store, which it only reads, on the port that
 * all workers share. It ends with the primary: when the channel closes because the primary was killed, node:cluster
 * ends the process.
 */
import { EventEmitter, once } from 'node:events';
import type { Server } from 'node:http';
import { createLogger } from '../../log.ts';
import { NodeError } from '../../node-error.ts';
import { asNodeError, openStoreReader } from '../../open-store.ts';
import type { NodeSettings } from '../../settings/settings.ts';
import { StopList, stopSignal } from '../../shutdown.ts';
import { startInterface } from '../http-interface.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import type { PrimaryMessage, StartMessage, WorkerMessage } from './worker-pool.ts';

const LOAD_INTERVAL_MS = 1_000;
const EXIT_FAILED = 1;

class ConnectionCounter {
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

  get open(): number {
    return this.#open;
  }

  /** Closes this many connections, each after its next response. */
  close(count: number): void {
    this.#toClose = count;
  }
}

/** Answers until the primary, SIGTERM or SIGINT stops it; then ends the process. */
async function runWorker(): Promise<void> {
  // First: a signal for the whole process group may come at any time.
  const signal = stopSignal();
  const primary = new EventEmitter();
  process.on('message', (message: PrimaryMessage) => primary.emit(message.kind, message));
  const stopped = Promise.race([signal, once(primary, 'stop')]).then(() => undefined);
  const start = once(primary, 'start') as Promise<[StartMessage]>;
  await send({ kind: 'loaded' });
  const [message] = (await Promise.race([start, stopped])) ?? [];
  if (message === undefined) process.exit(0);
  const { settings, number } = message;
  const metrics = settings.metricsListen === '' ? undefined : await metricsOf(number);
  const sendMetrics = async () =>
    send({ kind: 'metrics', families: (await metrics?.families()) ?? [] });
  primary.on('metrics', sendMetrics);
  const stopList = new StopList();
  try {
    const connections = await answer(settings, stopList, metrics);
    primary.on('close', (close: { readonly connections: number }) =>
      connections.close(close.connections),
    );
  } catch (error) {
    await stopList.stop();
    await sendFailure(error);
    process.exit(EXIT_FAILED);
  }
  await stopped;
  await stopList.stop();
  // Counts since the last message.
  await sendMetrics();
  process.exit(0);
}

async function metricsOf(number: number): Promise<ProcessMetrics> {
  // Loaded only for this: it takes 50 ms of processor time.
  const { ProcessMetrics } = await import('../metrics/process-metrics.ts');
  return new ProcessMetrics(String(number));
}

async function answer(
  settings: NodeSettings,
  stopList: StopList,
  metrics: ProcessMetrics | undefined,
): Promise<ConnectionCounter> {
  const logger = createLogger(settings.logLevel);
  const store = await openStoreReader(settings.data);
  stopList.add('the store', () => store.close());
  const running = await startInterface({ store }, settings, logger, stopList, metrics);
  const { server, port, state } = running;
  const connections = new ConnectionCounter(server);
  const { chainId, version } = state;
  await send({ kind: 'ready', port, chainId, version: String(version) });
  stopList.add('the reports of load', reportLoad(connections));
  return connections;
}

/** Reports how busy this worker is, at intervals. @returns a function that stops it */
function reportLoad(connections: ConnectionCounter): () => void {
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    void send({ kind: 'load', utilization, connections: connections.open });
  }, LOAD_INTERVAL_MS);
  return () => clearInterval(timer);
}

/** Tells the primary why this worker cannot start; an unexpected failure goes to stderr, as in any process. */
async function sendFailure(error: unknown): Promise<void> {
  const known = asNodeError(error);
  if (known instanceof NodeError) {
    const { code, message, exitCode } = known;
    await send({ kind: 'failed', code, message, exitCode });
    return;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`daybook: a worker failed unexpectedly: ${text}\n`);
}

/** Resolves when the message has been sent, or never can be. */
function send(message: WorkerMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send!(message, undefined, undefined, () => resolve());
    else resolve();
  });
}

await runWorker();
