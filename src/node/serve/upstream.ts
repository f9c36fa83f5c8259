/**
 * The upstream over HTTP: what this node cannot do is passed on to another one, bounded in size, time and number.
 * What that node answers is not verified; it is only required to look like an answer of a node of this chain.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from 'pino';
import { ApiError } from '../../api/error-table.ts';
import { RateLimitedWarning } from '../../api/rate-limited-warning.ts';
import type { ForwardedRequest, Upstream, UpstreamAnswer } from '../../api/upstream.ts';
import {
  type ForeignTransaction,
  readForeignTransaction,
} from '../../ledger/transactions/pending.ts';
import { BcsError } from '../../move/bcs/bcs-reader.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import {
  type Answer,
  BCS_TYPE,
  JSON_TYPE,
  ledgerState,
  mediaTypeOf,
  nodeHeader,
} from '../../remote/answer.ts';
import { RemoteError } from '../../remote/remote-error.ts';
import { type RemoteRequest, RemoteServer } from '../../remote/remote-server.ts';

export const UPSTREAM_LIMITS = {
  maxForwards: 64,
  maxLookups: 100,
  maxAnswerBytes: 8 * 1024 * 1024,
  forwardTimeoutMs: 30_000,
  lookupTimeoutMs: 5_000,
};

/** How many nodes may pass a request on, one to the next. */
export const MAX_HOPS = 4;
/** How a node that passes a request on calls itself in the header `Via`. */
const VIA = '1.1 daybook';
const RETRY_AFTER_SECS = 1;
/** Each is worth a line at level info; other operations get one at level debug. */
const SUBMISSIONS: readonly string[] = ['submit_transaction', 'submit_batch_transactions'];
const MEDIA_TYPES: readonly string[] = [JSON_TYPE, BCS_TYPE];
/** The operation of lookups of transactions, in metrics and the log. */
const LOOKUP_OPERATION = 'get_transaction_by_hash';

/** How a request to the upstream ended; the label of a metric. */
type UpstreamOutcome =
  | 'answered'
  | 'busy'
  | 'unreachable'
  | 'timeout'
  | 'bad_answer'
  | 'other_chain'
  | 'circle'
  | 'client_gone';

/** The upstream gave no answer that can be used. */
class UpstreamError extends Error {
  readonly outcome: UpstreamOutcome;

  constructor(outcome: UpstreamOutcome, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UpstreamError';
    this.outcome = outcome;
  }
}

interface UpstreamCount {
  readonly operation: string;
  readonly outcome: UpstreamOutcome;
  readonly value: number;
}

interface Lane {
  running: number;
  readonly maxRunning: number;
  readonly timeoutMs: number;
}

export class HttpUpstream implements Upstream {
  readonly origin: string;
  readonly #server: RemoteServer;
  readonly #logger: Logger;
  readonly #maxAnswerBytes: number;
  readonly #forwardLane: Lane;
  readonly #lookupLane: Lane;
  /** By operation and outcome. */
  readonly #counts = new Map<string, UpstreamCount>();
  #chainId: Promise<number> | undefined;
  readonly #failures: RateLimitedWarning;

  constructor(base: URL, logger: Logger, limits = UPSTREAM_LIMITS) {
    this.origin = base.origin;
    this.#server = new RemoteServer(base);
    this.#logger = logger;
    this.#maxAnswerBytes = limits.maxAnswerBytes;
    this.#forwardLane = {
      running: 0,
      maxRunning: limits.maxForwards,
      timeoutMs: limits.forwardTimeoutMs,
    };
    this.#lookupLane = {
      running: 0,
      maxRunning: limits.maxLookups,
      timeoutMs: limits.lookupTimeoutMs,
    };
    this.#failures = new RateLimitedWarning((facts) =>
      logger.warn(facts, 'the upstream did not answer a request'),
    );
  }

  get waiting(): number {
    return this.#forwardLane.running + this.#lookupLane.running;
  }

  get counts(): readonly UpstreamCount[] {
    return [...this.#counts.values()];
  }

  async forward(
    { operationId, path, query, headers, body }: ForwardedRequest,
    chainId: number,
    signal: AbortSignal,
  ): Promise<UpstreamAnswer> {
    const url = this.#server.url(path);
    url.search = query;
    const answer = await this.#observed(operationId, body.length, signal, () => {
      const request = { url, headers: forwardedHeaders(headers), body, signal };
      return this.#exchange(this.#forwardLane, request, chainId);
    });
    if (answer instanceof UpstreamError) {
      throw asApiError(answer, SUBMISSIONS.includes(operationId));
    }
    const { status, headers: received, body: content } = answer;
    return {
      ...{ status, body: content, contentType: received['content-type'] },
      ...{ gasUsed: nodeHeader(received, 'gas-used'), retryAfter: received['retry-after'] },
    };
  }

  async transactionByHash(
    hash: Uint8Array,
    chainId: number,
    headers: IncomingHttpHeaders,
  ): Promise<ForeignTransaction | undefined> {
    const url = this.#server.url(`/transactions/by_hash/${formatHex(hash)}`);
    const answer = await this.#observed(LOOKUP_OPERATION, 0, undefined, async () => {
      const request = { url, headers: { ...forwardedHeaders(headers), accept: BCS_TYPE } };
      const received = await this.#exchange(this.#lookupLane, request, chainId);
      return { ...received, transaction: readTransactionAnswer(received, hash) };
    });
    if (!(answer instanceof UpstreamError)) return answer.transaction;
    const { message, outcome } = answer;
    const text = `This node does not have the transaction, and its upstream cannot tell: ${message}`;
    throw asApiError(new UpstreamError(outcome, text, { cause: answer }), false);
  }

  close(): void {
    this.#server.close();
  }

  /** Counts and logs an exchange. @returns its answer, or why it is missing */
  async #observed<T extends Answer>(
    operation: string,
    requestBytes: number,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T | UpstreamError> {
    const startedMs = performance.now();
    const facts = (outcome: UpstreamOutcome) => ({
      ...{ operation, upstream: this.origin, request_bytes: requestBytes },
      ...{ elapsed_ms: Math.round(performance.now() - startedMs), outcome },
    });
    try {
      const answer = await work();
      this.#count(operation, 'answered');
      const level = SUBMISSIONS.includes(operation) ? 'info' : 'debug';
      const { status, body } = answer;
      const line = { ...facts('answered'), status, answer_bytes: body.length };
      this.#logger[level](line, 'the upstream answered');
      return answer;
    } catch (cause) {
      const error = asUpstreamError(cause, signal);
      this.#count(operation, error.outcome);
      this.#failures.warn({ ...facts(error.outcome), err: error });
      return error;
    }
  }

  /** Sends a request if not too many wait and the upstream is of this chain. @throws UpstreamError, RemoteError */
  async #exchange(lane: Lane, request: RemoteRequest, chainId: number): Promise<Answer> {
    if (lane.running >= lane.maxRunning) {
      throw new UpstreamError('busy', 'Too many requests wait for the upstream node');
    }
    lane.running += 1;
    try {
      await this.#requireChain(chainId);
      const answer = await this.#send(request, lane);
      const { chainId: theirs } = ledgerState(answer.headers);
      if (theirs !== undefined) this.#compareChains(theirs, chainId);
      requireInterfaceAnswer(answer);
      return answer;
    } finally {
      lane.running -= 1;
    }
  }

  /** Asks the upstream for its chain, once: a transaction of another chain must not reach it. */
  async #requireChain(chainId: number): Promise<void> {
    this.#chainId ??= this.#fetchChain();
    try {
      this.#compareChains(await this.#chainId, chainId);
    } catch (error) {
      this.#chainId = undefined;
      throw error;
    }
  }

  async #fetchChain(): Promise<number> {
    const request = { url: this.#server.base, headers: { accept: JSON_TYPE } };
    const { chainId } = ledgerState((await this.#send(request, this.#lookupLane)).headers);
    if (chainId !== undefined) return chainId;
    throw badAnswer('its ledger info has no chain id');
  }

  #compareChains(theirs: number, ours: number): void {
    if (theirs === ours) return;
    this.#chainId = undefined;
    throw new UpstreamError(
      'other_chain',
      `The upstream node is on chain ${theirs}, the ledger of this node on chain ${ours}`,
    );
  }

  #send(request: RemoteRequest, { timeoutMs }: Lane): Promise<Answer> {
    const timeouts = { silenceTimeoutMs: timeoutMs, totalTimeoutMs: timeoutMs };
    return this.#server.send(request, { maxBytes: this.#maxAnswerBytes, ...timeouts });
  }

  #count(operation: string, outcome: UpstreamOutcome): void {
    const key = `${operation} ${outcome}`;
    const value = (this.#counts.get(key)?.value ?? 0) + 1;
    this.#counts.set(key, { operation, outcome, value });
  }
}

/**
 * The headers that an upstream gets. Others are not forwarded: a client's credentials are meant for this node only.
 * @throws UpstreamError `circle`
 */
function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const { accept, via = '', 'content-type': contentType } = headers;
  const hops = via.split(VIA).length - 1;
  if (hops >= MAX_HOPS) {
    throw new UpstreamError('circle', `${hops} nodes have passed this request on already`);
  }
  return {
    via: via === '' ? VIA : `${via}, ${VIA}`,
    ...(accept !== undefined && { accept }),
    ...(contentType !== undefined && { 'content-type': contentType }),
  };
}

/** Statuses without a body, whatever their headers say. */
const NO_CONTENT: readonly number[] = [204, 205];

/** @throws UpstreamError `bad_answer` for a redirect, a page of a proxy and the like */
function requireInterfaceAnswer(answer: Answer): void {
  const { status, headers, body } = answer;
  const isResult = status >= 200 && status < 300 && !NO_CONTENT.includes(status);
  const isFailure = status >= 400 && status < 600;
  if (!isResult && !isFailure) throw badAnswer(`status ${status}`);
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding !== 'identity') throw badAnswer(`the coding ${coding}, which was not asked for`);
  const contentType = headers['content-type'];
  if (contentType === undefined && body.length === 0) return;
  if (MEDIA_TYPES.includes(mediaTypeOf(answer))) return;
  throw badAnswer(`status ${status} with ${contentType ?? 'no content type'}`);
}

/** @throws UpstreamError `bad_answer` */
function readTransactionAnswer(
  { status, headers, body }: Answer,
  hash: Uint8Array,
): ForeignTransaction | undefined {
  if (status === 404 && body.includes('"transaction_not_found"')) return undefined;
  const contentType = headers['content-type'];
  if (status !== 200 || contentType !== BCS_TYPE) {
    throw badAnswer(`status ${status} with ${contentType ?? 'no content type'}`);
  }
  try {
    const transaction = readForeignTransaction(body, hash);
    if (transaction !== undefined) return transaction;
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    throw badAnswer('bytes that are no transaction', { cause });
  }
  throw badAnswer('a transaction with another hash');
}

function badAnswer(what: string, options?: ErrorOptions): UpstreamError {
  const message = `The upstream node gave no answer of a node's interface: ${what}`;
  return new UpstreamError('bad_answer', message, options);
}

/** @throws what is not expected */
function asUpstreamError(cause: unknown, signal: AbortSignal | undefined): UpstreamError {
  if (cause instanceof UpstreamError) return cause;
  const options = { cause };
  if (signal?.aborted === true) {
    return new UpstreamError('client_gone', 'The client closed the connection', options);
  }
  if (!(cause instanceof RemoteError)) throw cause;
  switch (cause.code) {
    case 'upstream_timeout':
      return new UpstreamError('timeout', 'The upstream node has not answered in time', options);
    case 'upstream_cut':
      return badAnswer('it broke off', options);
    case 'page_too_large':
      return badAnswer(cause.message, options);
    default:
      return new UpstreamError('unreachable', 'The upstream node cannot be reached', options);
  }
}

/** Outcomes that leave open whether the upstream has read the request. */
const UNCERTAIN: readonly UpstreamOutcome[] = ['timeout', 'bad_answer'];

function asApiError(error: UpstreamError, isSubmission: boolean): ApiError {
  const advice =
    isSubmission && UNCERTAIN.includes(error.outcome)
      ? '. It may have taken the transaction: ask for it by its hash before it is sent again'
      : '';
  return new ApiError(503, 'internal_error', error.message + advice, {
    cause: error,
    retryAfterSecs: RETRY_AFTER_SECS,
  });
}
