/** Downloads a file; an interrupted download resumes where it ended (RFC 9110 §14). */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './answer.ts';
import { RemoteError } from './remote-error.ts';
import { type Bounds, type RemoteServer, tooLarge } from './remote-server.ts';
import { parseRetryAfter, retryDelayMs } from './retry.ts';

/** A download is given up after this many consecutive failures without a new byte. */
export const MAX_DOWNLOAD_FAILURES = 6;

/** Statuses of a server that temporarily cannot serve. */
const BUSY = [408, 425, 429, 500, 502, 503, 504];
const PARTIAL = 206;
const RANGE_NOT_SATISFIABLE = 416;

/**
 * The answer to a GET, with the whole body. Statuses of 400 and above are returned too, unless they are temporary.
 * @throws RemoteError after MAX_DOWNLOAD_FAILURES; `page_too_large`; the signal's reason
 */
export async function download(
  server: RemoteServer,
  url: URL,
  bounds: Bounds,
  signal?: AbortSignal,
): Promise<Answer> {
  let body = Buffer.alloc(0);
  let validator: string | undefined;
  for (let failures = 0; ; ) {
    const start = body.length;
    const headers = rangeHeaders(start, validator);
    let answer: Answer | undefined;
    let lastError: RemoteError | undefined;
    try {
      // The limit is not reduced by what was received: a server may resend the whole file.
      answer = await server.send({ url, headers, signal }, bounds);
    } catch (error) {
      if (!(error instanceof RemoteError) || error.remedy !== 'retry') throw error;
      lastError = error;
      answer = error.received;
    }
    const isBusy = answer === undefined || BUSY.includes(answer.status);
    const isOutOfRange = answer?.status === RANGE_NOT_SATISFIABLE && start > 0;
    if (isOutOfRange) body = Buffer.alloc(0);
    else if (!isBusy) {
      body = continued(body, answer!);
      if (body.length > bounds.maxBytes) throw tooLarge(body.length, bounds.maxBytes);
      if (lastError === undefined) return { ...answer!, body };
      validator = validatorOf(answer!.headers) ?? validator;
    }
    failures = body.length > start ? 1 : failures + 1;
    if (failures >= MAX_DOWNLOAD_FAILURES) {
      throw (
        lastError ?? new RemoteError('upstream_failed', `${url.href} answers ${answer!.status}`)
      );
    }
    const retryAfterMs = parseRetryAfter(answer?.headers['retry-after']);
    await sleep(retryDelayMs(failures, retryAfterMs), undefined, { signal });
  }
}

function rangeHeaders(start: number, validator: string | undefined): Record<string, string> {
  if (start === 0) return {};
  const range = { range: `bytes=${start}-` };
  return validator === undefined ? range : { ...range, 'if-range': validator };
}

/** The earlier bytes followed by the new ones, or only the new ones if the server sent the file from its beginning. */
function continued(before: Buffer, { status, headers, body }: Answer): Buffer<ArrayBuffer> {
  const range = `bytes ${before.length}-`;
  const continues = status === PARTIAL && headers['content-range']?.startsWith(range) === true;
  return continues ? Buffer.concat([before, body]) : body;
}

/** The validator of a file's contents: a strong entity tag, or else the time of the last change. */
function validatorOf({ etag, ...headers }: IncomingHttpHeaders): string | undefined {
  return etag?.startsWith('"') === true ? etag : headers['last-modified'];
}
