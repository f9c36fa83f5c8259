/**
 * Overload protection: a process with more work than it can do refuses some requests at once, so that the rest is
 * answered in time.
 *
 * Requests queue where the program does not see them: on connections that are ready to be read. One turn of the event
 * loop answers all that were ready when it began, so what a request waits for is the work of its turn. The limit is
 * therefore a time: a turn spends at most this many milliseconds on each kind of work and refuses the rest of that
 * kind. A kind has its own time, so that a flood of listings does not crowd out balances. Nothing is refused before
 * turns have exceeded their time repeatedly for a while: one heavy request is not an overload, nor is a short burst.
 *
 * While an overload lasts, each client has its part of a turn's time (src/api/load/fair-share.ts), so that one with
 * many connections is refused rather than one with a few.
 *
 * A store in another process has a queue too, of reads that it has not answered. More of them than MAX_WAITING_READS
 * for as long are an overload as well, whatever the requests are.
 *
 * Costs one look at the clock a request, and one immediate a turn; figures in docs/metrics.md.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '../http/error-table.ts';
import type { ApiSettings } from '../settings.ts';
import { type ClientTurn, FairShare } from './fair-share.ts';
import { PendingAnswer } from './pending-answer.ts';
import { Clients, hasLeft } from './request-client.ts';
import { UnsentAnswers } from './unsent-answers.ts';

/** Kinds of work, each with its own limit. */
export const WORK_KINDS = ['read', 'listing', 'body'] as const;

/**
 * What answering a request is: `read`, one thing looked up; `listing`, many rows read and rendered; `body`, a request
 * body received, parsed and answered.
 */
export type WorkKind = (typeof WORK_KINDS)[number];

/** The bounds; 0 for none. */
export type OverloadSettings = Pick<
  ApiSettings,
  | 'maxReadBacklogMs'
  | 'maxListingBacklogMs'
  | 'maxBodyBacklogMs'
  | 'maxUnsentBytes'
  | 'trustedProxies'
>;

/** After how many seconds a client that was refused may try again: the value of `Retry-After`. */
const RETRY_AFTER_SECS = 1;
/** How long turns must have exceeded their bound before anything is refused, in milliseconds. */
export const LASTING_OVERLOAD_MS = 500;
/** Without a turn that exceeds its bound for so long, an overload has ended, in milliseconds. */
export const CALM_MS = 100;
/** Reads of the store that may wait; more are an overload if that lasts. */
export const MAX_WAITING_READS = 500;

/** What Node and this program hold of a request that waits, besides its head, in bytes. */
export const WAITING_REQUEST_BYTES = 4 * 1024;

const TOO_MANY_RUNS = refusal('runs of code');

const REFUSALS: Readonly<Record<WorkKind, ApiError>> = {
  read: refusal('reads'),
  listing: refusal('listings and pages'),
  body: refusal('request bodies'),
};

function refusal(work: string): ApiError {
  return new ApiError(503, 'internal_error', `The node is overloaded: too many ${work} wait`, {
    retryAfterSecs: RETRY_AFTER_SECS,
  });
}

/** The error for refused requests; one object for all of them. */
export function overloadError(kind: WorkKind): ApiError {
  return REFUSALS[kind];
}

/** Whether a request was refused unread, because there are too many. */
export function isLoadRefusal(failure: unknown): failure is ApiError {
  if (!(failure instanceof ApiError)) return false;
  return failure.code === 'rate_limited' || WORK_KINDS.some((kind) => REFUSALS[kind] === failure);
}

/** The work of one kind in this turn and the one before. */
interface Backlog {
  readonly maxMs: number;
  spentMs: number;
  /** When the first of the turns began that exceeded the bound, one soon after the other. */
  overSinceMs: number;
  overUntilMs: number;
  /** Used while an overload lasts. */
  readonly shares: FairShare;
  /** Requests refused since the start. */
  refused: number;
}

/** Decides which requests of one process are worked on. */
export class Admission {
  readonly unsent: UnsentAnswers;
  readonly #backlogs: Readonly<Record<WorkKind, Backlog>>;
  readonly #clients: Clients;
  readonly #clock: () => number;
  readonly #waitingReads: () => number;
  /** Since when too many reads wait. */
  #tooManySinceMs = Number.POSITIVE_INFINITY;
  readonly #endTurn = (): void => this.#finishTurn();
  #isInTurn = false;
  /** Whose work the time since `#countedMs` was. */
  #current: Backlog | undefined;
  #client: ClientTurn | undefined;
  #countedMs = 0;
  #turnBeganMs = 0;

  /**
   * @param waitingReads reads that the store has not answered
   * @param clock milliseconds that only grow
   */
  constructor(
    settings: OverloadSettings,
    waitingReads: () => number = () => 0,
    clock: () => number = () => performance.now(),
  ) {
    const backlog = (setMs: number): Backlog => {
      const maxMs = setMs === 0 ? Number.POSITIVE_INFINITY : setMs;
      return {
        maxMs,
        spentMs: 0,
        overSinceMs: Number.NEGATIVE_INFINITY,
        overUntilMs: Number.NEGATIVE_INFINITY,
        shares: new FairShare(maxMs),
        refused: 0,
      };
    };
    this.#backlogs = {
      read: backlog(settings.maxReadBacklogMs),
      listing: backlog(settings.maxListingBacklogMs),
      body: backlog(settings.maxBodyBacklogMs),
    };
    this.#clients = new Clients(settings.trustedProxies);
    this.unsent = new UnsentAnswers(settings.maxUnsentBytes, this.#clients);
    this.#clock = clock;
    this.#waitingReads = waitingReads;
  }

  /** Whether a request is to be worked on, now; call it once for each. Nobody reads an answer to a client that left. */
  admits(kind: WorkKind, request: IncomingMessage): boolean {
    if (hasLeft(request)) return false;
    const nowMs = this.#countedNow();
    const backlog = this.#backlogs[kind];
    const client = this.#shareOf(request, backlog, nowMs);
    const isLate = client !== undefined && !backlog.shares.allows(client, backlog.spentMs);
    const isFull = this.unsent.refuses(kind === 'listing', request);
    if (isLate || isFull || this.#tooManyWait(nowMs)) {
      backlog.refused += 1;
      this.#current = undefined;
      return false;
    }
    this.#current = backlog;
    this.#client = client;
    return true;
  }

  /** Counts what the operating system has not taken of a response that was written, until it has. */
  holdUnsent(response: ServerResponse): void {
    const bytes = response.writableLength;
    if (bytes === 0 || response.destroyed) return;
    const held = this.unsent.hold(response.req, bytes);
    response.once('close', () => this.unsent.release(held));
  }

  /**
   * Counts a request for a page that waits behind another one of its connection.
   * @returns call it when its turn has come
   * @throws ApiError 503 when too much is held already
   */
  holdWaiting(request: IncomingMessage): () => void {
    if (this.unsent.refuses(true, request)) throw this.refuse(false);
    const headBytes = request.rawHeaders.reduce((sum, { length }) => sum + length, 0);
    const bytes = WAITING_REQUEST_BYTES + request.url!.length + headBytes;
    const held = this.unsent.hold(request, bytes);
    return () => this.unsent.release(held);
  }

  /** An answer that is about to be made. @param isRun whether code is run for it, not rows read */
  pending(request: IncomingMessage, isRun: boolean): PendingAnswer {
    return new PendingAnswer(request, isRun, this);
  }

  /** Counts that an answer is made no further. @returns the error for it */
  refuse(isRun: boolean): ApiError {
    this.#backlogs[isRun ? 'body' : 'listing'].refused += 1;
    return isRun ? TOO_MANY_RUNS : overloadError('listing');
  }

  /** From here on this turn is work of a run. */
  beginRunTurn(request: IncomingMessage): void {
    const nowMs = this.#countedNow();
    this.#current = this.#backlogs.body;
    this.#client = this.#shareOf(request, this.#current, nowMs);
  }

  /** Bytes of responses that clients have not read yet. */
  get unsentBytes(): number {
    return this.unsent.bytes;
  }

  /** Requests of a kind that were refused since the start. */
  refusedCount(kind: WorkKind): number {
    return this.#backlogs[kind].refused;
  }

  /** Counts the work of this turn until now. @returns the time */
  #countedNow(): number {
    const nowMs = this.#clock();
    if (this.#isInTurn) this.#count(nowMs);
    else this.#beginTurn(nowMs);
    this.#countedMs = nowMs;
    return nowMs;
  }

  /** What a client has had in this turn; known only while an overload lasts. */
  #shareOf(request: IncomingMessage, backlog: Backlog, nowMs: number): ClientTurn | undefined {
    return this.#isLasting(backlog, nowMs)
      ? backlog.shares.of(this.#clients.of(request))
      : undefined;
  }

  /** The time since the last request was that request's. */
  #count(nowMs: number): void {
    if (this.#current === undefined) return;
    const passedMs = nowMs - this.#countedMs;
    this.#current.spentMs += passedMs;
    if (this.#client !== undefined) this.#client.spentMs += passedMs;
  }

  /** Whether too many reads have waited for long enough by now. */
  #tooManyWait(nowMs: number): boolean {
    if (this.#waitingReads() <= MAX_WAITING_READS) {
      this.#tooManySinceMs = Number.POSITIVE_INFINITY;
      return false;
    }
    this.#tooManySinceMs = Math.min(this.#tooManySinceMs, nowMs);
    return nowMs - this.#tooManySinceMs >= LASTING_OVERLOAD_MS;
  }

  /** Whether turns have exceeded the bound for long enough by now. */
  #isLasting(backlog: Backlog, nowMs: number): boolean {
    return this.#isRecent(backlog) && nowMs - backlog.overSinceMs >= LASTING_OVERLOAD_MS;
  }

  /** Whether this turn began soon after the last one that exceeded the bound. */
  #isRecent({ overUntilMs }: Backlog): boolean {
    return this.#turnBeganMs - overUntilMs < CALM_MS;
  }

  /** The immediate comes when the turn has answered whatever was ready. */
  #beginTurn(nowMs: number): void {
    this.#isInTurn = true;
    setImmediate(this.#endTurn);
    this.#turnBeganMs = nowMs;
  }

  #finishTurn(): void {
    const nowMs = this.#clock();
    this.#count(nowMs);
    for (const kind of WORK_KINDS) {
      const backlog = this.#backlogs[kind];
      const hasRefused = backlog.shares.endTurn();
      if (hasRefused || backlog.spentMs >= backlog.maxMs) {
        if (!this.#isRecent(backlog)) backlog.overSinceMs = this.#turnBeganMs;
        backlog.overUntilMs = nowMs;
      }
      backlog.spentMs = 0;
    }
    this.#current = undefined;
    this.#isInTurn = false;
  }
}
