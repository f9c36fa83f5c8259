/** An HTTP client for one node or file server: its connections, and answers bounded in size and time. */
import { setMaxListeners } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Answer } from './answer.ts';
import { RemoteError } from './remote-error.ts';

export interface Timeouts {
  /** Longest silence, before the first byte or between two, in milliseconds. */
  readonly silenceTimeoutMs: number;
  /** Longest time for the whole answer, in milliseconds. */
  readonly totalTimeoutMs: number;
}

export interface Bounds extends Timeouts {
  /** Maximum bytes of the answer's body. */
  readonly maxBytes: number;
}

export interface RemoteRequest {
  readonly url: URL;
  /** `accept-encoding: identity` is added. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** Absent: POST with a body, else GET. */
  readonly method?: 'GET' | 'POST';
  readonly signal?: AbortSignal | undefined;
}

export class RemoteServer {
  readonly base: URL;
  readonly #agent: http.Agent;
  readonly #stop = new AbortController();

  constructor(base: URL, maxConnections = Number.POSITIVE_INFINITY) {
    this.base = base;
    // Each request in flight adds a listener.
    setMaxListeners(0, this.closing);
    const { Agent } = base.protocol === 'https:' ? https : http;
    this.#agent = new Agent({ keepAlive: true, maxSockets: maxConnections });
  }

  /** Aborted by `close`. */
  get closing(): AbortSignal {
    return this.#stop.signal;
  }

  /** The URL of a path below the base. @param path encoded */
  url(path: string, query: Readonly<Record<string, string>> = {}): URL {
    const url = new URL(this.base.href + path);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }

  /**
   * Sends a request and receives the whole answer.
   * @throws RemoteError `upstream_unreachable`, `upstream_timeout`, `upstream_cut`, `page_too_large`, `closed`; the
   *   signal's reason when it is aborted
   */
  async send(request: RemoteRequest, bounds: Bounds): Promise<Answer> {
    const signals = [this.closing, ...(request.signal ? [request.signal] : [])];
    for (const signal of signals) signal.throwIfAborted();
    const exchange = new Exchange(request, bounds, this.#agent);
    const onAbort = (): void => {
      for (const { aborted, reason } of signals) if (aborted) exchange.end(reason as Error);
    };
    for (const signal of signals) signal.addEventListener('abort', onAbort);
    try {
      return await exchange.answer;
    } finally {
      for (const signal of signals) signal.removeEventListener('abort', onAbort);
    }
  }

  /** Aborts the requests in flight. */
  close(): void {
    this.#stop.abort(new RemoteError('closed', 'this node is stopping'));
    this.#agent.destroy();
  }
}

/** One request and its answer. */
class Exchange {
  readonly answer: Promise<Answer>;
  readonly #request: RemoteRequest;
  readonly #bounds: Bounds;
  readonly #totalTimer: NodeJS.Timeout;
  readonly #parts: Buffer[] = [];
  #resolve!: (answer: Answer) => void;
  #reject!: (error: Error) => void;
  #sent: http.ClientRequest;
  #response: IncomingMessage | undefined;
  #isSettled = false;

  constructor(request: RemoteRequest, bounds: Bounds, agent: http.Agent) {
    this.#request = request;
    this.#bounds = bounds;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#sent = this.#send(agent);
    const { totalTimeoutMs } = bounds;
    this.#totalTimer = setTimeout(
      () => this.#onTimeout(`has not answered in full after ${totalTimeoutMs} ms`),
      totalTimeoutMs,
    );
  }

  end(error: Error): void {
    this.#isSettled = true;
    clearTimeout(this.#totalTimer);
    this.#reject(error);
    this.#sent.destroy();
  }

  /** @param agent false: use a new connection */
  #send(agent: http.Agent | false): http.ClientRequest {
    const { url, headers, body, method = body === undefined ? 'GET' : 'POST' } = this.#request;
    const { silenceTimeoutMs } = this.#bounds;
    const isSecure = url.protocol === 'https:';
    const sent = (isSecure ? https : http).request(url, {
      ...{ method, agent, headers: { 'accept-encoding': 'identity', ...headers } },
    });
    sent.setTimeout(silenceTimeoutMs, () =>
      this.#onTimeout(`has sent nothing for ${silenceTimeoutMs} ms`),
    );
    let isConnected = false;
    sent.on('socket', (socket) => {
      isConnected = !socket.connecting;
      if (isConnected) return;
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        isConnected = true;
      });
    });
    sent.on('error', (cause: NodeJS.ErrnoException) => {
      const isAnswered = this.#response !== undefined;
      // The server closed an idle connection while the request was on its way, so it has not read the request.
      const isStale = !isAnswered && sent.reusedSocket && cause.code === 'ECONNRESET';
      if (isStale && agent !== false && !this.#isSettled) this.#sent = this.#send(false);
      else if (isConnected) this.#onCutOff(cause);
      else this.#onUnreachable(cause);
    });
    // The request did not ask for another protocol, and the connection is no longer usable.
    sent.on('upgrade', () => this.#onCutOff(new Error('it changed the protocol')));
    sent.on('response', (response) => {
      this.#response = response;
      this.#receive(response).catch((error: Error) =>
        error instanceof RemoteError ? this.end(error) : this.#onCutOff(error),
      );
    });
    sent.end(body);
    return sent;
  }

  /** Receives the body. A declared length is used only to refuse a body that is too large at once. */
  async #receive(response: IncomingMessage): Promise<void> {
    const { maxBytes } = this.#bounds;
    const declared = Number(response.headers['content-length'] ?? 0);
    if (declared > maxBytes) throw tooLarge(declared, maxBytes);
    let byteLength = 0;
    for await (const part of response as AsyncIterable<Buffer>) {
      byteLength += part.length;
      if (byteLength > maxBytes) throw tooLarge(byteLength, maxBytes);
      this.#parts.push(part);
    }
    if (!response.complete) throw new Error('the connection was closed in the middle');
    clearTimeout(this.#totalTimer);
    this.#resolve(this.#received()!);
  }

  /** The answer as received so far; `undefined` before its headers. */
  #received(): Answer | undefined {
    const response = this.#response;
    if (response === undefined) return undefined;
    return {
      status: response.statusCode!,
      headers: response.headers,
      body: joined(this.#parts),
    };
  }

  #onTimeout(what: string): void {
    const message = `${this.#request.url.host} ${what}`;
    if (this.#isSettled) return;
    this.end(new RemoteError('upstream_timeout', message, { received: this.#received() }));
  }

  #onUnreachable(cause: Error): void {
    const message = `cannot reach ${this.#request.url.host}: ${reasonOf(cause)}`;
    this.end(new RemoteError('upstream_unreachable', message, { cause }));
  }

  #onCutOff(cause: Error): void {
    if (this.#isSettled) return;
    const { host } = this.#request.url;
    const message = `${host} broke off before its answer was complete: ${reasonOf(cause)}`;
    this.end(new RemoteError('upstream_cut', message, { cause, received: this.#received() }));
  }
}

/** Joins parts in a buffer with its own memory: small buffers share memory otherwise. */
function joined(parts: readonly Buffer[]): Buffer<ArrayBuffer> {
  const whole = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) at += part.copy(whole, at);
  return whole;
}

export function tooLarge(byteLength: number, maxBytes: number): RemoteError {
  const message = `an answer of ${byteLength} bytes or more, at most ${maxBytes} are taken`;
  return new RemoteError('page_too_large', message);
}

/** If all addresses of a name fail, Node reports one error without a message. */
function reasonOf(error: Error): string {
  if (error.message !== '') return error.message;
  return (error as NodeJS.ErrnoException).code ?? error.name;
}
