/** Module, balance and events over a real store (docs/spec/http.md §5, §6, §12; docs/spec/decisions.md D4). */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SMALL_MODULE } from '../move/modules/module-samples.ts';
import type { TestApi } from './client.ts';
import { DocumentSchemas, type Json } from './document-schemas.ts';
import { postEncode, REQUEST } from './encode-request.ts';
import { expectError, LogLines, NO_LEDGER, withoutLedger } from './error-answers.ts';
import { JUNK, NATIVE_BALANCE, openSmallLedger, type SmallLedger } from './small-ledger.ts';

const COIN = '0x1::aptos_coin::AptosCoin';
const BALANCE = '/v1/accounts/0xcafe/balance/0x1::aptos_coin::AptosCoin';
const EVENTS = '/v1/accounts/0xcafe/events/2';
const MODULE = '/v1/accounts/0x1/module/m';
const BCS = { accept: 'application/x-bcs' };

/** A documented response. */
interface Success {
  readonly content: { readonly 'application/json': { readonly schema: Json } };
}

let ledger: SmallLedger;
let app: TestApi;
beforeAll(async () => {
  ledger = await openSmallLedger();
  app = ledger.app;
});
afterAll(() => ledger.close());

describe('module', () => {
  it('comes as JSON and as its stored bytes', async () => {
    const json = await app.request(MODULE);
    expect(json.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(json.body).toMatch(/^\{"bytecode":"0x[0-9a-f]+","abi":\{"address":"0x1","name":"m",/);
    expect(json.json<{ bytecode: string }>().bytecode).toBe(`0x${SMALL_MODULE.toString('hex')}`);
    const bcs = await app.request({ url: MODULE, headers: BCS });
    expect(bcs.headers['content-type']).toBe('application/x-bcs');
    expect(bcs.bytes.equals(SMALL_MODULE)).toBe(true);
  });

  it('that does not load has no interface', async () => {
    const response = await app.request('/v1/accounts/0x1/module/junk');
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
    expectError(await app.request(url), 404, 'module_not_found', `Module not found by ${what}`);
  });

  it('is there from its version on', async () => {
    const response = await app.request('/v1/accounts/0x1/module/late?ledger_version=1');
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
    const json = await app.request(url);
    expect([json.statusCode, json.body]).toEqual([200, String(amount)]);
    const bcs = await app.request({ url, headers: BCS });
    expect(bcs.bytes.length).toBe(8);
    expect(bcs.bytes.readBigUInt64LE()).toBe(amount);
  });

  it('that cannot be told is a failure', async () => {
    const sum = await app.request(`/v1/accounts/0xf0/balance/${COIN}`);
    expect(sum.statusCode).toBe(500);
    expect(sum.json<{ message: string }>().message).toContain('attempt to add with overflow');
    const broken = await app.request(`/v1/accounts/0xbad1/balance/${COIN}`);
    expect(broken.statusCode).toBe(500);
    expect(broken.json()).toMatchObject({ error_code: 'internal_error' });
    const deep = `${'0x1::a::B<'.repeat(8)}u8${'>'.repeat(8)}`;
    expectError(
      await app.request(`/v1/accounts/0x1/balance/${encodeURIComponent(deep)}`),
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
      expect((await app.request(`${url}?ledger_version=${version}`)).statusCode).toBe(200);
    }
    for (const version of ['5', '1000000000000000000']) {
      expectError(
        await app.request(`${url}?ledger_version=${version}`),
        404,
        'version_not_found',
        `Ledger version not found by Ledger version(${version})`,
      );
    }
    expectError(
      await app.request(`${url}?ledger_version=-1`),
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
    const response = await app.request(`${EVENTS}${query}`);
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
    const { body } = await app.request(`${EVENTS}?start=10&limit=1`);
    expect(body).toBe(
      '[{"version":"2","guid":{"creation_number":"2","account_address":"0xcafe"},' +
        '"sequence_number":"10","type":"0x1::m::S<u64>","data":{"a":"0x0a"}}]',
    );
  });

  it('come as BCS, too', async () => {
    const { bytes } = await app.request({ url: `${EVENTS}?start=10&limit=1`, headers: BCS });
    expect(bytes.toString('hex')).toBe(
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
      expect((await app.request(url)).body).toBe('[]');
      const { bytes } = await app.request({ url, headers: BCS });
      expect([...bytes]).toEqual([0]);
    },
  );

  it('the page size is limited', async () => {
    expectError(
      await app.request(`${EVENTS}?limit=0`),
      400,
      'invalid_input',
      'Given limit value (0) must not be zero',
    );
    const small = await openSmallLedger({ maxPageSize: 3 });
    for (const query of ['', '?limit=3', '?limit=4', '?start=0']) {
      const response = await small.app.request(`${EVENTS}${query}`);
      expect(response.json<unknown[]>().length).toBe(3);
    }
    await small.close();
  });

  it('that cannot be rendered fail as JSON only', async () => {
    const url = '/v1/accounts/0xcafe/events/3';
    const response = await app.request(url);
    expect(response.statusCode).toBe(500);
    expect(response.json()).toMatchObject({
      error_code: 'internal_error',
      message: expect.stringMatching(
        /^Failed to convert events from storage into response: ./,
      ) as string,
    });
    expect((await app.request({ url, headers: BCS })).statusCode).toBe(200);
  });
});

describe('pruning', () => {
  it('is told, never skipped over (docs/spec/decisions.md D4)', async () => {
    const pruned = await openSmallLedger();
    const before = (await pruned.app.request(BALANCE)).headers;
    expect(before['x-node-ledger-oldest-version']).toBe('0');
    await pruned.prune();
    const get = (url: string) => pruned.app.request(url);
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
    // Without a start the newest events are requested, up to the number that exists.
    for (const query of ['?start=10', '?limit=20', '?limit=21', '']) {
      const response = await get(`${EVENTS}${query}`);
      expect(response.json<unknown[]>()).toHaveLength(20);
    }
    await pruned.close();
  });
});

describe('a ledger that cannot be read', () => {
  it('is in the log', async () => {
    const log = new LogLines();
    const broken = withoutLedger({}, [], log);
    for (const url of [MODULE, '/v1/-/ready', BALANCE]) {
      expectError(await broken.request(url), 503, 'internal_error', NO_LEDGER);
    }
    expect(log.errors).toEqual([]);
    expect(log.warnings[0]).toMatchObject({
      err: { code: 'ledger_unavailable', message: NO_LEDGER },
      unlogged_failures: 0,
    });
  });
});

describe('answers and their document', () => {
  it('agree', async () => {
    const document = (await app.request('/v1/spec.json')).json<{
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
      const answer = (await app.request(url)).json<Json>();
      expect([url, ...schemas.problems(schemaOf(path), answer)]).toEqual([url]);
    }
    const hex = { $ref: '#/components/schemas/HexEncodedBytes' };
    expect(schemas.problems(hex, (await postEncode(app, REQUEST)).json<Json>())).toEqual([]);
  });

  it('nothing unforeseen happened in all of this', () => {
    expect(ledger.log.errors).toEqual([]);
  });
});
