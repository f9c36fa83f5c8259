/**
 * The servers of a ledger. A process reads from one of them: the first in the order of the location that matches
 * `target_session_attrs`. If that server is lost, or hangs while another responds, the process moves to the next one
 * and repeats its pending reads there.
 *
 * A process never goes backwards: it reads from a server only if that has everything that the process has seen.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Head } from '../columns/head.ts';
import { READER_GRACE_MS } from '../columns/pruning-column.ts';
import type { ReadServer } from '../store.ts';
import { isStoreError, isTransient, StoreError } from '../store-error.ts';
import type { Answer, ConnectionTarget, Parameter, Statement } from './connection.ts';
import { isOlder, PostgresHost, preferenceOf, ReplicaLag, type ServerState } from './host.ts';
import type { PostgresLocation, SessionAttributes } from './location.ts';
import type { Lane } from './pool.ts';

/** Most statements of a process that may wait for responses; more are refused. */
export const MAX_WAITING_STATEMENTS = 2_000;
const PROBE_INTERVAL_MS = 250;
/** How long a server may be silent while another responds, in milliseconds. */
const SILENCE_LIMIT_MS = 600;
/** How long a search waits for the servers before it takes one that has responded, in milliseconds. */
const ROUND_LIMIT_MS = 400;
/** How long reads wait for a server that has what they need, in milliseconds. */
const SEARCH_LIMIT_MS = 2_000;
const ROUND_PAUSE_MS = 25;
/** How long a server may be behind another one before the process moves to the other, in milliseconds. */
const LAG_LIMIT_MS = 1_000;
/** The same limit if the other server is less preferred. It is longer because a primary has other work. */
const PREFERRED_LAG_LIMIT_MS = 5_000;

/**
 * If the head was last known to be the newest longer ago than this, in milliseconds, it is read again every time. A
 * standby that has hung may show a new oldest version and much later deletions in one moment (state/pruning-guard.ts).
 */
export const MAX_UNCONFIRMED_MS = READER_GRACE_MS / 2;

export class PostgresHosts {
  readonly owner: string;
  readonly #attributes: SessionAttributes;
  readonly #displayName: string;
  readonly #hosts: readonly PostgresHost[];
  readonly #lag = new ReplicaLag();
  readonly #watch: NodeJS.Timeout;
  #watchedMs = performance.now();
  #current: PostgresHost | undefined;
  /** The current host, or the previous one while a search is running. */
  #last: PostgresHost | undefined;
  #first = 0;
  #searching: Promise<PostgresHost> | undefined;
  #newestSeen: Head | undefined;
  #isClosed = false;
  #moves = 0;
  /** Time (`performance.now()`) of the last move to a server that was not known to be up to date. */
  #doubtfulMoveAtMs = -Infinity;
  #waiting = 0;

  constructor(
    location: PostgresLocation,
    attributes = location.attributes,
    owner = randomBytes(4).toString('hex'),
  ) {
    this.owner = owner;
    this.#attributes = attributes;
    this.#displayName = location.displayName;
    this.#hosts = location.urls.map((url) => new PostgresHost(url, location, this.owner));
    this.#watch = setInterval(() => this.#probeAll(), PROBE_INTERVAL_MS).unref();
  }

  /**
   * Sends a read. If the server is lost before it responds, the statement is sent once more, to the next server. If the
   * server interrupts the statement, it is sent once more to the same server.
   * @param values must stay unchanged until the response
   * @throws StoreError `store_busy`, `store_unreachable`, `store_interrupted`, `store_behind` and others
   */
  async query(lane: Lane, statement: Statement, values: readonly Parameter[]): Promise<Answer> {
    if (lane === 'long') return await this.#query(lane, statement, values);
    if (this.#waiting >= MAX_WAITING_STATEMENTS) {
      const message = `${this.#displayName} is overloaded: more than ${MAX_WAITING_STATEMENTS} reads wait`;
      throw new StoreError('store_busy', message);
    }
    this.#waiting += 1;
    try {
      return await this.#query(lane, statement, values);
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Finds a server for another connection. @throws StoreError `store_unreachable`, `store_behind`, … */
  async find(): Promise<ConnectionTarget> {
    return (await this.#found()).target;
  }

  recordHead(head: Head): void {
    if (isOlder(this.#newestSeen, head)) this.#newestSeen = head;
  }

  /** Sets the head that this process has committed, which is the newest one. */
  committed(head: Head | undefined): void {
    this.#newestSeen = head;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get newestSeen(): Head | undefined {
    return this.#newestSeen;
  }

  /** Leaves the current server, which shows less than before. A different server may have taken its place. */
  distrust(): void {
    this.#leave(this.#current);
  }

  get server(): ReadServer {
    return {
      ...this.#lag.of(this.#newestSeen),
      unconfirmedMs: this.unconfirmedMs,
      moves: this.#moves,
      doubtfulMoveAgeMs: performance.now() - this.#doubtfulMoveAtMs,
      standbyWaitMs: 0,
    };
  }

  get unconfirmedMs(): number {
    const state = this.#current?.state;
    return state?.isStandby === false ? 0 : this.#lag.unconfirmedMs(this.#newestSeen);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#watch);
    await Promise.all(this.#hosts.map((host) => host.close()));
  }

  async #query(lane: Lane, statement: Statement, values: readonly Parameter[]): Promise<Answer> {
    const host = this.#current ?? (await this.#found());
    try {
      return await host.pool.query(lane, statement, values);
    } catch (error) {
      const isUnreachable = isStoreError(error, 'store_unreachable');
      const canRetry = isUnreachable || isStoreError(error, 'store_interrupted');
      if (this.#isClosed || !canRetry) throw error;
      if (isUnreachable) this.#leave(host);
      const next = await this.#found();
      return await next.pool.query(lane, statement, values);
    }
  }

  #found(): Promise<PostgresHost> {
    if (this.#current !== undefined) return Promise.resolve(this.#current);
    this.#searching ??= this.#search().finally(() => {
      this.#searching = undefined;
    });
    return this.#searching;
  }

  async #search(): Promise<PostgresHost> {
    const endMs = performance.now() + SEARCH_LIMIT_MS;
    // The first search reports a failure at once, but waits for a slow server.
    const isOver = () =>
      this.#last !== undefined
        ? performance.now() >= endMs
        : !this.#hosts.some(({ isAwaited }) => isAwaited);
    for (;;) {
      const { host, failure } = await this.#round();
      if (host !== undefined) {
        this.#take(host);
        return host;
      }
      if (this.#isClosed || !isTransient(failure) || isOver()) throw failure;
      await sleep(ROUND_PAUSE_MS);
    }
  }

  async #round(): Promise<{ readonly host?: PostgresHost; readonly failure?: unknown }> {
    const order = [...this.#hosts.slice(this.#first), ...this.#hosts.slice(0, this.#first)];
    const probes = order.map((host) =>
      withTimeout(ROUND_LIMIT_MS, host.probe(), this.#displayName),
    );
    let failure: unknown;
    let second: PostgresHost | undefined;
    for (const [index, host] of order.entries()) {
      try {
        const state = await probes[index]!;
        const preference = this.#preferenceOf(state);
        if (preference === 1) second ??= host;
        if (preference < 2) continue;
        await withTimeout(ROUND_LIMIT_MS, host.pool.open(), this.#displayName);
        return { host };
      } catch (error) {
        if (weightOf(error) > weightOf(failure)) failure = error;
      }
    }
    if (second === undefined) return { failure };
    try {
      await withTimeout(ROUND_LIMIT_MS, second.pool.open(), this.#displayName);
      return { host: second };
    } catch (error) {
      return { failure: error };
    }
  }

  /** @throws StoreError when the server must not be read from */
  #preferenceOf(state: ServerState): number {
    const preference = preferenceOf(this.#attributes, state);
    if (preference === 0) throw this.#noMatchError();
    if (isOlder(state.head, this.#newestSeen)) throw this.behindError();
    return preference;
  }

  /** Ends the pending reads of a host. The next read searches for a host. */
  #leave(host: PostgresHost | undefined): void {
    if (host === undefined || this.#current !== host) return;
    this.#current = undefined;
    this.#first = (this.#hosts.indexOf(host) + 1) % this.#hosts.length;
    host.pool.abandon();
  }

  /** Probes all hosts, and moves if the current one is silent or far behind another. */
  #probeAll(): void {
    const nowMs = performance.now();
    // A process that was stopped or busy has had no time to read responses.
    const hasSlept = nowMs - this.#watchedMs > 2 * PROBE_INTERVAL_MS;
    this.#watchedMs = nowMs;
    const current = this.#current;
    for (const host of this.#hosts) {
      host.probe().then(
        (state) => this.#lag.record(state),
        () => undefined,
      );
    }
    if (current === undefined || hasSlept) return;
    const silentSinceMs = current.silentSinceMs ?? nowMs;
    const others = this.#hosts.filter((host) => this.#isUsable(host, silentSinceMs));
    if (nowMs - silentSinceMs > SILENCE_LIMIT_MS) {
      if (others.length > 0) this.#leave(current);
      return;
    }
    const better = others.find((host) => this.#isBetter(host.state!, current.state));
    if (better !== undefined) void this.#moveTo(better);
  }

  /** Whether another host responded lately, or since the current one became silent, and has everything seen so far. */
  #isUsable(host: PostgresHost, silentSinceMs: number): boolean {
    const { state } = host;
    if (state === undefined || host === this.#current) return false;
    if (state.sentAtMs < silentSinceMs - SILENCE_LIMIT_MS) return false;
    return preferenceOf(this.#attributes, state) > 0 && !isOlder(state.head, this.#newestSeen);
  }

  #isBetter(other: ServerState, current: ServerState | undefined): boolean {
    if (current === undefined) return false;
    const gain = preferenceOf(this.#attributes, other) - preferenceOf(this.#attributes, current);
    const { behindMs } = this.#lag.of(current.head);
    const otherBehindMs = this.#lag.of(other.head).behindMs;
    if (gain > 0) return otherBehindMs <= LAG_LIMIT_MS;
    const limitMs = gain === 0 ? LAG_LIMIT_MS : PREFERRED_LAG_LIMIT_MS;
    return behindMs > limitMs && otherBehindMs === 0;
  }

  /** Moves to another host. The current one still responds to the reads that it has received. */
  async #moveTo(host: PostgresHost): Promise<void> {
    try {
      await host.pool.open();
    } catch {
      return;
    }
    if (this.#isClosed || this.#current === host || isOlder(host.state?.head, this.#newestSeen))
      return;
    this.#take(host);
  }

  #take(host: PostgresHost): void {
    if (this.#last !== undefined && this.#last !== host) {
      this.#moves += 1;
      const isDoubtful = this.#lag.unconfirmedMs(host.state?.head) > MAX_UNCONFIRMED_MS;
      if (isDoubtful) this.#doubtfulMoveAtMs = performance.now();
    }
    this.#current = host;
    this.#last = host;
    this.#first = this.#hosts.indexOf(host);
  }

  behindError(): StoreError {
    const message =
      `${this.#displayName} is behind what this process has read of it: ` +
      'wait until a standby has caught up, or restart this process if commits were lost';
    return new StoreError('store_behind', message);
  }

  /** The error of a writer whose server lacks acknowledged commits. */
  lostCommitsError(): StoreError {
    const message =
      `${this.#displayName} lacks commits that it had acknowledged, as after a fail-over to a standby that had not ` +
      'received them: start this process again, and it goes on after the last one that is there';
    return new StoreError('store_commits_lost', message);
  }

  #noMatchError(): StoreError {
    const remedy = /^(?:read-write|primary)$/.test(this.#attributes)
      ? ': name the primary server, or promote this one'
      : '';
    const message = `no server of ${this.#displayName} that answers is ${this.#attributes}${remedy}`;
    return new StoreError('store_unreachable', message);
  }
}

/** The failure with the highest weight is reported: first a permanent one, then that of a server that is behind. */
function weightOf(failure: unknown): number {
  if (failure === undefined) return 0;
  if (!isTransient(failure)) return 3;
  return isStoreError(failure, 'store_behind') ? 2 : 1;
}

/** @throws StoreError `store_unreachable` when it takes longer; the attempt continues */
function withTimeout<T>(ms: number, attempt: Promise<T>, displayName: string): Promise<T> {
  const bounded = new Promise<T>((resolve, reject) => {
    const timeout = setTimeout(() => {
      reject(new StoreError('store_unreachable', `${displayName} does not answer in time`));
    }, ms);
    attempt.finally(() => clearTimeout(timeout)).then(resolve, reject);
  });
  // It is awaited later. Until then this prevents an unhandled rejection.
  bounded.catch(() => undefined);
  return bounded;
}
