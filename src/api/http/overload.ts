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
 * A store in another process has a queue too, of reads that it has not answered. More of them than MAX_WAITING_READS
 * for as long are an overload as well, whatever the requests are.
 *
 * Costs one look at the clock a request, and one immediate a turn; figures in docs/metrics.md.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiSettings } from '../settings.ts';
import { ApiError } from './error-table.ts';

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
  'maxReadBacklogMs' | 'maxListingBacklogMs' | 'maxBodyBacklogMs' | 'maxUnsentBytes'
>;

/** After how many seconds a client that was refused may try again: the value of `Retry-After`. */
const RETRY_AFTER_SECS = 1;
/** How long turns must have exceeded their bound before anything is refused, in milliseconds. */
export const LASTING_OVERLOAD_MS = 500;
/** Without a turn that exceeds its bound for so long, an overload has ended, in milliseconds. */
export const CALM_MS = 100;
/** Reads of the store that may wait; more are an overload if that lasts. */
export const MAX_WAITING_READS = 500;
/** Responses of at least this size, in bytes, count as unsent until the client has read them. */
export const LARGE_ANSWER_BYTES = 64 * 1024;

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

export function isOverloadError(failure: unknown): failure is ApiError {
  return failure instanceof ApiError && WORK_KINDS.some((kind) => REFUSALS[kind] === failure);
}

/** The work of one kind in this turn and the one before. */
interface Backlog {
  readonly maxMs: number;
  spentMs: number;
  /** When the first of the turns began that exceeded the bound, one soon after the other. */
  overSinceMs: number;
  overUntilMs: number;
  /** Requests refused since the start. */
  refused: number;
}

/** Unsent bytes of one connection. */
interface HeldBytes {
  bytes: number;
  isOver: boolean;
}

/** Decides which requests of one process are worked on. */
export class Admission {
  readonly #backlogs: Readonly<Record<WorkKind, Backlog>>;
  readonly #maxUnsentBytes: number;
  readonly #clock: () => number;
  readonly #waitingReads: () => number;
  /** Since when too many reads wait. */
  #tooManySinceMs = Number.POSITIVE_INFINITY;
  readonly #endTurn = (): void => this.#finishTurn();
  readonly #heldBySocket = new WeakMap<Socket, HeldBytes>();
  #unsentBytes = 0;
  #isInTurn = false;
  /** Whose work the time since `#countedMs` was. */
  #current: Backlog | undefined;
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
    const backlog = (maxMs: number): Backlog => ({
      maxMs: maxMs === 0 ? Number.POSITIVE_INFINITY : maxMs,
      spentMs: 0,
      overSinceMs: Number.NEGATIVE_INFINITY,
      overUntilMs: Number.NEGATIVE_INFINITY,
      refused: 0,
    });
    this.#backlogs = {
      read: backlog(settings.maxReadBacklogMs),
      listing: backlog(settings.maxListingBacklogMs),
      body: backlog(settings.maxBodyBacklogMs),
    };
    this.#maxUnsentBytes =
      settings.maxUnsentBytes === 0 ? Number.POSITIVE_INFINITY : settings.maxUnsentBytes;
    this.#clock = clock;
    this.#waitingReads = waitingReads;
  }

  /** Whether a request is to be worked on, now; call it once for each. */
  admits(kind: WorkKind): boolean {
    const nowMs = this.#clock();
    if (this.#isInTurn) {
      if (this.#current !== undefined) this.#current.spentMs += nowMs - this.#countedMs;
    } else {
      this.#beginTurn(nowMs);
    }
    this.#countedMs = nowMs;
    const backlog = this.#backlogs[kind];
    const isLate = backlog.spentMs >= backlog.maxMs && this.#isLasting(backlog, nowMs);
    const isFull = kind === 'listing' && this.isFull;
    if (isLate || isFull || this.#tooManyWait(nowMs)) {
      backlog.refused += 1;
      this.#current = undefined;
      return false;
    }
    this.#current = backlog;
    return true;
  }

  /** Counts a large response as unsent until the client has read it or its connection is closed. */
  holdUnsent(response: ServerResponse, bytes: number): void {
    const { socket } = response.req;
    // Of a client that has gone while its answer was made there will be no event any more.
    if (socket.destroyed || response.destroyed) return;
    const held = this.#heldOf(socket);
    held.bytes += bytes;
    this.#unsentBytes += bytes;
    response.once('close', () => {
      if (held.isOver) return;
      held.bytes -= bytes;
      this.#unsentBytes -= bytes;
    });
  }

  /** Counts bytes of an answer that is put together over several turns, until they are given back with `release`. */
  hold(bytes: number): void {
    this.#unsentBytes += bytes;
  }

  release(bytes: number): void {
    this.#unsentBytes -= bytes;
  }

  /** Whether so much is unsent that no more large answers are to be made. */
  get isFull(): boolean {
    return this.#unsentBytes >= this.#maxUnsentBytes;
  }

  /** Bytes of large responses that clients have not read yet. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /** Requests of a kind that were refused since the start. */
  refusedCount(kind: WorkKind): number {
    return this.#backlogs[kind].refused;
  }

  /** An answer that waits behind others when its connection ends gets no event: its socket does. */
  #heldOf(socket: Socket): HeldBytes {
    const known = this.#heldBySocket.get(socket);
    if (known !== undefined) return known;
    const held = { bytes: 0, isOver: false };
    this.#heldBySocket.set(socket, held);
    socket.once('close', () => {
      held.isOver = true;
      this.#unsentBytes -= held.bytes;
    });
    return held;
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
    if (this.#current !== undefined) this.#current.spentMs += nowMs - this.#countedMs;
    for (const kind of WORK_KINDS) {
      const backlog = this.#backlogs[kind];
      if (backlog.spentMs >= backlog.maxMs) {
        if (!this.#isRecent(backlog)) backlog.overSinceMs = this.#turnBeganMs;
        backlog.overUntilMs = nowMs;
      }
      backlog.spentMs = 0;
    }
    this.#current = undefined;
    this.#isInTurn = false;
  }
}
