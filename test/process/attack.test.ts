/** Malicious or broken clients at the sockets of a real node, which continues to answer. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, get as httpGet, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { smallGenesisFile } from '../api/genesis-small.ts';
import { Random, testSeed } from '../random.ts';
import { killLeftNodes, runCommand, ServedNode, temporaryFolder } from './command.ts';

const BALANCE = '/v1/accounts/0xb0b/balance/0x1::aptos_coin::AptosCoin';
const BALANCE_BODY = '18446744073709551615';
const MB = 1024 * 1024;

const folder = temporaryFolder();
const data = join(folder, 'ledger');
let node: ServedNode;

beforeAll(async () => {
  const genesis = join(folder, 'small.blob');
  writeFileSync(genesis, smallGenesisFile());
  expect((await runCommand(['init', '--data', data, '--genesis', genesis])).code).toBe(0);
  node = await ServedNode.start(data);
});

/** After each attack the node answers correctly and at once, and has logged no errors. */
afterEach(async () => {
  const response = await fetch(new URL(BALANCE, node.ready.url));
  expect([response.status, await response.text()]).toEqual([200, BALANCE_BODY]);
  expect(node.complaints).toEqual([]);
});

afterAll(async () => {
  expect(node.peakBytes()).toBeLessThan(400 * MB);
  expect(await node.stop()).toMatchObject({ code: 0, signal: null });
  // `log` parses every line of stderr, so nothing but log lines was written.
  expect([node.log[0]?.['msg'], node.log.at(-1)?.['msg']]).toEqual(['answering', 'stopping']);
  killLeftNodes();
});

function open(to = node): Socket {
  return connect(to.port, '127.0.0.1').on('error', () => undefined);
}

/** Everything that the node sends until it closes. */
async function rest(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (!socket.closed) await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

/** Sends bytes, ends the sending side, and resolves with the response. */
function talk(bytes: string | Uint8Array): Promise<string> {
  const socket = open();
  const answer = rest(socket);
  socket.end(bytes);
  return answer;
}

function request(target: string, ...headers: string[]): string {
  return `GET ${target} HTTP/1.1\r\n${['Host: x', ...headers].join('\r\n')}\r\n\r\n`;
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
}

describe('many connections', () => {
  it('a thousand at once are all answered', async () => {
    const sockets = Array.from({ length: 1_000 }, () => open());
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const answers = sockets.map(rest);
    for (const socket of sockets) socket.write(request(BALANCE, 'Connection: close'));
    const statuses = new Set<number>();
    for (const answer of await Promise.all(answers)) {
      const status = statusOf(answer);
      statuses.add(status);
      if (status === 200) expect(answer.endsWith(`\r\n\r\n${BALANCE_BODY}`)).toBe(true);
      else expect(answer).toMatch(/"The node is overloaded: .*"error_code":"internal_error"/);
    }
    // A slow machine may refuse some at once instead of answering all of them late.
    expect(statuses.has(200)).toBe(true);
    for (const status of statuses) expect([200, 503]).toContain(status);
  });

  it('a thousand that come and go without a word', async () => {
    for (let round = 0; round < 4; round += 1) {
      const sockets = Array.from({ length: 250 }, () => open());
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      for (const socket of sockets) socket.resetAndDestroy();
    }
  });

  it('those that send a header byte by byte run into the time for headers', async () => {
    const impatient = await ServedNode.start(data);
    const sockets = Array.from({ length: 100 }, () => open(impatient));
    const answers = sockets.map(rest);
    for (const socket of sockets) socket.write('GET /v1 HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    const drip = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write('x');
    }, 100);
    for (let asked = 0; asked < 10; asked += 1) {
      expect((await impatient.get('')).status).toBe(200);
      await delay(50);
    }
    const statuses = new Set((await Promise.all(answers)).map(statusOf));
    clearInterval(drip);
    expect(statuses).toEqual(new Set([408]));
    expect(await impatient.stop()).toMatchObject({ code: 0 });
    expect(impatient.complaints).toEqual([]);
  });
});

describe('one connection', () => {
  it('takes a thousand requests in one piece and answers them in order', async () => {
    const targets = Array.from({ length: 1_000 }, (_, index) =>
      index % 3 === 0 ? BALANCE : `/v1/accounts/0x1/events/${index}`,
    );
    const answer = await talk(
      targets.map((target) => request(target)).join('') +
        request('/v1/nowhere', 'Connection: close'),
    );
    const bodies = answer.split(/HTTP\/1\.1 \d{3} .*?\r\n\r\n/s).slice(1);
    expect(bodies.length).toBe(1_001);
    expect(bodies.slice(4, 10)).toEqual(['[]', '[]', BALANCE_BODY, '[]', '[]', BALANCE_BODY]);
    expect(bodies.filter((body) => body === BALANCE_BODY).length).toBe(334);
    expect(bodies.at(-1)).toContain('"not found"');
  });

  it('is kept for many requests one after the other, HEAD among them', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (let index = 0; index < 200; index += 1) {
      const method = index % 4 === 3 ? 'HEAD' : 'GET';
      const [response] = (await once(
        httpGet(new URL(BALANCE, node.ready.url), { agent, method }),
        'response',
      )) as [IncomingMessage];
      ports.add(response.socket.localPort);
      let body = '';
      for await (const chunk of response.setEncoding('utf8')) body += chunk as string;
      expect([response.statusCode, body]).toEqual([200, method === 'HEAD' ? '' : BALANCE_BODY]);
      expect(response.headers['content-length']).toBe(String(BALANCE_BODY.length));
      expect(response.headers['x-node-ledger-version']).toBe('0');
    }
    expect(ports.size).toBe(1);
    agent.destroy();
  });

  it.each([
    ['10,000 bytes of headers', request(BALANCE, `X: ${'y'.repeat(10_000)}`), 200],
    ['many headers', request(BALANCE, ...Array.from({ length: 1_500 }, (_, n) => `X${n}: y`)), 200],
    ['a query of 70,000 bytes', request(`${BALANCE}?${'a=b&'.repeat(17_500)}`), 200],
    ['a query of one long name', request(`${BALANCE}?${'%41'.repeat(20_000)}`), 200],
    ['a long type', request(`${BALANCE}%3C${'u8%2C'.repeat(14_000)}u8%3E`), 200],
    ['a type nested for ever', request(`/v1/accounts/1/balance/${'vector%3C'.repeat(8_000)}`), 400],
    ['a path of slashes', request('/'.repeat(70_000)), 404],
    ['a path of many segments', request('/v1/accounts'.repeat(5_000)), 404],
    ['an Accept of many types', request(BALANCE, `Accept: ${'a/b;q=0.1,'.repeat(7_000)}*/*`), 200],
    ['a long list of tags', request(BALANCE, `If-None-Match: ${'"x",'.repeat(17_000)}"y"`), 200],
    ['headers over the limit', request(BALANCE, `X: ${'y'.repeat(90_000)}`), 431],
    ['a request line over the limit', request(`/v1?${'y'.repeat(90_000)}`), 431],
    ['a length and chunks', request('/v1', 'Content-Length: 5', 'Transfer-Encoding: chunked'), 400],
    ['two lengths', request('/v1', 'Content-Length: 5', 'Content-Length: 6'), 400],
    ['a length below zero', request('/v1', 'Content-Length: -1'), 400],
    ['a header without a name', request('/v1', ': x'), 400],
    ['a header with a line break', request('/v1', 'X: a\n b'), 400],
    ['an unknown method', 'BREW /v1 HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n', 400],
    ['TLS', Buffer.from('16030100c8010000c40303', 'hex'), 400],
    ['HTTP/2 before it was asked', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['an upgrade', request('/v1', 'Connection: Upgrade', 'Upgrade: h2c'), 200],
    ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n', 404],
    ['an expectation that nobody knows', request(BALANCE, 'Expect: x'), 200],
  ])('%s', async (_, bytes, status) => {
    expect(statusOf(await talk(bytes))).toBe(status);
  });
});

describe('noise', () => {
  const random = new Random(testSeed('bytes at the socket'));

  it('random bytes get a refusal or nothing', async () => {
    const answers = Array.from({ length: 300 }, (_, run) => {
      const length = 1 + random.below(run % 10 === 0 ? 100_000 : 200);
      return talk(Uint8Array.from({ length }, () => random.below(256)));
    });
    for (const answer of await Promise.all(answers)) {
      if (answer !== '') expect(statusOf(answer)).toBeGreaterThanOrEqual(400);
    }
  });

  it('good requests with bytes changed get an answer or none, never 5xx', async () => {
    const body =
      '{"sender":"0x1","sequence_number":"0","payload":{"type":"entry_function_payload"}}';
    const post =
      'POST /v1/transactions/encode_submission HTTP/1.1\r\nHost: x\r\nConnection: close\r\n' +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const samples = [
      post,
      ...[BALANCE, '/v1/accounts/0xb0b/events/2?start=0&limit=5', '/v1/accounts/1/module/coin'].map(
        (target) => request(target, 'Accept: application/x-bcs', 'Connection: close'),
      ),
    ];
    for (let round = 0; round < 20; round += 1) {
      const answers = Array.from({ length: 30 }, () => {
        const bytes = Buffer.from(samples[random.below(samples.length)]!);
        for (let change = 0; change <= random.below(4); change += 1) {
          bytes[random.below(bytes.length)] = random.below(256);
        }
        return talk(bytes);
      });
      for (const answer of await Promise.all(answers)) {
        if (answer !== '') expect(statusOf(answer)).toBeLessThan(500);
      }
    }
  });
});
