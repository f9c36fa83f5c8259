/** Server-sent events (docs/extensions.md): streams of an account's events and of heads, over a growing ledger. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { EventClient } from './event-client.ts';
import { STREAM_ACCOUNTS } from './growing-streams.ts';
import { growing, STREAM } from './push-ledger.ts';
import { HOLDER, openSmallLedger } from './small-ledger.ts';

test('a stream begins with history and goes on with what comes, in the text of a page', async () => {
  const { app, streams, listen, growTo } = await growing();
  await growTo(250);
  const client = await listen(`${STREAM}?start=0`);
  expect(client.status).toBe(200);
  expect(client.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    vary: 'Origin, Accept',
  });
  expect(client.headers['x-node-ledger-version']).toMatch(/^\d+$/);
  expect(client.headers['content-encoding']).toBeUndefined();
  await client.until(250);
  for (let round = 0; round < 20; round += 1) await streams.grow();
  const length = streams.lengths[0]!;
  await client.until(length);
  expect(client.events.map(({ id }) => id)).toEqual(
    Array.from({ length }, (_, index) => String(index)),
  );
  const texts: string[] = [];
  for (let start = 0; start < length; start += 100) {
    const { body } = await app.request(`${STREAM}?start=${start}&limit=100`);
    texts.push(body.slice(1, -1));
  }
  expect(`[${client.events.map(({ data }) => data).join(',')}]`).toBe(`[${texts.join(',')}]`);
});

test('without a start it begins where the page does', async () => {
  const { app, listen, growTo } = await growing();
  await growTo(60);
  for (const query of ['', '?limit=3', '?limit=1000']) {
    const page = (await app.request(STREAM + query)).json();
    const client = await listen(STREAM + query);
    await client.until(page.length);
    expect(client.records).toEqual(page);
  }
  const empty = await listen(`/v1/accounts/0x${STREAM_ACCOUNTS[0]}/events/77`);
  expect(empty.status).toBe(200);
  const none = await listen('/v1/accounts/0x1/events/0x1::m::S/f');
  expect([none.status, none.headers['content-type']]).toEqual([
    404,
    'application/json; charset=utf-8',
  ]);
});

test('it goes on after the last event that a client names, also above the end', async () => {
  const { streams, listen, growTo } = await growing();
  await growTo(50);
  const length = streams.lengths[0]!;
  const resumed = await listen(`${STREAM}?start=0`, { 'Last-Event-ID': '41' });
  const waiting = await listen(`${STREAM}?start=${length + 30}`);
  const atEnd = await listen(STREAM, { 'Last-Event-ID': String(length - 1) });
  const never = await listen(STREAM, { 'Last-Event-ID': '18446744073709551615' });
  await growTo(length + 40);
  const end = streams.lengths[0]!;
  await resumed.until(end - 42);
  expect(resumed.events[0]!.id).toBe('42');
  await waiting.until(end - length - 30);
  expect(waiting.events[0]!.id).toBe(String(length + 30));
  await atEnd.until(end - length);
  expect(atEnd.events[0]!.id).toBe(String(length));
  expect(never.status).toBe(200);
  expect(never.events).toEqual([]);
  for (const id of ['x', '-1', '1.5', '18446744073709551616', '9'.repeat(1_000)]) {
    const refused = await listen(STREAM, { 'Last-Event-ID': id });
    expect(refused.status).toBe(400);
  }
  expect((await listen(`${STREAM}?limit=0`)).status).toBe(400);
});

test('heads come as they are committed, the newest first', async () => {
  const { app, streams, listen } = await growing();
  const client = await listen('/v1/-/heads');
  await client.until(1);
  for (let round = 0; round < 5; round += 1) {
    await streams.grow();
    await client.until(round + 2);
  }
  const newest = (await app.request('/v1')).json();
  expect(client.records.at(-1)).toEqual(newest);
  expect((await app.request('/v1/-/heads')).json()).toEqual(newest);
  expect(client.events.at(-1)!.id).toBe(newest.ledger_version);
  for (const event of client.events.slice(-2)) {
    const again = await listen('/v1/-/heads', { 'Last-Event-ID': event.id! });
    expect((await again.until(1))[0]).toEqual(client.events.at(-1));
  }
  const ahead = String(Number(newest.ledger_version) + 1);
  const waiting = await listen('/v1/-/heads', { 'Last-Event-ID': ahead });
  await streams.grow();
  expect(Number((await waiting.until(1))[0]!.id)).toBeGreaterThanOrEqual(Number(ahead));
});

test('a pruned start is refused before the stream begins', async () => {
  const { app, prune, close } = await openSmallLedger();
  onTestFinished(close);
  const url = `http://127.0.0.1:${await app.port()}/v1/accounts/0x${HOLDER}/events/2`;
  await prune();
  await sleep(20);
  const pruned = await new EventClient(`${url}?start=0`).opened;
  expect(pruned.status).toBe(410);
  expect(pruned.headers['content-type']).toBe('application/json; charset=utf-8');
  const there = await new EventClient(`${url}?start=10`).opened;
  await there.until(20);
  expect(there.records.map(({ sequence_number: number }) => Number(number))).toEqual(
    Array.from({ length: 20 }, (_, index) => index + 10),
  );
  there.close();
});

test('a record that cannot be rendered ends the stream with the error of the page', async () => {
  const { app, close } = await openSmallLedger();
  onTestFinished(close);
  const path = `/v1/accounts/0x${HOLDER}/events/3?start=0`;
  const page = await app.request(path);
  expect(page.statusCode).toBe(500);
  const client = await new EventClient(`http://127.0.0.1:${await app.port()}${path}`).opened;
  expect(client.status).toBe(500);
});

test('streams end when the node stops, and say when to come again', async () => {
  const { app, listen, growTo } = await growing();
  await growTo(5);
  const client = await listen(`${STREAM}?start=0`);
  await client.until(5);
  expect(client.retryMs).toBe(1_000);
  const closing = app.api.close();
  await client.closed;
  expect(client.isComplete).toBe(true);
  expect(client.text).toContain('\n: the node stops\nretry: ');
  expect(client.retryMs).toBeGreaterThanOrEqual(1_000);
  expect(app.api.listeners.ended.shutdown).toBe(1);
  await closing;
});

test('a process has so many listeners and no more', async () => {
  const { app, listen, growTo } = await growing({ maxListeners: 3 });
  await growTo(1);
  const open = [await listen(STREAM), await listen(STREAM)];
  expect(app.api.listeners.open).toBe(2);
  open.push(await listen('/v1/-/heads'));
  const refused = await listen(STREAM);
  expect(refused.status).toBe(503);
  expect(refused.headers['retry-after']).toBe('5');
  open[0]!.close();
  while (app.api.listeners.open === 3) await sleep(5);
  expect((await listen(STREAM)).status).toBe(200);
  expect(app.api.listeners.ended.closed).toBe(1);
});

test.each([
  ['', 0n],
  ['Expect: 100-continue\r\n', 0n],
  ['Expect: tea\r\n', 0n],
  ['waiting for the next version', 1n],
])(
  'a stream comes behind the pages that its connection asked for before: %j',
  async (header, versionsAhead) => {
    const { app, streams, growTo } = await growing();
    await growTo(5);
    const { headers } = await app.request(STREAM);
    const version = BigInt(headers['x-node-ledger-version'] as string) + versionsAhead;
    const own = versionsAhead > 0n ? `X-Node-Min-Ledger-Version: ${version}\r\n` : header;
    const socket = connect(await app.port(), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const page = `GET ${STREAM} HTTP/1.1\r\nHost: x\r\n${own}\r\n`;
    const stream = 'GET /v1/-/heads HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n';
    socket.write(page + page + stream);
    await sleep(50);
    if (versionsAhead > 0n) await streams.grow();
    let text = '';
    for await (const chunk of socket) {
      text += (chunk as Buffer).toString('latin1');
      if (text.includes('text/event-stream')) break;
    }
    expect(text.match(/HTTP\/1\.1 \d+|text\/event-stream/g)).toEqual([
      ...Array(3).fill('HTTP/1.1 200'),
      'text/event-stream',
    ]);
  },
  10_000,
);
