/**
 * The upstream over HTTP: what this node cannot do is passed on to another one, bounded in size, time and number.
 * What that node answers is not verified; it is only required to look like an answer of a node of this chain.
 */
import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { Logger } from 'pino';
import { ApiError } from '../api/http/error-table.ts';
import { PacedWarning } from '../api/http/paced-warning.ts';
import type { PassedRequest, Upstream, UpstreamAnswer } from '../api/http/upstream.ts';
import { type Answer, type ExchangeRequest, exchange } from '../ingest/feed/exchange.ts';
import { upstreamState } from '../ingest/feed/feed-client.ts';
import { FeedError } from '../ingest/feed/feed-error.ts';
import { type ForeignTransaction, readForeignTransaction } from '../ledger/transactions/pending.ts';
import { BcsError } from '../move/bcs/bcs-reader.ts';
import { formatHex } from '../move/bcs/hex.ts';

/** The bounds of one process. */
export interface UpstreamLimits {
  /** Requests that are being passed on at the same time. */
  readonly maxPassing: number;
  /** Questions for transactions at the same time. */
  readonly maxAsking: number;
  readonly maxAnswerBytes: number;
  /** For the answer to a request that is passed on. */
  readonly passTimeoutMs: number;
  /** For the answer to a question of this node. */
  readonly askTimeoutMs: number;
}

export const UPSTREAM_LIMITS: UpstreamLimits = {
  maxPassing: 64,
  maxAsking: 100,
  maxAnswerBytes: 8 * 1024 * 1024,
  passTimeoutMs: 30_000,
  askTimeoutMs: 5_000,
};

/** How many nodes may pass a request on, one to the next. */
export const MAX_HOPS = 4;
/** How a node that passes a request on calls itself in the header `Via`. */
const VIA = '1.1 daybook';
const RETRY_AFTER_SECS = 1;
/** Each is worth a line at level info; other operations get one at level debug. */
const SUBMISSIONS: readonly string[] = ['submit_transaction', 'submit_batch_transactions'];
const BCS = 'application/x-bcs';
const MEDIA_TYPES: readonly string[] = ['application/json', BCS];
/** The operation of questions for transactions, in metrics and the log. */
const QUESTION = 'get_transaction_by_hash';

/** How a request ended that was to be passed on; the label of a metric. */
type UpstreamOutcome =
  | 'answered'
  | 'busy'
  | 'unreachable'
  | 'timeout'
  | 'bad_answer'
  | 'other_chain'
  | 'circle'
  | 'client_gone';

/** Why there is no answer. */
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

export class HttpUpstream implements Upstream {
  readonly origin: string;
  readonly #base: URL;
  readonly #logger: Logger;
  readonly #limits: UpstreamLimits;
  readonly #agent: http.Agent;
  /** By operation and outcome. */
  readonly #counts = new Map<string, UpstreamCount>();
  #passing = 0;
  #asking = 0;
  /** The upstream's chain, once it has told. */
  #chainId: Promise<number> | undefined;
  readonly #failures: PacedWarning;

  /** @param base of the interface, see `upstreamBase` */
  constructor(base: URL, logger: Logger, limits: UpstreamLimits = UPSTREAM_LIMITS) {
    this.origin = base.origin;
    this.#base = base;
    this.#logger = logger;
    this.#failures = new PacedWarning((facts) =>
      logger.warn(facts, 'the upstream did not answer a request'),
    );
    this.#limits = limits;
    const { Agent } = base.protocol === 'https:' ? https : http;
    this.#agent = new Agent({ keepAlive: true });
  }

  /** Requests and questions that wait for the upstream now. */
  get waiting(): number {
    return this.#passing + this.#asking;
  }

  /** Requests and questions since the start. */
  get counts(): readonly UpstreamCount[] {
    return [...this.#counts.values()];
  }

  async passOn(
    { operationId, path, query, headers, body }: PassedRequest,
    chainId: number,
    signal: AbortSignal,
  ): Promise<UpstreamAnswer> {
    const isSubmission = SUBMISSIONS.includes(operationId);
    const exchanged = await this.#observed(operationId, body.length, signal, async () => {
      if (this.#passing >= this.#limits.maxPassing) throw busy();
      this.#passing += 1;
      try {
        const url = this.#url(path);
        url.search = query;
        const asked = { method: 'POST', headers: passedHeaders(headers), body } as const;
        await this.#requireChain(chainId);
        const answer = await this.#send(url, asked, this.#limits.passTimeoutMs, signal);
        this.#requireAnswer(answer, chainId);
        return answer;
      } finally {
        this.#passing -= 1;
      }
    });
    if (exchanged instanceof UpstreamError) throw asApiError(exchanged, isSubmission);
    const { status, headers: received, body: content } = exchanged;
    return { status, body: content, ...answerHeaders(received) };
  }

  async transactionByHash(
    hash: Uint8Array,
    chainId: number,
    headers: IncomingHttpHeaders,
  ): Promise<ForeignTransaction | undefined> {
    const answer = await this.#observed(QUESTION, 0, undefined, async () => {
      if (this.#asking >= this.#limits.maxAsking) throw busy();
      this.#asking += 1;
      try {
        const url = this.#url(`/transactions/by_hash/${formatHex(hash)}`);
        const asked = {
          method: 'GET',
          headers: { ...passedHeaders(headers), accept: BCS },
        } as const;
        await this.#requireChain(chainId);
        const answer = await this.#send(url, asked, this.#limits.askTimeoutMs);
        this.#requireAnswer(answer, chainId);
        return { ...answer, transaction: readTransactionAnswer(answer, hash) };
      } finally {
        this.#asking -= 1;
      }
    });
    if (!(answer instanceof UpstreamError)) return answer.transaction;
    const { message, outcome } = answer;
    const text = `This node does not have the transaction, and its upstream cannot tell: ${message}`;
    throw asApiError(new UpstreamError(outcome, text, { cause: answer }), false);
  }

  /** Ends requests that still wait. */
  close(): void {
    this.#agent.destroy();
  }

  /** Counts and logs an exchange. @returns its answer, or why there is none */
  async #observed<T extends Answer>(
    operation: string,
    requestBytes: number,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T | UpstreamError> {
    const startedMs = performance.now();
    const facts = () => ({
      operation,
      upstream: this.origin,
      request_bytes: requestBytes,
      elapsed_ms: Math.round(performance.now() - startedMs),
    });
    try {
      const answer = await work();
      this.#count(operation, 'answered');
      const level = SUBMISSIONS.includes(operation) ? 'info' : 'debug';
      const { status, body } = answer;
      const line = { ...facts(), outcome: 'answered', status, answer_bytes: body.length };
      this.#logger[level](line, 'the upstream answered');
      return answer;
    } catch (cause) {
      const error = asUpstreamError(cause, signal);
      if (error === undefined) throw cause;
      this.#count(operation, error.outcome);
      this.#failures.warn({ ...facts(), outcome: error.outcome, err: error });
      return error;
    }
  }

  #url(path: string): URL {
    const url = new URL(this.#base);
    url.pathname += path;
    return url;
  }

  /** @throws UpstreamError for the answer of another chain, or of something that is not a node */
  #requireAnswer(answer: Answer, chainId: number): void {
    const { chainId: theirs } = upstreamState(answer.headers);
    if (theirs !== undefined) this.#compareChains(theirs, chainId);
    requireInterfaceAnswer(answer);
  }

  /** Asks the upstream for its chain, once: a transaction of another chain must not reach it. */
  async #requireChain(chainId: number): Promise<void> {
    this.#chainId ??= this.#askChain();
    try {
      this.#compareChains(await this.#chainId, chainId);
    } catch (error) {
      this.#chainId = undefined;
      throw error;
    }
  }

  async #askChain(): Promise<number> {
    const asked = { method: 'GET', headers: { accept: 'application/json' } } as const;
    const answer = await this.#send(this.#base, asked, this.#limits.askTimeoutMs);
    const { chainId } = upstreamState(answer.headers);
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

  #send(
    url: URL,
    { headers, ...asked }: ExchangeRequest,
    timeoutMs: number,
    signal = new AbortController().signal,
  ): Promise<Answer> {
    const request = { ...asked, headers: { 'accept-encoding': 'identity', ...headers } };
    const limits = {
      maxBytes: this.#limits.maxAnswerBytes,
      silenceTimeoutMs: timeoutMs,
      totalTimeoutMs: timeoutMs,
    };
    return exchange(url, this.#agent, request, limits, signal);
  }

  #count(operation: string, outcome: UpstreamOutcome): void {
    const key = `${operation} ${outcome}`;
    const value = (this.#counts.get(key)?.value ?? 0) + 1;
    this.#counts.set(key, { operation, outcome, value });
  }
}

/**
 * The headers that an upstream gets. Others stay here: what a client sends to prove who it is is meant for this node.
 * @throws UpstreamError `circle`
 */
function passedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
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

/** Without a body, whatever their headers say. */
const NO_CONTENT: readonly number[] = [204, 205];

/** @throws UpstreamError `bad_answer` for a redirect, a page of a proxy and the like */
function requireInterfaceAnswer({ status, headers, body }: Answer): void {
  const isResult = status >= 200 && status < 300 && !NO_CONTENT.includes(status);
  const isFailure = status >= 400 && status < 600;
  if (!isResult && !isFailure) throw badAnswer(`status ${status}`);
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding !== 'identity') throw badAnswer(`the coding ${coding}, which was not asked for`);
  const contentType = headers['content-type'];
  if (contentType === undefined && body.length === 0) return;
  const [mediaType = ''] = contentType?.split(';') ?? [];
  if (MEDIA_TYPES.includes(mediaType.trim().toLowerCase())) return;
  throw badAnswer(`status ${status} with ${contentType ?? 'no content type'}`);
}

/** @throws UpstreamError `bad_answer` */
function readTransactionAnswer(
  { status, headers, body }: Answer,
  hash: Uint8Array,
): ForeignTransaction | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (status === 404 && bytes.includes('"transaction_not_found"')) return undefined;
  const contentType = headers['content-type'];
  if (status !== 200 || contentType !== BCS) {
    throw badAnswer(`status ${status} with ${contentType ?? 'no content type'}`);
  }
  try {
    const transaction = readForeignTransaction(bytes, hash);
    if (transaction !== undefined) return transaction;
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    throw badAnswer('bytes that are no transaction', { cause });
  }
  throw badAnswer('a transaction with another hash');
}

function busy(): UpstreamError {
  return new UpstreamError('busy', 'Too many requests wait for the upstream node');
}

function badAnswer(what: string, options?: ErrorOptions): UpstreamError {
  const message = `The upstream node gave no answer of a node's interface: ${what}`;
  return new UpstreamError('bad_answer', message, options);
}

function answerHeaders(headers: IncomingHttpHeaders) {
  const gasName = Object.keys(headers).find((name) => /^x-.*-gas-used$/.test(name));
  return {
    contentType: headers['content-type'],
    gasUsed: gasName === undefined ? undefined : (headers[gasName] as string),
    retryAfter: headers['retry-after'],
  };
}

/** Undefined for an unexpected failure. */
function asUpstreamError(
  cause: unknown,
  signal: AbortSignal | undefined,
): UpstreamError | undefined {
  if (cause instanceof UpstreamError) return cause;
  const options = { cause };
  if (signal?.aborted === true) {
    return new UpstreamError('client_gone', 'The client closed the connection', options);
  }
  if (!(cause instanceof FeedError)) return undefined;
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
