/** The four operations, index and health over a real store (spec/http.md §1.3–1.4, §2–3, §5, §12; design D1–D4). */
import { brotliDecompressSync, gunzipSync, inflateRawSync } from 'node:zlib';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SMALL_MODULE } from '../move/module-samples.ts';
import { DocumentSchemas, type Json } from './document-schemas.ts';
import { expectError } from './error-answers.ts';
import {
  CHAIN_ID,
  JUNK,
  NATIVE_BALANCE,
  NEWEST,
  NEWEST_USECS,
  openSmallLedger,
  type SmallLedger,
} from './small-ledger.ts';

const COIN = '0x1::aptos_coin::AptosCoin';
const BALANCE = `/v1/accounts/0xcafe/balance/${COIN}`;
const EVENTS = '/v1/accounts/0xcafe/events/2';
const MODULE = '/v1/accounts/0x1/module/m';
const ENCODE = '/v1/transactions/encode_submission';
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

const REQUEST = {
  sender: '0xcafe',
  sequence_number: '1',
  max_gas_amount: '2',
  gas_unit_price: '3',
  expiration_timestamp_secs: '4',
  payload: {
    type: 'entry_function_payload',
    function: '0x1::m::f',
    type_arguments: [],
    arguments: ['5'],
  },
};

/** A documented answer. */
interface Success {
  readonly content: { readonly 'application/json': { readonly schema: Json } };
}

let ledger: SmallLedger;
let app: FastifyInstance;
beforeAll(async () => {
  ledger = await openSmallLedger();
  app = ledger.app;
});
afterAll(() => ledger.close());

function encode(body: unknown, headers: Record<string, string> = {}) {
  return app.inject({
    method: 'POST',
    url: ENCODE,
    headers: { 'content-type': 'application/json', ...headers },
    payload: JSON.stringify(body),
  });
}

function expectLedgerHeaders(response: LightMyRequestResponse): void {
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
    const response = await app.inject({ method, url });
    expect(response.statusCode).toBe(status);
    expectLedgerHeaders(response);
  });

  it('are there on 413, 304, preflights and their refusal, and encoded bytes', async () => {
    const tooLarge = await app.inject({
      method: 'POST',
      url: ENCODE,
      headers: { 'content-length': '9000000' },
    });
    const { etag } = (await app.inject(BALANCE)).headers;
    const unchanged = await app.inject({ url: BALANCE, headers: { 'if-none-match': etag! } });
    const preflight = (method: string) =>
      app.inject({
        method: 'OPTIONS',
        url: BALANCE,
        headers: { origin: 'x', 'access-control-request-method': method },
      });
    const all = [tooLarge, unchanged, await preflight('GET'), await preflight('PUT')];
    all.push(await encode(REQUEST), await encode({}));
    expect(all.map(({ statusCode }) => statusCode)).toEqual([413, 304, 200, 403, 200, 400]);
    all.forEach(expectLedgerHeaders);
  });

  it('have another prefix on demand', async () => {
    const other = await openSmallLedger({ headerPrefix: 'X-Aptos' });
    for (const url of [BALANCE, '/v1/nowhere']) {
      const { headers } = await other.app.inject({ url, headers: { origin: 'x' } });
      expect(headers['x-aptos-chain-id']).toBe(String(CHAIN_ID));
      expect(headers['access-control-expose-headers']).toContain('x-aptos-ledger-version');
      expect(Object.keys(headers).some((name) => name.startsWith('x-node'))).toBe(false);
    }
    await other.close();
  });
});

describe('index and health', () => {
  it('the index shows the ledger, as JSON', async () => {
    const response = await app.inject('/v1');
    expect(response.body).toBe(
      `{"chain_id":42,"epoch":"2","ledger_version":"4","oldest_ledger_version":"0",` +
        `"ledger_timestamp":"${NEWEST_USECS}","node_role":"full_node","oldest_block_height":"0",` +
        '"block_height":"2","git_hash":"","encryption_key":null}',
    );
    expect((await app.inject('/v1/')).body).toBe(response.body);
  });

  it('and as BCS, u64 as strings', async () => {
    const response = await app.inject({ url: '/v1', headers: BCS });
    expect(response.headers['content-type']).toBe('application/x-bcs');
    const text = (value: bigint | number) => [String(value).length, ...Buffer.from(String(value))];
    expect([...response.rawPayload]).toEqual([
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
    expect((await app.inject('/v1/-/healthy')).body).toBe('{"message":"aptos-node:ok"}');
    const bcs = await app.inject({ url: '/v1/-/healthy', headers: BCS });
    expect(bcs.body).toBe('\raptos-node:ok');
  });

  it('a ledger behind its time is not healthy', async () => {
    const ageSecs = Math.ceil(Date.now() / 1000) - Number(NEWEST_USECS / 1_000_000n);
    const young = await app.inject(`/v1/-/healthy?duration_secs=${ageSecs + 60}`);
    expect(young.statusCode).toBe(200);
    expectError(
      await app.inject('/v1/-/healthy?duration_secs=60'),
      503,
      'health_check_failed',
      'The latest ledger info timestamp is 1700000000.123456s, which is beyond the allowed skew (60s).',
    );
    const before1970 = await app.inject('/v1/-/healthy?duration_secs=4294967295');
    expect(before1970.statusCode).toBe(500);
    expect(before1970.json()).toMatchObject({ error_code: 'internal_error' });
    expectError(
      await app.inject('/v1/-/healthy?duration_secs=x'),
      400,
      'web_framework_error',
      'failed to parse parameter `duration_secs`: failed to parse "integer(uint32)": ' +
        'invalid digit found in string (occurred while parsing "optional<integer(uint32)>")',
    );
  });
});

describe('module', () => {
  it('comes as JSON and as its stored bytes', async () => {
    const json = await app.inject(MODULE);
    expect(json.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(json.body).toMatch(/^\{"bytecode":"0x[0-9a-f]+","abi":\{"address":"0x1","name":"m",/);
    expect(json.json<{ bytecode: string }>().bytecode).toBe(`0x${SMALL_MODULE.toString('hex')}`);
    const bcs = await app.inject({ url: MODULE, headers: BCS });
    expect(bcs.headers['content-type']).toBe('application/x-bcs');
    expect(bcs.rawPayload.equals(SMALL_MODULE)).toBe(true);
  });

  it('that does not load has no interface', async () => {
    const response = await app.inject('/v1/accounts/0x1/module/junk');
    expect(response.body).toBe(`{"bytecode":"0x${JUNK.toString('hex')}","abi":null}`);
  });

  it.each([
    ['/v1/accounts/0x1/module/NoNoNo', 'Address(0x1), Module name(NoNoNo) and Ledger version(4)'],
    ['/v1/accounts/0001/module/M', 'Address(0x1), Module name(M) and Ledger version(4)'],
    [`/v1/accounts/0xbeef/module/m`, 'Address(0xbeef), Module name(m) and Ledger version(4)'],
    [
      '/v1/accounts/0x1/module/late?ledger_version=0',
      'Address(0x1), Module name(late) and Ledger version(0)',
    ],
  ])('%s is not there', async (url, what) => {
    expectError(await app.inject(url), 404, 'module_not_found', `Module not found by ${what}`);
  });

  it('is there from its version on', async () => {
    const response = await app.inject('/v1/accounts/0x1/module/late?ledger_version=1');
    expect(response.statusCode).toBe(200);
  });
});

describe('balance', () => {
  it.each([
    [BALANCE, NATIVE_BALANCE],
    [`${BALANCE}?ledger_version=0`, 1n],
    [`${BALANCE}?ledger_version=%2B1`, 18_000_000_000_000_000_000n],
    ['/v1/accounts/0xcafe/balance/0xa', 446_744_073_709_551_615n],
    ['/v1/accounts/cafe/balance/a?ledger_version=4&ledger_version=x', 446_744_073_709_551_615n],
    ['/v1/accounts/0xcafe/balance/0xa?ledger_version=1', 0n],
    ['/v1/accounts/0x5/balance/0xa', 0n],
    ['/v1/accounts/0xcafe/balance/0xb', 0n],
    ['/v1/accounts/0xcafe/balance/0x1::no::Coin', 0n],
    ['/v1/accounts/0xcafe/balance/0x1%3A%3Aaptos_coin%3A%3AAptosCoin', NATIVE_BALANCE],
  ])('%s', async (url, amount) => {
    const json = await app.inject(url);
    expect([json.statusCode, json.body]).toEqual([200, String(amount)]);
    const bcs = await app.inject({ url, headers: BCS });
    expect(bcs.rawPayload.length).toBe(8);
    expect(bcs.rawPayload.readBigUInt64LE()).toBe(amount);
  });

  it('that cannot be told is a failure', async () => {
    const sum = await app.inject(`/v1/accounts/0xf0/balance/${COIN}`);
    expect(sum.statusCode).toBe(500);
    expect(sum.json<{ message: string }>().message).toContain('attempt to add with overflow');
    const broken = await app.inject(`/v1/accounts/0xbad1/balance/${COIN}`);
    expect(broken.statusCode).toBe(500);
    expect(broken.json()).toMatchObject({ error_code: 'internal_error' });
    const deep = `${'0x1::a::B<'.repeat(8)}u8${'>'.repeat(8)}`;
    expectError(
      await app.inject(`/v1/accounts/0x1/balance/${encodeURIComponent(deep)}`),
      500,
      'internal_error',
      `invalid struct tag: 0x1::coin::CoinStore<${deep}>, ` +
        'Exceeded TypeTag nesting limit during parsing: 9',
    );
  });
});

describe('ledger versions', () => {
  it.each([MODULE, BALANCE])('of %s are the interface’s', async (url) => {
    for (const version of ['0', '4', '%2B04']) {
      expect((await app.inject(`${url}?ledger_version=${version}`)).statusCode).toBe(200);
    }
    for (const version of ['5', '1000000000000000000']) {
      expectError(
        await app.inject(`${url}?ledger_version=${version}`),
        404,
        'version_not_found',
        `Ledger version not found by Ledger version(${version})`,
      );
    }
    expectError(
      await app.inject(`${url}?ledger_version=-1`),
      400,
      'web_framework_error',
      'failed to parse parameter `ledger_version`: failed to parse "string(U64)": Parsing u64 ' +
        'string "-1" failed, caused by error: invalid digit found in string ' +
        '(occurred while parsing "optional<string(U64)>")',
    );
  });
});

describe('events', () => {
  async function sequenceNumbers(query: string): Promise<number[]> {
    const response = await app.inject(`${EVENTS}${query}`);
    expect(response.statusCode).toBe(200);
    return response.json<{ sequence_number: string }[]>().map((each) => +each.sequence_number);
  }

  function range(from: number, count: number): number[] {
    return Array.from({ length: count }, (_, index) => from + index);
  }

  it.each([
    ['', 5, 25],
    ['?limit=3', 27, 3],
    ['?limit=100', 0, 30],
    ['?limit=65535', 0, 30],
    ['?start=0', 0, 25],
    ['?start=28', 28, 2],
    ['?start=1&limit=2', 1, 2],
    ['?start=1&limit=2&start=x&limit=y', 1, 2],
    ['?start=30', 0, 0],
    ['?start=18446744073709551615', 0, 0],
    ['?unknown=1&ledger_version=x&Limit=0', 5, 25],
    ['?start=%2B2&limit=%2B1', 2, 1],
  ])('the page %s', async (query, from, count) => {
    expect(await sequenceNumbers(query)).toEqual(range(from, count));
  });

  it('have their fields in order', async () => {
    const { body } = await app.inject(`${EVENTS}?start=10&limit=1`);
    expect(body).toBe(
      '[{"version":"2","guid":{"creation_number":"2","account_address":"0xcafe"},' +
        '"sequence_number":"10","type":"0x1::m::S<u64>","data":{"a":"0x0a"}}]',
    );
  });

  it('come as BCS, too', async () => {
    const { rawPayload } = await app.inject({ url: `${EVENTS}?start=10&limit=1`, headers: BCS });
    expect(rawPayload.toString('hex')).toBe(
      '01' +
        '0200000000000000' +
        '00' +
        '0200000000000000' +
        'cafe'.padStart(64, '0') +
        '0a00000000000000' +
        `07${'1'.padStart(64, '0')}016d01530102` +
        '02010a',
    );
  });

  it.each(['/v1/accounts/0xcafe/events/9', '/v1/accounts/0xa550c18/events/0?start=1'])(
    '%s is empty',
    async (url) => {
      expect((await app.inject(url)).body).toBe('[]');
      const { rawPayload } = await app.inject({ url, headers: BCS });
      expect([...rawPayload]).toEqual([0]);
    },
  );

  it('the page size is limited', async () => {
    expectError(
      await app.inject(`${EVENTS}?limit=0`),
      400,
      'invalid_input',
      'Given limit value (0) must not be zero',
    );
    const small = await openSmallLedger({ maxEventsPageSize: 3 });
    for (const query of ['', '?limit=3', '?limit=4', '?start=0']) {
      const response = await small.app.inject(`${EVENTS}${query}`);
      expect(response.json<unknown[]>().length).toBe(3);
    }
    await small.close();
  });

  it('that cannot be rendered fail as JSON only', async () => {
    const url = '/v1/accounts/0xcafe/events/3';
    const response = await app.inject(url);
    expect(response.statusCode).toBe(500);
    expect(response.json()).toMatchObject({
      error_code: 'internal_error',
      message: expect.stringMatching(
        /^Failed to convert events from storage into response: ./,
      ) as string,
    });
    expect((await app.inject({ url, headers: BCS })).statusCode).toBe(200);
  });
});

describe('encode submission', () => {
  const HEX =
    '0xb5e97db07fa0bd0e5598aa3643a9bc6f6693bddc1a9fec9e674a461eaa00b193' +
    'cafe'.padStart(64, '0') +
    '0100000000000000' +
    `02${'1'.padStart(64, '0')}016d01660001080500000000000000` +
    '0200000000000000' +
    '0300000000000000' +
    '0400000000000000' +
    '2a';

  it('gives the bytes to sign, as hex and as BCS (design D2)', async () => {
    const json = await encode(REQUEST);
    expect(json.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(json.body).toBe(JSON.stringify(HEX));
    const bcs = await encode(REQUEST, BCS);
    const bytes = Buffer.from(HEX.slice(2), 'hex');
    expect(bcs.headers['content-type']).toBe('application/x-bcs');
    expect(bcs.rawPayload.equals(Buffer.concat([Buffer.from([bytes.length, 1]), bytes]))).toBe(
      bytes.length > 127 && bytes.length < 256,
    );
  });

  const changed = (change: object) => ({ ...REQUEST, ...change });
  const T =
    ' (occurred while parsing "UserTransactionRequestInner") ' +
    '(occurred while parsing "EncodeSubmissionRequest")';

  it.each([
    [
      'a bad u64',
      changed({ sequence_number: 'invalid' }),
      'web_framework_error',
      'parse request payload error: failed to parse "string(U64)": Parsing u64 string "invalid" ' +
        `failed, caused by error: invalid digit found in string${T}`,
    ],
    [
      'a payload that is a number',
      changed({ payload: 1234 }),
      'web_framework_error',
      `parse request payload error: Expected input type "TransactionPayload", found 1234.${T}`,
    ],
    [
      'a payload that is no more',
      changed({ payload: { type: 'module_bundle_payload' } }),
      'invalid_input',
      "'UserTransactionRequest' invalid: Module bundle payload has been removed",
    ],
  ])('%s is refused', async (_, body, code, message) => {
    expectError(await encode(body), 400, code, message);
  });

  it('what the ledger does not know is refused after that', async () => {
    const payload = { ...REQUEST.payload, function: '0x1::m::nope' };
    const response = await encode(changed({ payload }));
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({
      error_code: 'invalid_input',
      message: expect.stringMatching(/^The given transaction is invalid: /) as string,
    });
  });

  it('switches come after the request was read and before the ledger', async () => {
    const off = await openSmallLedger({
      encodeSubmissionEnabled: false,
      jsonOutputEnabled: false,
    });
    const send = (body: string, headers: object = {}) =>
      off.app.inject({
        method: 'POST',
        url: ENCODE,
        headers: { 'content-type': 'application/json', ...headers },
        payload: body,
      });
    expect((await send('{')).statusCode).toBe(400);
    expect((await send('{}', { 'content-type': 'invalid' })).statusCode).toBe(415);
    const bundle = changed({ payload: { type: 'module_bundle_payload' } });
    expect((await send(JSON.stringify(bundle))).statusCode).toBe(400);
    expectError(
      await send(JSON.stringify(REQUEST)),
      403,
      'api_disabled',
      'Encode submission is not allowed. Only JSON is supported as an AcceptType.',
    );
    await off.close();
    const outputs = await openSmallLedger({ jsonOutputEnabled: false, bcsOutputEnabled: false });
    for (const [accept, output] of [
      ['application/json', 'JSON'],
      ['application/x-bcs', 'BCS'],
    ]) {
      const response = await outputs.app.inject({
        method: 'POST',
        url: ENCODE,
        headers: { 'content-type': 'application/json', accept: accept! },
        payload: JSON.stringify(REQUEST),
      });
      expectError(
        response,
        403,
        'api_disabled',
        `Encode submission with ${output} output is disabled on this endpoint`,
      );
    }
    await outputs.close();
  });

  it('its domain is a setting', async () => {
    const other = await openSmallLedger({ signingDomainPrefix: 'OTHER::' });
    const response = await other.app.inject({
      method: 'POST',
      url: ENCODE,
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(REQUEST),
    });
    expect(response.json<string>().slice(66)).toBe(HEX.slice(66));
    expect(response.json<string>()).not.toBe(HEX);
    await other.close();
  });
});

describe('caching, design D11', () => {
  it.each([BALANCE, MODULE, EVENTS, '/v1', '/v1/spec.yaml'])('%s is tagged', async (url) => {
    const first = await app.inject(url);
    const { etag } = first.headers as { etag: string };
    expect(etag).toMatch(/^"[\w-]+"$/);
    expect(first.headers['cache-control']).toBeUndefined();
    expect(first.headers.vary).toBe('Origin, Accept, Accept-Encoding');
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await app.inject({ url, headers: { 'if-none-match': known } });
      expect([again.statusCode, again.body]).toEqual([304, '']);
      expect(again.headers).toMatchObject({ etag, vary: first.headers.vary });
      expect(again.headers).not.toHaveProperty('content-type');
    }
    for (const other of ['"x"', etag.slice(0, -2), '']) {
      const again = await app.inject({ url, headers: { 'if-none-match': other } });
      expect([again.statusCode, again.body]).toEqual([200, first.body]);
    }
  });

  it.each([BALANCE, MODULE, EVENTS, '/v1'])('%s has a tag for each form', async (url) => {
    const tags = new Set<unknown>();
    for (const accept of ['application/json', 'application/x-bcs']) {
      for (const coding of ['', 'gzip', 'deflate', 'br']) {
        const headers = { accept, 'accept-encoding': coding };
        const { etag } = (await app.inject({ url, headers })).headers as { etag: string };
        tags.add(etag);
        const again = await app.inject({ url, headers: { ...headers, 'if-none-match': etag } });
        expect(again.statusCode).toBe(304);
      }
    }
    expect(tags.size).toBe(8);
  });

  it('an answer at a version is there for good', async () => {
    for (const url of [BALANCE, MODULE]) {
      const { headers } = await app.inject(`${url}?ledger_version=4`);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(headers.etag).toBe((await app.inject(url)).headers.etag);
      const old = await app.inject({
        url: `${url}?ledger_version=4`,
        headers: { 'if-none-match': headers.etag as string },
      });
      expect(old.statusCode).toBe(304);
      expect(old.headers['cache-control']).toBe(headers['cache-control']);
    }
  });

  it('failures and encoded transactions are not', async () => {
    const missing = await app.inject('/v1/accounts/0x1/module/no?ledger_version=1');
    const encoded = await encode(REQUEST, { 'if-none-match': '*' });
    expect(encoded.statusCode).toBe(200);
    for (const { headers } of [missing, encoded]) {
      expect(headers).not.toHaveProperty('etag');
      expect(headers).not.toHaveProperty('cache-control');
    }
  });

  it('different answers have different tags', async () => {
    const tag = async (url: string) => (await app.inject(url)).headers.etag;
    expect(await tag(BALANCE)).not.toBe(await tag(`${BALANCE}?ledger_version=0`));
    expect(await tag(EVENTS)).not.toBe(await tag(`${EVENTS}?limit=24`));
  });
});

describe('compression, spec/http.md §10.2', () => {
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync, deflate: inflateRawSync };

  it.each(['br', 'gzip', 'deflate'] as const)('answers come in %s', async (coding) => {
    for (const url of [BALANCE, MODULE, EVENTS, '/v1', '/v1/spec.json']) {
      const plain = await app.inject(url);
      expect(plain.headers['content-encoding']).toBeUndefined();
      for (let again = 0; again < 2; again += 1) {
        const response = await app.inject({ url, headers: { 'accept-encoding': coding } });
        expect(response.headers['content-encoding']).toBe(coding);
        expect(response.headers['content-length']).toBe(String(response.rawPayload.length));
        expect(decoders[coding](response.rawPayload).toString()).toBe(plain.body);
      }
    }
    const encoded = await encode(REQUEST, { 'accept-encoding': coding });
    expect(decoders[coding](encoded.rawPayload).toString()).toMatch(/^"0xb5e9/);
  });

  it('errors do not, with an origin or without', async () => {
    for (const url of ['/v1/nowhere', `${BALANCE}?ledger_version=9`]) {
      for (const origin of [{}, { origin: 'x' }]) {
        const headers = { 'accept-encoding': 'gzip', ...origin };
        const response = await app.inject({ url, headers });
        expect(response.headers['content-encoding']).toBeUndefined();
        expect(response.json()).toHaveProperty('error_code');
      }
    }
  });

  it('can be switched off', async () => {
    const off = await openSmallLedger({ compressionEnabled: false });
    const { headers } = await off.app.inject({ url: EVENTS, headers: { 'accept-encoding': 'br' } });
    expect(headers['content-encoding']).toBeUndefined();
    expect(headers.vary).toBe('Origin, Accept');
    await off.close();
  });
});

describe('pruning', () => {
  it('is told, never skipped over (design D4)', async () => {
    const pruned = await openSmallLedger();
    const before = (await pruned.app.inject(BALANCE)).headers;
    expect(before['x-node-ledger-oldest-version']).toBe('0');
    await pruned.prune();
    const get = (url: string) => pruned.app.inject(url);
    const kept = await get(`${BALANCE}?ledger_version=2`);
    expect(kept.statusCode).toBe(200);
    expect(kept.headers).toMatchObject({
      'x-node-ledger-oldest-version': '2',
      'x-node-oldest-block-height': '1',
    });
    for (const url of [BALANCE, MODULE]) {
      expectError(
        await get(`${url}?ledger_version=1`),
        410,
        'version_pruned',
        'Ledger version(1) has been pruned',
      );
    }
    for (const query of ['?start=0', '?start=9', '?start=9&limit=1']) {
      const response = await get(`${EVENTS}${query}`);
      expect([query, response.statusCode]).toEqual([query, 410]);
      expect(response.json()).toMatchObject({ error_code: 'version_pruned' });
    }
    // Without a start the newest are asked, as many as there are.
    for (const query of ['?start=10', '?limit=20', '?limit=21', '']) {
      const response = await get(`${EVENTS}${query}`);
      expect(response.json<unknown[]>()).toHaveLength(20);
    }
    await pruned.close();
  });
});

describe('answers and their document', () => {
  it('agree', async () => {
    const document = (await app.inject('/v1/spec.json')).json<{
      paths: Record<string, { get: { responses: { '200': Success } } }>;
    }>();
    const schemas = new DocumentSchemas(document as unknown as Json);
    const schemaOf = (path: string): Json =>
      document.paths[path]!.get.responses['200'].content['application/json'].schema;
    for (const [path, url] of [
      ['/', '/v1'],
      ['/-/healthy', '/v1/-/healthy'],
      ['/accounts/{address}/module/{module_name}', MODULE],
      ['/accounts/{address}/module/{module_name}', '/v1/accounts/0x1/module/junk'],
      ['/accounts/{address}/balance/{asset_type}', BALANCE],
      ['/accounts/{address}/events/{creation_number}', EVENTS],
    ] as const) {
      const answer = (await app.inject(url)).json<Json>();
      expect([url, ...schemas.problems(schemaOf(path), answer)]).toEqual([url]);
    }
    const hex = { $ref: '#/components/schemas/HexEncodedBytes' };
    expect(schemas.problems(hex, (await encode(REQUEST)).json<Json>())).toEqual([]);
  });

  it('nothing unforeseen happened in all of this', () => {
    expect(ledger.log.errors).toEqual([]);
  });
});
