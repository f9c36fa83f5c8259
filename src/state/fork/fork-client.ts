/**
 * Sends requests of a fork to its upstream over HTTP, limited in rate, number and time. An answer is accepted only from
 * a node of the fork's chain, at the fork's version or later.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_PAGE_BYTES } from '../../ingest/feed/feed-client.ts';
import {
  type Answer,
  BCS_TYPE,
  excerptOf,
  JSON_TYPE,
  ledgerState,
  mediaTypeOf,
  nodeHeader,
} from '../../remote/answer.ts';
import { RemoteError } from '../../remote/remote-error.ts';
import { RemoteServer } from '../../remote/remote-server.ts';
import { parseRetryAfter } from '../../remote/retry.ts';
import { UpstreamFailure } from './upstream-failure.ts';

/** Limits of one process. */
export const FORK_LIMITS = {
  /** Average rate; as many again may be sent in one burst. */
  requestsPerSecond: 100,
  /** Requests in flight at the same time. */
  maxConcurrent: 16,
  /** Requests that wait for their turn or for the answer. */
  maxWaiting: 10_000,
  /** Timeout of one request. */
  requestTimeoutMs: 15_000,
  /** Timeout of a lookup: one request with all waiting and retries. */
  lookupTimeoutMs: 30_000,
  maxAnswerBytes: MAX_PAGE_BYTES,
  /** How long raw values are not requested after the upstream has hidden them. */
  rawHiddenMs: 60_000,
};

/** Pause when the upstream is busy and sends no Retry-After, in milliseconds. */
const BUSY_PAUSE_MS = 1_000;
/** Suffix of the error codes for something that does not exist (docs/spec/http.md §5). */
const ABSENT_SUFFIX = '_not_found';

export interface UpstreamRequest {
  /** Path below the base of the API, percent-encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** A value that is posted as JSON; absent for GET. */
  readonly body?: unknown;
}

/** A result in BCS, or an error of the API. */
export type Reply =
  | { readonly kind: 'result'; readonly bytes: Buffer; readonly cursor: string | undefined }
  | {
      readonly kind: 'refusal';
      readonly status: number;
      /** The API's error code; empty if something else refused, such as a proxy. */
      readonly code: string;
      readonly message: string;
    };

/** The chain and the lowest accepted ledger version of every answer. */
export interface Expected {
  readonly chainId: number;
  readonly version: bigint;
}

export class ForkClient {
  readonly base: string;
  readonly #limits: typeof FORK_LIMITS;
  readonly #server: RemoteServer;
  #expected: Expected | undefined;
  #waiting = 0;
  #running = 0;
  readonly #queue: (() => void)[] = [];
  /** When the next request may be sent at the average rate, as `performance.now()` gives it. */
  #nextMs = 0;
  #pausedUntilMs = 0;
  #rawHiddenUntilMs = 0;

  /** @param base see `interfaceBase` */
  constructor(base: URL, limits = FORK_LIMITS) {
    this.base = base.href;
    this.#limits = limits;
    this.#server = new RemoteServer(base, limits.maxConcurrent);
  }

  /** Whether the upstream has recently refused requests for raw values. */
  get isRawHidden(): boolean {
    return performance.now() < this.#rawHiddenUntilMs;
  }

  recordRawHidden(): void {
    this.#rawHiddenUntilMs = performance.now() + this.#limits.rawHiddenMs;
  }

  /** From now on, answers must come from this chain, at this version or later. */
  expect(expected: Expected): void {
    this.#expected = expected;
  }

  /** The ledger info of the upstream, in BCS. @throws UpstreamFailure */
  async ledgerInfo(): Promise<Buffer> {
    return resultOf(await this.#send({ path: '' })).bytes;
  }

  /** @throws UpstreamFailure for everything that is not an answer of the API */
  async request(request: UpstreamRequest): Promise<Reply> {
    const answer = await this.#send(request);
    if (answer.status === 200) {
      this.#check(answer, true);
      return resultOf(answer);
    }
    const refusal = refusalOf(answer);
    // Absence is recorded permanently, so the answer must have the headers of a node of this chain.
    this.#check(answer, refusal.code.endsWith(ABSENT_SUFFIX));
    return refusal;
  }

  close(): void {
    this.#server.close();
  }

  async #send(request: UpstreamRequest): Promise<Answer> {
    if (this.#waiting >= this.#limits.maxWaiting) {
      throw new UpstreamFailure('busy', `${this.#waiting} questions wait for the upstream already`);
    }
    this.#waiting += 1;
    try {
      return await this.#answer(request, performance.now() + this.#limits.lookupTimeoutMs);
    } catch (cause) {
      if (!(cause instanceof RemoteError)) throw cause;
      throw new UpstreamFailure(cause.code, cause.message, { cause });
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Sends a request in its turn, and again while the upstream is busy and time is left. */
  async #answer(request: UpstreamRequest, deadlineMs: number): Promise<Answer> {
    for (;;) {
      await this.#acquireSlot();
      let answer: Answer;
      try {
        await this.#waitForRate(deadlineMs);
        answer = await this.#exchange(request, deadlineMs);
      } finally {
        this.#releaseSlot();
      }
      if (answer.status !== 429 && answer.status !== 503) return answer;
      const pauseMs = parseRetryAfter(answer.headers['retry-after']) ?? BUSY_PAUSE_MS;
      const untilMs = performance.now() + pauseMs;
      this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
      if (untilMs >= deadlineMs) {
        const text = excerptOf(answer.body);
        const message = `it answers ${answer.status}${text === '' ? '' : `: ${text}`}`;
        throw new UpstreamFailure('upstream_busy', message, { retryAfterMs: pauseMs });
      }
    }
  }

  async #acquireSlot(): Promise<void> {
    if (this.#running >= this.#limits.maxConcurrent) {
      await new Promise<void>((resolve) => this.#queue.push(resolve));
      return;
    }
    this.#running += 1;
  }

  #releaseSlot(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }

  /** Waits until the rate allows a request and the pause that the upstream requested is over. */
  async #waitForRate(deadlineMs: number): Promise<void> {
    const intervalMs = 1_000 / this.#limits.requestsPerSecond;
    const { closing: signal } = this.#server;
    for (;;) {
      const nowMs = performance.now();
      // A burst may contain as many requests as one second allows.
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
      await sleep(earliestMs - nowMs, undefined, { signal }).catch(() => {
        throw signal.reason;
      });
    }
  }

  #exchange({ path, query, body }: UpstreamRequest, deadlineMs: number): Promise<Answer> {
    const { requestTimeoutMs, maxAnswerBytes: maxBytes } = this.#limits;
    const leftMs = Math.max(1, Math.ceil(deadlineMs - performance.now()));
    const totalTimeoutMs = Math.min(requestTimeoutMs, leftMs);
    const url = this.#server.url(path, query);
    const bounds = { maxBytes, totalTimeoutMs, silenceTimeoutMs: totalTimeoutMs };
    if (body === undefined) {
      return this.#server.send({ url, headers: { accept: BCS_TYPE } }, bounds);
    }
    const headers = { accept: BCS_TYPE, 'content-type': JSON_TYPE };
    const content = Buffer.from(JSON.stringify(body));
    return this.#server.send({ url, headers, body: content }, bounds);
  }

  /** @param requiresLedgerHeaders whether the ledger headers are required: not every error response has them */
  #check({ headers }: Answer, requiresLedgerHeaders: boolean): void {
    const expected = this.#expected;
    if (expected === undefined) return;
    const { chainId, ledgerVersion } = ledgerState(headers);
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
    if (requiresLedgerHeaders && (chainId === undefined || ledgerVersion === undefined)) {
      throw new UpstreamFailure('upstream_not_a_node', 'its answer has no ledger headers');
    }
  }
}

/** @throws UpstreamFailure */
function resultOf(answer: Answer): Reply & { readonly kind: 'result' } {
  const { status, headers, body: bytes } = answer;
  const coding = headers['content-encoding'] ?? 'identity';
  if (status !== 200 || mediaTypeOf(answer) !== BCS_TYPE || coding !== 'identity') {
    const what = `status ${status} with ${headers['content-type'] ?? 'no content type'}`;
    throw new UpstreamFailure('upstream_not_a_node', `it answers ${what} instead of ${BCS_TYPE}`);
  }
  return { kind: 'result', bytes, cursor: nodeHeader(headers, 'cursor') };
}

/** @throws UpstreamFailure for a failure of the upstream, and for a response that is not from a node */
function refusalOf({ status, headers, body }: Answer): Reply & { readonly kind: 'refusal' } {
  const parsed = errorOf(body);
  const { code, message } = parsed ?? { code: '', message: excerptOf(body) };
  if (status >= 400 && status < 500) return { kind: 'refusal', status, code, message };
  const type = headers['content-type'] ?? 'no content type';
  const text = `it answers status ${status} with ${type}${message === '' ? '' : `: ${message}`}`;
  const isNodeError = status >= 500 && parsed !== undefined;
  throw new UpstreamFailure(isNodeError ? 'upstream_failed' : 'upstream_not_a_node', text);
}

function errorOf(body: Buffer): { code: string; message: string } | undefined {
  try {
    const { error_code: code, message } = JSON.parse(body.toString('utf8'));
    return typeof code === 'string' && typeof message === 'string' ? { code, message } : undefined;
  } catch {
    return undefined;
  }
}
