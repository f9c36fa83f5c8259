/** One request to another node and its whole answer, bounded in size and time. */
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { FeedError } from './feed-error.ts';

/** A request, apart from its URL. */
export interface ExchangeRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface ExchangeLimits {
  /** Maximum bytes of a body. */
  readonly maxBytes: number;
  /** Longest silence, before the first byte or between two, in milliseconds. */
  readonly silenceTimeoutMs: number;
  /** Longest time for the whole answer, in milliseconds. */
  readonly totalTimeoutMs: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** In a separate buffer, so that it can be transferred to another thread. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** What has come of an answer: also of one that breaks off. */
export interface Received {
  status?: number;
  headers?: IncomingHttpHeaders;
  readonly parts: Buffer[];
}

/**
 * Sends a request and reads the answer.
 * @param agent of the URL's scheme
 * @param received filled while the answer comes
 * @throws FeedError `upstream_unreachable`, `upstream_timeout`, `upstream_cut`, `page_too_large`; the signal's reason
 *   when it is aborted
 */
export async function exchange(
  url: URL,
  agent: http.Agent,
  asked: ExchangeRequest,
  limits: ExchangeLimits,
  signal: AbortSignal,
  received: Received = { parts: [] },
): Promise<Answer> {
  signal.throwIfAborted();
  return await new Promise<Answer>((resolve, reject) => {
    const end = (): void => clearTimeout(total);
    const fail = (error: Error): void => {
      end();
      reject(signal.aborted ? (signal.reason as Error) : error);
      request.destroy();
    };
    const timeout = (what: string) =>
      fail(new FeedError('upstream_timeout', `${url.host} ${what}`));
    const total = setTimeout(
      () => timeout(`has not answered in full after ${limits.totalTimeoutMs} ms`),
      limits.totalTimeoutMs,
    );
    const isSecure = url.protocol === 'https:';
    const send = (over: http.Agent | false): http.ClientRequest => {
      const { request: open } = isSecure ? https : http;
      const { method, headers, body } = asked;
      const sent = open(url, { method, headers, agent: over, signal });
      sent.setTimeout(limits.silenceTimeoutMs, () =>
        timeout(`has sent nothing for ${limits.silenceTimeoutMs} ms`),
      );
      let isConnected = false;
      let hasAnswered = false;
      sent.on('socket', (socket) => {
        isConnected = !socket.connecting;
        if (isConnected) return;
        socket.once(isSecure ? 'secureConnect' : 'connect', () => {
          isConnected = true;
        });
      });
      sent.on('error', (cause: NodeJS.ErrnoException) => {
        // The other side ended an idle connection while the request was on its way: it has not read it.
        const isStale = !hasAnswered && sent.reusedSocket && cause.code === 'ECONNRESET';
        if (isStale && over !== false && !signal.aborted) request = send(false);
        else fail(isConnected ? cut(url, cause) : unreachable(url, cause));
      });
      // Nobody asked for another protocol, and the connection is of no use any more.
      sent.on('upgrade', () => fail(cut(url, new Error('it changed the protocol'))));
      sent.on('response', (response) => {
        hasAnswered = true;
        received.status = response.statusCode!;
        received.headers = response.headers;
        readBody(response, limits.maxBytes, received.parts).then(
          (content) => {
            end();
            resolve({ status: response.statusCode!, headers: response.headers, body: content });
          },
          (error: Error) => fail(error instanceof FeedError ? error : cut(url, error)),
        );
      });
      sent.end(body);
      return sent;
    };
    let request = send(agent);
  });
}

/** Reads a body; a declared length is used only to refuse it at once. */
async function readBody(
  response: IncomingMessage,
  maxBytes: number,
  parts: Buffer[],
): Promise<Uint8Array<ArrayBuffer>> {
  const declared = Number(response.headers['content-length'] ?? 0);
  if (declared > maxBytes) throw tooLarge(declared, maxBytes);
  let byteLength = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    byteLength += part.length;
    if (byteLength > maxBytes) throw tooLarge(byteLength, maxBytes);
    parts.push(part);
  }
  if (!response.complete) throw new Error('the connection was closed in the middle');
  const body = new Uint8Array(byteLength);
  let at = 0;
  for (const part of parts) {
    body.set(part, at);
    at += part.length;
  }
  return body;
}

function tooLarge(byteLength: number, maxBytes: number): FeedError {
  const message = `an answer of ${byteLength} bytes or more, at most ${maxBytes} are taken`;
  return new FeedError('page_too_large', message);
}

function unreachable(url: URL, cause: Error): FeedError {
  const message = `cannot reach ${url.host}: ${reason(cause)}`;
  return new FeedError('upstream_unreachable', message, { cause });
}

function cut(url: URL, cause: Error): FeedError {
  const message = `${url.host} broke off before its answer was complete: ${reason(cause)}`;
  return new FeedError('upstream_cut', message, { cause });
}

/** Failures on all addresses of a name come as one error without a text. */
function reason(error: Error): string {
  if (error.message !== '') return error.message;
  return (error as NodeJS.ErrnoException).code ?? error.name;
}
