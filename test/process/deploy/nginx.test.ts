/** Responses through nginx, as configured in docs/deploy/nginx.conf, compared with the node's own. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { get as getStream } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_CONSTANTS } from '../../../src/api/settings.ts';
import { killLeftNodes, ServedNode, temporaryFolder } from '../command.ts';
import { until } from '../worker-processes.ts';
import { hasProgram } from './installed.ts';
import { Nginx, type Reply, type Request, send } from './nginx.ts';

const isInstalled = hasProgram('nginx', '-v') && hasProgram('openssl', 'version');
const skipped = isInstalled ? '' : ' (skipped: there is no nginx or no openssl)';

const PUBLISHER = '0xcafeef724f479a8de22ed68b92ca2cc6887aa6e28ba16b62e9b5a9869212691b';
const COIN = '0x1::aptos_coin::AptosCoin';
const JSON_BODY = { 'content-type': 'application/json' };
const TRANSFER = JSON.stringify({
  sender: '0xbeefd38c8a953879b70f83a625ce55f09b2a8156038bebf3f5489501b5ede0d3',
  sequence_number: '0',
  max_gas_amount: '2000',
  gas_unit_price: '100',
  expiration_timestamp_secs: '1893456000',
  payload: {
    type: 'entry_function_payload',
    function: '0x1::aptos_account::transfer',
    type_arguments: [],
    arguments: [PUBLISHER, '1000000'],
  },
});

/** Addresses of this machine; each counts as a client. */
const CLIENTS = Array.from({ length: 20 }, (_, index) => `127.0.0.${index + 1}`);
const [USUAL = '', HTTP2 = '', GREEDY = '', WAITING = ''] = CLIENTS;

const ENCODE = '/v1/transactions/encode_submission';
const BOOK = `${PUBLISHER}::market::Book<${COIN},${PUBLISHER}::moon_coin::MoonCoin>`;
/** Type names as clients send them: plain, partly and completely encoded, and encoded twice, which is another name. */
const BOOKS = [
  BOOK,
  BOOK.replace('<', '%3C').replace('>', '%3E'),
  encodeURIComponent(BOOK),
  encodeURIComponent(BOOK).replaceAll(/%../g, (code) => code.toLowerCase()),
  encodeURIComponent(encodeURIComponent(BOOK)),
];

const READS: readonly string[] = [
  `/v1/accounts/${PUBLISHER}/balance/${COIN}?ledger_version=1000`,
  `/v1/accounts/${PUBLISHER}/events/2?start=0&limit=100`,
  `/v1/accounts/${PUBLISHER}/module/ticker`,
  ...BOOKS.flatMap((type) => [
    `/v1/accounts/${PUBLISHER}/events/${type}/deposit_events?limit=3`,
    `/v1/accounts/${PUBLISHER}/resource/${type}`,
  ]),
  '/v1',
  '/v1/transactions?start=1000&limit=100',
  '/v1/transactions/wait_by_hash/0x00000000000000000000000000000000000000000000000000000000000000aa',
  '/v1/-/healthy',
  '/v1/spec.json',
  '/',
];

/** Requests with an error response, or that a proxy might change on their way. */
const OTHERS: readonly (readonly [what: string, path: string, asked: Request])[] = [
  ['an unknown path', '/v1/none', {}],
  ['doubled slashes', '/v1//accounts', {}],
  ['dots in the path', '/v1/accounts/../accounts/0x1', {}],
  ['an encoded slash', '/v1/accounts/0x1%2Fmodules', {}],
  ['a plus sign and a bare question mark', '/v1/accounts/0x1+?', {}],
  ['a wrong method', '/v1/accounts/0x1', { method: 'DELETE' }],
  ['HEAD', '/v1', { method: 'HEAD' }],
  ['a wrong version', `/v1/accounts/0x1/balance/${COIN}?ledger_version=999999999`, {}],
  ['a wrong body', ENCODE, { method: 'POST', headers: JSON_BODY, body: '{"sender":1}' }],
  [
    'a wrong type of body',
    ENCODE,
    { method: 'POST', body: 'x', headers: { 'content-type': 'text/html' } },
  ],
  ['another origin', '/v1', { headers: { origin: 'https://dapp.example' } }],
  [
    'a preflight',
    ENCODE,
    {
      method: 'OPTIONS',
      headers: {
        origin: 'https://dapp.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type, x-aptos-client',
      },
    },
  ],
  [
    'a type name of 60,000 characters',
    `/v1/accounts/0x1/resource/0x1::a::${'b'.repeat(60_000)}`,
    {},
  ],
];

describe.skipIf(!isInstalled)(`answers through nginx${skipped}`, () => {
  const folder = temporaryFolder();
  let node: ServedNode;
  let nginx: Nginx;
  let direct = '';

  beforeAll(async () => {
    node = await ServedNode.start(join(folder, 'data'), [
      '--sample',
      '--access-log',
      'all',
      '--min-version-wait-ms',
      '500',
    ]);
    direct = new URL(node.ready.url).origin;
    nginx = await Nginx.start(join(folder, 'nginx'), [`127.0.0.1:${node.port}`]);
  });
  afterAll(async () => {
    await nginx.stop();
    expect((await node.stop()).code).toBe(0);
    expect(node.complaints).toEqual([]);
    killLeftNodes();
  });

  async function expectEqual(path: string, asked: Request): Promise<number> {
    const own = await send(direct, path, asked);
    const through = await nginx.get(path, asked);
    expect(through.status).toBe(own.status);
    expect(through.headers).toEqual(own.headers);
    expect(through.body.equals(own.body)).toBe(true);
    return own.status;
  }

  it.each(['application/json', 'application/x-bcs'])('are the node’s: %s', async (accept) => {
    for (const path of READS) {
      await expectEqual(path, { headers: { accept } });
      for (const coding of ['br', 'gzip']) {
        await expectEqual(path, { headers: { accept, 'accept-encoding': coding } });
      }
    }
    const headers = { ...JSON_BODY, accept };
    for (const coding of [{}, { 'transfer-encoding': 'chunked' }]) {
      const asked = { method: 'POST', headers: { ...headers, ...coding }, body: TRANSFER };
      expect(await expectEqual(ENCODE, asked)).toBe(200);
    }
  });

  it.each(OTHERS)('are the node’s: %s', async (_, path, asked) => {
    await expectEqual(path, asked);
  });

  it('are found where names of types are encoded', async () => {
    const statuses = await Promise.all(
      BOOKS.map(
        async (type) => (await nginx.get(`/v1/accounts/${PUBLISHER}/resource/${type}`)).status,
      ),
    );
    expect(statuses).toEqual([200, 200, 200, 200, 400]);
  });

  it('are not sent again to those that have them', async () => {
    const path = READS[0]!;
    const { headers } = await nginx.get(path);
    expect(headers['cache-control']).toContain('immutable');
    const asked = { headers: { 'if-none-match': String(headers['etag']) } };
    expect(await expectEqual(path, asked)).toBe(304);
  });

  it('have the names of their headers as the node writes them', async () => {
    const own = await send(direct, '/v1', {});
    const through = await nginx.get('/v1');
    expect(through.names.filter((name) => /^x-/i.test(name))).toEqual(
      own.names.filter((name) => /^x-/i.test(name)),
    );
  });

  it('are the same over HTTP/2', async () => {
    const accept = { accept: 'application/json' };
    const answers = await nginx.getAllHttp2(READS, accept, HTTP2);
    for (const [index, path] of READS.entries()) {
      const own = await send(direct, path, { headers: accept });
      const { status, headers, body } = answers[index]!;
      expect({ status, headers }).toEqual({ status: own.status, headers: own.headers });
      expect(body.equals(own.body)).toBe(true);
    }
  });

  it('are refused for bodies that are larger than the node’s limit, with its text', async () => {
    const limit = API_CONSTANTS.contentLengthLimitBytes;
    const asked = (bytes: number): Request => ({
      method: 'POST',
      headers: JSON_BODY,
      body: Buffer.alloc(bytes, 32),
    });
    expect(await expectEqual(ENCODE, asked(limit - 1))).toBe(400);
    expect(await expectEqual(ENCODE, asked(limit))).toBe(400);
    const refused = await nginx.get(ENCODE, asked(limit + 1));
    const headers = { 'content-length': String(limit + 1), connection: 'close' };
    const own = await send(direct, ENCODE, { method: 'POST', headers });
    expect([refused.status, refused.body.toString()]).toEqual([413, own.body.toString()]);
    expect(own.status).toBe(413);
  });

  it('are the node’s for headers over its limit, up to 96 KiB a line', async () => {
    const limit = API_CONSTANTS.maxHeaderBytes;
    expect(await expectEqual(`/v1/${'a'.repeat(limit)}`, {})).toBe(431);
  });

  it('wait as long as the node does', async () => {
    const next = String(BigInt(node.ready.ledger_version) + 1n);
    expect(await expectEqual('/v1', { headers: { 'x-node-min-ledger-version': next } })).toBe(503);
  });

  it('are logged by the node with the client’s address, not with what a client claims', async () => {
    await nginx.get('/v1/accounts/0xa11', { headers: { forwarded: 'for=192.0.2.1' } });
    const line = () => node.log.find(({ path }) => path === '/v1/accounts/0xa11');
    await until('the line is there', () => line() !== undefined);
    expect(line()).toMatchObject({ forwarded: 'for=127.0.0.1;proto=https', remote: '127.0.0.1' });
  });

  it('are nginx’s own for a path that is not valid', async () => {
    for (const path of ['/v1/%zz', '/v1/../../v1']) {
      expect((await nginx.get(path)).status).toBe(400);
    }
  });

  it('of the plain port lead to TLS', async () => {
    const { status, headers } = await send(nginx.plainOrigin, '/v1?a=%3C', {
      method: 'POST',
      headers: { host: 'node.example' },
    });
    expect([status, headers['location']]).toEqual([308, 'https://node.example/v1?a=%3C']);
  });

  it('are 429 with Retry-After for a client that asks too often, and not for others', async () => {
    const asked = { from: GREEDY, headers: { origin: 'https://dapp.example' } };
    const refused: Reply[] = [];
    await until('it is refused', async () => {
      const all = await Promise.all(Array.from({ length: 50 }, () => nginx.get('/v1', asked)));
      // On a busy machine the node also refuses some, with 503.
      refused.push(...all.filter(({ status }) => status === 429));
      return refused.length > 0;
    });
    for (const { status, headers, body } of refused) {
      expect([status, headers['retry-after'], headers['access-control-allow-origin']]).toEqual([
        429,
        '1',
        'https://dapp.example',
      ]);
      expect(JSON.parse(body.toString())).toMatchObject({ error_code: 'rate_limited' });
    }
    expect((await nginx.get('/v1', { from: USUAL })).status).toBe(200);
    await until('it may ask again', async () => (await nginx.get('/v1', asked)).status === 200);
  });

  it('are 429 for a client that asks for too much at once', async () => {
    const paths = Array.from({ length: 128 }, () => '/v1');
    const headers = { 'x-node-min-ledger-version': '999999999' };
    const statuses = (await nginx.getAllHttp2(paths, headers, WAITING)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([503, 429]));
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThanOrEqual(100);
  });
});

describe.skipIf(!isInstalled)(`several nodes behind nginx${skipped}`, () => {
  const folder = temporaryFolder();
  const nodes = new Map<string, ServedNode>();
  let nginx: Nginx;

  beforeAll(async () => {
    const data = join(folder, 'data');
    for (const name of ['one', 'two']) {
      nodes.set(name, await ServedNode.start(data, ['--sample', '--header-prefix', `x-${name}`]));
    }
    const addresses = [...nodes.values()].map(({ port }) => `127.0.0.1:${port}`);
    nginx = await Nginx.start(join(folder, 'nginx'), addresses, ['75s', '1s']);
  });
  afterAll(async () => {
    await nginx.stop();
    killLeftNodes();
  });

  /** The node that serves a client. */
  async function nodeOf(from: string): Promise<string> {
    const { status, headers } = await nginx.get('/v1', { from });
    expect(status).toBe(200);
    return [...nodes.keys()].find((name) => `x-${name}-chain-id` in headers)!;
  }

  async function expectAway(): Promise<void> {
    const { status, headers, body } = await nginx.get('/v1', { from: USUAL });
    expect([status, headers['retry-after'], headers['content-type']]).toEqual([
      503,
      '1',
      'application/json',
    ]);
    expect(JSON.parse(body.toString())).toMatchObject({ error_code: 'internal_error' });
  }

  it('share the clients, each of whom stays with one node', async () => {
    const first = await Promise.all(CLIENTS.map(nodeOf));
    expect(new Set(first)).toEqual(new Set(nodes.keys()));
    expect(await Promise.all(CLIENTS.map(nodeOf))).toEqual(first);
  });

  it('stand in for one that is killed', async () => {
    await nodes.get('one')!.stop('SIGKILL');
    expect(new Set(await Promise.all(CLIENTS.map(nodeOf)))).toEqual(new Set(['two']));
  });

  it('are 503 with Retry-After when none answers, and when none is there', async () => {
    const last = nodes.get('two')!;
    last.process.kill('SIGSTOP');
    await expectAway();
    last.process.kill('SIGCONT');
    await until('it answers', async () => (await nginx.get('/v1')).status === 200);
    expect((await last.stop()).code).toBe(0);
    await expectAway();
  });
});

describe.skipIf(!isInstalled)(`a stream of events through nginx${skipped}`, () => {
  let nginx: Nginx;
  const first = 'data: 1\n\n';
  const second = 'data: 2\n\n';
  let sendSecond = (): void => undefined;
  const source = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(first);
    sendSecond = () => response.end(second);
  });

  beforeAll(async () => {
    await once(source.listen(0, '127.0.0.1'), 'listening');
    const { port } = source.address() as AddressInfo;
    nginx = await Nginx.start(join(temporaryFolder(), 'nginx'), [`127.0.0.1:${port}`]);
  });
  afterAll(async () => {
    await nginx.stop();
    source.close();
  });

  it('comes as it is sent', async () => {
    const headers = { accept: 'text/event-stream' };
    const request = getStream(`${nginx.origin}/v1/stream`, { agent: nginx.agent, headers });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const seen = [String((await once(response, 'data'))[0])];
    sendSecond();
    for await (const chunk of response) seen.push(String(chunk));
    expect(seen).toEqual([first, second]);
  });
});
