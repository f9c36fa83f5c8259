/**
 * The ledger headers on every kind of response, the index and the health check (docs/spec/http.md §1.3, §1.4, §3;
 * docs/spec/decisions.md D1).
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestApi, TestReply } from './client.ts';
import { ENCODE, postEncode, REQUEST } from './encode-request.ts';
import { expectError } from './error-answers.ts';
import {
  CHAIN_ID,
  NEWEST,
  NEWEST_USECS,
  openSmallLedger,
  type SmallLedger,
} from './small-ledger.ts';

const BALANCE = '/v1/accounts/0xcafe/balance/0x1::aptos_coin::AptosCoin';
const EVENTS = '/v1/accounts/0xcafe/events/2';
const MODULE = '/v1/accounts/0x1/module/m';
const BCS = { accept: 'application/x-bcs' };

const LEDGER_HEADERS = {
  'x-node-chain-id': String(CHAIN_ID),
  'x-node-ledger-version': String(NEWEST),
  'x-node-ledger-oldest-version': '0',
  'x-node-ledger-timestampusec': String(NEWEST_USECS),
  'x-node-epoch': '2',
  'x-node-block-height': '2',
  'x-node-oldest-block-height': '0',
};

let ledger: SmallLedger;
let app: TestApi;
beforeAll(async () => {
  ledger = await openSmallLedger();
  app = ledger.app;
});
afterAll(() => ledger.close());

function expectLedgerHeaders(response: TestReply): void {
  expect(response.headers).toMatchObject(LEDGER_HEADERS);
  expect(response.headers).not.toHaveProperty('x-node-gas-used');
  expect(response.headers).not.toHaveProperty('x-node-cursor');
}

describe('the ledger headers', () => {
  it.each([
    ['GET', '/v1', 200],
    ['GET', '/v1/', 200],
    ['GET', '/v1/-/healthy', 200],
    ['GET', BALANCE, 200],
    ['HEAD', BALANCE, 200],
    ['GET', EVENTS, 200],
    ['GET', MODULE, 200],
    ['GET', '/v1/spec.json', 200],
    ['GET', `${BALANCE}?ledger_version=0`, 200],
    ['GET', `${BALANCE}?ledger_version=9`, 404],
    ['GET', '/v1/accounts/g/module/m', 400],
    ['GET', '/v1/accounts/%FF/module/m', 400],
    ['GET', '/v1/nowhere', 404],
    ['GET', '/', 404],
    ['DELETE', MODULE, 405],
    ['POST', ENCODE, 415],
    ['GET', '/v1/-/healthy?duration_secs=1', 503],
    ['GET', '/v1/accounts/0xbad1/balance/0x1::aptos_coin::AptosCoin', 500],
  ] as const)('are there on %s %s (%d)', async (method, url, status) => {
    const response = await app.request({ method, url });
    expect(response.statusCode).toBe(status);
    expectLedgerHeaders(response);
  });

  it('are there on 413, 304, preflights and their refusal, and encoded bytes', async () => {
    const tooLarge = await app.request({
      method: 'POST',
      url: ENCODE,
      body: Buffer.alloc(9_000_000),
    });
    const { etag } = (await app.request(BALANCE)).headers;
    const unchanged = await app.request({ url: BALANCE, headers: { 'if-none-match': etag! } });
    const preflight = (method: string) =>
      app.request({
        method: 'OPTIONS',
        url: BALANCE,
        headers: { origin: 'x', 'access-control-request-method': method },
      });
    const all = [tooLarge, unchanged, await preflight('GET'), await preflight('PUT')];
    all.push(await postEncode(app, REQUEST), await postEncode(app, {}));
    expect(all.map(({ statusCode }) => statusCode)).toEqual([413, 304, 200, 403, 200, 400]);
    all.forEach(expectLedgerHeaders);
  });

  it('have another prefix on demand', async () => {
    const other = await openSmallLedger({ headerPrefix: 'X-Aptos' });
    for (const url of [BALANCE, '/v1/nowhere']) {
      const { headers } = await other.app.request({ url, headers: { origin: 'x' } });
      expect(headers['x-aptos-chain-id']).toBe(String(CHAIN_ID));
      expect(headers['access-control-expose-headers']).toContain('x-aptos-ledger-version');
      expect(Object.keys(headers).some((name) => name.startsWith('x-node'))).toBe(false);
    }
    await other.close();
  });
});

describe('index and health', () => {
  it('the index shows the ledger, as JSON', async () => {
    const response = await app.request('/v1');
    expect(response.body).toBe(
      `{"chain_id":42,"epoch":"2","ledger_version":"4","oldest_ledger_version":"0",` +
        `"ledger_timestamp":"${NEWEST_USECS}","node_role":"full_node","oldest_block_height":"0",` +
        '"block_height":"2","git_hash":"","encryption_key":null}',
    );
    expect((await app.request('/v1/')).body).toBe(response.body);
  });

  it('and as BCS, u64 as strings', async () => {
    const response = await app.request({ url: '/v1', headers: BCS });
    expect(response.headers['content-type']).toBe('application/x-bcs');
    const text = (value: bigint | number) => [String(value).length, ...Buffer.from(String(value))];
    expect([...response.bytes]).toEqual([
      CHAIN_ID,
      ...text(2),
      ...text(NEWEST),
      ...text(0),
      ...text(NEWEST_USECS),
      1,
      ...text(0),
      ...text(2),
    ]);
  });

  it('health is told in both forms', async () => {
    expect((await app.request('/v1/-/healthy')).body).toBe('{"message":"aptos-node:ok"}');
    const bcs = await app.request({ url: '/v1/-/healthy', headers: BCS });
    expect(bcs.body).toBe('\raptos-node:ok');
  });

  it('a ledger behind its time is not healthy', async () => {
    const ageSecs = Math.ceil(Date.now() / 1000) - Number(NEWEST_USECS / 1_000_000n);
    const young = await app.request(`/v1/-/healthy?duration_secs=${ageSecs + 60}`);
    expect(young.statusCode).toBe(200);
    expectError(
      await app.request('/v1/-/healthy?duration_secs=60'),
      503,
      'health_check_failed',
      'The latest ledger info timestamp is 1700000000.123456s, which is beyond the allowed skew (60s).',
    );
    const before1970 = await app.request('/v1/-/healthy?duration_secs=4294967295');
    expect(before1970.statusCode).toBe(500);
    expect(before1970.json()).toMatchObject({ error_code: 'internal_error' });
    expectError(
      await app.request('/v1/-/healthy?duration_secs=x'),
      400,
      'web_framework_error',
      'failed to parse parameter `duration_secs`: failed to parse "integer(uint32)": ' +
        'invalid digit found in string (occurred while parsing "optional<integer(uint32)>")',
    );
  });
});
