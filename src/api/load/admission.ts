/**
 * Overload protection: a process with more work than it can do refuses some requests at once, so that it answers the
 * others in time.
 *
 * Requests queue where the program does not see them: on connections that are ready to be read. One turn of the event
 * loop answers all that were ready when it began, so a request waits for the work of its turn. The limit is therefore
 * a time: in overload a turn works for that many milliseconds and refuses the rest. An overload begins when turns have
 * exceeded this time repeatedly for a while. One heavy request or a short burst is not an overload.
 *
 * During an overload, a client may use as much of a turn as is left for all others, so one client alone gets half. A
 * client with many connections is refused before one with a few. The same rule applies to bytes (held-bytes.ts).
 *
 * A store in another process also has a queue, of reads that it has not answered. More than MAX_WAITING_READS of them
 * for the same time are an overload too, for all kinds of requests.
 *
 * The cost is one clock read per request and one immediate per turn; figures in docs/metrics.md.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Waiter } from '../../yield-budget.ts';
import { ApiError } from '../error-table.ts';
import type { ApiSettings } from '../settings.ts';
import { HeldBytes, type MemoryHold } from './held-bytes.ts';
import { Clients, hasDisconnected } from './request-client.ts';

/**
 * Kinds of work, for refusals and metrics: `read` looks up one thing; `listing` reads and renders many rows; `body`
 * receives, parses and answers a request body.
 */
export const WORK_KINDS = ['read', 'listing', 'body'] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

/** A page being computed, a run of code, or a body being received. */
type PendingWork = 'listing' | 'run' | 'body';

export type OverloadSettings = Pick<
  ApiSettings,
  'maxBacklogMs' | 'maxUnsentBytes' | 'trustedProxies'
>;

/** The value of `Retry-After`, in seconds: when a client may retry, perhaps at another node. */
const RETRY_AFTER_SECS = 1;
/** How long turns must have exceeded their time before a request is refused, in milliseconds. */
export const OVERLOAD_ONSET_MS = 500;
/** An overload ends when no turn has exceeded its time for this long, in milliseconds. */
export const OVERLOAD_END_MS = 100;
/** Maximum waiting reads of the store; more are an overload if that lasts. */
export const MAX_WAITING_READS = 500;
/** Maximum clients that are counted separately in one turn; further ones share one count. */
export const MAX_CLIENTS_IN_A_TURN = 10_000;
const OTHER_CLIENTS = '';

/** Memory of a waiting request without its head, in bytes. */
export const WAITING_REQUEST_BYTES = 4 * 1024;

const REFUSALS: Readonly<Record<WorkKind | 'run', ApiError>> = {
  read: refusal('reads'),
  listing: refusal('listings and pages'),
  body: refusal('request bodies'),
  run: refusal('runs of code'),
};

function refusal(work: string): ApiError {
  return new ApiError(503, 'internal_error', `The node is overloaded: too many ${work} wait`, {
    retryAfterSecs: RETRY_AFTER_SECS,
  });
}

export function overloadError(kind: WorkKind): ApiError {
  return REFUSALS[kind];
}

/** Whether a failure is one of the overload errors in WORK_KINDS. */
export function isOverload(failure: unknown): boolean {
  return WORK_KINDS.some((kind) => REFUSALS[kind] === failure);
}

/** Stops the work of a client that has left; no client gets this error. */
const CLIENT_GONE = new ApiError(499, 'internal_error', 'The client has left');
const STOPPED = new ApiError(503, 'internal_error', 'The node is stopping', {
  retryAfterSecs: RETRY_AFTER_SECS,
});

export class Admission {
  readonly held: HeldBytes;
  readonly #maxMs: number;
  readonly #clients: Clients;
  readonly #clock: () => number;
  readonly #waitingReads: () => number;
  readonly #refused: Record<WorkKind, number> = { read: 0, listing: 0, body: 0 };
  /** When too many reads of the store began to wait. */
  #tooManyReadsSinceMs = Number.POSITIVE_INFINITY;
  /** When the latest series of turns that exceeded their time began, and when its last turn ended. */
  #overloadSinceMs = Number.NEGATIVE_INFINITY;
  #overloadUntilMs = Number.NEGATIVE_INFINITY;
  readonly #endTurn = (): void => this.#finishTurn();
  #isInTurn = false;
  #turnBeganMs = 0;
  #spentMs = 0;
  /** Work that counts against all clients: at most half a turn of each. Counted only in overload, like the next. */
  #sharedMs = 0;
  readonly #msByClient = new Map<string, number>();
  #hasRefused = false;
  #onTurnEnd: (() => void) | undefined;
  /** Whether the time since `#countedMs` was spent on work, and for which client. */
  #isWorking = false;
  #client: string | undefined;
  #countedMs = 0;

  /**
   * @param waitingReads number of reads that the store has not answered
   * @param clock monotonic, in milliseconds
   */
  constructor(
    settings: OverloadSettings,
    waitingReads: () => number = () => 0,
    clock: () => number = () => performance.now(),
  ) {
    this.#maxMs = settings.maxBacklogMs === 0 ? Number.POSITIVE_INFINITY : settings.maxBacklogMs;
    this.#clients = new Clients(settings.trustedProxies);
    this.held = new HeldBytes(settings.maxUnsentBytes, this.#clients);
    this.#clock = clock;
    this.#waitingReads = waitingReads;
  }

  /** Whether to work on a request now; call it once for each. A client that has left is not admitted. */
  admits(kind: WorkKind, request: IncomingMessage): boolean {
    if (hasDisconnected(request)) return false;
    const nowMs = this.#countedNow();
    const client = this.#clientOf(request, nowMs);
    const spentMs = client === undefined ? 0 : (this.#msByClient.get(client) ?? 0);
    const isOverShare = client !== undefined && spentMs >= this.#maxMs - this.#sharedMs;
    this.#hasRefused ||= isOverShare;
    const isFull = this.held.shouldRefuse(kind === 'listing', request);
    this.#isWorking = !isOverShare && !isFull && !this.#hasTooManyWaitingReads(nowMs);
    this.#client = client;
    if (!this.#isWorking) this.#refused[kind] += 1;
    return this.#isWorking;
  }

  /** Counts the bytes of a written response that the operating system has not taken, until it has. */
  holdUnsent(response: ServerResponse): void {
    const bytes = response.writableLength;
    if (bytes === 0 || response.destroyed) return;
    const hold = this.held.hold(response.req, bytes);
    response.once('close', () => this.held.release(hold));
  }

  /**
   * Counts the memory of a page request that waits behind another one of its connection.
   * @returns a function to call when the request's turn has come
   * @throws ApiError 503 if too much is held already
   */
  holdWaiting(request: IncomingMessage): () => void {
    if (this.held.shouldRefuse(true, request)) throw this.refuse('listing');
    const headBytes = request.rawHeaders.reduce((sum, { length }) => sum + length, 0);
    const bytes = WAITING_REQUEST_BYTES + request.url!.length + headBytes;
    const hold = this.held.hold(request, bytes);
    return () => this.held.release(hold);
  }

  /** Tracks an answer that is about to be computed, or a body that is being received. */
  pending(request: IncomingMessage, work: PendingWork): PendingAnswer {
    return new PendingAnswer(request, work, this);
  }

  /** Counts work that is refused before it is complete. @returns the error for it */
  refuse(work: PendingWork): ApiError {
    this.#refused[work === 'run' ? 'body' : work] += 1;
    return REFUSALS[work];
  }

  /** From here on, this turn counts as a run of code for this request. */
  beginRunTurn(request: IncomingMessage): void {
    this.#client = this.#clientOf(request, this.#countedNow());
    this.#isWorking = true;
  }

  /**
   * Calls back at the end of the current turn, or now if no request came in this turn. The turn lasts until the
   * callback returns, so that its time is not taken for calm. A turn has one callback.
   */
  beforeTurnEnds(callback: () => void): void {
    if (this.#isInTurn) this.#onTurnEnd = callback;
    else callback();
  }

  refusedCount(kind: WorkKind): number {
    return this.#refused[kind];
  }

  /** Counts the work of this turn until now. @returns the current time */
  #countedNow(): number {
    const nowMs = this.#clock();
    if (this.#isInTurn) this.#count(nowMs);
    else {
      this.#isInTurn = true;
      this.#turnBeganMs = nowMs;
      // The immediate runs when the turn has answered all requests that were ready.
      setImmediate(this.#endTurn);
    }
    this.#countedMs = nowMs;
    return nowMs;
  }

  /** Clients are distinguished only while an overload lasts. */
  #clientOf(request: IncomingMessage, nowMs: number): string | undefined {
    const isOverloaded = this.#isRecent() && nowMs - this.#overloadSinceMs >= OVERLOAD_ONSET_MS;
    if (!isOverloaded) return undefined;
    const client = this.#clients.of(request);
    const isKnown = this.#msByClient.has(client);
    return isKnown || this.#msByClient.size < MAX_CLIENTS_IN_A_TURN - 1 ? client : OTHER_CLIENTS;
  }

  /** Counts the time since the last request for that request. At most half a turn of a client counts against others. */
  #count(nowMs: number): void {
    if (!this.#isWorking) return;
    const elapsedMs = nowMs - this.#countedMs;
    this.#spentMs += elapsedMs;
    if (this.#client === undefined) return;
    const ownMs = this.#msByClient.get(this.#client) ?? 0;
    const countedMs = Math.min(elapsedMs, this.#maxMs / 2 - ownMs);
    this.#sharedMs += countedMs;
    this.#msByClient.set(this.#client, ownMs + countedMs);
  }

  #hasTooManyWaitingReads(nowMs: number): boolean {
    if (this.#waitingReads() <= MAX_WAITING_READS) {
      this.#tooManyReadsSinceMs = Number.POSITIVE_INFINITY;
      return false;
    }
    this.#tooManyReadsSinceMs = Math.min(this.#tooManyReadsSinceMs, nowMs);
    return nowMs - this.#tooManyReadsSinceMs >= OVERLOAD_ONSET_MS;
  }

  /** Whether this turn began soon after the last one that exceeded its time. */
  #isRecent(): boolean {
    return this.#turnBeganMs - this.#overloadUntilMs < OVERLOAD_END_MS;
  }

  #finishTurn(): void {
    this.#count(this.#clock());
    const callback = this.#onTurnEnd;
    this.#onTurnEnd = undefined;
    callback?.();
    const nowMs = this.#clock();
    if (this.#hasRefused || this.#spentMs >= this.#maxMs) {
      if (!this.#isRecent()) this.#overloadSinceMs = this.#turnBeganMs;
      this.#overloadUntilMs = nowMs;
    }
    this.#spentMs = 0;
    this.#sharedMs = 0;
    this.#msByClient.clear();
    this.#hasRefused = false;
    this.#isWorking = false;
    this.#isInTurn = false;
  }
}

/**
 * Work in progress: checks that its client is still connected, and counts the memory it holds. A run of code counts as
 * work of its client in each turn, and ends when the node stops (docs/metrics.md, Overload).
 */
class PendingAnswer implements Waiter {
  readonly #request: IncomingMessage;
  readonly #work: PendingWork;
  readonly #admission: Admission;
  #hold: MemoryHold | undefined;
  #stop: AbortController | undefined;

  constructor(request: IncomingMessage, work: PendingWork, admission: Admission) {
    this.#request = request;
    this.#work = work;
    this.#admission = admission;
  }

  get signal(): AbortSignal {
    this.#require();
    this.#stop ??= new AbortController();
    return this.#stop.signal;
  }

  check(): void {
    this.#require();
    if (this.#work === 'run') this.#admission.beginRunTurn(this.#request);
  }

  hold(bytes: number): void {
    this.#hold ??= this.#begin();
    this.#admission.held.grow(this.#hold, bytes);
    this.#require();
  }

  /** Call it when the answer is written or has failed. `holdUnsent` counts what the operating system has not taken. */
  end(): void {
    if (this.#hold !== undefined) this.#admission.held.release(this.#hold);
  }

  #begin(): MemoryHold {
    const { held } = this.#admission;
    if (this.#work !== 'run') return held.begin(this.#request);
    if (held.shouldRefuse(true, this.#request)) throw this.#admission.refuse('run');
    return held.begin(this.#request, () => this.#stop?.abort(STOPPED));
  }

  #require(): void {
    if (hasDisconnected(this.#request)) throw CLIENT_GONE;
    if (this.#hold === undefined) return;
    const { held } = this.#admission;
    if (!held.isActive(this.#hold)) throw STOPPED;
    if (!held.canGrow(this.#hold)) throw this.#admission.refuse(this.#work);
  }
}
