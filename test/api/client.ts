/**
 * A client of an API under test: it sends real requests over a real connection, which it keeps open, so that tests
 * exercise the same code as production.
 */
import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { Api } from '../../src/api/http/server.ts';

/** A request; GET without a method. */
export interface TestRequest {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream is sent in chunks. */
  readonly body?: string | Uint8Array | Readable | undefined;
}

/** A response. */
export interface TestReply {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** The bytes as UTF-8. */
  readonly body: string;
  /** The body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  json<T = any>(): T;
}

/** An API that listens on a free port as soon as something is sent. */
export class TestApi {
  readonly api: Api;
  readonly #agent = new Agent({ keepAlive: true });
  #port: Promise<number> | undefined;

  constructor(api: Api) {
    this.api = api;
  }

  get server(): Api['server'] {
    return this.api.server;
  }

  /** The port on loopback. */
  port(): Promise<number> {
    this.#port ??= this.#listen();
    return this.#port;
  }

  async #listen(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  /** Sends a request, or a GET for a URL, and resolves with the complete response. */
  async request(asked: TestRequest | string): Promise<TestReply> {
    const {
      method = 'GET',
      url,
      headers = {},
      body,
    } = typeof asked === 'string' ? { url: asked } : asked;
    const port = await this.port();
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, agent: this.#agent, method, path: url, headers };
      const sent = send(options, (reply) => {
        const chunks: Buffer[] = [];
        reply.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
        reply.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const text = bytes.toString('utf8');
          const { statusCode = 0 } = reply;
          resolve({
            statusCode,
            headers: reply.headers,
            bytes,
            body: text,
            json: () => JSON.parse(text),
          });
        });
      });
      sent.on('error', reject);
      if (body instanceof Readable) {
        body.pipe(sent);
        return;
      }
      if (body !== undefined) sent.setHeader('content-length', Buffer.byteLength(body));
      sent.end(body);
    });
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    await this.api.close();
  }
}
