/**
 * Questions of a fork to its upstream over HTTP: bounded in rate, number and time; what does not look like an answer
 * of a node of the fork's chain, at the fork's version or later, is not one.
 */
import { setMaxListeners } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, exchange } from '../ingest/feed/exchange.ts';
import {
  MAX_PAGE_BYTES,
  parseRetryAfter,
  type UpstreamState,
  upstreamState,
} from '../ingest/feed/feed-client.ts';
import { FeedError } from '../ingest/feed/feed-error.ts';
import { UpstreamFailure } from './upstream-failure.ts';

/** The bounds of one process. */
interface ForkLimits {
  /** Average of requests; as many again may follow one another at once. */
  readonly requestsPerSecond: number;
  /** Requests that are under way at the same time. */
  readonly maxConcurrent: number;
  /** Questions that wait for their request or its answer. */
  readonly maxWaiting: number;
  /** For the answer to one request. */
  readonly requestTimeoutMs: number;
  /** For a question, with all waiting. */
  readonly questionTimeoutMs: number;
  readonly maxAnswerBytes: number;
  /** How long raw values are not asked for after the upstream has hidden them. */
  readonly rawHiddenMs: number;
}

export const FORK_LIMITS: ForkLimits = {
  requestsPerSecond: 100,
  maxConcurrent: 16,
  maxWaiting: 10_000,
  requestTimeoutMs: 15_000,
  questionTimeoutMs: 30_000,
  maxAnswerBytes: MAX_PAGE_BYTES,
  rawHiddenMs: 60_000,
};

/** How long the upstream is left alone when it is busy and does not say for how long, in milliseconds. */
const BUSY_PAUSE_MS = 1_000;
/** Characters of an error's body that a message shows. */
const MAX_SHOWN = 300;
const BCS = 'application/x-bcs';
/** Of a refusal that is not an error of the interface, such as one of a proxy. */
const NO_CODE = '';
/** How the codes end that say that something is not there (docs/spec/http.md §5). */
const ABSENT_END = '_not_found';

export interface Question {
  /** Below the base of the interface, encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** A value that is posted as JSON; absent: GET. */
  readonly body?: unknown;
}

/** A result in BCS, or the refusal of the interface. */
export type Reply =
  | { readonly kind: 'result'; readonly bytes: Buffer; readonly cursor: string | undefined }
  | {
      readonly kind: 'refusal';
      readonly status: number;
      /** Of the interface; empty where something else refuses, such as a proxy. */
      readonly code: string;
      readonly message: string;
    };

/** What every answer of the upstream must be of. */
export interface Expected {
  readonly chainId: number;
  readonly version: bigint;
}

export class ForkClient {
  /** Without a slash at its end. */
  readonly base: string;
  readonly #limits: ForkLimits;
  readonly #agent: http.Agent;
  readonly #stop = new AbortController();
  #expected: Expected | undefined;
  #waiting = 0;
  #running = 0;
  readonly #queue: (() => void)[] = [];
  /** When the next request may be sent at the average rate, as `performance.now()` gives it. */
  #nextMs = 0;
  #pausedUntilMs = 0;
  #rawHiddenUntilMs = 0;

  /** @param base see `interfaceBase` */
  constructor(base: URL, limits: ForkLimits = FORK_LIMITS) {
    this.base = base.href;
    this.#limits = limits;
    const { Agent } = base.protocol === 'https:' ? https : http;
    // Each request that is under way listens.
    setMaxListeners(0, this.#stop.signal);
    this.#agent = new Agent({ keepAlive: true, maxSockets: limits.maxConcurrent });
  }

  /** Whether the upstream has lately not answered questions for raw values. */
  get isRawHidden(): boolean {
    return performance.now() < this.#rawHiddenUntilMs;
  }

  /** The upstream has just not answered one. */
  noteRawHidden(): void {
    this.#rawHiddenUntilMs = performance.now() + this.#limits.rawHiddenMs;
  }

  /** From now on answers must be of a chain and version. */
  expect(expected: Expected): void {
    this.#expected = expected;
  }

  /** The newest state of the upstream's ledger. @throws UpstreamFailure */
  async state(): Promise<UpstreamState & { readonly bytes: Buffer }> {
    return await this.#bounded(async (deadlineMs) => {
      const answer = await this.#send({ path: '' }, deadlineMs);
      return { ...upstreamState(answer.headers), bytes: resultOf(answer).bytes };
    });
  }

  /** @throws UpstreamFailure for everything that is not an answer of the interface */
  async ask(question: Question): Promise<Reply> {
    return await this.#bounded(async (deadlineMs) => {
      const answer = await this.#send(question, deadlineMs);
      const state = upstreamState(answer.headers);
      if (answer.status === 200) {
        this.#check(state, true);
        return resultOf(answer);
      }
      const refusal = refusalOf(answer);
      // What is not there is recorded for good: it must be a node of this chain that says so.
      this.#check(state, refusal.code.endsWith(ABSENT_END));
      return refusal;
    });
  }

  /** Ends questions that still wait. */
  close(): void {
    this.#stop.abort(new UpstreamFailure('closed', 'this node is stopping'));
    this.#agent.destroy();
  }

  /** Runs a question while not too many wait. */
  async #bounded<T>(work: (deadlineMs: number) => Promise<T>): Promise<T> {
    if (this.#waiting >= this.#limits.maxWaiting) {
      throw new UpstreamFailure('busy', `${this.#waiting} questions wait for the upstream already`);
    }
    this.#waiting += 1;
    try {
      return await work(performance.now() + this.#limits.questionTimeoutMs);
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Sends a question in its turn, again where the upstream is busy and time is left. */
  async #send(question: Question, deadlineMs: number): Promise<Answer> {
    for (;;) {
      await this.#place();
      let answer: Answer;
      try {
        await this.#turn(deadlineMs);
        answer = await this.#exchange(question, deadlineMs);
      } finally {
        this.#leave();
      }
      if (answer.status !== 429 && answer.status !== 503) return answer;
      const asked = parseRetryAfter(answer.headers['retry-after'], Date.now());
      const untilMs = performance.now() + (asked ?? BUSY_PAUSE_MS);
      this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
      if (untilMs >= deadlineMs) throw busyFailure(answer, asked);
    }
  }

  /** Waits for one of the places of requests that are under way. */
  async #place(): Promise<void> {
    if (this.#running >= this.#limits.maxConcurrent) {
      await new Promise<void>((resolve) => this.#queue.push(resolve));
      return;
    }
    this.#running += 1;
  }

  #leave(): void {
    const next = this.#queue.shift();
    // The place passes on.
    if (next === undefined) this.#running -= 1;
    else next();
  }

  /** Waits until the rate allows a request and the upstream does not want to be left alone. */
  async #turn(deadlineMs: number): Promise<void> {
    const intervalMs = 1_000 / this.#limits.requestsPerSecond;
    for (;;) {
      const nowMs = performance.now();
      // As many as a second allows may come at once.
      const earliestMs = Math.max(nowMs, this.#nextMs - 1_000, this.#pausedUntilMs);
      if (earliestMs >= deadlineMs) {
        throw new UpstreamFailure('busy', 'its turn would come too late', {
          retryAfterMs: Math.max(BUSY_PAUSE_MS, earliestMs - nowMs),
        });
      }
      if (earliestMs === nowMs) {
        this.#nextMs = Math.max(this.#nextMs, nowMs) + intervalMs;
        return;
      }
      await sleep(earliestMs - nowMs, undefined, { signal: this.#stop.signal }).catch(() => {
        throw this.#stop.signal.reason;
      });
    }
  }

  async #exchange({ path, query, body }: Question, deadlineMs: number): Promise<Answer> {
    const url = new URL(this.base + path);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const request = {
      method: content === undefined ? 'GET' : 'POST',
      headers: {
        accept: BCS,
        'accept-encoding': 'identity',
        ...(content && {
          'content-type': 'application/json',
          'content-length': String(content.length),
        }),
      },
      ...(content && { body: content }),
    } as const;
    const { requestTimeoutMs, maxAnswerBytes: maxBytes } = this.#limits;
    const leftMs = Math.max(1, Math.ceil(deadlineMs - performance.now()));
    const totalTimeoutMs = Math.min(requestTimeoutMs, leftMs);
    const limits = { maxBytes, totalTimeoutMs, silenceTimeoutMs: totalTimeoutMs };
    try {
      return await exchange(url, this.#agent, request, limits, this.#stop.signal);
    } catch (cause) {
      if (!(cause instanceof FeedError)) throw cause;
      throw new UpstreamFailure(cause.code, cause.message, { cause });
    }
  }

  /** @param isOfLedger whether the headers must be there: not every refusal has them */
  #check({ chainId, ledgerVersion }: UpstreamState, isOfLedger: boolean): void {
    const expected = this.#expected;
    if (expected === undefined) return;
    if (chainId !== undefined && chainId !== expected.chainId) {
      const message = `it is of chain ${chainId}, this fork of chain ${expected.chainId}`;
      throw new UpstreamFailure('other_chain', message);
    }
    if (ledgerVersion !== undefined && ledgerVersion < expected.version) {
      throw new UpstreamFailure(
        'upstream_behind',
        `it is at version ${ledgerVersion}, this fork at version ${expected.version}`,
      );
    }
    if (isOfLedger && (chainId === undefined || ledgerVersion === undefined)) {
      throw new UpstreamFailure('upstream_not_a_node', 'its answer has no ledger headers');
    }
  }
}

function busyFailure(answer: Answer, retryAfterMs = BUSY_PAUSE_MS): UpstreamFailure {
  const text = shownText(answer.body);
  const message = `it answers ${answer.status}${text === '' ? '' : `: ${text}`}`;
  return new UpstreamFailure('upstream_busy', message, { retryAfterMs });
}

/** @throws UpstreamFailure */
function resultOf({ status, headers, body }: Answer): Reply & { readonly kind: 'result' } {
  const [mediaType = ''] = headers['content-type']?.split(';') ?? [];
  const coding = headers['content-encoding'] ?? 'identity';
  if (status !== 200 || mediaType.trim().toLowerCase() !== BCS || coding !== 'identity') {
    const what = `status ${status} with ${headers['content-type'] ?? 'no content type'}`;
    throw new UpstreamFailure('upstream_not_a_node', `it answers ${what} instead of ${BCS}`);
  }
  const cursor = Object.keys(headers).find((name) => /^x-.*-cursor$/.test(name));
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return { kind: 'result', bytes, cursor: cursor && (headers[cursor] as string) };
}

/** @throws UpstreamFailure for a failure of the upstream, and for what does not come from a node */
function refusalOf({ status, headers, body }: Answer): Reply & { readonly kind: 'refusal' } {
  const parsed = errorOf(body);
  const { code, message } = parsed ?? { code: NO_CODE, message: shownText(body) };
  if (status >= 400 && status < 500) return { kind: 'refusal', status, code, message };
  const type = headers['content-type'] ?? 'no content type';
  const text = `it answers status ${status} with ${type}${message === '' ? '' : `: ${message}`}`;
  const isOfNode = status >= 500 && parsed !== undefined;
  throw new UpstreamFailure(isOfNode ? 'upstream_failed' : 'upstream_not_a_node', text);
}

function errorOf(body: Uint8Array): { code: string; message: string } | undefined {
  try {
    const parsed = JSON.parse(Buffer.from(body).toString('utf8')) as Record<string, unknown>;
    const { error_code: code, message } = parsed;
    if (typeof code !== 'string' || typeof message !== 'string') return undefined;
    return { code, message };
  } catch {
    return undefined;
  }
}

/** The beginning of a body as one line of plain text. */
function shownText(body: Uint8Array): string {
  const text = Buffer.from(body.subarray(0, MAX_SHOWN)).toString('utf8');
  return text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
}
