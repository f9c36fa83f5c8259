/** A node whose responses are set by a test, down to the bytes on the connection. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that the node has received, with its body. */
export interface GotRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Script = (response: ServerResponse, request: GotRequest) => void;

export class ScriptedNode {
  /** Received requests, except for its ledger info. */
  readonly got: GotRequest[] = [];
  /** Number of requests for its ledger info. */
  infos = 0;
  /** Responds to everything but its ledger info. */
  script: Script;
  chainId: string | undefined;
  readonly #server: Server;

  private constructor(chainId: number, script: Script) {
    this.chainId = String(chainId);
    this.script = script;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(chainId: number, script: Script): Promise<ScriptedNode> {
    const node = new ScriptedNode(chainId, script);
    node.#server.listen(0, '127.0.0.1');
    await once(node.#server, 'listening');
    return node;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`);
  }

  /** The headers with the state of its ledger. */
  get ledgerHeaders(): Record<string, string> {
    return this.chainId === undefined ? {} : { 'x-aptos-chain-id': this.chainId };
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/v1') {
      this.infos += 1;
      response.writeHead(200, this.ledgerHeaders).end('{}');
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = request;
    const got = { method, url, headers, body: Buffer.concat(chunks).toString() };
    this.got.push(got);
    this.script(response, got);
  }
}

/** Sends a complete response as written here. */
export const raw =
  (text: string): Script =>
  (response) =>
    response.socket!.end(text.replaceAll('\n', '\r\n'));
