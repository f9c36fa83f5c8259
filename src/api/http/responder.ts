/**
 * Writes every response of the API: headers, caching, compression and CORS are decided here and
 * nowhere else (docs/spec/http.md §2.2, §3, §10; docs/spec/decisions.md D1, D5, D11).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { copiedBytes } from '../../cache.ts';
import type { LedgerState } from '../../ledger/ledger-view.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { contentDigest } from '../../move/crypto/hash.ts';
import { type Answer, bytesOfAnswer } from '../endpoints/endpoint.ts';
import { type ApiError, errorBody, errorContentType, frameworkError } from '../error-table.ts';
import type { Admission } from '../load/admission.ts';
import { type ContentCoding, chooseCoding, EVENT_STREAM_MEDIA_TYPE } from '../negotiation.ts';
import type { ApiSettings } from '../settings.ts';
import type { UpstreamAnswer } from '../upstream.ts';
import type { ApiCaches } from './caches.ts';
import { compress } from './compression.ts';
import { LedgerHeaders } from './ledger-headers.ts';
import type { PageFile } from './page-files.ts';
import { type HeaderList, headerLines, ResponseWriter } from './response-writing.ts';

/** For answers at a fixed version, which never change. The age is a year, in seconds. */
const IMMUTABLE_CACHE_CONTROL = 'public, max-age=31536000, immutable';
const ALLOWED_METHODS = ['GET', 'POST'];
/** How long a browser may cache a preflight, in seconds: a day. */
const PREFLIGHT_MAX_AGE_SECS = '86400';

interface Content {
  readonly answer: Answer;
  readonly contentType: string;
  /** Whether it has an entity tag, so that caches can revalidate it: GET and HEAD. */
  readonly isTagged: boolean;
  readonly extraHeaders?: HeaderList;
}

/**
 * How many refusals a turn of the event loop sends immediately; further ones wait for its end. Refused clients retry
 * immediately, and libuv ends a turn only when fewer than 1,024 connections are ready, or after 48 rounds of 1,024. So
 * the limit is half of 1,024.
 */
export const MAX_IMMEDIATE_REFUSALS = 512;

interface Refusal {
  readonly response: ServerResponse;
  readonly error: ApiError;
}

export class Responder {
  readonly #ledgerHeaders: LedgerHeaders;
  readonly #compressionEnabled: boolean;
  /**
   * The request headers that affect a tagged response. The origin matters even if absent: caches must not serve a
   * response without CORS headers to a page of another origin.
   */
  readonly #vary: string;
  readonly #maxCompressions: number;
  readonly #bodies: ApiCaches['bodies'];
  readonly #writer: ResponseWriter;
  readonly #admission: Admission;
  #compressions = 0;
  #refusalsInTurn = 0;
  #deferred: Refusal[] = [];
  readonly #sendDeferred = (): void => {
    this.#refusalsInTurn = 0;
    if (this.#deferred.length > 0) this.flush();
  };
  /** Called for each written response. The request handler sets it to watch responses that the system has not taken. */
  onWritten: (response: ServerResponse) => void = () => undefined;

  constructor(settings: ApiSettings, admission: Admission, { bodies }: ApiCaches) {
    const { maxCompressions } = settings;
    this.#admission = admission;
    this.#maxCompressions = maxCompressions === 0 ? Number.POSITIVE_INFINITY : maxCompressions;
    this.#bodies = bodies;
    this.#ledgerHeaders = new LedgerHeaders(settings.headerPrefix);
    this.#writer = new ResponseWriter(settings.keepAliveTimeoutMs, (response) => {
      admission.holdUnsent(response);
      this.onWritten(response);
    });
    this.#compressionEnabled = settings.compressionEnabled;
    this.#vary = settings.compressionEnabled ? 'Origin, Accept, Accept-Encoding' : 'Origin, Accept';
  }

  /** Whether this is the last answer sent and it waits for the end of the turn. */
  isWaiting(response: ServerResponse): boolean {
    return this.#writer.isWaiting(response) || this.#deferred.at(-1)?.response === response;
  }

  /** Sends now everything that waits for the end of the turn: refusals, then small answers. */
  flush(): void {
    const deferred = this.#deferred;
    this.#deferred = [];
    for (const { response, error } of deferred) {
      this.sendError(response, error, this.#ledgerHeaders.latestState);
    }
    this.#writer.flush();
  }

  /** Sends a successful answer, or 304 if the client has it already. */
  send(
    response: ServerResponse,
    { answer, contentType, isTagged, extraHeaders }: Content,
    state: LedgerState | undefined,
  ): MaybePromise<void> {
    const request = response.req;
    const coding = this.#codingFor(request, answer);
    const headers = this.#headers(request, isTagged ? this.#vary : undefined);
    const { cursor } = answer;
    if (cursor !== undefined) headers.push(this.#ledgerHeaders.cursorName, cursor);
    if (answer.gasUsed !== undefined) {
      headers.push(this.#ledgerHeaders.gasUsedName, answer.gasUsed);
    }
    if (isTagged) {
      const core = answer.tagCore ?? contentDigest(answer.body);
      // The cursor is part of the tag: when a last page gets a successor, its body stays the same.
      const tag = entityTag(
        cursor === undefined ? core : `${core}.${contentDigest(cursor)}`,
        coding,
      );
      headers.push('etag', tag);
      if (answer.isImmutable === true) headers.push('cache-control', IMMUTABLE_CACHE_CONTROL);
      if (matchesTag(request.headers['if-none-match'], tag)) {
        this.#write(response, 304, state, headers, undefined);
        return undefined;
      }
    }
    headers.push('content-type', contentType);
    if (extraHeaders !== undefined) headers.push(...extraHeaders);
    return this.#sendBody(response, state, headers, answer, coding);
  }

  /**
   * Sends the head of a stream of server-sent events. Its headers tell caches and proxies not to store, compress or
   * buffer the stream.
   */
  beginStream(response: ServerResponse, state: LedgerState | undefined): void {
    const headers = [...this.#ledgerHeaders.of(state).list];
    headers.push(...this.#headers(response.req, 'Origin, Accept'));
    headers.push('content-type', EVENT_STREAM_MEDIA_TYPE);
    headers.push('cache-control', 'no-cache, no-transform', 'x-accel-buffering', 'no');
    response.writeHead(200, headers);
    response.flushHeaders();
  }

  /** Sends a file of the page, or 304 if the browser has it. */
  sendFile(response: ServerResponse, file: Omit<PageFile, 'path'>): MaybePromise<void> {
    const answer: Answer = { body: file.bytes, tagCore: file.tagCore, isReused: true };
    const coding = this.#codingFor(response.req, answer);
    const tag = entityTag(file.tagCore, coding);
    // Browsers revalidate the documents and get 304, so an upgraded node shows its own page at once.
    const caching = file.isImmutable ? IMMUTABLE_CACHE_CONTROL : 'no-cache';
    const headers = ['etag', tag, 'cache-control', caching, 'vary', 'accept-encoding'];
    headers.push(...file.securityHeaders);
    if (matchesTag(response.req.headers['if-none-match'], tag)) {
      this.#write(response, 304, undefined, headers, undefined);
      return undefined;
    }
    headers.push('content-type', file.contentType);
    return this.#sendBody(response, undefined, headers, answer, coding);
  }

  /** Sends an upstream's answer, with the ledger headers of this node and the name of the upstream. */
  sendUpstreamAnswer(
    response: ServerResponse,
    answer: UpstreamAnswer,
    origin: string,
    state: LedgerState | undefined,
  ): void {
    const { status, contentType, gasUsed, retryAfter, body } = answer;
    const headers = this.#headers(response.req);
    headers.push(this.#ledgerHeaders.upstreamName, origin);
    if (contentType !== undefined) headers.push('content-type', contentType);
    if (gasUsed !== undefined) headers.push(this.#ledgerHeaders.gasUsedName, gasUsed);
    if (retryAfter !== undefined) headers.push('retry-after', retryAfter);
    const block = this.#ledgerHeaders.of(state);
    this.#writer.write(response, { status, block, headers, hasUntrustedValues: true, body });
  }

  /** Refuses a request without reading the ledger: the headers show the last known state. */
  sendRefusal(response: ServerResponse, error: ApiError): void {
    this.#refusalsInTurn += 1;
    if (this.#refusalsInTurn === 1) this.#admission.beforeTurnEnds(this.#sendDeferred);
    // Behind an unfinished answer of its connection, a refusal wakes no client, and Node bounds what a pipeline holds.
    if (this.#refusalsInTurn <= MAX_IMMEDIATE_REFUSALS || response.socket === null) {
      this.sendError(response, error, this.#ledgerHeaders.latestState);
    } else this.#deferred.push({ response, error });
  }

  /** Sends an error; errors are never compressed and always JSON. */
  sendError(response: ServerResponse, error: ApiError, state: LedgerState | undefined): void {
    this.#writeError(response, error, state, this.#headers(response.req));
  }

  /**
   * Answers a preflight, whatever its path: every origin is allowed, and browsers may read the ledger headers
   * (docs/spec/http.md §10.1). One for another method gets 403 and no CORS headers.
   */
  sendPreflight(response: ServerResponse, state: LedgerState | undefined): void {
    const { headers } = response.req;
    const requestedMethod = headers['access-control-request-method'];
    if (requestedMethod === undefined || !ALLOWED_METHODS.includes(requestedMethod)) {
      this.#writeError(response, frameworkError(403, 'request-method not allowed'), state, []);
      return;
    }
    const preflight = [
      ...this.#corsHeaders(headers.origin!),
      'access-control-max-age',
      PREFLIGHT_MAX_AGE_SECS,
      'access-control-allow-methods',
      ALLOWED_METHODS.join(', '),
      'access-control-allow-headers',
      headers['access-control-request-headers'] ?? '*',
    ];
    this.#write(response, 200, state, preflight, '');
  }

  /** An error as raw HTTP/1.1, for requests that the parser refused. */
  rawError(error: ApiError, reason: string, state: LedgerState | undefined): string {
    const body = errorBody(error);
    const headers = ['content-type', errorContentType(error)];
    headers.push('content-length', String(Buffer.byteLength(body)), 'connection', 'close');
    const lines = this.#ledgerHeaders.of(state).lines + headerLines(headers);
    return `HTTP/1.1 ${error.status} ${reason}\r\n${lines}\r\n${body}`;
  }

  /** The coding that the client prefers. None if too many answers are being compressed and no coded body is cached. */
  #codingFor(request: IncomingMessage, answer: Answer): ContentCoding | undefined {
    if (!this.#compressionEnabled) return undefined;
    const coding = chooseCoding(request.headers['accept-encoding'] as string | undefined);
    if (coding === undefined || this.#compressions < this.#maxCompressions) return coding;
    const isCached = answer.isReused && this.#bodies.get(entityTag(answer.tagCore!, coding));
    return isCached ? coding : undefined;
  }

  #sendBody(
    response: ServerResponse,
    state: LedgerState | undefined,
    headers: string[],
    answer: Answer,
    coding: ContentCoding | undefined,
  ): MaybePromise<void> {
    if (coding !== undefined) headers.push('content-encoding', coding);
    const encoded = coding === undefined ? answer.body : this.#compress(answer, coding);
    return andThen(encoded, (body) =>
      this.#write(response, answer.status ?? 200, state, headers, body),
    );
  }

  async #compress(answer: Answer, coding: ContentCoding): Promise<Answer['body']> {
    this.#compressions += 1;
    try {
      const make = () => compress[coding](answer.body);
      if (answer.isReused !== true) return await make();
      const key = entityTag(answer.tagCore!, coding);
      const makeForCache = async () => ({ body: copiedBytes(await make()) });
      return (await this.#bodies.getOrMake(key, makeForCache, bytesOfAnswer)).body;
    } finally {
      this.#compressions -= 1;
    }
  }

  #writeError(
    response: ServerResponse,
    error: ApiError,
    state: LedgerState | undefined,
    headers: string[],
  ): void {
    headers.push('content-type', errorContentType(error));
    const { retryAfterSecs, allowedMethods } = error;
    if (allowedMethods !== undefined) headers.push('allow', allowedMethods);
    if (retryAfterSecs !== undefined) headers.push('retry-after', String(retryAfterSecs));
    this.#write(response, error.status, state, headers, errorBody(error));
  }

  #write(
    response: ServerResponse,
    status: number,
    state: LedgerState | undefined,
    headers: HeaderList,
    body: string | Uint8Array | undefined,
  ): void {
    const block = this.#ledgerHeaders.of(state);
    const hasUntrustedValues = response.req.headers.origin !== undefined;
    this.#writer.write(response, { status, block, headers, hasUntrustedValues, body });
  }

  /** A new list of the headers after the ledger headers: CORS for a request with an origin, and `vary`. */
  #headers(request: IncomingMessage, vary?: string | undefined): string[] {
    const { origin } = request.headers;
    const headers = origin === undefined ? [] : this.#corsHeaders(origin);
    if (vary !== undefined) headers.push('vary', vary);
    else if (origin !== undefined) headers.push('vary', 'Origin');
    return headers;
  }

  #corsHeaders(origin: string): string[] {
    return [
      'access-control-allow-origin',
      origin,
      'access-control-allow-credentials',
      'true',
      'access-control-expose-headers',
      this.#ledgerHeaders.exposed,
    ];
  }
}

/**
 * The entity tag of a body in a coding, docs/spec/decisions.md D11. It is strong: it names the exact bytes of one
 * representation, so the coding is part of it. @param core the body's hash, or a text that determines the body
 */
function entityTag(core: string, coding: ContentCoding | undefined): string {
  return coding === undefined ? `"${core}"` : `"${core}-${coding}"`;
}

function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  // A tag includes its quotes and has none inside, so it can only be found as a whole.
  return ifNoneMatch.includes(tag) || ifNoneMatch.trim() === '*';
}
