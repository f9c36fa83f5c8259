/** Waiting reads and the readiness check (docs/extensions.md), over a real store that grows meanwhile. */

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { buildApi } from '../../src/api/http/server.ts';
import type { ApiSettings } from '../../src/api/settings.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { block, chunk, transaction } from '../store/chunks.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { TestApi, type TestReply } from './client.ts';
import { apiSettings } from './settings.ts';
import { openTestedLedger } from './tested-ledger.ts';

const QUIET = { error: () => undefined, warn: () => undefined };

interface Node {
  readonly api: TestApi;
  /** Commits one more version, which begins a block with the current time. */
  grow(): Promise<void>;
  get(path: string, minVersion?: string, prefix?: string): Promise<TestReply>;
}

async function node(changes: Partial<ApiSettings> = {}): Promise<Node> {
  const writer = await LedgerWriter.open(new MemoryStore());
  await writer.append(chunk(0, [transaction(0)]));
  const api = new TestApi(buildApi(openTestedLedger(writer.reader), apiSettings(changes), QUIET));
  onTestFinished(() => api.close());
  return {
    api,
    async grow() {
      const next = Number(writer.head!.version) + 1;
      const timestampUsecs = BigInt(Date.now()) * 1000n;
      const blocks = [{ ...block(next, next), timestampUsecs }];
      await writer.append(chunk(next, [transaction(next)], { blocks }));
      // All requests of one turn of the event loop see the same state, so this waits for the next turn.
      await sleep(1);
    },
    get: (path, minVersion, prefix = 'X-NODE') =>
      api.request({
        method: 'GET',
        url: `/v1${path}`,
        headers: minVersion === undefined ? {} : { [`${prefix}-MIN-LEDGER-VERSION`]: minVersion },
      }) as unknown as Promise<TestReply>,
  };
}

test('a version that is there is not waited for', async () => {
  const { get, grow } = await node({ minVersionWaitMs: 60_000 });
  await grow();
  for (const version of ['0', '1']) {
    const answer = await get('/', version);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['x-node-ledger-version']).toBe('1');
  }
});

test('a request sees the version that it waited for, as soon as it comes', async () => {
  const { get, grow } = await node({ minVersionWaitMs: 10_000, headerPrefix: 'X-Aptos' });
  const answers = [get('/', '2', 'X-Aptos'), get('/', '1', 'x-aptos'), get('/', '9')];
  // With another prefix it is not our header.
  expect((await answers[2]!).headers['x-aptos-ledger-version']).toBe('0');
  await sleep(50);
  await grow();
  expect((await answers[1]!).headers['x-aptos-ledger-version']).toBe('1');
  await sleep(50);
  await grow();
  expect((await answers[0]!).headers['x-aptos-ledger-version']).toBe('2');
});

test('it waits for longer than a client may take to read an answer', async () => {
  const { get, grow } = await node({ minVersionWaitMs: 10_000, requestTimeoutMs: 100 });
  const answer = get('/', '1');
  await sleep(500);
  await grow();
  expect((await answer).headers['x-node-ledger-version']).toBe('1');
});

test('a POST waits too, before its body is looked at', async () => {
  const { api, grow } = await node({ minVersionWaitMs: 10_000 });
  const answer = api.request({
    method: 'POST',
    url: '/v1/transactions/encode_submission',
    headers: { 'x-node-min-ledger-version': '1', 'content-type': 'application/json' },
    body: 'not JSON',
  });
  await sleep(50);
  await grow();
  const { statusCode, headers } = await answer;
  expect(statusCode).toBe(400);
  expect(headers['x-node-ledger-version']).toBe('1');
});

test('an unknown path and a wrong method are refused without waiting', async () => {
  const { api, get } = await node({ minVersionWaitMs: 60_000 });
  const headers = { 'x-node-min-ledger-version': '9' };
  expect((await get('/nowhere', '9')).statusCode).toBe(404);
  expect((await get('/accounts/%FF', '9')).statusCode).toBe(400);
  expect((await api.request({ method: 'DELETE', url: '/v1', headers })).statusCode).toBe(405);
  const body = 'x'.repeat(9 * 1024 * 1024);
  const tooLarge = await api.request({ method: 'POST', url: '/v1/nowhere', headers, body });
  expect(tooLarge.statusCode).toBe(413);
});

test('a version that does not come in time is a 503 with our headers and Retry-After', async () => {
  for (const minVersionWaitMs of [0, 1, 60]) {
    const { get } = await node({ minVersionWaitMs });
    const startedMs = performance.now();
    const answer = await get('/', '1');
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(minVersionWaitMs - 1);
    expect(answer.statusCode).toBe(503);
    expect(answer.headers).toMatchObject({
      'retry-after': '1',
      'x-node-ledger-version': '0',
      'content-type': 'application/json; charset=utf-8',
    });
    expect(answer.json()).toEqual({
      message: 'Ledger version(1) has not been reached: the latest is 0; try again later',
      error_code: 'version_not_found',
      vm_error_code: null,
    });
  }
});

test('pages of one connection wait for their versions at the same time', async () => {
  const { api } = await node({ minVersionWaitMs: 1_000 });
  const socket = connect(await api.port(), '127.0.0.1');
  const page = 'GET /v1/transactions HTTP/1.1\r\nHost: x\r\nX-Node-Min-Ledger-Version: 9\r\n';
  socket.write(`${page}\r\n`.repeat(29));
  socket.write(`${page}Connection: close\r\n\r\n`);
  let text = '';
  for await (const chunk of socket) text += (chunk as Buffer).toString('latin1');
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(Array(30).fill('HTTP/1.1 503'));
}, 20_000);

test('a text that is no version is a 400', async () => {
  const { get } = await node();
  for (const text of ['', '-1', '1.5', 'x', '18446744073709551616', '1, 2']) {
    const answer = await get('/', text);
    expect(answer.statusCode, text).toBe(400);
    expect(answer.json()).toMatchObject({ error_code: 'web_framework_error' });
    expect(answer.headers['x-node-ledger-version']).toBe('0');
  }
  const edge = await node({ minVersionWaitMs: 0 });
  expect((await edge.get('/', '18446744073709551615')).statusCode).toBe(503);
});

test('at most so many wait: one more is refused at once, and room comes back', async () => {
  const limit = 3;
  const { api, get, grow } = await node({ maxVersionWaiters: limit, minVersionWaitMs: 60_000 });
  const waiting: Promise<TestReply>[] = [];
  while (waiting.length < limit) {
    const arrived = once(api.server, 'request');
    waiting.push(get('/', '1'));
    await arrived;
  }
  const refused = await get('/', '1');
  expect(refused.statusCode).toBe(503);
  expect(refused.headers['retry-after']).toBe('1');
  expect(refused.json().message).toBe(
    'Ledger version(1) has not been reached, and too many requests wait for versions',
  );
  await grow();
  for (const one of waiting) expect((await one).statusCode).toBe(200);
  const again = [get('/', '2')];
  for (const one of again) void one.then(() => undefined);
  await sleep(30);
  await grow();
  expect((await again[0]!).statusCode).toBe(200);
});

test('a client that goes gives its place back', async () => {
  const { api, get, grow } = await node({ maxVersionWaiters: 1, minVersionWaitMs: 30_000 });
  const url = `http://127.0.0.1:${await api.port()}`;
  const abort = new AbortController();
  const arrived = once(api.server, 'request') as Promise<[unknown, ServerResponse]>;
  const gone = fetch(`${url}/v1`, {
    headers: { 'x-node-min-ledger-version': '1' },
    signal: abort.signal,
  });
  gone.catch(() => undefined);
  const [, response] = await arrived;
  const closed = once(response, 'close');
  expect((await get('/', '1')).statusCode).toBe(503);
  abort.abort();
  await expect(gone).rejects.toThrow();
  await closed;
  // The place becomes free at the next look at the ledger.
  await sleep(100);
  const next = get('/', '1');
  void next.then(() => undefined);
  await sleep(50);
  await grow();
  expect((await next).statusCode).toBe(200);
});

test('ready: 200 with the lag, 503 when it is greater than allowed', async () => {
  const anyLag = await node();
  // Genesis has a time in 1970.
  const old = await anyLag.get('/-/ready');
  expect(old.statusCode).toBe(200);
  expect(Number(old.json().lag_seconds)).toBeGreaterThan(1_000_000_000);
  const strict = await node({ maxLagSeconds: 60 });
  const behind = await strict.get('/-/ready');
  expect(behind.statusCode).toBe(503);
  expect(behind.headers).toMatchObject({ 'retry-after': '10', 'x-node-ledger-version': '0' });
  expect(behind.json()).toMatchObject({ error_code: 'health_check_failed' });
  expect(behind.json().message).toMatch(
    /^The ledger is \d+ seconds behind, which is more than the allowed 60$/,
  );
  await strict.grow();
  const caughtUp = await strict.get('/-/ready');
  expect(caughtUp.statusCode).toBe(200);
  expect(caughtUp.json()).toEqual({ message: 'daybook:ready', lag_seconds: '0' });
  const bcs = await strict.api.request({
    url: '/v1/-/ready',
    headers: { accept: 'application/x-bcs' },
  });
  const reader = new BcsReader(bcs.bytes);
  expect([reader.string(), reader.u64()]).toEqual(['daybook:ready', 0n]);
  reader.finish();
  // The health check only considers lag on request.
  expect((await strict.get('/-/healthy')).statusCode).toBe(200);
});

const NO_REQUESTS: readonly (readonly [what: string, bytes: string, status: number])[] = [
  ['bytes that are no request', 'no request\r\n\r\n', 400],
  ['a head that does not end', 'GET /v1 HTTP/1.1\r\nHost: x\r\n', 408],
  ['a tunnel', 'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n', 404],
  [
    'a body that is not as its head says',
    'POST /v1/view HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nx',
    400,
  ],
];

test.each(
  NO_REQUESTS.flatMap(([what, bytes, status]) => [
    { what, bytes, status, first: 'GET /v1', answered: 200 },
    { what, bytes, status, first: 'POST /v1/view', answered: 415 },
  ]),
)('$what behind a $first that waits is refused after its answer', async (row) => {
  // The first response takes longer than the client's time limits.
  const { api, grow } = await node({ headersTimeoutMs: 50, requestTimeoutMs: 100 });
  const socket = connect(await api.port(), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  const ended = once(socket, 'close');
  const head = `${row.first} HTTP/1.1\r\nHost: x\r\nX-Node-Min-Ledger-Version: 1\r\n`;
  const size = row.first.startsWith('POST') ? 'Content-Length: 0\r\n' : '';
  socket.write(`${head}${size}\r\n${row.bytes}`);
  await sleep(200);
  socket.write('x');
  await sleep(50);
  expect(received).toBe('');
  await grow();
  await ended;
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
  expect(statuses).toEqual([row.answered, row.status]);
  expect(received.slice(received.lastIndexOf('HTTP/1.1'))).toMatch(/^connection: close\r$/im);
});

test.each(
  NO_REQUESTS.flatMap(([what, bytes, status]) => [
    { what, bytes, status, streams: 1 },
    { what, bytes, status, streams: 2 },
  ]),
)('$what behind $streams event streams ends them and is refused', async (row) => {
  const { api } = await node({ headersTimeoutMs: 50 });
  const socket = connect({ port: await api.port(), host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  const ended = once(socket, 'end');
  const accept = 'Accept: text/event-stream';
  const stream = `GET /v1/-/heads HTTP/1.1\r\nHost: x\r\n${accept}\r\n\r\n`;
  socket.write(stream.repeat(row.streams));
  while (!received.includes('data: ')) await once(socket, 'data');
  socket.write(row.bytes);
  await ended;
  const answers = received.split(/(?=HTTP\/1\.1 \d+)/);
  const statuses = answers.map((answer) => Number(answer.slice(9, 12)));
  expect(statuses).toEqual([...new Array<number>(row.streams).fill(200), row.status]);
  for (const answer of answers.slice(0, -1)) {
    expect(answer).toMatch(/event: error\ndata: \{.*\}\n\n\r\n0\r\n\r\n$/);
  }
  expect(answers.at(-1)).toMatch(/^connection: close\r$/im);
  expect(api.api.listeners).toMatchObject({ open: 0 });
});

test.each(NO_REQUESTS)(
  '%s behind a read that waits: who closes their half is let go',
  async (_, bytes) => {
    const { api } = await node({ headersTimeoutMs: 50, minVersionWaitMs: 60_000 });
    const port = await api.port();
    // If the server did not close the connection, the node could not close.
    const served = once(api.server, 'connection') as Promise<[Socket]>;
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    onTestFinished(async () => {
      (await served)[0].destroy();
    });
    const ended = once(socket, 'end');
    const head = 'GET /v1 HTTP/1.1\r\nHost: x\r\nX-Node-Min-Ledger-Version: 9\r\n\r\n';
    socket.resume().write(head + bytes);
    await sleep(200);
    expect(socket.readableEnded).toBe(false);
    socket.end();
    await ended;
  },
  10_000,
);
