/** Sends requests to the node that serves this page, and turns its refusals into errors (docs/spec/http.md §3, §4). */
import { formatHex } from '../../../src/move/bcs/hex.ts';
import { tryParse } from '../../../src/move/errors.ts';
import { parseJson } from './exact-json.ts';
import type { ApiRequest } from './requests.ts';

/** A successful response. */
export interface ApiAnswer {
  readonly request: ApiRequest;
  readonly status: number;
  /** The body as received; a binary body as hex in JSON. */
  readonly text: string;
  /** The ledger headers without their prefix, e.g. `ledger-version`. */
  readonly ledgerHeaders: ReadonlyMap<string, string>;
  readonly elapsedMs: number;
}

/** Maximum time to wait for a response. */
const REQUEST_TIMEOUT_MS = 15_000;
/** Names of the ledger headers, after any prefix (docs/spec/http.md §3.1, docs/spec/decisions.md D1). */
const LEDGER_HEADER =
  /-(chain-id|ledger-version|ledger-oldest-version|ledger-timestampusec|epoch|block-height|oldest-block-height|cursor)$/;
const QUOTED_ANSWER_CHARACTERS = 300;

/** The node refused, or did not answer. */
export class ApiFailure extends Error {
  readonly request: ApiRequest;
  /** HTTP status; 0 without a response. */
  readonly status: number;
  /** `error_code`, or `no_answer`, `timeout`, `unreadable_answer`, `unsendable_path`. */
  readonly code: string;
  readonly elapsedMs: number;

  constructor(
    request: ApiRequest,
    facts: { status?: number; code: string; message: string; elapsedMs?: number },
    options?: ErrorOptions,
  ) {
    super(facts.message, options);
    this.request = request;
    this.status = facts.status ?? 0;
    this.code = facts.code;
    this.elapsedMs = facts.elapsedMs ?? 0;
  }
}

/**
 * Sends the request. Rejects with ApiFailure if the node refuses or does not answer, and with the signal's own reason
 * when `signal` aborts.
 */
export async function send(request: ApiRequest, signal: AbortSignal): Promise<ApiAnswer> {
  if (/\/\.\.?(?:[/?]|$)/.test(request.path)) {
    const message = 'a dot or two dots cannot be sent as a part of a path';
    throw new ApiFailure(request, { code: 'unsendable_path', message });
  }
  const startedMs = performance.now();
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  try {
    const response = await fetch(request.path, {
      method: request.method,
      headers: {
        Accept: request.isRaw ? 'application/x-bcs' : 'application/json',
        ...(request.body !== undefined && { 'Content-Type': 'application/json' }),
      },
      body: request.body ?? null,
      signal: AbortSignal.any([signal, timeout]),
      cache: 'no-cache',
    });
    const { ok, status, headers } = response;
    const text =
      ok && request.isRaw
        ? JSON.stringify(formatHex(new Uint8Array(await response.arrayBuffer())))
        : await response.text();
    const elapsedMs = performance.now() - startedMs;
    if (!ok) throw new ApiFailure(request, { status, elapsedMs, ...refusal(text) });
    return { request, status, text, ledgerHeaders: ledgerHeaders(headers), elapsedMs };
  } catch (cause) {
    if (cause instanceof ApiFailure) throw cause;
    signal.throwIfAborted();
    const facts = timeout.aborted
      ? { code: 'timeout', message: `no answer within ${REQUEST_TIMEOUT_MS / 1000} seconds` }
      : { code: 'no_answer', message: 'the node could not be reached; is it still running?' };
    throw new ApiFailure(request, facts, { cause });
  }
}

/** The code and message of an error body. */
export function refusal(text: string): { code: string; message: string } {
  const body = tryParse(() => parseJson<{ error_code?: string; message?: string }>(text));
  if (body?.error_code !== undefined && body.message !== undefined) {
    return { code: body.error_code, message: body.message };
  }
  const quoted = text.slice(0, QUOTED_ANSWER_CHARACTERS);
  const message =
    quoted === '' ? 'the answer has no body' : `the answer is no error body: ${quoted}`;
  return { code: 'unreadable_answer', message };
}

/** The leftmost match wins: `-oldest-block-height`, not the `-block-height` in it. */
function ledgerHeaders(headers: Headers): ReadonlyMap<string, string> {
  return new Map(
    [...headers].flatMap(([name, value]) => {
      const short = LEDGER_HEADER.exec(name)?.[1];
      return short === undefined ? [] : [[short, value] as const];
    }),
  );
}
