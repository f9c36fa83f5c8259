/**
 * A feeding node for tests: a real HTTP server over a real store, which serves `GET /v1` and `GET /v1/transactions` in
 * BCS as in docs/spec/ledger.md §3.1, and misbehaves on request.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { LEDGER_IDENTITY } from '../../src/store/columns/identity-column.ts';
import { openView } from '../../src/store/read/view.ts';
import type { StoreReader } from '../../src/store/store.ts';

/** A fault in a response; `undefined` for none. */
export type Misbehaviour = (
  request: IncomingMessage,
  response: ServerResponse,
  page: Buffer,
) => boolean | Promise<boolean>;

/** Settings that a test may change while the upstream runs. */
export interface UpstreamSettings {
  /** The upstream's own limit. */
  maxPage: number;
  /** The reported end of the ledger; absent: its head. */
  newest: bigint | undefined;
  oldest: bigint;
  chainId: number | undefined;
  headerPrefix: string;
  /** Responds instead of a page; true if it did. */
  misbehave: Misbehaviour | undefined;
}

/** A running upstream. */
export class TestUpstream {
  readonly settings: UpstreamSettings = {
    maxPage: 100,
    newest: undefined,
    oldest: 0n,
    chainId: undefined,
    headerPrefix: 'x-node',
    misbehave: undefined,
  };
  /** Requested pages. */
  readonly pages: { readonly start: bigint; readonly limit: number }[] = [];
  readonly #store: StoreReader;
  #server: Server | undefined;
  #port = 0;

  constructor(store: StoreReader) {
    this.#store = store;
  }

  static async start(store: StoreReader): Promise<TestUpstream> {
    const upstream = new TestUpstream(store);
    await upstream.listen();
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens, on its previous port if it had one. */
  async listen(): Promise<void> {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Stops at once, with all connections. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, this.url);
    const view = await openView(this.#store);
    const newest = this.settings.newest ?? view.head.version;
    const identity = await LEDGER_IDENTITY.get(this.#store);
    const { headerPrefix, oldest, chainId } = this.settings;
    response.setHeader(`${headerPrefix}-chain-id`, String(chainId ?? identity!.chainId));
    response.setHeader(`${headerPrefix}-ledger-version`, String(newest));
    response.setHeader(`${headerPrefix}-ledger-oldest-version`, String(oldest));
    if (url.pathname === '/v1') {
      if (await this.settings.misbehave?.(request, response, Buffer.alloc(0))) return;
      response.setHeader('content-type', 'application/json; charset=utf-8');
      response.end(JSON.stringify({ ledger_version: String(newest) }));
      return;
    }
    if (url.pathname !== '/v1/transactions') {
      fail(response, 404, 'not found');
      return;
    }
    const start = BigInt(url.searchParams.get('start')!);
    const limit = Number(url.searchParams.get('limit'));
    this.pages.push({ start, limit });
    if (start > newest) {
      fail(response, 400, `Given start value (${start}) is higher than the current ledger version`);
      return;
    }
    if (start < oldest) {
      fail(response, 410, `version ${start} has been pruned`);
      return;
    }
    const count = Math.min(limit, this.settings.maxPage, Number(newest - start + 1n));
    const items = await view.transactions(start, count);
    const page = encodeBcs((writer) => writer.vector(items, (to, item) => to.fixed(item)));
    if (await this.settings.misbehave?.(request, response, page)) return;
    response.setHeader('content-type', 'application/x-bcs');
    response.end(page);
  }
}

function fail(response: ServerResponse, status: number, message: string): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ message, error_code: 'invalid_input', vm_error_code: null }));
}
