/** Every message of docs/spec/encode.md §A1 and docs/spec/http.md §5.8 about the request: stage, code, text. */
import { describe, expect, it } from 'vitest';
import { parseEncodeRequest } from '../../src/submission/encode/index.ts';
import {
  ADDRESS,
  expectFailure,
  failure,
  occurred,
  PARSE,
  REQUEST,
  T,
  U64,
} from './encode-refused.ts';

describe('bodies that are no request (docs/spec/encode.md §A1)', () => {
  it.each([
    ['invalid json', 'json_syntax', 'expected value at line 1 column 1'],
    ['{"a":1,}', 'json_syntax', 'trailing comma at line 1 column 8'],
    ['', 'bad_field', 'Expected input type "EncodeSubmissionRequest", found null.'],
    ['null', 'bad_field', 'Expected input type "EncodeSubmissionRequest", found null.'],
    [
      ' [ 1.50, -0, 1E5, {"b": "\\u0061\\u0001é", "a": []} ] ',
      'bad_field',
      'Expected input type "EncodeSubmissionRequest", ' +
        'found [1.50,0,1e+5,{"b":"a\\u0001é","a":[]}].',
    ],
    ['"x"', 'bad_field', 'Expected input type "EncodeSubmissionRequest", found "x".'],
  ] as const)('%j', (body, code, text) => {
    expectFailure(body, 'parse', code, PARSE + text);
  });
});

describe('fields of the request (docs/spec/encode.md §A1, docs/spec/http.md §5.8)', () => {
  const u64Fields = [
    'sequence_number',
    'max_gas_amount',
    'gas_unit_price',
    'expiration_timestamp_secs',
  ];
  const u64Cases: readonly (readonly [unknown, string])[] = [
    [undefined, 'invalid type: null, expected a string'],
    [null, 'invalid type: null, expected a string'],
    [7, 'invalid type: number, expected a string'],
    [true, 'invalid type: boolean `true`, expected a string'],
    [false, 'invalid type: boolean `false`, expected a string'],
    [[], 'invalid type: sequence, expected a string'],
    [{}, 'invalid type: map, expected a string'],
    ['', emptyInteger('')],
    ['invalid', badInteger('invalid')],
    [' 7', badInteger(' 7')],
    ['-1', badInteger('-1')],
    ['-0', badInteger('-0')],
    ['0x7', badInteger('0x7')],
    ['7.0', badInteger('7.0')],
    ['1_000', badInteger('1_000')],
    ['+', badInteger('+')],
    ['18446744073709551616', tooLarge('18446744073709551616')],
  ];
  for (const field of u64Fields) {
    it.each(u64Cases)(`${field}: %j`, (value, why) => {
      expectFailure({ ...REQUEST, [field]: value }, 'parse', 'bad_field', PARSE + U64 + why + T);
    });
  }

  it.each(u64Cases.slice(2))('replay_protection_nonce: %j', (value, why) => {
    const trace = occurred('optional<string(U64)>') + T;
    const body = { ...REQUEST, replay_protection_nonce: value };
    expectFailure(body, 'parse', 'bad_field', PARSE + U64 + why + trace);
  });

  const addressCases: readonly (readonly [unknown, string])[] = [
    [null, 'invalid type: null, expected a string'],
    [1, 'invalid type: number, expected a string'],
    [
      '',
      badAddress('Hex string is too short, must be 1 to 64 chars long, excluding the leading 0x'),
    ],
    [
      '0x',
      badAddress('Hex string is too short, must be 1 to 64 chars long, excluding the leading 0x'),
    ],
    ['xyz', badAddress("Hex characters are invalid: Invalid character 'x' at position 61")],
    ['0X1', badAddress("Hex characters are invalid: Invalid character 'X' at position 62")],
    ['é', badAddress("Hex characters are invalid: Invalid character 'Ã' at position 62")],
    ['1'.repeat(65), badAddress('Hex characters are invalid: Odd number of digits')],
    [`0x${'1'.repeat(66)}`, badAddress('Hex characters are invalid: Invalid string length')],
  ];
  it.each(addressCases)('sender: %j', (value, why) => {
    expectFailure({ ...REQUEST, sender: value }, 'parse', 'bad_field', PARSE + ADDRESS + why + T);
  });

  it.each(addressCases)('an element of secondary_signers: %j', (value, why) => {
    const trace = occurred(
      '[string(Address)]',
      'optional<[string(Address)]>',
      'EncodeSubmissionRequest',
    );
    const body = { ...REQUEST, secondary_signers: ['0x1', value, 'zz'] };
    expectFailure(body, 'parse', 'bad_field', PARSE + ADDRESS + why + trace);
  });

  it.each([
    ['"0x1"', '"0x1"'],
    ['{"a": 1}', '{"a":1}'],
    ['1e2', '1e+2'],
  ])('secondary_signers: %s', (value, shown) => {
    const body = JSON.stringify({ ...REQUEST, secondary_signers: 'HERE' }).replace('"HERE"', value);
    const trace = occurred('optional<[string(Address)]>', 'EncodeSubmissionRequest');
    const text = `Expected input type "[string(Address)]", found ${shown}.`;
    expectFailure(body, 'parse', 'bad_field', PARSE + text + trace);
  });

  it('are reported one at a time, in order', () => {
    const wrong: Record<string, unknown> = {
      secondary_signers: 1,
      replay_protection_nonce: 1,
      payload: 1,
      expiration_timestamp_secs: '4x',
      gas_unit_price: '3x',
      max_gas_amount: '2x',
      sequence_number: '1x',
      sender: 'x',
    };
    const expected = [
      ['sender', ADDRESS],
      ['sequence_number', '"1x"'],
      ['max_gas_amount', '"2x"'],
      ['gas_unit_price', '"3x"'],
      ['expiration_timestamp_secs', '"4x"'],
      ['payload', '"TransactionPayload"'],
      ['replay_protection_nonce', 'optional<string(U64)>'],
      ['secondary_signers', 'optional<[string(Address)]>'],
    ] as const;
    for (const [field, shown] of expected) {
      expect(failure(wrong).message).toContain(shown);
      wrong[field] = (REQUEST as Record<string, unknown>)[field];
    }
    expect(parseEncodeRequest(Buffer.from(JSON.stringify(wrong))).sender).toMatch(/dd$/);
  });

  it('may be null where they are optional, unknown, repeated or oddly named', () => {
    const body =
      '{"sender":5,"replay_protection_nonce":null,"secondary_signers":null,"chain_id":"x",' +
      `"__proto__":{"sender":"0x9"},${JSON.stringify(REQUEST).slice(1)}`;
    const request = parseEncodeRequest(Buffer.from(body));
    expect(request.sender).toBe('dd'.padStart(64, '0'));
    expect(request.replayProtectionNonce).toBeUndefined();
    expect(request.secondarySigners).toBeUndefined();
    const nonce = { ...REQUEST, replay_protection_nonce: '0', secondary_signers: [] };
    const given = parseEncodeRequest(Buffer.from(JSON.stringify(nonce)));
    expect(given.replayProtectionNonce).toBe(0n);
    expect(given.secondarySigners).toEqual([]);
  });

  it('are not taken from the prototype of anything', () => {
    const body = `{"__proto__":${JSON.stringify(REQUEST)}}`;
    const text = `${ADDRESS}invalid type: null, expected a string${T}`;
    expectFailure(body, 'parse', 'bad_field', PARSE + text);
  });
});

function why(text: string, reason: string): string {
  return `Parsing u64 string "${text}" failed, caused by error: ${reason}`;
}
function emptyInteger(text: string): string {
  return why(text, 'cannot parse integer from empty string');
}
function badInteger(text: string): string {
  return why(text, 'invalid digit found in string');
}
function tooLarge(text: string): string {
  return why(text, 'number too large to fit in target type');
}
function badAddress(reason: string): string {
  return `Invalid account address: ${reason}`;
}
