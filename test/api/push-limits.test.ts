/** Limits of event streams, and misbehaving clients: connections written by hand (docs/extensions.md). */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import {
  Listener,
  ListenerTally,
  MAX_UNREAD_BYTES,
  recordsFrame,
} from '../../src/api/push/listener.ts';
import { EventClient } from './event-client.ts';
import { growing, STREAM } from './push-ledger.ts';

/** A batch of one record that takes `bytes` bytes on the connection. */
function batchOf(position: bigint, bytes: number) {
  const empty = recordsFrame([{ position, id: '1', json: Buffer.alloc(0) }]).chunk.length;
  for (let length = bytes - empty; ; length -= 1) {
    const records = [{ position, id: '1', json: Buffer.alloc(length, 'x') }];
    const frame = recordsFrame(records);
    if (frame.chunk.length === bytes) return { records, next: position + 1n, isEnd: true, frame };
  }
}

test.each([
  ['one byte less than', -1, true],
  ['exactly', 0, true],
  ['one byte more than', 1, false],
])('a listener that does not read may have %s the limit waiting', async (_, more, isHeld) => {
  const tally = new ListenerTally();
  const server = createServer((_request, response) => {
    response.writeHead(200).flushHeaders();
    const listener = new Listener(response, 0n, tally);
    // From now on the connection accepts nothing.
    response.socket!.cork();
    listener.sendNew(batchOf(0n, MAX_UNREAD_BYTES * 2), MAX_UNREAD_BYTES);
    expect(listener.hasEnded).toBe(false);
    response.socket!.uncork();
    response.socket!.cork();
    const unread = listener.unreadBytes;
    expect(unread).toBe(0);
    listener.sendNew(batchOf(1n, 1_000), MAX_UNREAD_BYTES);
    listener.sendNew(batchOf(2n, MAX_UNREAD_BYTES - 1_000 + more), MAX_UNREAD_BYTES);
    expect(listener.hasEnded).toBe(!isHeld);
    expect(tally.sent).toBe(isHeld ? 3 : 2);
    expect(tally.ended.slow).toBe(isHeld ? 0 : 1);
    response.socket!.uncork();
    if (isHeld) response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const client = await new EventClient(`http://127.0.0.1:${port}`).opened;
  await client.closed;
  expect(client.isComplete).toBe(true);
  expect(client.events.at(-1)!.type).toBe(isHeld ? 'message' : 'error');
});

interface Wire {
  readonly socket: Socket;
  /** Everything received so far. */
  text: string;
  until(piece: string): Promise<void>;
  readonly ended: Promise<unknown>;
}

async function wire(port: number, request: string): Promise<Wire> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  const found: Wire = {
    socket,
    text: '',
    ended: once(socket, 'close').catch(() => undefined),
    async until(piece) {
      while (!found.text.includes(piece)) await sleep(2);
    },
  };
  socket.setEncoding('utf8').on('data', (text) => {
    found.text += text;
  });
  socket.on('error', () => undefined).on('end', () => socket.end());
  await once(socket, 'connect');
  socket.write(request);
  return found;
}

const head = (method: string, path: string, version = '1.1', more = '') =>
  `${method} ${path} HTTP/${version}\r\nhost: x\r\naccept: text/event-stream\r\n${more}\r\n`;

test('HTTP/1.0 gets the bytes of the events alone, until the connection ends', async () => {
  const { app, streams, growTo } = await growing();
  await growTo(3);
  const client = await wire(await app.port(), head('GET', `${STREAM}?start=0`, '1.0'));
  await client.until('id: 2\n');
  await growTo(4);
  await client.until(`id: ${streams.lengths[0]! - 1}\n`);
  const [, body] = client.text.split(/\r\n\r\n/);
  expect(client.text).not.toMatch(/transfer-encoding/i);
  expect(body).toMatch(/^retry: 1000\n\nid: 0\ndata: \{/);
  const closing = app.close();
  await client.ended;
  await closing;
});

test('HEAD has the headers and ends; other methods are refused', async () => {
  const { app, growTo } = await growing();
  await growTo(3);
  const accept = { accept: 'text/event-stream' };
  const answer = await app.request({ method: 'HEAD', url: STREAM, headers: accept });
  expect([answer.statusCode, answer.headers['content-type'], answer.body]).toEqual([
    200,
    'text/event-stream',
    '',
  ]);
  for (const method of ['PUT', 'DELETE', 'PATCH']) {
    const refused = await app.request({ method, url: STREAM, headers: accept });
    expect([refused.statusCode, refused.headers['allow']]).toEqual([405, 'GET, HEAD']);
  }
  const pruned = await app.request({ method: 'HEAD', url: `${STREAM}?limit=0`, headers: accept });
  expect(pruned.statusCode).toBe(400);
  expect(app.api.listeners.open).toBe(0);
});

test('a stream is for those who name it and prefer nothing else', async () => {
  const { app, listen, growTo } = await growing();
  await growTo(1);
  const typeFor = async (accept: string) => {
    const client = await listen(STREAM, { accept });
    client.close();
    return client.headers['content-type'];
  };
  for (const accept of [
    'text/event-stream',
    'Text/Event-Stream;charset=utf-8',
    'text/event-stream, */*',
    'application/json;q=0.9, text/event-stream',
    '*/*;q=0.1, text/event-stream;q=0.2',
  ]) {
    expect(await typeFor(accept), accept).toBe('text/event-stream');
  }
  for (const accept of [
    'application/json, text/event-stream',
    '*/*, text/event-stream;q=0.5',
    'text/event-stream;q=0',
    'text/event-streams',
    'text/*',
  ]) {
    expect(await typeFor(accept), accept).toBe('application/json; charset=utf-8');
  }
  const bcs = await typeFor('application/x-bcs, text/event-stream;q=0.9');
  expect(bcs).toBe('application/x-bcs');
  const origin = await listen(STREAM, { origin: 'http://page.example' });
  expect(origin.headers['access-control-allow-origin']).toBe('http://page.example');
  const coded = await listen(STREAM, { 'accept-encoding': 'br, gzip' });
  expect(coded.headers['content-encoding']).toBeUndefined();
  expect(app.api.listeners.ended.failed).toBe(0);
});

test('heartbeats come while nothing happens, and keep the connection open', async () => {
  const { listen, growTo } = await growing({ requestTimeoutMs: 200 });
  await growTo(1);
  const client = await listen(`${STREAM}?start=0`);
  while (client.text.split(':\n\n').length < 10) await sleep(20);
  expect(client.isComplete).toBeUndefined();
});

/**
 * Holds back everything that a listener is sent from now on, like a client that does not read: an operating system
 * would buffer megabytes.
 */
async function stalled(ledger: Awaited<ReturnType<typeof growing>>, path: string) {
  const connected = once(ledger.app.server, 'connection') as Promise<[Socket]>;
  const opening = ledger.listen(path);
  const [socket] = await connected;
  const client = await opening;
  return { client, socket };
}

test('a live listener that does not read is ended, and others notice nothing', async () => {
  const ledger = await growing();
  const { app, listen, growTo, streams } = ledger;
  await growTo(2);
  const { client, socket } = await stalled(ledger, `${STREAM}?start=0`);
  await client.until(2);
  socket.cork();
  const reading = await listen(`${STREAM}?start=0`);
  let unread = 0;
  while (app.api.listeners.ended.slow === 0) {
    unread = socket.writableLength;
    expect(unread).toBeLessThanOrEqual(MAX_UNREAD_BYTES);
    await streams.grow();
    await reading.until(streams.lengths[0]!);
  }
  expect(unread).toBeGreaterThan(MAX_UNREAD_BYTES / 2);
  await client.closed;
  expect(client.isComplete).toBe(true);
  const error = client.events.at(-1)!;
  expect([error.type, error.id]).toEqual(['error', client.events.at(-2)!.id]);
  expect(JSON.parse(error.data).message).toBe('The stream ended: events were not read in time');
  const resumed = await listen(STREAM, { 'last-event-id': error.id! });
  await resumed.until(streams.lengths[0]! - Number(error.id) - 1);
  expect(resumed.events[0]!.id).toBe(String(Number(error.id) + 1));
});

test('a client that reads nothing for long loses its connection', async () => {
  const ledger = await growing({ requestTimeoutMs: 300 });
  await ledger.growTo(2);
  const { client, socket } = await stalled(ledger, `${STREAM}?start=0`);
  socket.cork();
  await ledger.streams.grow();
  await ledger.growTo(ledger.streams.lengths[0]! + 1);
  await client.closed;
  expect(client.isComplete).toBe(false);
  expect(ledger.app.api.listeners.ended.slow).toBe(1);
});

test('pruning that overtakes a listener of history ends it with an event that says so', async () => {
  const ledger = await growing();
  const { app, growTo, streams, listen } = ledger;
  await growTo(400);
  const connected = once(app.server, 'connection') as Promise<[Socket]>;
  const opening = listen(`${STREAM}?start=0`);
  const [socket] = await connected;
  // Corked before anything is sent: otherwise the whole history might be sent.
  socket.cork();
  while (socket.writableLength < 10_000) await sleep(2);
  while ((await app.request(`${STREAM}?start=380&limit=1`)).statusCode !== 410) {
    await streams.prune();
    await growTo(streams.lengths[0]! + 1);
  }
  socket.uncork();
  const client = await opening;
  await client.closed;
  expect(client.events.length).toBeGreaterThan(1);
  const error = client.events.at(-1)!;
  expect(error.type).toBe('error');
  expect(JSON.parse(error.data).error_code).toBe('version_pruned');
  expect(app.api.listeners.ended.pruned).toBe(1);
  const again = await listen(STREAM, { 'last-event-id': error.id! });
  expect(again.status).toBe(410);
});

test('all listeners together may hold so much', async () => {
  const ledger = await growing({ maxUnsentBytes: 2_000, requestTimeoutMs: 2_000 });
  const { app, growTo, streams } = ledger;
  await growTo(2);
  const held = [await stalled(ledger, STREAM), await stalled(ledger, STREAM)];
  for (const { socket } of held) socket.cork();
  let most = 0;
  while (app.api.listeners.ended.slow < 2) {
    most = Math.max(...held.map(({ socket }) => socket.writableLength));
    await streams.grow();
    await sleep(50);
  }
  expect(most).toBeLessThan(MAX_UNREAD_BYTES / 2);
  await Promise.all(held.map(({ client }) => client.closed));
});

test('a client that closes its side, or all of it, is forgotten', async () => {
  const { app, growTo } = await growing();
  await growTo(2);
  const port = await app.port();
  const half = await wire(port, head('GET', `${STREAM}?start=0`));
  await half.until('id: 1\n');
  half.socket.end();
  await half.ended;
  const gone = await wire(port, head('GET', `${STREAM}?start=0`));
  await gone.until('id: 1\n');
  gone.socket.destroy();
  const early = await wire(port, head('GET', `${STREAM}?start=0`));
  early.socket.resetAndDestroy();
  while (app.api.listeners.open > 0) await sleep(5);
  expect(app.api.listeners.ended.closed).toBeGreaterThanOrEqual(2);
});

test('a stream waits for the responses before it on its connection, and those behind it wait for its end', async () => {
  const { app, growTo } = await growing();
  await growTo(2);
  const page = 'GET /v1 HTTP/1.1\r\nhost: x\r\n\r\n';
  const client = await wire(await app.port(), page + head('GET', `${STREAM}?start=0`) + page);
  await client.until('id: 1\n');
  expect(client.text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  expect(client.text.indexOf('"ledger_version"')).toBeLessThan(client.text.indexOf('retry:'));
  const closing = app.close();
  await client.until('\r\n0\r\n\r\nHTTP/1.1 200');
  client.socket.destroy();
  await closing;
});

test('hundreds of clients come and go', async () => {
  const { app, growTo, streams } = await growing();
  await growTo(30);
  const port = await app.port();
  for (let round = 0; round < 4; round += 1) {
    const sockets = await Promise.all(
      Array.from({ length: 100 }, () => wire(port, head('GET', STREAM))),
    );
    if (round % 2 === 0) await streams.grow();
    for (const { socket } of sockets) socket.destroy();
  }
  while (app.api.listeners.open > 0) await sleep(5);
  expect((await app.request(STREAM)).statusCode).toBe(200);
});

test('a stream that is being opened while the node stops is over, too', async () => {
  const { app, listen, growTo } = await growing();
  await growTo(3);
  const opening = listen(`${STREAM}?start=0`);
  // With a store that answers later, the first events are being read at this point.
  while (app.api.listeners.open === 0) await new Promise((resolve) => setImmediate(resolve));
  const closing = app.close();
  const client = await opening;
  await client.closed;
  await closing;
  expect(client.isComplete).toBe(true);
  expect([200, 503]).toContain(client.status);
});
