/**
 * Writes every response of the API: headers, caching, compression and CORS are decided here and
 * nowhere else (docs/spec/http.md §2.2, §3, §10; docs/spec/decisions.md D1, D5, D11).
 *
 * It writes to the raw response, which whoever has one of the framework's takes away from it before (`hijack`): bodies
 * are ready when they come here, and the framework's own path would add a charset to `application/json`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LedgerState } from '../../ledger/api-contract.ts';
import { contentTag } from '../../ledger/content-tag.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { Answer } from '../endpoints/endpoint.ts';
import type { ApiSettings } from '../settings.ts';
import { type ContentCoding, chooseCoding } from './accept-encoding.ts';
import { type CompressedForms, compressKept } from './compression.ts';
import { corsHeaders, preflightHeaders } from './cors.ts';
import { entityTag, matchesTag, PINNED_CACHE_CONTROL } from './entity-tag.ts';
import { type ApiError, errorBody, errorContentType, FrameworkError } from './error-table.ts';
import { type HeaderList, LedgerHeaders } from './ledger-headers.ts';
import { type Admission, LARGE_ANSWER_BYTES } from './overload.ts';
import { headerLines, isTaken, ResponseWriter } from './response-writing.ts';

/** A successful response before it is tagged, compressed and written. */
export interface Content {
  readonly answer: Answer;
  readonly contentType: string;
  /** Whether caches may ask again by tag: GET and HEAD. */
  readonly tagged: boolean;
  readonly extraHeaders?: HeaderList;
}

/** The response side of an API with its settings. */
export class Responder {
  readonly #ledgerHeaders: LedgerHeaders;
  readonly #compressionEnabled: boolean;
  /**
   * What besides the URL decides a tagged answer. The origin does also where there is none: a kept
   * answer without CORS headers must not be given to a page of another origin.
   */
  readonly #vary: string;
  readonly #maxCompressions: number;
  readonly #admission: Admission;
  readonly #writer: ResponseWriter;
  #compressions = 0;

  constructor(settings: ApiSettings, admission: Admission) {
    const { maxCompressions } = settings;
    this.#maxCompressions = maxCompressions === 0 ? Number.POSITIVE_INFINITY : maxCompressions;
    this.#admission = admission;
    this.#ledgerHeaders = new LedgerHeaders(settings.headerPrefix);
    this.#writer = new ResponseWriter(settings.keepAliveTimeoutMs);
    this.#compressionEnabled = settings.compressionEnabled;
    this.#vary = settings.compressionEnabled ? 'Origin, Accept, Accept-Encoding' : 'Origin, Accept';
  }

  /** Sends a successful answer, or 304 when the client has it already. */
  send(
    response: ServerResponse,
    content: Content,
    state: LedgerState | undefined,
  ): MaybePromise<void> {
    const { answer } = content;
    const request = response.req;
    const coding = this.#codingFor(request, answer.compressed);
    const headers = this.#headers(request, content.tagged ? this.#vary : undefined);
    const { cursor } = answer;
    if (cursor !== undefined) headers.push(this.#ledgerHeaders.cursorName, cursor);
    if (content.tagged) {
      const core = answer.tagCore ?? contentTag(answer.body);
      // A page that was the last one and is not any more has the same body: the cursor is part of the answer.
      const tag = entityTag(cursor === undefined ? core : `${core}.${contentTag(cursor)}`, coding);
      headers.push('etag', tag);
      if (answer.pinned === true) headers.push('cache-control', PINNED_CACHE_CONTROL);
      if (matchesTag(request.headers['if-none-match'], tag)) {
        this.#write(response, 304, state, headers, undefined);
        return undefined;
      }
    }
    headers.push('content-type', content.contentType);
    if (content.extraHeaders !== undefined) headers.push(...content.extraHeaders);
    if (coding === undefined) {
      this.#writeAnswer(response, state, headers, answer.body);
      // What the system has not taken at once stays in use until it has.
      if (answer.isLent === true && !isTaken(response)) answer.kept?.leave();
      return undefined;
    }
    headers.push('content-encoding', coding);
    // Compressing takes the body when this turn has ended.
    if (answer.isLent === true) answer.kept?.leave();
    return this.#compress(answer, coding).then((body) =>
      this.#writeAnswer(response, state, headers, body),
    );
  }

  /** Refuses a request without a look at the ledger: the headers are those of the answer before. */
  sendRefusal(response: ServerResponse, error: ApiError): void {
    this.sendError(response, error, this.#ledgerHeaders.latestState);
  }

  /** Sends an error; errors are never compressed and always JSON. */
  sendError(response: ServerResponse, error: ApiError, state: LedgerState | undefined): void {
    this.#writeError(response, error, state, this.#headers(response.req));
  }

  /**
   * Answers a preflight, whatever its path; one for another method gets 403 and no CORS headers.
   */
  sendPreflight(response: ServerResponse, origin: string, state: LedgerState | undefined): void {
    const preflight = preflightHeaders(response.req.headers);
    if (preflight === undefined) {
      this.#writeError(response, new FrameworkError(403, 'request-method not allowed'), state, []);
      return;
    }
    const cors = corsHeaders(origin, this.#ledgerHeaders.exposed);
    this.#write(response, 200, state, [...cors, ...preflight], '');
  }

  /** An error as raw HTTP/1.1, for requests that never became one. */
  rawError(error: ApiError, reason: string, state: LedgerState | undefined): string {
    const body = errorBody(error);
    const headers = ['content-type', errorContentType(error)];
    headers.push('content-length', String(Buffer.byteLength(body)), 'connection', 'close');
    const lines = this.#ledgerHeaders.of(state).lines + headerLines(headers);
    return `HTTP/1.1 ${error.status} ${reason}\r\n${lines}\r\n${body}`;
  }

  /** The coding that the client likes best; none when too many answers are being compressed. */
  #codingFor(
    request: IncomingMessage,
    kept: CompressedForms | undefined,
  ): ContentCoding | undefined {
    if (!this.#compressionEnabled) return undefined;
    const coding = chooseCoding(request.headers['accept-encoding'] as string | undefined);
    if (coding === undefined || this.#compressions < this.#maxCompressions) return coding;
    return kept?.has(coding) === true ? coding : undefined;
  }

  async #compress({ body, compressed }: Answer, coding: ContentCoding): Promise<Buffer> {
    this.#compressions += 1;
    try {
      return await compressKept(body, coding, compressed);
    } finally {
      this.#compressions -= 1;
    }
  }

  #writeAnswer(
    response: ServerResponse,
    state: LedgerState | undefined,
    headers: HeaderList,
    body: string | Uint8Array,
  ): void {
    if (body.length >= LARGE_ANSWER_BYTES) this.#admission.holdUnsent(response, body.length);
    this.#write(response, 200, state, headers, body);
  }

  #writeError(
    response: ServerResponse,
    error: ApiError,
    state: LedgerState | undefined,
    headers: string[],
  ): void {
    headers.push('content-type', errorContentType(error));
    const { retryAfterSecs } = error;
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
    const hasForeignValues = response.req.headers.origin !== undefined;
    this.#writer.write(response, { status, block, headers, hasForeignValues, body });
  }

  /** A new list of what follows the ledger headers: those of CORS when there is an origin, and `vary`. */
  #headers(request: IncomingMessage, vary?: string | undefined): string[] {
    const headers: string[] = [];
    const { origin } = request.headers;
    if (origin !== undefined) {
      headers.push(...corsHeaders(origin, this.#ledgerHeaders.exposed));
    }
    if (vary !== undefined) headers.push('vary', vary);
    else if (origin !== undefined) headers.push('vary', 'Origin');
    return headers;
  }
}
