/** Responses that do not need the ledger (docs/spec/http.md §1.7, §5.1, §5.10, §10). */
import { afterAll, describe, expect, it } from 'vitest';
import { expectError, NO_LEDGER, withoutLedger } from './error-answers.ts';

const ENCODE = '/v1/transactions/encode_submission';
const MODULE = '/v1/accounts/0x1/module/coin';

const app = withoutLedger();
afterAll(() => app.close());

describe('routing', () => {
  it.each([
    ['GET', '/'],
    ['GET', '/v2'],
    ['GET', '/V1'],
    ['GET', '/v1/accounts/0x1/module/coin/'],
    ['GET', '/v1/accounts/0x1/module/'],
    ['GET', '/v1/accounts/0x1/balance/'],
    ['GET', '/v1/accounts/0x1/events/'],
    ['POST', '/v1/accounts/0x1/events/'],
    ['GET', '/v1/accounts//0x1/module/coin'],
    ['GET', '/v1//accounts/0x1/module/coin'],
    ['GET', '//v1'],
    ['GET', '/v1/Accounts/0x1/module/coin'],
    ['GET', '/v1/accounts/0x1/%6Dodule/coin'],
    ['GET', '/v1/accounts%2F0x1/module/coin'],
    ['GET', '/v1/accounts/0x1/module/coin/extra'],
    ['GET', '/elsewhere/%FF'],
    ['PUT', '/nowhere'],
    ['OPTIONS', '/v1/nowhere'],
    ['PROPFIND', '/v1/nowhere'],
  ])('%s %s is not found', async (method, url) => {
    const response = await app.request({ method: method as 'GET', url });
    expectError(response, 404, 'web_framework_error', 'not found');
  });

  it.each([
    ['POST', MODULE],
    ['PUT', MODULE],
    ['PATCH', MODULE],
    ['DELETE', '/v1/accounts/0x1/events/0'],
    ['TRACE', '/v1'],
    ['POST', '/v1/'],
    ['PROPFIND', '/v1/accounts/0x1/balance/0xa'],
    ['OPTIONS', MODULE],
    ['GET', ENCODE],
    ['POST', '/v1/accounts//module/coin'],
    ['POST', '/v1/spec.json'],
    ['DELETE', ENCODE],
    ['POST', '/v1/transactions/by_version/1'],
  ])('%s %s is not allowed', async (method, url) => {
    const response = await app.request({
      method: method as 'GET',
      url,
      headers: { 'content-type': 'no media type' },
      body: '{',
    });
    expectError(response, 405, 'web_framework_error', 'method not allowed');
    // Unlike the reference's response (docs/differences.md).
    expect(response.headers.allow).toMatch(/^(?:GET, HEAD|POST|GET, HEAD, POST)$/);
  });

  it('HEAD is GET without the body, and wrong on a path of POST', async () => {
    const onPost = await app.request({ method: 'HEAD', url: ENCODE });
    expect([onPost.statusCode, onPost.body]).toEqual([405, '']);
    const onGet = await app.request({ method: 'HEAD', url: MODULE });
    expect([onGet.statusCode, onGet.body]).toEqual([503, '']);
  });

  it('an empty middle segment is a parameter', async () => {
    expectError(
      await app.request('/v1/accounts//module/coin'),
      400,
      'web_framework_error',
      'failed to parse path `address`: failed to parse "string(Address)": Invalid account address: ' +
        'Hex string is too short, must be 1 to 64 chars long, excluding the leading 0x',
    );
  });

  it.each(['/v1/accounts/%FF/module/coin', '/v1/nowhere/%C3', '/v1/%80'])(
    'bytes that are not UTF-8 are refused: %s',
    async (url) => {
      for (const method of ['GET', 'POST', 'DELETE'] as const) {
        const response = await app.request({ method, url });
        expectError(response, 400, 'web_framework_error', 'invalid path params');
      }
    },
  );

  it('%2F is no separator', async () => {
    expectError(
      await app.request('/v1/accounts/0x1/module/a%2Fb'),
      400,
      'web_framework_error',
      'failed to parse path `module_name`: failed to parse "string(IdentifierWrapper)": ' +
        "Invalid identifier 'a/b'",
    );
  });
});

describe('the order of checks', () => {
  it('parameters fail in their order, before the ledger', async () => {
    const all = '/v1/accounts/g/events/x?start=y&limit=z';
    for (const [url, part] of [
      [all, '`address`'],
      [all.replace('/g/', '/1/'), '`creation_number`'],
      [all.replace('/g/events/x', '/1/events/1'), '`start`'],
      ['/v1/accounts/1/events/1?limit=z&start=1', '`limit`'],
      ['/v1/accounts/1/events/1?limit=&start=1', '`limit`'],
    ] as const) {
      const response = await app.request(url);
      expect(response.statusCode).toBe(400);
      expect(response.json<{ message: string }>().message).toContain(part);
    }
  });

  it('the ledger fails before limit 0, which its own operation checks', async () => {
    expectError(
      await app.request('/v1/accounts/1/events/1?limit=0'),
      503,
      'internal_error',
      NO_LEDGER,
    );
  });

  it('every operation without a ledger is unavailable', async () => {
    for (const url of ['/v1', '/v1/', '/v1/-/healthy', MODULE, '/v1/accounts/1/balance/0xa']) {
      expectError(await app.request(url), 503, 'internal_error', NO_LEDGER);
    }
  });
});

describe('the content type of a request, docs/spec/http.md §2.3', () => {
  it.each([
    'invalid',
    'text/json',
    'application/x-bcs',
    'application/x.aptos.signed_transaction+bcs',
    'application/json; charset',
    'application/+json',
  ])('%s is not supported', async (value) => {
    const response = await app.request({
      method: 'POST',
      url: ENCODE,
      headers: { 'content-type': value },
      body: '{}',
    });
    expectError(
      response,
      415,
      'web_framework_error',
      `the \`Content-Type\` requested by the client is not supported: ${value}`,
    );
  });

  it('absent, or not visible ASCII, is not included', async () => {
    for (const headers of [{}, { 'content-type': 'application/jsön' }]) {
      const response = await app.request({ method: 'POST', url: ENCODE, headers, body: '{}' });
      expectError(
        response,
        415,
        'web_framework_error',
        'the client request does not include the `Content-Type` header',
      );
    }
  });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json; charset=latin1',
    'APPLICATION/JSON',
    'application/vnd.api+json',
    'application/a+b+json',
    'application/json+xml',
  ])('%s is read', async (value) => {
    const response = await app.request({
      method: 'POST',
      url: ENCODE,
      headers: { 'content-type': value },
      body: 'invalid json',
    });
    expectError(
      response,
      400,
      'web_framework_error',
      'parse request payload error: expected value at line 1 column 1',
    );
  });

  it('does not matter to GET, nor does a body', async () => {
    const response = await app.request({
      method: 'GET',
      url: '/v1/accounts/g/module/coin',
      headers: { 'content-type': 'no media type' },
      body: 'x'.repeat(9 * 1024 * 1024),
    });
    expect(response.statusCode).toBe(400);
  });
});

describe('cross-origin requests, docs/spec/http.md §10.1 under docs/spec/decisions.md D1 and D5', () => {
  const origin = 'https://wallet.example';

  it('errors stay JSON and may be read', async () => {
    const response = await app.request({ url: '/v1/nowhere', headers: { origin } });
    expectError(response, 404, 'web_framework_error', 'not found');
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      vary: 'Origin',
    });
    expect(response.headers['access-control-expose-headers']).toBe(
      'x-node-chain-id, x-node-ledger-version, x-node-ledger-oldest-version, ' +
        'x-node-ledger-timestampusec, x-node-epoch, x-node-block-height, ' +
        'x-node-oldest-block-height, x-node-gas-used, x-node-cursor, x-node-upstream, etag',
    );
  });

  it('without an origin there is nothing of it', async () => {
    const { headers } = await app.request('/v1/nowhere');
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(headers.vary).toBeUndefined();
  });

  it.each(['/v1/transactions', ENCODE, '/nowhere', '/v1/accounts/%41/module/coin'])(
    'a preflight passes for %s',
    async (url) => {
      for (const method of ['GET', 'POST']) {
        const response = await app.request({
          method: 'OPTIONS',
          url,
          headers: { origin, 'access-control-request-method': method },
        });
        expect([response.statusCode, response.body]).toEqual([200, '']);
        expect(response.headers).toMatchObject({
          'access-control-allow-origin': origin,
          'access-control-allow-credentials': 'true',
          'access-control-allow-methods': 'GET, POST',
          'access-control-allow-headers': '*',
          'access-control-max-age': '86400',
        });
        expect(response.headers.vary).toBeUndefined();
      }
    },
  );

  it('a preflight gets the headers that it asks for', async () => {
    const response = await app.request({
      method: 'OPTIONS',
      url: MODULE,
      headers: {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-a, x-b',
      },
    });
    expect(response.headers['access-control-allow-headers']).toBe('x-a, x-b');
  });

  it.each(['PUT', 'get', '', undefined])('a preflight for %s is refused', async (method) => {
    const response = await app.request({
      method: 'OPTIONS',
      url: '/v1/transactions',
      headers: { origin, ...(method !== undefined && { 'access-control-request-method': method }) },
    });
    expectError(response, 403, 'web_framework_error', 'request-method not allowed');
    expect(response.headers['access-control-allow-origin']).toBeUndefined();
  });
});
