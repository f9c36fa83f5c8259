/**
 * Accounts, single resources and events by handle over a real store (docs/spec/http.md §1.5, §1.6; docs/spec/ledger.md
 * §5.5).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatStructTag } from '../../src/move/types/type-tag.ts';
import { accountCodec } from '../../src/move/values/framework-resource.ts';
import {
  AUTHENTICATION_KEY,
  type ContentLedger,
  HANDLES,
  LONG_TYPE,
  OWNER,
  openContentLedger,
  u64,
} from './content-ledger.ts';
import { DocumentSchemas, type Json } from './document-schemas.ts';
import { expectError, withoutLedger } from './error-answers.ts';

const BCS = { accept: 'application/x-bcs' };
let ledger: ContentLedger;
let document: DocumentSchemas;

beforeAll(async () => {
  ledger = await openContentLedger();
  document = new DocumentSchemas((await ledger.app.request('/v1/spec.json')).json<Json>());
});
afterAll(() => ledger.close());

function get(url: string, headers: Record<string, string> = {}) {
  return ledger.app.request({ url, headers });
}

/** Requests JSON, and checks a 200 against the documented schema. */
async function json(url: string, schema: string): Promise<string> {
  const response = await get(url);
  expect([url, response.statusCode]).toEqual([url, 200]);
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  const reference = { $ref: `#/components/schemas/${schema}` };
  expect(document.problems(reference, response.json<Json>())).toEqual([]);
  return response.body;
}

async function bcs(url: string): Promise<Buffer> {
  const response = await get(url, BCS);
  expect([url, response.statusCode]).toEqual([url, 200]);
  expect(response.headers['content-type']).toBe('application/x-bcs');
  return response.bytes;
}

describe('an account', () => {
  const key = `0x${AUTHENTICATION_KEY.toString('hex')}`;

  it.each([
    ['', '6'],
    ['?ledger_version=0', '5'],
    ['?ledger_version=1', '6'],
    ['?ledger_version=4', '6'],
  ])('at %s has sequence number %s', async (query, sequenceNumber) => {
    expect(await json(`/v1/accounts/0xac0${query}`, 'AccountData')).toBe(
      `{"sequence_number":"${sequenceNumber}","authentication_key":"${key}"}`,
    );
    const account = accountCodec.decode(await bcs(`/v1/accounts/0xac0${query}`));
    expect(account.sequenceNumber).toBe(BigInt(sequenceNumber));
    expect(account.authenticationKey.equals(AUTHENTICATION_KEY)).toBe(true);
    expect(account.guidCreationNumber).toBe(10n);
  });

  it('that was never created is the default one where the chain allows that', async () => {
    for (const query of ['', '?ledger_version=2', '?ledger_version=4']) {
      expect(await json(`/v1/accounts/0xf00d${query}`, 'AccountData')).toBe(
        `{"sequence_number":"0","authentication_key":"0x${'f00d'.padStart(64, '0')}"}`,
      );
    }
    // Key as bytes, number, next creation number 2, streams 0 and 1, no offers: the reference's values.
    const address = 'f00d'.padStart(64, '0');
    const handle = (number: string) => `0000000000000000${number}00000000000000${address}`;
    expect((await bcs('/v1/accounts/0xf00d')).toString('hex')).toBe(
      `20${address}0000000000000000${'0200000000000000'}${handle('00')}${handle('01')}0000`,
    );
  });

  it.each([0, 1])('that was never created is not found at version %i', async (version) => {
    for (const headers of [{}, BCS]) {
      expectError(
        await get(`/v1/accounts/0x0f00d?ledger_version=${version}`, headers),
        404,
        'account_not_found',
        `Account not found by Address(0xf00d) and Ledger version(${version})`,
      );
    }
  });

  it('whose resource does not decode is an internal error in both forms', async () => {
    for (const headers of [{}, BCS]) {
      expectError(
        await get('/v1/accounts/0xbad', headers),
        500,
        'internal_error',
        'Internal error deserializing response from DB: unexpected end of input',
      );
    }
  });

  it('is pinned by a version and tagged without one', async () => {
    const pinned = await get('/v1/accounts/0xac0?ledger_version=4');
    const latest = await get('/v1/accounts/0xac0');
    expect(pinned.headers['cache-control']).toContain('immutable');
    expect(latest.headers['cache-control']).toBeUndefined();
    expect(latest.headers.etag).toBe(pinned.headers.etag);
    const again = await get('/v1/accounts/0xac0', { 'if-none-match': String(latest.headers.etag) });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });
});

describe('a resource', () => {
  const value = (of: string, bytes: string) => `{"type":"0x7::m::${of}","data":${bytes}}`;

  it.each([
    ['0x7::m::Plain', '', value('Plain', '{"value":"100"}'), u64(100n)],
    ['0x7::m::Plain', '?ledger_version=0', value('Plain', '{"value":"1"}'), u64(1n)],
    ['0x7::m::Plain', '?ledger_version=1', value('Plain', '{"value":"100"}'), u64(100n)],
    ['0x7::m::Quip', '?ledger_version=0', value('Quip', '{"value":"2"}'), u64(2n)],
    ['0x7::m::Quip', '?ledger_version=2', value('Quip', '{"value":"200"}'), u64(200n)],
    ['0x07::m::Alpha', '', value('Alpha', '{"value":80}'), Buffer.of(80)],
    ['0x7::m::Alpha', '?ledger_version=1', value('Alpha', '{"value":8}'), Buffer.of(8)],
    ['0x7::m::Beta', '?ledger_version=1', value('Beta', '{"value":9}'), Buffer.of(9)],
    ['0x7::m::Zero', '?ledger_version=2', value('Zero', '{"value":"11"}'), u64(11n)],
    // Both in a group and outside: the group takes precedence, and the value outside is never read.
    ['0x7::m::Box%3Cu8%3E', '?ledger_version=0', value('Box<u8>', '{"inner":10}'), Buffer.of(10)],
    ['0x7::m::Kind', '', value('Kind', '{"__variant__":"Bare"}'), Buffer.of(0)],
  ])('%s at %s', async (tag, query, text, bytes) => {
    const url = `/v1/accounts/0xbeef/resource/${tag}${query}`;
    expect(await json(url, 'MoveResource')).toBe(text);
    expect((await bcs(url)).equals(bytes)).toBe(true);
  });

  it('of a type that takes 1,731 bytes', async () => {
    const type = formatStructTag(LONG_TYPE);
    const url = `/v1/accounts/0xbeef/resource/${encodeURIComponent(type)}`;
    expect(await json(url, 'MoveResource')).toBe(`{"type":"${type}","data":{"value":7}}`);
  });

  it.each([
    ['0x7::m::Quip', 1, '0x7::m::Quip'],
    ['0x7::m::Zero', 3, '0x7::m::Zero'],
    ['0x7::m::Beta', 2, '0x7::m::Beta'],
    ['0x7::m::Nope', 4, '0x7::m::Nope'],
    ['0x9::no::Module', 4, '0x9::no::Module'],
    ['0x7::m::Box%3C%200x0007::m::Plain%20,%3E', 4, '0x7::m::Box<0x7::m::Plain>'],
    // A group itself is not a resource.
    ['0x7::m::Ring', 4, '0x7::m::Ring'],
  ])('%s at version %i is not found', async (tag, version, shown) => {
    const message =
      `Resource not found by Address(0xbeef), Struct tag(${shown}) ` +
      `and Ledger version(${version})`;
    for (const headers of [{}, BCS]) {
      const url = `/v1/accounts/beef/resource/${tag}?ledger_version=${version}`;
      expectError(await get(url, headers), 404, 'resource_not_found', message);
    }
  });

  it('in a group that does not decode is an internal error', async () => {
    expectError(
      await get('/v1/accounts/0xbad/resource/0x7::m::Alpha'),
      500,
      'internal_error',
      'Failed to query DB to check for 0x7::m::Alpha at 0xbad: unexpected end of input',
    );
  });

  it.each([
    ['0x7::m::Handles', 'unexpected end of input'],
    [
      '0x7::m::Missing',
      `Struct IdentStr("Missing") not found in ModuleId { address: ${'7'.padStart(64, '0')}, ` +
        'name: Identifier("m") }',
    ],
  ])('%s that cannot be shown is an internal error, its bytes are not', async (tag, why) => {
    const url = `/v1/accounts/0xbad1/resource/${tag}`;
    expectError(
      await get(url),
      500,
      'internal_error',
      `Failed to deserialize resource data retrieved from DB: ${why}`,
    );
    expect((await bcs(url)).equals(Buffer.of(1))).toBe(true);
  });

  it.each([
    ['u64', 'invalid struct tag: u64'],
    ['0x1::a', 'invalid struct tag: 0x1::a, expected token ColonColon, got EOF'],
  ])('of type %s is refused', async (tag, why) => {
    expectError(
      await get(`/v1/accounts/0x1/resource/${tag}`),
      400,
      'web_framework_error',
      `failed to parse path \`resource_type\`: failed to parse "string(MoveStructTag)": ${why}`,
    );
  });

  it.each([
    ['resource/', '', 'resource_type'],
    ['events/', '/made', 'event_handle'],
  ])('that nests more than four structs deep is refused in %s…%s', async (start, end, name) => {
    const nested = (levels: number, innermost: string) =>
      '0x1::a::B<'.repeat(levels) + innermost + '>'.repeat(levels);
    const ask = (tag: string) => get(`/v1/accounts/0x1/${start}${tag}${end}`);
    expect((await ask(nested(4, 'u8'))).json()).toMatchObject({ error_code: 'resource_not_found' });
    expect((await ask(nested(4, '0x1::a::C'))).statusCode).toBe(404);
    const outer = [5, 4, 3, 2, 1]
      .map((levels) => `Invalid struct tag for generic type params: ${nested(levels, 'u8')} `)
      .join('');
    expectError(
      await ask(nested(5, 'u8')),
      400,
      'invalid_input',
      `'${name}' invalid: ${outer}Move type u8 has gone over the limit of recursive types 8`,
    );
  });
});

describe('versions', () => {
  it.each(['', '/resource/0x7::m::Plain', '/resources', '/modules'])(
    'beyond the ledger or pruned are refused for %s',
    async (path) => {
      const pruned = await openContentLedger();
      await pruned.prune();
      const ask = (version: number | bigint) =>
        pruned.app.request(`/v1/accounts/0xbeef${path}?ledger_version=${version}`);
      expectError(await ask(0), 410, 'version_pruned', 'Ledger version(0) has been pruned');
      expect((await ask(1)).statusCode).toBe(path === '' ? 404 : 200);
      expect((await ask(4)).statusCode).toBe(200);
      const text = 'Ledger version not found by Ledger version(5)';
      expectError(await ask(5), 404, 'version_not_found', text);
      await pruned.close();
    },
  );
});

describe('events by handle', () => {
  const url = '/v1/accounts/0xbeef/events/0x7::m::Handles';

  it('are those of the stream, wherever that is', async () => {
    for (const query of ['', '?start=0', '?start=3&limit=4', '?start=30', '?limit=3']) {
      const byNumber = await get(`/v1/accounts/0xac0/events/9${query}`);
      const byHandle = await get(`${url}/made${query}`);
      expect(byHandle.statusCode).toBe(200);
      expect(byHandle.body).toBe(byNumber.body);
      const inBcs = await bcs(`${url}/made${query}`);
      expect(inBcs.equals(await bcs(`/v1/accounts/0xac0/events/9${query}`))).toBe(true);
    }
    const [first] = (await get(`${url}/made?start=0&limit=1`)).json<object[]>();
    expect(first).toEqual({
      version: '0',
      guid: { creation_number: '9', account_address: '0xac0' },
      sequence_number: '0',
      type: 'u8',
      data: 0,
    });
  });

  it('are looked for in the resource of the latest version', async () => {
    // Kind had a handle until version 4.
    expectError(
      await get('/v1/accounts/0xbeef/events/0x7::m::Kind/handle'),
      404,
      'struct_field_not_found',
      'Struct Field not found by Address(0xbeef), Struct tag(0x7::m::Kind), Field name(handle) ' +
        'and Ledger version(4)',
    );
  });

  it.each([
    ['note', 'unexpected end of input'],
    ['short', 'unexpected end of input'],
    ['long', 'remaining input'],
  ])('in %s, which is no handle, are refused', async (field, why) => {
    expect(HANDLES.length).toBe(5 + 48 + 8 + 49);
    expectError(
      await get(`${url}/${field}`),
      400,
      'invalid_input',
      `Deserialization error, field(${field}) type is not a EventHandle struct: ${why}`,
    );
  });

  it('of a missing resource, a missing field, a broken one', async () => {
    expectError(
      await get('/v1/accounts/0x5/events/0x7::m::Handles/made'),
      404,
      'resource_not_found',
      'Resource not found by Address(0x5), Struct tag(0x7::m::Handles) and Ledger version(4)',
    );
    expectError(
      await get(`${url}/nope`),
      404,
      'struct_field_not_found',
      'Struct Field not found by Address(0xbeef), Struct tag(0x7::m::Handles), Field name(nope) ' +
        'and Ledger version(4)',
    );
    expectError(
      await get('/v1/accounts/0xbad1/events/0x7::m::Handles/made'),
      500,
      'internal_error',
      'Failed to convert move structs from storage: unexpected end of input',
    );
  });

  it('with a bad name, a bad type, no limit', async () => {
    expectError(
      await get(`${url}/1st`),
      400,
      'web_framework_error',
      'failed to parse path `field_name`: failed to parse "string(IdentifierWrapper)": ' +
        "Invalid identifier '1st'",
    );
    expectError(
      await get('/v1/accounts/0xbeef/events/u8/made'),
      400,
      'web_framework_error',
      'failed to parse path `event_handle`: failed to parse "string(MoveStructTag)": ' +
        'invalid struct tag: u8',
    );
    expectError(
      await get(`${url}/made?limit=0`),
      400,
      'invalid_input',
      'Given limit value (0) must not be zero',
    );
  });
});

describe('a missing ledger', () => {
  it.each([
    '/v1/accounts/0x1',
    '/v1/accounts/0x1/resource/0x1::a::B',
    '/v1/accounts/0x1/resources',
    '/v1/accounts/0x1/modules',
    '/v1/accounts/0x1/events/0x1::a::B/c',
    '/v1/blocks/by_height/0',
    '/v1/blocks/by_version/0',
  ])('%s', async (url) => {
    const open = withoutLedger();
    expect((await open.request(url)).statusCode).toBe(503);
    expect((await open.request({ method: 'POST', url })).statusCode).toBe(405);
    await open.close();
  });

  it('the owner of the stream is not its holder', () => {
    expect(OWNER).not.toBe('beef'.padStart(64, '0'));
  });
});
