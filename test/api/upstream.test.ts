/** Requests that are passed on to another node, and that node's possible failures (docs/upstream.md). */
import { connect } from 'node:net';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ApiSettings } from '../../src/api/settings.ts';
import { HttpUpstream, MAX_HOPS, UPSTREAM_LIMITS } from '../../src/node/serve/upstream.ts';
import { upstreamBase } from '../../src/node/settings/upstream-url.ts';
import type { TestApi, TestReply } from './client.ts';
import { expectError } from './error-answers.ts';
import { raw, type Script, ScriptedNode } from './scripted-node.ts';
import { CHAIN_ID, NEWEST, openSmallLedger } from './small-ledger.ts';

const OPERATIONS = ['/v1/transactions', '/v1/transactions/batch', '/v1/transactions/simulate'];
const JSON_TYPE = 'application/json; charset=utf-8';

/** Longer than any test should take. */
const ON_A_BUSY_MACHINE = { timeout: 30_000 };

const inJson =
  (status: number, body: string, headers: Record<string, string> = {}): Script =>
  (response) =>
    response.writeHead(status, { 'content-type': JSON_TYPE, ...headers }).end(body);

interface Passing {
  readonly app: TestApi;
  readonly node: ScriptedNode;
  readonly upstream: HttpUpstream;
  /** Lines of the node's log. */
  readonly lines: Record<string, unknown>[];
}

/** A node with an upstream that responds as scripted. */
async function passing(
  script: Script,
  limits: Partial<typeof UPSTREAM_LIMITS> = {},
  settings: Partial<ApiSettings> = {},
): Promise<Passing> {
  const node = await ScriptedNode.start(CHAIN_ID, script);
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    { level: 'debug' },
    { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const upstream = new HttpUpstream(node.url, logger, {
    ...UPSTREAM_LIMITS,
    // A busy machine must not count as a slow upstream.
    lookupTimeoutMs: 60_000,
    ...limits,
  });
  const { app, close } = await openSmallLedger(settings, upstream);
  onTestFinished(async () => {
    upstream.close();
    await node.stop();
    await close();
  });
  return { app, node, upstream, lines };
}

const post = (app: TestApi, url: string, body: string | Uint8Array = '{}', headers = {}) =>
  app.request({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });

/** The headers that every response of this node has. */
function expectOwnHeaders({ headers }: TestReply): void {
  expect(headers).toMatchObject({
    'x-node-chain-id': String(CHAIN_ID),
    'x-node-ledger-version': String(NEWEST),
  });
}

describe('a request with an upstream', () => {
  it.each(OPERATIONS)('%s is passed on, and its answer comes back as it is', async (path) => {
    const answer = '{"hash" : "0x1"}';
    const { app, node } = await passing(
      inJson(202, answer, {
        'x-aptos-chain-id': String(CHAIN_ID),
        'x-aptos-ledger-version': '99',
        'x-aptos-gas-used': '7',
        'set-cookie': 'a=b',
        server: 'other',
      }),
    );
    const body = ' {"not": "looked at",}';
    const query = '?estimate_max_gas_amount=perhaps&x=%2F';
    const reply = await post(app, path + query, body, {
      accept: 'application/x-bcs',
      authorization: 'Bearer secret',
      cookie: 'c=d',
    });
    expect([reply.statusCode, reply.body]).toEqual([202, answer]);
    expect(reply.headers).toMatchObject({
      'content-type': JSON_TYPE,
      'x-node-gas-used': '7',
      'x-node-upstream': node.url.origin,
    });
    expectOwnHeaders(reply);
    for (const name of ['set-cookie', 'server', 'x-aptos-gas-used', 'etag']) {
      expect(reply.headers[name]).toBeUndefined();
    }
    expect(node.got).toHaveLength(1);
    const [got] = node.got;
    expect(got).toMatchObject({ method: 'POST', url: path + query, body });
    const { host: _, connection: __, ...sent } = got!.headers;
    expect(sent).toEqual({
      accept: 'application/x-bcs',
      'accept-encoding': 'identity',
      'content-length': String(body.length),
      'content-type': 'application/json',
      via: '1.1 daybook',
    });
  });

  it.each([
    [200, 'application/x-bcs', '\0\x01\x7f'],
    [206, 'application/json', '{}'],
    [400, JSON_TYPE, '{"message":"no","error_code":"vm_error","vm_error_code":3}'],
    [503, 'APPLICATION/JSON', '{}'],
    [202, undefined, ''],
  ])('answer %i of %s is passed back', async (status, contentType, body) => {
    const headers = contentType === undefined ? {} : { 'content-type': contentType };
    const { app } = await passing((response) =>
      response.writeHead(status, { ...headers, 'retry-after': '3' }).end(body),
    );
    const reply = await post(app, OPERATIONS[0]!);
    expect([reply.statusCode, reply.headers['content-type'], reply.body]).toEqual([
      status,
      contentType,
      body,
    ]);
    expect(reply.headers['retry-after']).toBe('3');
    expectOwnHeaders(reply);
  });

  it('has its own header prefix, which browsers may read', async () => {
    const settings = { headerPrefix: 'X-Aptos' };
    const { app, node } = await passing(
      inJson(200, '[]', { 'x-node-gas-used': '5' }),
      {},
      settings,
    );
    const reply = await post(app, OPERATIONS[2]!, '{}', { origin: 'https://a.example' });
    expect(reply.headers).toMatchObject({
      'x-aptos-gas-used': '5',
      'x-aptos-upstream': node.url.origin,
      'access-control-allow-origin': 'https://a.example',
    });
    const exposed = String(reply.headers['access-control-expose-headers']).split(', ');
    expect(exposed).toEqual(expect.arrayContaining(['x-aptos-gas-used', 'x-aptos-upstream']));
  });

  it('is counted and logged', async () => {
    const { app, node, upstream, lines } = await passing(inJson(202, '{}'));
    await post(app, OPERATIONS[0]!, '{"a":1}');
    await post(app, OPERATIONS[2]!);
    node.script = raw('nonsense');
    await post(app, OPERATIONS[2]!);
    expect(upstream.counts).toEqual([
      { operation: 'submit_transaction', outcome: 'answered', value: 1 },
      { operation: 'simulate_transaction', outcome: 'answered', value: 1 },
      { operation: 'simulate_transaction', outcome: 'bad_answer', value: 1 },
    ]);
    expect(lines.map(({ level, operation }) => [level, operation])).toEqual([
      [30, 'submit_transaction'],
      [20, 'simulate_transaction'],
      [40, 'simulate_transaction'],
    ]);
    expect(lines[0]).toMatchObject({
      outcome: 'answered',
      status: 202,
      request_bytes: 7,
      answer_bytes: 2,
      upstream: node.url.origin,
    });
  });

  it('logs one failure a second, and how many others there were', async () => {
    const { app, lines } = await passing(raw('nonsense'));
    for (let count = 0; count < 5; count += 1) await post(app, OPERATIONS[2]!);
    expect(lines.length).toBe(1);
    expect(lines[0]).toMatchObject({ unlogged_failures: 0 });
  });
});

describe('the setting', () => {
  it.each([
    ['', '', undefined],
    ['', 'http://a.example', 'http://a.example/v1'],
    ['https://b.example/v1/', 'http://a.example', 'https://b.example/v1'],
    ['none', 'http://a.example', undefined],
    ['none', '', undefined],
  ])('%j with --follow %j is %s', (upstream, follow, base) => {
    expect(upstreamBase({ upstream, follow })?.href).toBe(base);
  });

  it.each([
    ['b.example', '', 'upstream: "b.example" is not the URL of a node: it must begin with http'],
    ['http://me:secret@b.example', '', 'upstream: "http://…@b.example" is not the URL of a node'],
    ['https://b.example?key=secret', '', 'upstream: "https://b.example?…" is not'],
    ['', 'http://me:secret@b.example', 'follow: "http://…@b.example" is not the URL of a node'],
  ])('%j, --follow %j is refused without its secrets', (upstream, follow, message) => {
    const read = () => upstreamBase({ upstream, follow });
    expect(read).toThrow(message);
    expect(read).toThrow(expect.objectContaining({ code: 'bad_setting', exitCode: 2 }));
  });
});

describe('a body', () => {
  const limit = 64 * 1024 * 1024;

  it('of 64 MiB is refused before it is received, declared or in chunks', async () => {
    const { app, node } = await passing(inJson(202, '{}'));
    const port = await app.port();
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write(`POST /v1/transactions HTTP/1.1\r\nContent-Length: ${limit}\r\n\r\n`);
    const [head] = await new Promise<string[]>((resolve) => {
      socket.once('data', (bytes: Buffer) => resolve(bytes.toString().split('\r\n')));
    });
    expect(head).toBe('HTTP/1.1 413 Payload Too Large');
    expect(node.got).toEqual([]);
  });

  it.each([
    [-1, 202],
    [0, 202],
    [1, 413],
  ])('of the limit and %i bytes is answered with %i', async (more, status) => {
    const contentLengthLimitBytes = 1_000;
    const { app, node } = await passing(inJson(202, '{}'), {}, { contentLengthLimitBytes });
    const body = 'x'.repeat(contentLengthLimitBytes + more);
    const reply = await post(app, OPERATIONS[0]!, body);
    expect(reply.statusCode).toBe(status);
    expect(node.got.length).toBe(status === 202 ? 1 : 0);
    expectOwnHeaders(reply);
  });
});

const ADVICE =
  '. It may have taken the transaction: ask for it by its hash before it is sent again';
const NO_ANSWER = "The upstream node gave no answer of a node's interface: ";
const OK = 'HTTP/1.1 200 OK\nContent-Type: application/json\n';

describe('an upstream', () => {
  it.each<readonly [string, Script, string]>([
    [
      'that answers HTML',
      (r) => r.writeHead(502, { 'content-type': 'text/html' }).end('<p>'),
      'status 502 with text/html',
    ],
    ['that answers no type', (r) => r.writeHead(200).end('x'), 'status 200 with no content type'],
    ['that redirects', (r) => r.writeHead(307, { location: '/x' }).end(), 'status 307'],
    ['that says nothing changed', (r) => r.writeHead(304).end(), 'status 304'],
    ['that says nothing', (r) => r.writeHead(204).end(), 'status 204'],
    ['that says nothing in bytes', raw('HTTP/1.1 205 -\nContent-Length: 1\n\nx'), 'status 205'],
    ['whose status is none', raw('HTTP/1.1 600 -\nContent-Length: 0\n\n'), 'status 600'],
    [
      'that changes the protocol',
      raw('HTTP/1.1 101 -\nConnection: upgrade\nUpgrade: other\n\n'),
      'it broke off',
    ],
    [
      'that compresses unasked',
      inJson(200, 'x', { 'content-encoding': 'gzip' }),
      'the coding gzip, which was not asked for',
    ],
    ['that does not speak HTTP', raw('nonsense'), 'it broke off'],
    ['that closes at once', (r) => r.socket!.destroy(), 'it broke off'],
    ['that closes in the middle', raw(`${OK}Transfer-Encoding: chunked\n\n5\nhel`), 'it broke off'],
    ['that sends less than it says', raw(`${OK}Content-Length: 10\n\n{}`), 'it broke off'],
    ['that sends more than it says', raw(`${OK}Content-Length: 2\n\n{} and more`), 'it broke off'],
    ['whose length is no number', raw(`${OK}Content-Length: many\n\n{}`), 'it broke off'],
  ])('%s', async (_, script, problem) => {
    const { app } = await passing(script);
    for (const path of OPERATIONS) {
      const reply = await post(app, path);
      const text = (JSON.parse(reply.body) as { message: string }).message;
      expect([reply.statusCode, reply.headers['retry-after']]).toEqual([503, '1']);
      expect(text).toContain(problem);
      expectOwnHeaders(reply);
    }
    const reply = await post(app, OPERATIONS[0]!);
    expectError(reply, 503, 'internal_error', NO_ANSWER + problem + ADVICE);
    const simulated = await post(app, OPERATIONS[2]!);
    expectError(simulated, 503, 'internal_error', NO_ANSWER + problem);
  });

  it('that is down', async () => {
    const { app, node, upstream } = await passing(inJson(202, '{}'));
    await post(app, OPERATIONS[0]!);
    const { url } = node;
    await node.stop();
    const reply = await post(app, OPERATIONS[0]!);
    expectError(reply, 503, 'internal_error', 'The upstream node cannot be reached');
    expectOwnHeaders(reply);
    expect(upstream.origin).toBe(url.origin);
    // The end of the test stops it again.
    Object.assign(node, { stop: () => Promise.resolve() });
  });

  it('that is slow', async () => {
    const { app } = await passing(() => undefined, { forwardTimeoutMs: 30 });
    const reply = await post(app, OPERATIONS[0]!);
    const text = 'The upstream node has not answered in time';
    expectError(reply, 503, 'internal_error', text + ADVICE);
    expectOwnHeaders(reply);
  });

  it('that sends slowly is given up too', async () => {
    const { app } = await passing(
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write(' '), 5);
        response.on('close', () => clearInterval(timer));
      },
      { forwardTimeoutMs: 50 },
    );
    const reply = await post(app, OPERATIONS[2]!);
    expectError(reply, 503, 'internal_error', 'The upstream node has not answered in time');
  });

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])('that sends the limit and %i bytes is believed: %s', async (more, isTaken) => {
    const maxAnswerBytes = 1_000;
    for (const declared of [true, false]) {
      const body = 'x'.repeat(maxAnswerBytes + more);
      const { app } = await passing(
        (response) => {
          response.setHeader('content-type', 'application/json');
          if (declared) response.setHeader('content-length', body.length);
          else response.flushHeaders();
          response.end(body);
        },
        { maxAnswerBytes },
      );
      const reply = await post(app, OPERATIONS[2]!);
      expect(reply.statusCode).toBe(isTaken ? 200 : 503);
      if (!isTaken) expect(reply.body).toContain('at most 1000 are taken');
    }
  });

  it('of another chain gets nothing', async () => {
    const { app, node, upstream } = await passing(inJson(202, '{}'));
    node.chainId = '5';
    const text = `The upstream node is on chain 5, the ledger of this node on chain ${CHAIN_ID}`;
    expectError(await post(app, OPERATIONS[0]!), 503, 'internal_error', text);
    expect(node.got).toEqual([]);
    node.chainId = undefined;
    const unknown = await post(app, OPERATIONS[2]!);
    expectError(unknown, 503, 'internal_error', `${NO_ANSWER}its ledger info has no chain id`);
    // Its ledger info is requested once, and again when it may have changed.
    node.chainId = String(CHAIN_ID);
    for (let count = 0; count < 3; count += 1) {
      expect((await post(app, OPERATIONS[0]!)).statusCode).toBe(202);
    }
    expect(node.infos).toBe(3);
    node.script = inJson(202, '{}', { 'x-aptos-chain-id': '5' });
    expectError(await post(app, OPERATIONS[0]!), 503, 'internal_error', text);
    expect(upstream.counts.map(({ outcome }) => outcome)).toEqual([
      'other_chain',
      'bad_answer',
      'answered',
    ]);
  });

  it('may not be this node itself', async () => {
    const { app, node } = await passing(inJson(202, '{}'));
    const via = (hops: number) => ({ via: Array(hops).fill('1.1 daybook').join(', ') });
    expect((await post(app, OPERATIONS[0]!, '{}', via(MAX_HOPS - 1))).statusCode).toBe(202);
    expect(node.got[0]!.headers.via).toBe(via(MAX_HOPS)['via']);
    const text = `${MAX_HOPS} nodes have passed this request on already`;
    const reply = await post(app, OPERATIONS[0]!, '{}', via(MAX_HOPS));
    expectError(reply, 503, 'internal_error', text);
  });

  it('that closes idle connections misses no request', async () => {
    const { app, node } = await passing(inJson(202, '{}'));
    node.script = (response) => {
      response.writeHead(202, { 'content-type': 'application/json', connection: 'keep-alive' });
      response.end('{}', () => setImmediate(() => response.socket?.destroy()));
    };
    for (let count = 0; count < 10; count += 1) {
      expect((await post(app, OPERATIONS[0]!)).statusCode).toBe(202);
    }
  });
});

describe('requests that wait for the upstream', () => {
  it.each([
    [-1, 0],
    [0, 0],
    [1, 1],
  ])('the limit and %i more: %i are refused', async (more, refused) => {
    const maxForwards = 3;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { app, upstream } = await passing(
      (response) => void released.then(() => inJson(202, '{}')(response, undefined!)),
      { maxForwards },
    );
    const count = maxForwards + more;
    const replies = Array.from({ length: count }, () => post(app, OPERATIONS[0]!));
    if (refused > 0) {
      // The others wait for the response that is released below.
      const first = await Promise.race(replies);
      const text = 'Too many requests wait for the upstream node';
      expectError(first, 503, 'internal_error', text);
      expect(first.headers['retry-after']).toBe('1');
    }
    await expect.poll(() => upstream.waiting, ON_A_BUSY_MACHINE).toBe(count - refused);
    release();
    const statuses = (await Promise.all(replies)).map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 503).length).toBe(refused);
    expect(upstream.waiting).toBe(0);
  });

  it('hold up nothing else', async () => {
    const { app, upstream } = await passing(() => undefined, { forwardTimeoutMs: 600_000 });
    const port = await app.port();
    const sockets = Array.from({ length: UPSTREAM_LIMITS.maxForwards }, () => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      const head = 'POST /v1/transactions HTTP/1.1\r\nContent-Type: application/json\r\n';
      socket.write(`${head}Content-Length: 2\r\n\r\n{}`);
      return socket;
    });
    await expect.poll(() => upstream.waiting, ON_A_BUSY_MACHINE).toBe(sockets.length);
    for (let count = 0; count < 50; count += 1) {
      const reply = await app.request('/v1/accounts/0xcafe/balance/0xa');
      expect(reply.statusCode).toBe(200);
    }
    expect(upstream.waiting).toBe(sockets.length);
    // Disconnected clients make room.
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => upstream.waiting, ON_A_BUSY_MACHINE).toBe(0);
    expect(upstream.counts).toEqual([
      { operation: 'submit_transaction', outcome: 'client_gone', value: sockets.length },
    ]);
  });
});
