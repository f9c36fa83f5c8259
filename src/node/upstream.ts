/**
 * The upstream over HTTP: what this node cannot do is passed on to another one, bounded in size, time and number.
 * What that node answers is not verified; it is only required to look like an answer of a node of this chain.
 */
import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { Logger } from 'pino';
import { ApiError } from '../api/http/error-table.ts';
import type { PassedRequest, Upstream, UpstreamAnswer } from '../api/http/upstream.ts';
import { type Answer, type ExchangeRequest, exchange } from '../ingest/feed/exchange.ts';
import { upstreamState } from '../ingest/feed/feed-client.ts';
import { FeedError } from '../ingest/feed/feed-error.ts';

/** The bounds of one process. */
export interface UpstreamLimits {
  /** Requests that wait for the upstream at the same time. */
  readonly maxPassing: number;
  readonly maxAnswerBytes: number;
  readonly passTimeoutMs: number;
  /** For its ledger info. */
  readonly infoTimeoutMs: number;
}

export const UPSTREAM_LIMITS: UpstreamLimits = {
  maxPassing: 64,
  maxAnswerBytes: 8 * 1024 * 1024,
  passTimeoutMs: 30_000,
  infoTimeoutMs: 5_000,
};

/** How many nodes may pass a request on, one to the next. */
export const MAX_HOPS = 4;
/** How a node that passes a request on calls itself in the header `Via`. */
const VIA = '1.1 daybook';
const RETRY_AFTER_SECS = 1;
/** Of what no client waits for alone. */
const NEVER = new AbortController().signal;
/** At most one line about failures in this time, in milliseconds. */
const WARNING_INTERVAL_MS = 1_000;
/** Each is worth a line at level info; other operations get one at level debug. */
const SUBMISSIONS: readonly string[] = ['submit_transaction', 'submit_batch_transactions'];
const MEDIA_TYPES: readonly string[] = ['application/json', 'application/x-bcs'];

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
  /** The upstream's chain, once it has told. */
  #chainId: Promise<number> | undefined;
  #warningDueMs = 0;
  #unloggedFailures = 0;

  /** @param base of the interface, see `upstreamBase` */
  constructor(base: URL, logger: Logger, limits: UpstreamLimits = UPSTREAM_LIMITS) {
    this.origin = base.origin;
    this.#base = base;
    this.#logger = logger;
    this.#limits = limits;
    const { Agent } = base.protocol === 'https:' ? https : http;
    this.#agent = new Agent({ keepAlive: true });
  }

  /** Requests that wait for the upstream now. */
  get waiting(): number {
    return this.#passing;
  }

  /** Requests since the start. */
  get counts(): readonly UpstreamCount[] {
    return [...this.#counts.values()];
  }

  async passOn(
    request: PassedRequest,
    chainId: number,
    signal: AbortSignal,
  ): Promise<UpstreamAnswer> {
    const { operationId, path, query, headers, body } = request;
    const startedMs = performance.now();
    const facts = (outcome: UpstreamOutcome) => ({
      operation: operationId,
      upstream: this.origin,
      outcome,
      request_bytes: body.length,
      elapsed_ms: Math.round(performance.now() - startedMs),
    });
    try {
      const url = new URL(this.#base);
      url.pathname += path;
      url.search = query;
      const asked = { method: 'POST', headers: passedHeaders(headers), body } as const;
      const answer = await this.#withRoom(() => this.#exchange(url, asked, chainId, signal));
      this.#count(operationId, 'answered');
      const { status } = answer;
      const level = SUBMISSIONS.includes(operationId) ? 'info' : 'debug';
      const line = { ...facts('answered'), status, answer_bytes: answer.body.length };
      this.#logger[level](line, 'passed on to the upstream');
      return { status, body: answer.body, ...answerHeaders(answer.headers) };
    } catch (cause) {
      const error = asUpstreamError(cause, signal);
      if (error === undefined) throw cause;
      this.#count(operationId, error.outcome);
      this.#warn({ ...facts(error.outcome), err: error });
      throw asApiError(error, SUBMISSIONS.includes(operationId));
    }
  }

  /** Ends requests that still wait. */
  close(): void {
    this.#agent.destroy();
  }

  async #withRoom<T>(work: () => Promise<T>): Promise<T> {
    if (this.#passing >= this.#limits.maxPassing) {
      throw new UpstreamError('busy', 'Too many requests wait for the upstream node');
    }
    this.#passing += 1;
    try {
      return await work();
    } finally {
      this.#passing -= 1;
    }
  }

  async #exchange(
    url: URL,
    asked: ExchangeRequest,
    chainId: number,
    signal: AbortSignal,
  ): Promise<Answer> {
    await this.#requireChain(chainId);
    const answer = await this.#send(url, asked, this.#limits.passTimeoutMs, signal);
    const { chainId: theirs } = upstreamState(answer.headers);
    if (theirs !== undefined) this.#compareChains(theirs, chainId);
    requireInterfaceAnswer(answer);
    return answer;
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
    const { infoTimeoutMs } = this.#limits;
    const answer = await this.#send(this.#base, asked, infoTimeoutMs, NEVER);
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
    signal: AbortSignal,
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

  #warn(facts: object): void {
    const nowMs = performance.now();
    if (nowMs < this.#warningDueMs) {
      this.#unloggedFailures += 1;
      return;
    }
    this.#warningDueMs = nowMs + WARNING_INTERVAL_MS;
    const line = { ...facts, unlogged_failures: this.#unloggedFailures };
    this.#unloggedFailures = 0;
    this.#logger.warn(line, 'the upstream did not answer a request');
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

/** @throws UpstreamError `bad_answer` for a redirect, a page of a proxy and the like */
function requireInterfaceAnswer({ status, headers, body }: Answer): void {
  if (status < 200 || (status >= 300 && status < 400)) throw badAnswer(`status ${status}`);
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding !== 'identity') throw badAnswer(`the coding ${coding}, which was not asked for`);
  const contentType = headers['content-type'];
  if (contentType === undefined && body.length === 0) return;
  const [mediaType = ''] = contentType?.split(';') ?? [];
  if (MEDIA_TYPES.includes(mediaType.trim().toLowerCase())) return;
  throw badAnswer(`status ${status} with ${contentType ?? 'no content type'}`);
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
function asUpstreamError(cause: unknown, signal: AbortSignal): UpstreamError | undefined {
  if (cause instanceof UpstreamError) return cause;
  const options = { cause };
  if (signal.aborted) {
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
