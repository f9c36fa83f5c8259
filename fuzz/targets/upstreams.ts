/**
 * Responses of a malicious node, byte for byte: to followers and repairs, which request pages and the state, and to
 * requests that are passed on. They are wrong, truncated, in pieces, endless, or missing.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { ApiError } from '../../src/api/error-table.ts';
import { FeedClient } from '../../src/ingest/feed/feed-client.ts';
import { PageError } from '../../src/ingest/feed/page-error.ts';
import { checkItem, itemsOf } from '../../src/ingest/feed/page-verifier.ts';
import { MoveError } from '../../src/move/errors.ts';
import { HttpUpstream } from '../../src/node/serve/upstream.ts';
import { RemoteError } from '../../src/remote/remote-error.ts';
import { pageOf, randomChain } from '../../test/ingest/feed-chain.ts';
import type { Random } from '../../test/random.ts';
import { Finding, mutate, type OpenTarget, type Target } from '../target.ts';

const CHAIN = randomChain(7, 4, 5n);
const MAX_BYTES = 256 * 1024;
const TIMEOUTS = { silenceTimeoutMs: 100, totalTimeoutMs: 300 };
const LIMITS = {
  ...{ maxForwards: 64, maxLookups: 64, maxAnswerBytes: MAX_BYTES },
  ...{ forwardTimeoutMs: 300, lookupTimeoutMs: 300 },
};
/** Far beyond all timeouts, in milliseconds. */
const HANG_MS = 20_000;
const NEVER = new AbortController().signal;

/**
 * The requesting part, selected by the first byte of an input. The second byte selects how the response is sent, mostly
 * at once.
 */
const ASKS = ['page', 'state', 'pass'] as const;
const IN_PIECES = 1;
const CUT = 2;
const ENDLESS = 3;
const SILENT = 4;
const HOWS = [...Array<number>(40).fill(0), IN_PIECES, IN_PIECES, CUT, CUT, ENDLESS, SILENT];

const LEDGER_HEADERS =
  'X-Node-Chain-Id: 4\r\nX-Node-Ledger-Version: 12\r\nX-Node-Ledger-Oldest-Version: 0';

export const upstreamsTarget: Target = {
  name: 'upstreams',
  about: 'answers of nodes that are followed, repaired from, or asked on behalf of clients',
  isGuided: true,
  open: async () => {
    const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new UpstreamsTarget(server);
  },
};

class UpstreamsTarget implements OpenTarget {
  readonly #server: Server;
  readonly #base: URL;
  readonly #sockets = new Set<Socket>();
  readonly #counts: Record<string, number> = {};
  #input: Buffer = Buffer.alloc(2);

  constructor(server: Server) {
    this.#server = server;
    this.#base = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
      socket.once(
        'data',
        () => void this.#answer(socket, this.#input[1]!, this.#input.subarray(2)),
      );
    });
  }

  make(random: Random): Buffer {
    const ask = random.below(ASKS.length);
    const how = random.pick(HOWS);
    const whole = BODIES[ask]!;
    // Either a valid head around a mutated body, or mutations anywhere.
    const body = random.below(3) === 0 ? mutate(whole, whole, random) : whole;
    const type = ask === 0 ? 'application/x-bcs' : 'application/json';
    const length = random.below(16) === 0 ? random.below(1 << 20) : body.length;
    const head =
      `HTTP/1.1 ${random.pick(STATUSES)}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n` +
      `${LEDGER_HEADERS}${random.pick(EXTRA)}\r\nConnection: close\r\n\r\n`;
    const answer = Buffer.concat([Buffer.from(head), body]);
    const bytes = random.below(3) === 0 ? mutate(answer, whole, random) : answer;
    return Buffer.concat([Buffer.of(ask, how), bytes]);
  }

  async run(input: Buffer): Promise<void> {
    this.#input = input.length < 2 ? Buffer.alloc(2) : input;
    const ask = ASKS[this.#input[0]! % ASKS.length]!;
    const timeout = new AbortController();
    const late = sleep(HANG_MS, 'late', { signal: timeout.signal, ref: false }).catch(() => 'late');
    const outcome = await Promise.race([this.#ask(ask), late]);
    timeout.abort();
    for (const socket of this.#sockets) socket.destroy();
    if (outcome === 'late') throw new Finding(`${ask}: an answer that is waited for without end`);
    const name = `${ask}_${outcome}`;
    this.#counts[name] = (this.#counts[name] ?? 0) + 1;
  }

  async #ask(ask: (typeof ASKS)[number]): Promise<string> {
    const feed = new FeedClient(this.#base, 1, TIMEOUTS);
    const upstream = new HttpUpstream(this.#base, SILENT_LOGGER, LIMITS);
    try {
      if (ask === 'state') await feed.state(NEVER);
      else if (ask === 'pass') await upstream.forward(PASSED, 4, NEVER);
      else {
        const { bytes } = await feed.page(CHAIN.firstVersion, 100, MAX_BYTES, NEVER);
        if (bytes.length > MAX_BYTES) throw new Finding('more bytes than were allowed');
        let version = CHAIN.firstVersion;
        for (const item of itemsOf(bytes, version)) checkItem(item, version++);
      }
      return 'taken';
    } catch (error) {
      const isOfPage = error instanceof PageError || error instanceof MoveError;
      if (error instanceof RemoteError) return error.code;
      if (error instanceof ApiError) return error.code;
      if (isOfPage) return 'bad_page';
      throw error;
    } finally {
      feed.close();
      upstream.close();
    }
  }

  async #answer(socket: Socket, how: number, bytes: Buffer): Promise<void> {
    switch (how) {
      case IN_PIECES: {
        const step = Math.max(1, Math.ceil(bytes.length / 5));
        for (let at = 0; at < bytes.length && socket.writable; at += step) {
          socket.write(bytes.subarray(at, at + step));
          await sleep(2);
        }
        socket.end();
        return;
      }
      case CUT:
        socket.write(bytes.subarray(0, bytes.length >> 1), () => socket.destroy());
        return;
      case ENDLESS:
        while (socket.writable && !socket.destroyed) {
          if (!socket.write(Buffer.concat([bytes, Buffer.alloc(64 * 1024, 0x61)]))) {
            await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(
              () => undefined,
            );
          }
        }
        return;
      case SILENT:
        return;
      default:
        socket.end(bytes);
    }
  }

  facts(): Readonly<Record<string, number>> {
    return this.#counts;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

const BODIES = [
  Buffer.from(pageOf(CHAIN.items)),
  Buffer.from('{"chain_id":4,"ledger_version":"12"}'),
  Buffer.from('[{"type":"pending_transaction","hash":"0x00"}]'),
];
const STATUSES = [
  ...Array<string>(9).fill('200 OK'),
  '202 A',
  '503 B',
  '429 T',
  '410 G',
  '302 F',
  '404 N',
];
const EXTRA = [
  ...Array<string>(12).fill(''),
  '\r\nRetry-After: 1',
  '\r\nRetry-After: Wed, 21 Oct 2099 07:28:00 GMT',
  '\r\nTransfer-Encoding: chunked',
  '\r\nContent-Encoding: gzip',
  '\r\nContent-Encoding: br',
  '\r\nLocation: /v1',
  '\r\nX-Node-Chain-Id: 5',
];
const PASSED = {
  ...{ operationId: 'submit_transaction', path: '/transactions', query: '' },
  ...{ headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') },
};
const SILENT_LOGGER = pino({ level: 'silent' });
