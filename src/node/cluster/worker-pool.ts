/**
 * The workers of a node: started, watched, started again when they end, stopped. One that keeps ending soon after its
 * start fails the node: something is wrong that starting again does not cure.
 *
 * They accept connections from one listening socket (SCHED_NONE). If the primary hands connections out in turn instead,
 * they wait whenever the primary writes, and a connection on its way to a worker that is killed hangs for ever: one in
 * each of four kills under load, measured, against none.
 *
 * With one socket the system gives a new connection to whichever worker is awake first, so a few persistent
 * connections can all end up with one worker while another has nothing to do. The busy one then closes some of them
 * after their next answer; clients that come again are accepted by an idle one.
 */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { addLasting, counter, gauge, type MetricFamily, plain } from '../metrics/metrics-family.ts';
import { NodeError } from '../node-error.ts';
import {
  type ListenAddress,
  listenFailure,
  parseListenAddress,
} from '../settings/listen-address.ts';
import type { NodeSettings } from '../settings/settings.ts';
import type { WorkerLoad, WorkerOrder, WorkerReport } from './worker-messages.ts';

/** How many free ports are tried: between finding one and listening on it, another program may take it. */
const MAX_PORTS_TRIED = 3;
/** Utilization below which a worker needs no help. */
const BUSY_UTILIZATION = 0.8;
/** Difference of utilization below which loads are even. */
const EVEN_DIFFERENCE = 0.3;

/** How long a worker must have answered to count as started well, in milliseconds. */
const STEADY_LIFE_MS = 10_000;
/** Early ends in a row, in one place, that fail the node. */
export const MAX_EARLY_ENDS = 5;
/** How long a worker may take to start answering, in milliseconds; one that hangs is killed and started again. */
const START_TIMEOUT_MS = 60_000;
/** Wait before the third start in a row, in milliseconds; it doubles from one to the next. */
const FIRST_RESTART_DELAY_MS = 100;
const MAX_RESTART_DELAY_MS = 5_000;
/** Time to end, on top of the time that requests get, in milliseconds. */
const STOP_GRACE_MS = 500;
/** How long a worker may take to report its metrics, in milliseconds. */
const METRICS_TIMEOUT_MS = 2_000;

/** What the last worker reports when all are ready. */
type WorkerReady = WorkerReport & { readonly kind: 'ready' };

/** The workers of a node. */
export interface Workers {
  /**
   * Has them listen at the address of the settings; resolves when all answer.
   * @throws NodeError `listen_failed`, `worker_failed`
   */
  listen(): Promise<WorkerReady>;
  /** The metrics of all workers, and what those that have ended had counted. */
  metrics(): Promise<readonly (readonly MetricFamily[])[]>;
  /** Rejects when the workers that listen cannot continue. */
  failed(): Promise<never>;
  /** They finish what is in flight; those that take too long are killed. */
  stop(): Promise<void>;
}

/** Starts the processes, which load what they need and wait for `listen`. @param count 2 or more */
export function startWorkers(settings: NodeSettings, count: number, logger: Logger): Workers {
  const pools = [new WorkerPool(settings, count, logger)];
  const current = (): WorkerPool => pools.at(-1)!;
  const listen = async (): Promise<WorkerReady> => {
    const address = parseListenAddress(settings.listen);
    for (;;) {
      try {
        return await current().listen(await withPort(settings.listen, address));
      } catch (error) {
        const isTaken = error instanceof NodeError && error.code === 'listen_failed';
        if (!isTaken || address.port !== 0 || pools.length === MAX_PORTS_TRIED) throw error;
        await current().stop();
        pools.push(new WorkerPool(settings, count, logger));
      }
    }
  };
  return {
    listen,
    metrics: () => current().metrics(),
    failed: () => current().failed,
    stop: async () => void (await Promise.all(pools.map((pool) => pool.stop()))),
  };
}

/** The address with a port that is not 0: the workers have to name the one they share. */
async function withPort(listen: string, { host, port }: ListenAddress): Promise<string> {
  return port === 0 ? listen.replace(/:0+$/, `:${await freePort(host)}`) : listen;
}

/** A port that is free now. @throws NodeError `listen_failed` */
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

/** How many connections a busy worker should close, so that the least busy of the others gets as much to do. */
function connectionsToClose(busy: WorkerLoad, others: readonly WorkerLoad[]): number {
  if (busy.utilization < BUSY_UTILIZATION || others.length === 0) return 0;
  const least = Math.min(...others.map(({ utilization }) => utilization));
  const difference = busy.utilization - least;
  if (difference < EVEN_DIFFERENCE) return 0;
  return Math.floor((busy.connections * difference) / (2 * busy.utilization));
}

/** A place for one worker; another takes it when that one ends. */
interface Place {
  readonly number: number;
  worker: Worker | undefined;
  /** Whether it waits for the order to listen. */
  isWaiting: boolean;
  isReady: boolean;
  startedMs: number;
  earlyEnds: number;
  /** As last reported. */
  load: WorkerLoad | undefined;
  restart: NodeJS.Timeout | undefined;
  startTimeout: NodeJS.Timeout | undefined;
  /** The last known metrics of the worker, */
  known: readonly MetricFamily[];
  /** and the sums of those before it. */
  ended: readonly MetricFamily[];
}

class WorkerPool {
  readonly #settings: NodeSettings;
  readonly #logger: Logger;
  readonly #places: readonly Place[];
  readonly failed: Promise<never>;
  #fail: (error: NodeError) => void = () => undefined;
  #becameReady: (ready: WorkerReady) => void = () => undefined;
  #allReady = false;
  /** Where workers listen, once known; those that start before wait for it. */
  #listen: string | undefined;
  #stopping: Promise<void> | undefined;
  #restarts = 0;
  #question = 0;
  readonly #answers = new Map<number, (place: Place, families: readonly MetricFamily[]) => void>();

  /** @param count 1 or more */
  constructor(settings: NodeSettings, count: number, logger: Logger) {
    this.#settings = settings;
    this.#logger = logger;
    this.#places = Array.from({ length: count }, (_, index) => ({
      ...{ number: index + 1, worker: undefined, isWaiting: false, isReady: false },
      ...{ startedMs: 0, earlyEnds: 0 },
      ...{ load: undefined, restart: undefined, startTimeout: undefined, known: [], ended: [] },
    }));
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    // A failure is not "unhandled" when nobody waits for it.
    this.failed.catch(() => undefined);
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ exec: fileURLToPath(new URL('./worker.js', import.meta.url)) });
    for (const place of this.#places) this.#fork(place);
  }

  /**
   * @param listen HOST:PORT with a port that is not 0: a worker that starts when all others are gone has to take the
   *   same
   * @throws NodeError of the first worker that could not listen; the others still run
   */
  async listen(listen: string): Promise<WorkerReady> {
    this.#listen = listen;
    const ready = new Promise<WorkerReady>((resolve) => {
      this.#becameReady = resolve;
    });
    for (const place of this.#places) if (place.isWaiting) this.#order(place, listen);
    const last = await Promise.race([ready, this.failed]);
    this.#allReady = true;
    return last;
  }

  /** A worker that does not answer in time is represented by its last answer. */
  async metrics(): Promise<readonly (readonly MetricFamily[])[]> {
    this.#question += 1;
    const question = this.#question;
    const asked = new Set(this.#places.filter(({ isReady }) => isReady));
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, METRICS_TIMEOUT_MS);
      const check = (): void => {
        for (const place of asked) if (!place.isReady) asked.delete(place);
        if (asked.size > 0) return;
        clearTimeout(timer);
        resolve();
      };
      this.#answers.set(question, (place) => {
        asked.delete(place);
        check();
      });
      for (const { worker } of asked) this.#send(worker, { kind: 'metrics', question });
      check();
    });
    this.#answers.delete(question);
    const own = [
      gauge('daybook_workers', 'Workers that answer.', plain(this.#readyCount)),
      counter('daybook_worker_restarts_total', 'Workers started again.', plain(this.#restarts)),
    ];
    return [own, ...this.#places.flatMap(({ known, ended }) => [known, ended])];
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    for (const { restart } of this.#places) clearTimeout(restart);
    const workers = this.#places.flatMap(({ worker }) => (worker === undefined ? [] : [worker]));
    const ends = workers.map(
      (worker) => new Promise<void>((resolve) => worker.once('exit', () => resolve())),
    );
    for (const worker of workers) this.#send(worker, { kind: 'stop' });
    const kill = setTimeout(() => {
      for (const worker of workers) worker.process.kill('SIGKILL');
    }, this.#settings.shutdownTimeoutMs + STOP_GRACE_MS);
    await Promise.all(ends);
    clearTimeout(kill);
  }

  get #readyCount(): number {
    return this.#places.filter(({ isReady }) => isReady).length;
  }

  #fork(place: Place): void {
    const worker = cluster.fork();
    place.worker = worker;
    place.isReady = false;
    place.startedMs = performance.now();
    worker.on('message', (report: WorkerReport) => this.#hear(place, report));
    worker.once('exit', (code, signal) => this.#ended(place, signal ?? `code ${code}`));
    worker.on('error', (error) => {
      this.#logger.warn({ err: error, worker: place.number }, 'trouble with a worker');
      // It was never created: there will be no exit.
      if (worker.process.pid === undefined) this.#ended(place, error.message);
    });
  }

  /** Has a worker listen; it is killed when it takes too long. */
  #order(place: Place, listen: string): void {
    const { worker, number } = place;
    place.isWaiting = false;
    const settings = { ...this.#settings, listen };
    this.#send(worker, { kind: 'start', settings, place: number });
    place.startTimeout = setTimeout(() => worker?.process.kill('SIGKILL'), START_TIMEOUT_MS);
  }

  #send(worker: Worker | undefined, order: WorkerOrder): void {
    // A worker that has just ended gets no order; its exit is handled by itself.
    if (worker?.isConnected() === true) worker.send(order, () => undefined);
  }

  #hear(place: Place, report: WorkerReport): void {
    if (report.kind === 'hello') {
      place.isWaiting = true;
      if (this.#stopping !== undefined) this.#send(place.worker, { kind: 'stop' });
      else if (this.#listen !== undefined) this.#order(place, this.#listen);
    } else if (report.kind === 'ready') {
      place.isReady = true;
      clearTimeout(place.startTimeout);
      if (this.#allReady) this.#logger.info({ worker: place.number }, 'a worker answers again');
      else if (this.#readyCount === this.#places.length) this.#becameReady(report);
    } else if (report.kind === 'load') {
      place.load = report;
      this.#balance(place, report);
    } else if (report.kind === 'failed') {
      const { code, message, exitCode } = report;
      // Once the node has answered, it starts the worker again.
      if (!this.#allReady) this.#fail(new NodeError(code, message, { exitCode }));
      else this.#logger.error({ worker: place.number, code }, message);
    } else {
      place.known = report.families;
      if (report.question !== null) this.#answers.get(report.question)?.(place, report.families);
    }
  }

  #balance(place: Place, load: WorkerLoad): void {
    const others = this.#places.filter((other) => other !== place && other.isReady);
    const loads = others.flatMap((other) => (other.load === undefined ? [] : [other.load]));
    const connections = connectionsToClose(load, loads);
    if (connections > 0) this.#send(place.worker, { kind: 'close', connections });
  }

  #ended(place: Place, how: string): void {
    const lifeMs = performance.now() - place.startedMs;
    const wasSteady = place.isReady && lifeMs >= STEADY_LIFE_MS;
    place.worker = undefined;
    place.isWaiting = false;
    place.isReady = false;
    place.load = undefined;
    clearTimeout(place.startTimeout);
    this.#retire(place);
    if (this.#stopping !== undefined) return;
    place.earlyEnds = wasSteady ? 0 : place.earlyEnds + 1;
    if (place.earlyEnds >= MAX_EARLY_ENDS) {
      this.#fail(
        new NodeError(
          'worker_failed',
          `worker ${place.number} ended ${MAX_EARLY_ENDS} times within ${STEADY_LIFE_MS / 1_000} s ` +
            `of its start, the last time by ${how}: look at the log above, then start the node again`,
        ),
      );
      return;
    }
    const delayMs = restartDelayMs(place.earlyEnds);
    const facts = { worker: place.number, ended_by: how, restart_in_ms: delayMs };
    this.#logger.warn(facts, 'a worker ended: starting another');
    place.restart = setTimeout(() => {
      this.#restarts += 1;
      this.#fork(place);
    }, delayMs);
  }

  /** Sums must not fall when a worker ends: what it had counted stays in them. */
  #retire(place: Place): void {
    place.ended = addLasting(place.ended, place.known);
    place.known = [];
    for (const answer of this.#answers.values()) answer(place, []);
  }
}

/** At once for the first end, then longer and longer. */
function restartDelayMs(earlyEnds: number): number {
  if (earlyEnds <= 1) return 0;
  return Math.min(MAX_RESTART_DELAY_MS, FIRST_RESTART_DELAY_MS * 2 ** (earlyEnds - 2));
}
