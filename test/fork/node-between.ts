/** A node between a fork and its upstream, which passes requests on unless a test responds itself. */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
  request as send,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** Responds to a request instead of the upstream. */
export type Interference = (response: ServerResponse, request: IncomingMessage) => void;

export class NodeBetween {
  /** Returns the response to use instead of the upstream's, for some requests. */
  interfere: ((request: IncomingMessage) => Interference | undefined) | undefined;
  /** Received requests: method, URL and body. */
  readonly got: string[] = [];
  readonly #server: Server;
  #upstreamUrl: string;

  private constructor(upstreamUrl: string) {
    this.#upstreamUrl = upstreamUrl;
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      this.got.push(`${request.method} ${request.url} ${body}`);
      const instead = this.interfere?.(request);
      if (instead === undefined) this.#passOn(request, body, response);
      else instead(response, request);
    });
  }

  /** Starts a node that is stopped when the test has finished. */
  static async before(upstreamUrl: string): Promise<NodeBetween> {
    const node = new NodeBetween(upstreamUrl);
    node.#server.listen(0, '127.0.0.1');
    await once(node.#server, 'listening');
    onTestFinished(() => {
      node.#server.close();
      node.#server.closeAllConnections();
    });
    return node;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Sends further requests to another node. */
  leadTo(upstreamUrl: string): void {
    this.#upstreamUrl = upstreamUrl;
  }

  #passOn({ method, url, headers }: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const { host, port } = new URL(this.#upstreamUrl);
    const options = { port, host: '127.0.0.1', method, path: url, headers: { ...headers, host } };
    const sent = send(options, (reply) => {
      response.writeHead(reply.statusCode!, reply.headers);
      reply.pipe(response);
    });
    sent.on('error', () => response.destroy());
    sent.end(body);
  }
}

export function answer(
  status: number,
  headers: OutgoingHttpHeaders,
  body: string | Buffer = '',
): Interference {
  return (response) => response.writeHead(status, headers).end(body);
}
