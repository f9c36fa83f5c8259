/**
 * Compares responses written in one piece (src/api/http/response-writing.ts) with those that Node writes: byte for byte
 * the same on a connection that stays open, and never used when Node would do something else.
 */
import { once } from 'node:events';
import { createServer, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type CompleteResponse,
  headerLines,
  MAX_JOINED_BODY_BYTES,
  MAX_WAITING_ANSWERS,
  ResponseWriter,
} from '../../src/api/http/response-writing.ts';
import { withoutLedger } from './error-answers.ts';

const KEEP_ALIVE_MS = 7_999;
const LEDGER = ['x-node-chain-id', '42', 'x-node-ledger-version', '18446744073709551615'];
const BLOCK = { list: LEDGER, lines: headerLines(LEDGER) };

type Body = CompleteResponse['body'];

function whole(body: Body, status = 200, hasUntrustedValues = false): CompleteResponse {
  const headers = ['vary', 'Origin', 'content-type', 'application/json'];
  return { status, block: BLOCK, headers, hasUntrustedValues, body };
}

const writer = new ResponseWriter(KEEP_ALIVE_MS, () => undefined);
let next: CompleteResponse;
let isPublic: boolean;
let server: Server;

beforeAll(async () => {
  server = createServer((_request, response) => {
    // An untrusted value makes the writer use Node's public API, with which the fast path is compared.
    writer.write(response, isPublic ? { ...next, hasUntrustedValues: true } : next);
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
});

/** Everything received on a connection until it has been quiet for a while or is closed. */
async function exchange(text: string): Promise<{ bytes: string; isClosed: boolean }> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const chunks: Buffer[] = [];
  let isClosed = false;
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('end', () => {
    isClosed = true;
  });
  socket.write(text);
  await once(socket, 'data');
  let seen = -1;
  while (seen !== chunks.length && !isClosed) {
    seen = chunks.length;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  socket.destroy();
  return { bytes: Buffer.concat(chunks).toString('latin1'), isClosed };
}

const masked = (bytes: string) => bytes.replace(/Date: [^\r]+/g, 'Date: …');

/** The same response written both ways. */
async function bothWays(response: CompleteResponse, request: string) {
  next = response;
  isPublic = false;
  const joined = await exchange(request);
  isPublic = true;
  const plain = await exchange(request);
  return {
    joined: { ...joined, bytes: masked(joined.bytes) },
    plain: { ...plain, bytes: masked(plain.bytes) },
  };
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

const BODIES: readonly (readonly [string, Body])[] = [
  ['an empty text', ''],
  ['a short text', '"12345"'],
  ['a text outside ASCII', '{"name":"Ünïcödé €😀"}'],
  ['short bytes', Buffer.from([0, 0x7f, 0x80, 0xff, 13, 10])],
  ['bytes with an offset', new Uint8Array(Buffer.from('0123456789').buffer, 3, 4)],
  ...[-1, 0, 1].flatMap((more): (readonly [string, Body])[] => [
    [`a text of the longest joined length ${more}`, 'x'.repeat(MAX_JOINED_BODY_BYTES + more)],
    [`bytes of the longest joined length ${more}`, Buffer.alloc(MAX_JOINED_BODY_BYTES + more, 200)],
    [
      `a text outside ASCII about as long as that, ${more}`,
      'é'.repeat(MAX_JOINED_BODY_BYTES / 2) + 'x'.repeat(Math.max(more, 0)),
    ],
  ]),
  ['a long text', '0123456789'.repeat(100_000)],
  ['long bytes', Buffer.alloc(1_000_000, 7)],
];

describe('byte for byte as Node writes it', () => {
  it.each(BODIES)('%s', async (_, body) => {
    const { joined, plain } = await bothWays(whole(body), GET);
    expect(joined).toEqual(plain);
    expect(joined.isClosed).toBe(false);
    expect(joined.bytes).toContain(`\r\nKeep-Alive: timeout=7\r\n`);
    const sent = Buffer.from(body!).toString('latin1');
    expect(joined.bytes.slice(joined.bytes.indexOf('\r\n\r\n') + 4) === sent).toBe(true);
  });

  it.each([304, 400, 404, 410, 503, 418])('status %i', async (status) => {
    const response = whole(status === 304 ? undefined : '{}', status);
    const { joined, plain } = await bothWays(response, GET);
    expect(joined).toEqual(plain);
    expect(joined.bytes).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  it.each([
    ['HEAD', 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a connection that is to end', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
    ['HTTP/1.0, kept open', 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'],
    ['requests sent together', GET.repeat(5)],
    ['a body that nobody reads', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc'],
  ])('%s', async (_, request) => {
    const { joined, plain } = await bothWays(whole('{"a":1}'), request);
    expect(joined).toEqual(plain);
    expect(joined.bytes).toContain('content-length: 7\r\n');
  });
});

it('the head of the joined way is made without Node, where it may be', async () => {
  const seen: boolean[] = [];
  const watch = createServer((request, response) => {
    const writeHead = response.writeHead.bind(response);
    let called = false;
    response.writeHead = ((...parts: Parameters<typeof writeHead>) => {
      called = true;
      return writeHead(...parts);
    }) as typeof response.writeHead;
    writer.write(response, whole('1', 200, request.url === '/foreign'));
    seen.push(called);
  });
  watch.listen(0, '127.0.0.1');
  await once(watch, 'listening');
  const { port } = watch.address() as AddressInfo;
  for (const path of ['/', '/foreign']) {
    await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  }
  watch.close();
  watch.closeAllConnections();
  expect(seen).toEqual([false, true]);
});

it('an answer of the interface goes out in one piece, one to HEAD does not', async () => {
  const api = withoutLedger();
  const writeHead = vi.spyOn(ServerResponse.prototype, 'writeHead');
  onTestFinished(() => writeHead.mockRestore());
  for (const [method, calls] of [
    ['GET', 0],
    ['HEAD', 1],
  ] as const) {
    expect((await api.request({ method, url: '/v1/nowhere' })).statusCode).toBe(404);
    expect(writeHead).toHaveBeenCalledTimes(calls);
  }
  await api.close();
});

it('leaves a connection to Node that somebody has said is to end', async () => {
  const closing = createServer((_request, response) => {
    response.setHeader('Connection', 'close');
    writer.write(response, whole('1'));
  });
  closing.listen(0, '127.0.0.1');
  await once(closing, 'listening');
  const { port } = closing.address() as AddressInfo;
  const reply = await fetch(`http://127.0.0.1:${port}/`);
  expect(reply.headers.get('connection')).toBe('close');
  expect(reply.headers.get('x-node-chain-id')).toBe('42');
  closing.close();
});

it('refuses values that Node refuses: those that may come from a client are checked', async () => {
  const failures: unknown[] = [];
  const strict = createServer((_request, response) => {
    try {
      const headers = ['access-control-allow-origin', 'a\r\nb: c'];
      writer.write(response, { ...whole('1', 200, true), headers });
    } catch (error) {
      failures.push((error as { code?: unknown }).code);
      response.destroy();
    }
  });
  strict.listen(0, '127.0.0.1');
  await once(strict, 'listening');
  const { port } = strict.address() as AddressInfo;
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  strict.close();
  strict.closeAllConnections();
  expect(failures).toEqual(['ERR_INVALID_CHAR']);
});

it.each([-1, 0, 1])(
  'answers of a turn go out at its end, or when there are so many %i',
  async (more) => {
    const count = MAX_WAITING_ANSWERS + more;
    const responses: ServerResponse[] = [];
    const written: ServerResponse[] = [];
    const ended: number[] = [];
    const endedNow = () => responses.filter(({ writableEnded }) => writableEnded).length;
    const waiting = new ResponseWriter(KEEP_ALIVE_MS, (response) => written.push(response));
    const turn = createServer((_request, response) => {
      responses.push(response);
      waiting.write(response, whole(String(responses.length)));
      ended.push(endedNow());
      if (responses.length === count) setImmediate(() => ended.push(endedNow()));
    });
    turn.listen(0, '127.0.0.1');
    await once(turn, 'listening');
    onTestFinished(() => {
      turn.close();
      turn.closeAllConnections();
    });
    const socket = connect((turn.address() as AddressInfo).port, '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
    });
    socket.write(GET.repeat(count));
    await vi.waitFor(() => expect(received.split('HTTP/1.1 200').length - 1).toBe(count));
    socket.destroy();
    const before = Array(Math.min(count, MAX_WAITING_ANSWERS - 1)).fill(0);
    const full = more < 0 ? [] : Array(more + 1).fill(MAX_WAITING_ANSWERS);
    expect(ended).toEqual([...before, ...full, count]);
    expect(written).toEqual(responses);
  },
);

it('a body too long to be joined goes out at once', async () => {
  const ended: boolean[] = [];
  const large = createServer((_request, response) => {
    writer.write(response, whole('x'.repeat(MAX_JOINED_BODY_BYTES + 1)));
    ended.push(response.writableEnded);
  });
  large.listen(0, '127.0.0.1');
  await once(large, 'listening');
  const { port } = large.address() as AddressInfo;
  await (await fetch(`http://127.0.0.1:${port}/`)).text();
  large.close();
  large.closeAllConnections();
  expect(ended).toEqual([true]);
});
