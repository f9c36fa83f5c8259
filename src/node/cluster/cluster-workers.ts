/**
 * The workers of a node: started, watched, started again when they end, stopped. One that keeps ending soon after its
 * start fails the node: something is wrong that starting again does not cure.
 *
 * They accept connections from one listening socket (SCHED_NONE). Handed out in turn by the primary instead, they wait
 * whenever the primary writes, and a connection on its way to a worker that is killed hangs for ever: one in each of
 * four kills under load, measured, against none. What handing out in turn does better is done by cluster-balance.ts.
 */
import cluster, { type Worker } from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { addLasting, type MetricFamily } from '../metrics/metrics-family.ts';
import { NodeError } from '../node-error.ts';
import type { NodeSettings } from '../settings/settings.ts';
import { connectionsToClose, type WorkerLoad } from './cluster-balance.ts';
import type { WorkerOrder, WorkerReport } from './worker-messages.ts';

/** A worker that has answered for so long, in milliseconds, has started well. */
const STEADY_LIFE_MS = 10_000;
/** So many ends in a row of workers that had not, in one place, fail the node. */
export const MAX_EARLY_ENDS = 5;
/**
 * How long a worker may take to answer when it was told to, in milliseconds; one that hangs is killed
 * and started again.
 */
const START_TIMEOUT_MS = 60_000;
/** Wait before the third start in a row, in milliseconds; it doubles from one to the next. */
const FIRST_RESTART_DELAY_MS = 100;
const MAX_RESTART_DELAY_MS = 5_000;
/** How much longer than their requests may take workers get to end, in milliseconds. */
const STOP_GRACE_MS = 500;
/** How long a worker may take to tell its metrics, in milliseconds. */
const METRICS_TIMEOUT_MS = 2_000;

/** What workers say when they are ready. */
export type WorkerReady = WorkerReport & { readonly kind: 'ready' };

/** One worker after the other in one place. */
interface Place {
  readonly number: number;
  worker: Worker | undefined;
  /** Whether it waits to be told where to listen. */
  isWaiting: boolean;
  isReady: boolean;
  startedMs: number;
  earlyEnds: number;
  /** As last reported. */
  load: WorkerLoad | undefined;
  restart: NodeJS.Timeout | undefined;
  startTimeout: NodeJS.Timeout | undefined;
  /** What the worker was last known to have counted, */
  known: readonly MetricFamily[];
  /** and what those before it had. */
  ended: readonly MetricFamily[];
}

/** All workers of a node. */
export class WorkerPool {
  readonly #settings: NodeSettings;
  readonly #logger: Logger;
  readonly #places: readonly Place[];
  /** Rejects when the workers cannot go on. Never resolves. */
  readonly failed: Promise<never>;
  #fail: (error: NodeError) => void = () => undefined;
  #becameReady: (ready: WorkerReady) => void = () => undefined;
  #allReady = false;
  /** Where workers listen, when that is known; those that come before wait for it. */
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
    // Whoever waits for it hears of it; nobody has to.
    this.failed.catch(() => undefined);
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ exec: fileURLToPath(new URL('./worker-main.js', import.meta.url)) });
  }

  /** Starts the processes, which load what they need and wait for `listen`. */
  fork(): void {
    for (const place of this.#places) this.#fork(place);
  }

  /**
   * Has all of them listen; resolves when all answer.
   * @param listen HOST:PORT with a port that is not 0: a worker that comes when all others are gone
   *   has to take the same
   * @throws NodeError what kept one from it; the others still run
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

  /** Workers that answer. */
  get readyCount(): number {
    return this.#places.filter(({ isReady }) => isReady).length;
  }

  /** How many workers were started in the place of one that had ended. */
  get restarts(): number {
    return this.#restarts;
  }

  /**
   * The metrics of all workers, and what those that have ended had counted. A worker that does not tell in time stands
   * with what it told last.
   */
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
    return this.#places.flatMap(({ known, ended }) => [known, ended]);
  }

  /** Stops all: they finish what is under way; those that take too long are killed. */
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

  #fork(place: Place): void {
    const worker = cluster.fork();
    place.worker = worker;
    place.isReady = false;
    place.startedMs = performance.now();
    worker.on('message', (report: WorkerReport) => this.#hear(place, report));
    worker.once('exit', (code, signal) => this.#ended(place, signal ?? `code ${code}`));
    worker.on('error', (error) => {
      this.#logger.warn({ err: error, worker: place.number }, 'trouble with a worker');
      // It never came to be: there will be no exit.
      if (worker.process.pid === undefined) this.#ended(place, error.message);
    });
  }

  /** Has a worker answer, within the time for that. */
  #order(place: Place, listen: string): void {
    const { worker, number } = place;
    place.isWaiting = false;
    const settings = { ...this.#settings, listen };
    this.#send(worker, { kind: 'start', settings, place: number });
    place.startTimeout = setTimeout(() => worker?.process.kill('SIGKILL'), START_TIMEOUT_MS);
  }

  #send(worker: Worker | undefined, order: WorkerOrder): void {
    // A worker that has just ended cannot be told; its end is heard of by itself.
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
      else if (this.readyCount === this.#places.length) this.#becameReady(report);
    } else if (report.kind === 'load') {
      place.load = report;
      this.#balance(place, report);
    } else if (report.kind === 'failed') {
      const { code, message, exitCode } = report;
      // A node that has answered tries again first.
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

  /** Sums must not fall when a worker ends: what it had counted goes on counting. */
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
