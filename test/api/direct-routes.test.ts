/**
 * The short way (src/api/http/direct-routes.ts) beside the framework's: over a connection requests take the short way where
 * they can, injected ones never do. Both must give the same answers, and give them again when they come from memory.
 */
import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOLDER, openSmallLedger, type SmallLedger } from './small-ledger.ts';

let ledger: SmallLedger;
let port: number;

beforeAll(async () => {
  ledger = await openSmallLedger();
  await ledger.app.listen({ port: 0, host: '127.0.0.1' });
  ({ port } = ledger.app.server.address() as AddressInfo);
});
afterAll(() => ledger.close());

type Headers = Readonly<Record<string, string>>;

interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Headers that belong to the connection, and the time. */
const OF_THE_CONNECTION = ['date', 'connection', 'keep-alive', 'transfer-encoding'];

function seen(status: number, headers: Readonly<Record<string, unknown>>, body: Buffer): Seen {
  const kept = Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.includes(name));
  return { status, headers: Object.fromEntries(kept), body: body.toString('latin1') };
}

function overConnection(
  method: string,
  path: string,
  headers: Headers,
  body?: string,
): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method, path, headers }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('end', () => resolve(seen(reply.statusCode!, reply.headers, Buffer.concat(chunks))));
      reply.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function injected(method: string, url: string, headers: Headers, body?: string) {
  const options = { method: method as 'GET', url, headers };
  const reply = await ledger.app.inject(body === undefined ? options : { ...options, body });
  return seen(reply.statusCode, reply.headers, reply.rawPayload);
}

const ACCOUNT = `/v1/accounts/0x${HOLDER}`;
const COIN = '0x1::aptos_coin::AptosCoin';

const PATHS = [
  '/v1',
  '/v1/',
  '/v1//',
  '/v1/-/healthy',
  '/v1/none',
  '/v1/accounts',
  '/v1/accounts/',
  '/v1/accounts/0x1',
  '/v1/accounts/0x1/',
  '/v1/accounts//balance/0x1',
  '/v1/accounts/zz/balance/0x1',
  '/v1/accounts/__proto__',
  '/v1/accounts/0x1/module/',
  '/v1/accounts/0x1/module/none',
  '/v1/accounts/0x1/module/junk',
  '/v1/accounts/0x1/module/a/b',
  '/v1/accounts/0x1/module/%6aunk',
  '/v1/accounts/0x1/module/junk#part',
  '/v1/accounts/0x1/module/%ff',
  '/v1/accounts/0x1/modules?limit=1',
  '/v1/accounts/0x1/resources',
  `${ACCOUNT}/resource/0x1::coin::CoinStore<${COIN}>`,
  `${ACCOUNT}/balance/${COIN}`,
  `${ACCOUNT}/balance/${COIN}?ledger_version=2`,
  `${ACCOUNT}/balance/${COIN}?ledger_version=99`,
  `${ACCOUNT}/balance/${COIN}?ledger_version=x`,
  `${ACCOUNT}/balance/${COIN}?ledger_version=%32`,
  `${ACCOUNT}/balance/${COIN}?`,
  `${ACCOUNT}/balance/${COIN}?ledger_version=1&ledger_version=2&other`,
  `${ACCOUNT}/balance/0xa`,
  `${ACCOUNT}/events/2`,
  `${ACCOUNT}/events/2?limit=3`,
  `${ACCOUNT}/events/2?start=5&limit=3`,
  `${ACCOUNT}/events/2?start=5&limit=0`,
  `${ACCOUNT}/events/3`,
  `${ACCOUNT}/events/0x1::coin::CoinStore/withdraw_events`,
  '/v1/blocks/by_height/1',
  '/v1/blocks/by_version/3',
  '/v1/transactions?limit=1',
  '/v1/transactions/encode_submission',
  '/v1/spec.json',
];

const HEADERS: readonly Headers[] = [
  {},
  { accept: 'application/x-bcs' },
  { accept: 'text/html, application/x-bcs;q=0.1' },
  { origin: 'http://page.example' },
  { 'accept-encoding': 'gzip' },
  { 'x-node-min-ledger-version': '4' },
  { 'x-node-min-ledger-version': 'x' },
  { 'if-none-match': '*' },
];

describe('the same answer both ways, and again', () => {
  it.each(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])('%s', async (method) => {
    for (const path of PATHS) {
      for (const headers of HEADERS) {
        const framework = await injected(method, path, headers);
        for (const time of ['first', 'second']) {
          const direct = await overConnection(method, path, headers);
          const what = `${method} ${path} ${JSON.stringify(headers)}, the ${time} time`;
          expect(direct, what).toEqual(framework);
        }
      }
    }
  });

  it.each([
    ['', 'application/json'],
    ['{}', 'application/json'],
    ['{}', 'text/plain'],
    ['{', 'application/json'],
    ['"00"', 'application/json'],
  ])('POST of %j as %s', async (body, type) => {
    for (const path of ['encode_submission', 'decode_submission', 'none']) {
      const url = `/v1/transactions/${path}`;
      const headers = { 'content-type': type, 'content-length': String(body.length) };
      const framework = await injected('POST', url, headers, body);
      expect(await overConnection('POST', url, headers, body), url).toEqual(framework);
    }
  });
});

describe('one connection', () => {
  it('answers pipelined requests of both ways in their order', async () => {
    const socket = connect(port, '127.0.0.1');
    const paths = [
      `${ACCOUNT}/balance/${COIN}`,
      `${ACCOUNT}/balance/%30xa`,
      '/v1/none',
      `${ACCOUNT}/events/2?limit=1`,
    ];
    const texts = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    socket.write(`${texts.join('')}GET /v1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    await once(socket, 'end');
    const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual(['200', '200', '404', '200', '200']);
  });
});
