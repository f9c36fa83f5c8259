/** Requests to the node that serves this page, and its refusals as errors (docs/spec/http.md §3, §4). */

import { JsonSyntaxError } from '../../src/move/json/json-text.ts';
import type { ApiRequest } from './api-request.ts';
import { parseJson, textField } from './json-fields.ts';

/** A successful answer. */
export interface ApiAnswer {
  readonly request: ApiRequest;
  readonly status: number;
  /** The body as it came. */
  readonly text: string;
  /** The ledger headers without their prefix, e.g. `ledger-version`. */
  readonly ledgerHeaders: ReadonlyMap<string, string>;
  readonly elapsedMs: number;
}

/** Longest wait for an answer. */
export const REQUEST_TIMEOUT_MS = 15_000;

/** Names of the ledger headers behind any prefix (docs/spec/http.md §3.1, docs/spec/decisions.md D1). */
const LEDGER_HEADER =
  /-(chain-id|ledger-version|ledger-oldest-version|ledger-timestampusec|epoch|block-height|oldest-block-height|cursor)$/;
const QUOTED_ANSWER_CHARACTERS = 300;

/** The node refused, or did not answer. `code` is the error body's, or one of this page's own. */
export class ApiFailure extends Error {
  readonly request: ApiRequest;
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** `error_code`, or `no_answer`, `timeout`, `unreadable_answer`, `unsendable_path`. */
  readonly code: string;
  readonly elapsedMs: number;

  constructor(
    request: ApiRequest,
    facts: { status: number; code: string; message: string; elapsedMs: number },
    options?: ErrorOptions,
  ) {
    super(facts.message, options);
    this.name = 'ApiFailure';
    this.request = request;
    this.status = facts.status;
    this.code = facts.code;
    this.elapsedMs = facts.elapsedMs;
  }
}

/**
 * Makes the request. Rejects with ApiFailure for every refusal and every silence, and with the
 * signal's own reason when `signal` aborts.
 */
export async function send(request: ApiRequest, signal: AbortSignal): Promise<ApiAnswer> {
  if (
    request.path
      .split('?')[0]!
      .split('/')
      .some((part) => part === '.' || part === '..')
  ) {
    const message = 'a dot or two dots cannot be sent as a part of a path';
    throw new ApiFailure(request, { status: 0, code: 'unsendable_path', message, elapsedMs: 0 });
  }
  const startedMs = performance.now();
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  let response: Response;
  let text: string;
  try {
    response = await fetch(request.path, {
      method: request.method,
      headers: { Accept: 'application/json', ...bodyHeaders(request) },
      body: request.body ?? null,
      signal: AbortSignal.any([signal, timeout]),
      cache: 'no-cache',
    });
    text = await response.text();
  } catch (cause) {
    signal.throwIfAborted();
    throw silence(request, timeout.aborted, performance.now() - startedMs, cause);
  }
  const elapsedMs = performance.now() - startedMs;
  if (!response.ok) throw refusal(request, response.status, text, elapsedMs);
  return {
    request,
    status: response.status,
    text,
    ledgerHeaders: ledgerHeaders(response.headers),
    elapsedMs,
  };
}

function bodyHeaders(request: ApiRequest): Record<string, string> {
  return request.body === undefined ? {} : { 'Content-Type': 'application/json' };
}

function silence(
  request: ApiRequest,
  timedOut: boolean,
  elapsedMs: number,
  cause: unknown,
): ApiFailure {
  const facts = timedOut
    ? { code: 'timeout', message: `no answer within ${REQUEST_TIMEOUT_MS / 1000} seconds` }
    : { code: 'no_answer', message: 'the node could not be reached; is it still running?' };
  return new ApiFailure(request, { status: 0, elapsedMs, ...facts }, { cause });
}

function refusal(request: ApiRequest, status: number, text: string, elapsedMs: number): ApiFailure {
  const body = readErrorBody(text);
  if (body !== undefined) return new ApiFailure(request, { status, elapsedMs, ...body });
  const quoted = text.slice(0, QUOTED_ANSWER_CHARACTERS);
  return new ApiFailure(request, {
    status,
    code: 'unreadable_answer',
    message: quoted === '' ? 'the answer has no body' : `the answer is no error body: ${quoted}`,
    elapsedMs,
  });
}

function readErrorBody(text: string): { code: string; message: string } | undefined {
  try {
    const body = parseJson(text);
    const code = textField(body, 'error_code');
    const message = textField(body, 'message');
    return code === undefined || message === undefined ? undefined : { code, message };
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

function ledgerHeaders(headers: Headers): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  // `x-node-oldest-block-height` also ends in `-block-height`: a search finds the leftmost, which
  // is the whole name.
  for (const [name, value] of headers) {
    const short = LEDGER_HEADER.exec(name)?.[1];
    if (short !== undefined) found.set(short, value);
  }
  return found;
}
