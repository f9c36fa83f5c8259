/**
 * The workers of a node: started, watched, started again when they end, stopped. A worker that repeatedly exits soon
 * after its start fails the node: restarting does not help.
 *
 * They accept connections from one listening socket (SCHED_NONE). With round-robin distribution by the primary,
 * connections would wait whenever the primary writes, and a connection on its way to a killed worker would hang
 * forever (measured: one in each of four kills under load).
 *
 * With one socket the system gives a new connection to whichever worker is awake first, so a few persistent
 * connections can all end up with one worker while another has nothing to do. The busy one then closes some of them
 * after their next answer; clients that come again are accepted by an idle one.
 */
import cluster, { type Worker } from 'node:cluster';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { builtFile } from '../../../built.ts';
import { redactedArguments } from '../../locations/redacted-location.ts';
import { NodeError, type NodeErrorCode } from '../../node-error.ts';
import { listen, parseListenAddress } from '../../settings/listen-address.ts';
import type { NodeSettings } from '../../settings/settings.ts';
import { PendingFailure } from '../../shutdown.ts';
import { addLasting, counter, gauge, type MetricFamily } from '../metrics/metric-family.ts';

/** Attempts to find a free port: another program may take it before the workers listen on it. */
const MAX_PORTS_TRIED = 3;
/** Utilization below which a worker needs no help. */
const BUSY_UTILIZATION = 0.8;
/** Difference of utilization below which loads are even. */
const EVEN_DIFFERENCE = 0.3;

/** How long a worker must have answered to count as started well, in milliseconds. */
const MIN_STABLE_UPTIME_MS = 10_000;
/** Early ends in a row, of workers with one number, that fail the node. */
export const MAX_EARLY_EXITS = 5;
/** How long a worker may take to start answering, in milliseconds; one that hangs is killed and started again. */
const START_TIMEOUT_MS = 60_000;
/** Wait before the third start in a row, in milliseconds; it doubles from one to the next. */
const FIRST_RESTART_DELAY_MS = 100;
const MAX_RESTART_DELAY_MS = 5_000;
/** Time to end, on top of the time that requests get, in milliseconds. */
const STOP_GRACE_MS = 500;
/** How long a worker may take to send its metrics, in milliseconds. */
const METRICS_TIMEOUT_MS = 2_000;

interface WorkerLoad {
  /** Share of the time since the last report that its event loop was busy, 0 to 1. */
  readonly utilization: number;
  readonly connections: number;
}

export interface StartMessage {
  readonly kind: 'start';
  readonly settings: NodeSettings;
  /** Begins with 1; a worker that replaces another has the same number. */
  readonly number: number;
}

export type PrimaryMessage =
  | StartMessage
  /** Finish running requests, and exit. */
  | { readonly kind: 'stop' }
  /** Close this many connections after their next answer. */
  | { readonly kind: 'close'; readonly connections: number }
  | { readonly kind: 'metrics' };

interface ReadyMessage {
  readonly kind: 'ready';
  readonly port: number;
  readonly chainId: number;
  /** Decimal. */
  readonly version: string;
}

export type WorkerMessage =
  /** It receives messages from now on; those sent before are lost. */
  | { readonly kind: 'loaded' }
  | ReadyMessage
  /** It could not start, and trying again does not help. */
  | {
      readonly kind: 'failed';
      readonly code: NodeErrorCode;
      readonly message: string;
      readonly exitCode: 1 | 2;
    }
  | ({ readonly kind: 'load' } & WorkerLoad)
  /** Sent when the primary requests them, and when the worker ends. */
  | { readonly kind: 'metrics'; readonly families: readonly MetricFamily[] };

/** One of the workers, and those that replace it when it ends. */
class Slot {
  readonly number: number;
  worker: Worker | undefined;
  isLoaded = false;
  isReady = false;
  listen: string | undefined;
  startedMs = 0;
  earlyExits = 0;
  load: WorkerLoad | undefined;
  restart: NodeJS.Timeout | undefined;
  startTimeout: NodeJS.Timeout | undefined;
  /** The last known metrics of the worker, */
  families: readonly MetricFamily[] = [];
  /** and the sums of those before it. */
  endedFamilies: readonly MetricFamily[] = [];
  /** Called when the metrics have arrived, or when the worker has ended. */
  onMetrics: () => void = () => undefined;

  /** @param number from 1 */
  constructor(number: number) {
    this.number = number;
  }

  send(message: PrimaryMessage): void {
    // A worker that has just ended gets no message; its exit is handled by itself.
    if (this.worker?.isConnected() === true) this.worker.send(message, () => undefined);
  }
}

export class WorkerPool {
  readonly #settings: NodeSettings;
  readonly #logger: Logger;
  #upstream = '';
  readonly #slots: readonly Slot[];
  readonly #failure = new PendingFailure();
  #started: { ready(message: ReadyMessage): void; failed(error: NodeError): void } | undefined;
  #haveAllStarted = false;
  /** Where workers listen, once known; workers that start earlier wait for it. */
  #listen: string | undefined;
  #stopping: Promise<void> | undefined;
  /** Ctrl-C in a terminal ends all processes, also while the node still starts. */
  #isInterrupted = false;
  #restarts = 0;

  /** Starts the processes, which load what they need and wait for `listen`. */
  constructor(settings: NodeSettings, count: number, logger: Logger) {
    this.#settings = settings;
    this.#logger = logger;
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({
      exec: fileURLToPath(builtFile('worker.js')),
      // For people who list processes: settings come in a message.
      args: redactedArguments(process.argv.slice(2)),
    });
    this.#slots = Array.from({ length: count }, (_, index) => new Slot(index + 1));
    for (const slot of this.#slots) this.#fork(slot);
    process.once('SIGINT', () => {
      this.#isInterrupted = true;
    });
  }

  /** Rejects when the workers cannot continue. */
  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  /**
   * Has them listen at the address of the settings; resolves when all answer, with the message of the last one.
   * @param upstream in place of that of the settings
   * @throws NodeError `listen_failed`, `worker_failed`
   */
  async listen(upstream = this.#settings.upstream): Promise<ReadyMessage> {
    const { listen: address } = this.#settings;
    this.#upstream = upstream;
    const { host, port } = parseListenAddress(address);
    for (let portsTried = 1; ; portsTried += 1) {
      // All workers must use the same port, also one that starts after all others have exited.
      this.#listen = port === 0 ? address.replace(/:0+$/, `:${await freePort(host)}`) : address;
      const ready = new Promise<ReadyMessage>((resolve, reject) => {
        this.#started = { ready: resolve, failed: reject };
      });
      for (const slot of this.#slots) {
        if (slot.isLoaded) this.#startWorker(slot, this.#listen);
        // It may still come to answer at a port that was given up; the one after it will not.
        else if (slot.listen !== undefined) slot.worker?.process.kill('SIGKILL');
        slot.earlyExits = 0;
      }
      try {
        const last = await Promise.race([ready, this.failed]);
        this.#haveAllStarted = true;
        return last;
      } catch (error) {
        const isAddressTaken = error instanceof NodeError && error.code === 'listen_failed';
        if (!isAddressTaken || port !== 0 || portsTried === MAX_PORTS_TRIED) throw error;
      }
    }
  }

  /**
   * The metrics of all workers, and the sums of those that have exited. A worker that does not answer in time is
   * represented by its last answer. To be called again only when it has resolved.
   */
  async metrics(): Promise<readonly (readonly MetricFamily[])[]> {
    const answers = this.#slots
      .filter(({ isReady }) => isReady)
      .map(
        (slot) =>
          new Promise<void>((resolve) => {
            slot.onMetrics = resolve;
            slot.send({ kind: 'metrics' });
          }),
      );
    const timeout = sleep(METRICS_TIMEOUT_MS, undefined, { ref: false });
    await Promise.race([Promise.all(answers), timeout]);
    const own = [
      gauge('daybook_workers', 'Workers that answer.', this.#readyCount),
      counter('daybook_worker_restarts_total', 'Workers started again.', this.#restarts),
    ];
    return [own, ...this.#slots.flatMap((slot) => [slot.families, slot.endedFamilies])];
  }

  /** Lets them finish running requests; those that take too long are killed. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    for (const { restart } of this.#slots) clearTimeout(restart);
    const workers = this.#slots.flatMap(({ worker }) => (worker === undefined ? [] : [worker]));
    const ends = workers.map(
      (worker) => new Promise<void>((resolve) => worker.once('exit', () => resolve())),
    );
    for (const slot of this.#slots) slot.send({ kind: 'stop' });
    const kill = setTimeout(() => {
      for (const worker of workers) worker.process.kill('SIGKILL');
    }, this.#settings.shutdownTimeoutMs + STOP_GRACE_MS);
    await Promise.all(ends);
    clearTimeout(kill);
  }

  get #readyCount(): number {
    return this.#slots.filter(({ isReady }) => isReady).length;
  }

  #fork(slot: Slot): void {
    const worker = cluster.fork();
    slot.worker = worker;
    slot.startedMs = performance.now();
    worker.on('message', (message: WorkerMessage) => this.#receive(slot, message));
    worker.once('exit', (code, signal) => this.#onExit(slot, signal ?? `code ${code}`));
    worker.on('error', (error) => {
      this.#logger.warn({ err: error, worker: slot.number }, 'trouble with a worker');
      // It was never created: there will be no exit.
      if (worker.process.pid === undefined) this.#onExit(slot, error.message);
    });
  }

  #startWorker(slot: Slot, address: string): void {
    slot.isLoaded = false;
    slot.listen = address;
    const settings = { ...this.#settings, listen: address, upstream: this.#upstream };
    slot.send({ kind: 'start', settings, number: slot.number });
    slot.startTimeout = setTimeout(() => slot.worker?.process.kill('SIGKILL'), START_TIMEOUT_MS);
  }

  #receive(slot: Slot, message: WorkerMessage): void {
    if (message.kind === 'loaded') {
      slot.isLoaded = true;
      if (this.#stopping !== undefined) slot.send({ kind: 'stop' });
      else if (this.#listen !== undefined) this.#startWorker(slot, this.#listen);
    } else if (message.kind === 'ready') {
      if (slot.listen !== this.#listen) return;
      slot.isReady = true;
      clearTimeout(slot.startTimeout);
      if (this.#haveAllStarted)
        this.#logger.info({ worker: slot.number }, 'a worker answers again');
      else if (this.#readyCount === this.#slots.length) this.#started?.ready(message);
    } else if (message.kind === 'load') {
      slot.load = message;
      this.#balance(slot, message);
    } else if (message.kind === 'failed') {
      const { code, message: text, exitCode } = message;
      // Once the node has answered, it starts the worker again.
      if (this.#haveAllStarted) this.#logger.error({ worker: slot.number, code }, text);
      // A failure at an abandoned port does not matter for the next one.
      else if (slot.listen === this.#listen) {
        this.#started?.failed(new NodeError(code, text, { exitCode }));
      }
    } else {
      slot.families = message.families;
      slot.onMetrics();
    }
  }

  /** Has a busy worker close some connections, so that the least busy of the others gets as much to do. */
  #balance(slot: Slot, { utilization, connections }: WorkerLoad): void {
    const others = this.#slots.filter((other) => other !== slot && other.isReady);
    const minUtilization = Math.min(...others.map(({ load }) => load?.utilization ?? 1));
    const difference = utilization - minUtilization;
    if (utilization < BUSY_UTILIZATION || difference < EVEN_DIFFERENCE) return;
    const surplus = Math.floor((connections * difference) / (2 * utilization));
    if (surplus > 0) slot.send({ kind: 'close', connections: surplus });
  }

  #onExit(slot: Slot, reason: string): void {
    const wasStable = slot.isReady && performance.now() - slot.startedMs >= MIN_STABLE_UPTIME_MS;
    slot.worker = undefined;
    slot.isLoaded = false;
    slot.isReady = false;
    slot.listen = undefined;
    slot.load = undefined;
    clearTimeout(slot.startTimeout);
    // Sums must not decrease when a worker exits, so its counts are added.
    slot.endedFamilies = addLasting(slot.endedFamilies, slot.families);
    slot.families = [];
    slot.onMetrics();
    if (this.#stopping !== undefined || this.#isInterrupted) return;
    slot.earlyExits = wasStable ? 0 : slot.earlyExits + 1;
    if (slot.earlyExits >= MAX_EARLY_EXITS) {
      const message =
        `worker ${slot.number} ended ${MAX_EARLY_EXITS} times within ${MIN_STABLE_UPTIME_MS / 1_000} s ` +
        `of its start, the last time by ${reason}: look at the log above, then start the node again`;
      this.#failure.fail(new NodeError('worker_failed', message));
      return;
    }
    const delayMs = restartDelayMs(slot.earlyExits);
    const facts = { worker: slot.number, ended_by: reason, restart_in_ms: delayMs };
    this.#logger.warn(facts, 'a worker ended: starting another');
    slot.restart = setTimeout(() => {
      this.#restarts += 1;
      this.#fork(slot);
    }, delayMs);
  }
}

/** A port that is free now. @throws NodeError `listen_failed` */
async function freePort(host: string): Promise<number> {
  const server = createServer();
  const port = await listen(server, { host, port: 0 });
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** No delay after the first end, then a longer one each time. */
function restartDelayMs(earlyExits: number): number {
  if (earlyExits <= 1) return 0;
  return Math.min(MAX_RESTART_DELAY_MS, FIRST_RESTART_DELAY_MS * 2 ** (earlyExits - 2));
}
