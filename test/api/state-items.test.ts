/** Table items and raw state values over a real store (docs/spec/transactions.md §6). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { MAX_ITEM_TYPES_LENGTH } from '../../src/ledger/state/item-request.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { formatHex } from '../../src/move/bcs/hex.ts';
import { moduleStateKey, resourceStateKey, StateKey } from '../../src/move/types/state-key.ts';
import {
  type ContentLedger,
  HOLDER,
  MODULE_BYTES,
  openContentLedger,
  PUBLISHER,
  typeOf,
  u64,
} from './content-ledger.ts';
import { expectError } from './error-answers.ts';

const ITEM = '/v1/tables/0x7ab1e/item';
const RAW_ITEM = '/v1/tables/0x7ab1e/raw_item';
const RAW_VALUE = '/v1/experimental/state_values/raw';
const JSON_BODY = { 'content-type': 'application/json' };
const BCS = { accept: 'application/x-bcs' };

let ledger: ContentLedger;
beforeAll(async () => {
  ledger = await openContentLedger();
});
afterAll(() => ledger.close());

function post(url: string, body: unknown, headers: Record<string, string> = {}, of = ledger) {
  return of.app.request({
    method: 'POST',
    url,
    headers: { ...JSON_BODY, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const PLAIN = { key_type: 'u64', value_type: '0x7::m::Plain' };

/** Checks that a request is refused with a code and a message. */
async function refused(
  url: string,
  body: unknown,
  [status, code, message]: readonly [number, string, string],
  headers: Record<string, string> = {},
) {
  expectError(await post(url, body, headers), status, code, message);
}

describe('a table item', () => {
  it.each([
    ['?ledger_version=0', '{"value":"10"}', 10n],
    ['?ledger_version=1', '{"value":"11"}', 11n],
    ['?ledger_version=2', '{"value":"11"}', 11n],
  ])('at %s is %s', async (query, json, value) => {
    const body = { ...PLAIN, key: '1' };
    const shown = await post(ITEM + query, body);
    expect([shown.statusCode, shown.body]).toEqual([200, json]);
    expect(shown.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(shown.headers['etag']).toBeUndefined();
    const stored = await post(ITEM + query, body, BCS);
    expect([stored.statusCode, stored.bytes]).toEqual([200, u64(value)]);
    const raw = await post(RAW_ITEM + query, { key: formatHex(u64(1n)) }, BCS);
    expect([raw.statusCode, raw.bytes]).toEqual([200, u64(value)]);
  });

  it('that is deleted, or never was, is not found', async () => {
    for (const [key, version] of [
      ['1', 4],
      ['7', 4],
    ] as const) {
      const where = 'Table handle(0x7ab1e)';
      const code = 'table_item_not_found';
      await refused(ITEM, { ...PLAIN, key }, [
        404,
        code,
        `Table Item not found by ${where}, Table key("${key}") and Ledger version(${version})`,
      ]);
      const hex = formatHex(u64(BigInt(key)));
      await refused(
        RAW_ITEM,
        { key: hex },
        [404, code, `Table Item not found by ${where}, Table key(${hex}) and Ledger version(4)`],
        BCS,
      );
    }
  });

  it('that does not fit the type is a failure in JSON only', async () => {
    const body = { ...PLAIN, key: '2' };
    const failure = 'Failed to deserialize table item retrieved from DB: ';
    await refused(ITEM, body, [500, 'internal_error', `${failure}unexpected end of input`]);
    const stored = await post(ITEM, body, BCS);
    expect([stored.statusCode, stored.bytes]).toEqual([200, Buffer.of(1)]);
    const asByte = await post(ITEM, { ...body, value_type: 'u8' });
    expect([asByte.statusCode, asByte.body]).toEqual([200, '1']);
  });

  it('is shown by the types of the version that is read', async () => {
    const body = { ...PLAIN, value_type: '0x7::late::Plain', key: '1' };
    const module = `ModuleId { address: ${PUBLISHER}, name: Identifier("late") }`;
    await refused(`${ITEM}?ledger_version=1`, body, [
      500,
      'internal_error',
      `Failed to deserialize table item retrieved from DB: Module ${module} can't be found`,
    ]);
  });
});

describe('checks', () => {
  const bad = { key_type: 'T0', value_type: 'u8', key: '1' };

  it('come in the order of the interface', async () => {
    const steps: [string, unknown, Record<string, string>, string][] = [
      ['/v1/tables/zz/item?ledger_version=x', '{', { 'content-type': 'a/b' }, 'table_handle'],
      [`${ITEM}?ledger_version=x`, '{', { 'content-type': 'a/b' }, 'Content-Type'],
      [`${ITEM}?ledger_version=x`, '{', {}, 'EOF while parsing an object'],
      [`${ITEM}?ledger_version=x`, {}, {}, 'string(MoveType)'],
      [`${ITEM}?ledger_version=x`, bad, {}, 'ledger_version'],
      [`${ITEM}?ledger_version=9`, bad, {}, 'Unable to parse move type T0'],
      [`${ITEM}?ledger_version=9`, { ...bad, key_type: '&u8' }, {}, 'Failed to parse key_type'],
      [`${ITEM}?ledger_version=9`, { ...bad, key_type: 'u8' }, {}, 'Ledger version(9)'],
      [ITEM, { ...bad, key_type: 'u8' }, {}, 'invalid type: string "1", expected u8'],
      [`${RAW_ITEM}?ledger_version=x`, { key: 'x' }, {}, 'HexEncodedBytes'],
      [`${RAW_ITEM}?ledger_version=x`, { key: '' }, {}, 'ledger_version'],
      [`${RAW_ITEM}?ledger_version=9`, { key: '' }, {}, 'Only BCS is supported'],
      [`${RAW_ITEM}?ledger_version=9`, { key: '' }, BCS, 'Ledger version(9)'],
      [`${RAW_VALUE}?ledger_version=9`, { key: '' }, {}, 'Only BCS is supported'],
      [`${RAW_VALUE}?ledger_version=9`, { key: '' }, BCS, 'Ledger version(9)'],
      [RAW_VALUE, { key: '' }, BCS, 'Failed deserializing state value. key: 0x: unexpected end'],
    ];
    for (const [url, body, headers, text] of steps) {
      const reply = await post(url, body, headers);
      expect(reply.statusCode).toBeGreaterThanOrEqual(400);
      expect(reply.json<{ message: string }>().message).toContain(text);
      expect(reply.headers['x-node-ledger-version']).toBe('4');
    }
  });

  it('refuse types that nest too deeply, and references', async () => {
    const nested = (levels: number) => `${'vector<'.repeat(levels)}u8${'>'.repeat(levels)}`;
    const reply = await post(ITEM, { key_type: nested(7), value_type: 'u8', key: 1 });
    expect(reply.json<{ message: string }>().message).toBe(
      `expected vector<${'Vector('.repeat(5)}Vector(U8)${')'.repeat(5)}>, but got: Number(1)`,
    );
    await refused(ITEM, { key_type: 'u8', value_type: nested(9), key: 1 }, [
      400,
      'invalid_input',
      "'table_item_request' invalid: Unable to parse move type " + nested(9),
    ]);
    await refused(ITEM, { key_type: 'u8', value_type: '&mut u8', key: 1 }, [
      400,
      'invalid_input',
      'Failed to parse value_type: Invalid move type for converting into `TypeTag`: ' +
        'Reference { mutable: true, to: U8 }',
    ]);
  });

  it('refuse types whose texts are too long together', async () => {
    const name = (length: number) => `0x1::m::${'a'.repeat(length - '0x1::m::'.length)}`;
    const types = (length: number) => ({ key_type: 'u8', value_type: name(length - 2), key: 7 });
    for (const length of [MAX_ITEM_TYPES_LENGTH - 1, MAX_ITEM_TYPES_LENGTH]) {
      expect((await post(ITEM, types(length))).statusCode).toBe(404);
    }
    await refused(ITEM, types(MAX_ITEM_TYPES_LENGTH + 1), [
      400,
      'web_framework_error',
      'parse request payload error: types of more than 16384 characters are not read ' +
        '(occurred while parsing "TableItemRequest")',
    ]);
  });
});

describe('a raw state value', () => {
  const keyOf = (key: Parameters<typeof StateKey.write>[1]) => ({
    key: formatHex(StateKey.encode(key)),
  });
  const value = (bytes: Uint8Array) => encodeBcs((writer) => writer.uleb32(0).bytes(bytes));

  it.each([
    ['a resource', resourceStateKey(HOLDER, typeOf('Plain')), u64(100n)],
    ['a module', moduleStateKey(PUBLISHER, 'm'), MODULE_BYTES],
    ['a raw key', { kind: 'raw', bytes: Buffer.of(5) } as const, Buffer.of(6)],
  ])('of %s is a StateValue', async (_what, key, bytes) => {
    const reply = await post(RAW_VALUE, keyOf(key), BCS);
    expect([reply.statusCode, reply.bytes]).toEqual([200, value(bytes)]);
    expect(reply.headers['content-type']).toBe('application/x-bcs');
  });

  it('at an older version is that version’s', async () => {
    const key = keyOf(resourceStateKey(HOLDER, typeOf('Plain')));
    const reply = await post(`${RAW_VALUE}?ledger_version=0`, key, BCS);
    expect(reply.bytes).toEqual(value(u64(1n)));
  });

  it('that is deleted is not found', async () => {
    const key = keyOf(resourceStateKey(HOLDER, typeOf('Quip')));
    await refused(
      `${RAW_VALUE}?ledger_version=1`,
      key,
      [
        404,
        'state_value_not_found',
        `Raw State Value not found by StateKey(${key.key}) and Ledger version(1)`,
      ],
      BCS,
    );
  });
});

it('what was pruned is a 410', async () => {
  const pruned = await openContentLedger();
  try {
    await pruned.prune();
    const text = 'Ledger version(0) has been pruned';
    for (const [url, body] of [
      [ITEM, { ...PLAIN, key: '1' }],
      [RAW_ITEM, { key: '' }],
      [RAW_VALUE, { key: '0200' }],
    ] as const) {
      const reply = await post(`${url}?ledger_version=0`, body, BCS, pruned);
      expectError(reply, 410, 'version_pruned', text);
    }
  } finally {
    await pruned.close();
  }
});
