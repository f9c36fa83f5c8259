/** Downloads a file; a download that breaks off goes on where it ended (RFC 9110 §14). */
import type http from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { retryDelayMs } from './backoff.ts';
import { type ExchangeLimits, exchange, type Received } from './exchange.ts';
import { parseRetryAfter } from './feed-client.ts';
import { FeedError } from './feed-error.ts';

/** Failures in a row without a new byte after which a download is given up. */
export const MAX_DOWNLOAD_FAILURES = 6;

/** Answers that a server gives while it cannot serve. */
const BUSY = [408, 425, 429, 500, 502, 503, 504];
const PARTIAL = 206;
const RANGE_NOT_SATISFIABLE = 416;

export interface Download {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * The answer to a GET, with the whole body; statuses from 400 on are answers too, unless they are temporary.
 * @param agent of the URL's scheme
 * @throws FeedError after MAX_DOWNLOAD_FAILURES; `page_too_large`; the signal's reason
 */
export async function download(
  url: URL,
  agent: http.Agent,
  limits: ExchangeLimits,
  signal: AbortSignal,
): Promise<Download> {
  let parts: Buffer[] = [];
  let validator: string | undefined;
  for (let failures = 0; ; ) {
    const start = parts.reduce((sum, part) => sum + part.length, 0);
    const received: Received = { parts: [] };
    const left = { ...limits, maxBytes: limits.maxBytes - start };
    const request = { method: 'GET' as const, headers: requestHeaders(start, validator) };
    let retryAfterMs: number | undefined;
    let fault: FeedError;
    try {
      const { status, headers } = await exchange(url, agent, request, left, signal, received);
      if (!BUSY.includes(status) && (status !== RANGE_NOT_SATISFIABLE || start === 0)) {
        parts = joined(parts, received, start);
        return { status, headers, body: Buffer.concat(parts) };
      }
      fault = new FeedError('upstream_failed', `${url.href} answers ${status}`);
      retryAfterMs = parseRetryAfter(headers['retry-after'], Date.now());
      if (status === RANGE_NOT_SATISFIABLE) parts = [];
    } catch (error) {
      if (!(error instanceof FeedError) || error.remedy !== 'retry') throw error;
      fault = error;
      parts = joined(parts, received, start);
      validator = validatorOf(received.headers) ?? validator;
    }
    const hasMore = parts.reduce((sum, part) => sum + part.length, 0) > start;
    failures = hasMore ? 1 : failures + 1;
    if (failures >= MAX_DOWNLOAD_FAILURES) throw fault;
    await sleep(retryDelayMs(failures, retryAfterMs), undefined, { signal });
  }
}

function requestHeaders(start: number, validator: string | undefined): Record<string, string> {
  // As stored: the bytes of a range are counted in what is sent.
  const headers: Record<string, string> = { 'accept-encoding': 'identity' };
  if (start === 0) return headers;
  headers['range'] = `bytes=${start}-`;
  if (validator !== undefined) headers['if-range'] = validator;
  return headers;
}

/** What came before and what has come now, or only that when the file was sent from its beginning. */
function joined(before: Buffer[], { status, headers, parts }: Received, start: number): Buffer[] {
  if (status === undefined || BUSY.includes(status)) return before;
  const continues = status === PARTIAL && headers?.['content-range']?.startsWith(`bytes ${start}-`);
  return continues === true ? [...before, ...parts] : parts;
}

/** What identifies the contents of a file: a strong entity tag, or when it was changed. */
function validatorOf(headers: IncomingHttpHeaders | undefined): string | undefined {
  const tag = headers?.etag;
  return tag?.startsWith('"') === true ? tag : headers?.['last-modified'];
}
