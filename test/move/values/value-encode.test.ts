import { describe, expect, it } from 'vitest';
import { BcsError } from '../../../src/move/bcs/bcs-reader.ts';
import { parseJson } from '../../../src/move/json/json-text.ts';
import { parseTypeTag } from '../../../src/move/types/type-parser.ts';
import { PRIMITIVE_KINDS, type PrimitiveKind } from '../../../src/move/types/type-tag.ts';
import type { Layout } from '../../../src/move/values/layout.ts';
import { resolveInnerArgumentLayout } from '../../../src/move/values/layout-resolver.ts';
import { decodeArgument, MAX_ARGUMENT_CONTAINERS } from '../../../src/move/values/value-decode.ts';
import { ValueEncodeError } from '../../../src/move/values/value-encode.ts';
import { encodeValueBytes, moduleLookup, NEW_FRAMEWORK, type Source } from './layout-modules.ts';

const source: Source = {
  ...NEW_FRAMEWORK,
  '0x1::object::Object': { parameters: 1, fields: [['inner', 'address']] },
  '0x2::m::S': {
    fields: [
      ['a', 'u8'],
      ['b', 'u64'],
    ],
  },
  '0x2::m::Empty': { fields: [] },
  '0x2::m::Dummy': { fields: [['dummy_field', 'bool']] },
  '0x2::m::Signed': { fields: [['index', 'i128']] },
  '0x2::m::Proto': { fields: [['__proto__', 'u8']] },
  '0x2::m::Color': {
    variants: [
      ['Red', []],
      [
        'Custom',
        [
          ['r', 'u8'],
          ['g', 'u8'],
        ],
      ],
      ['Tuple', [['_0', { vector: 'u8' }]]],
    ],
  },
};

async function layoutOf(type: string): Promise<Layout> {
  const kind = PRIMITIVE_KINDS.find((known) => known === type);
  if (kind !== undefined) return { kind: kind as Exclude<PrimitiveKind, 'signer'> };
  return resolveInnerArgumentLayout(parseTypeTag(type), moduleLookup(source));
}

async function encode(type: string, json: string): Promise<string> {
  return encodeValueBytes(await layoutOf(type), parseJson(Buffer.from(json))).toString('hex');
}

async function refusal(type: string, json: string): Promise<string> {
  const layout = await layoutOf(type);
  const value = parseJson(Buffer.from(json));
  try {
    encodeValueBytes(layout, value);
  } catch (error) {
    if (error instanceof ValueEncodeError) return error.message;
    throw error;
  }
  throw new Error('not refused');
}

const ff = (count: number) => 'ff'.repeat(count);
const zero = (count: number) => '00'.repeat(count);

describe('values that encode (docs/spec/encode.md §A4)', () => {
  it.each([
    ['bool', 'true', '01'],
    ['u8', '255', 'ff'],
    ['u8', '-0', '00'],
    ['u16', '65535', 'ffff'],
    ['u32', '4294967295', 'ffffffff'],
    ['i8', '-128', '80'],
    ['i16', '-1', 'ffff'],
    ['i32', '-0', zero(4)],
    ['u64', '"18446744073709551615"', ff(8)],
    ['u64', '"+007"', '07' + zero(7)],
    ['u128', `"${2n ** 128n - 1n}"`, ff(16)],
    ['u256', `"${2n ** 256n - 1n}"`, ff(32)],
    ['i64', '"-1"', ff(8)],
    ['i64', '"-0"', zero(8)],
    ['i128', '"-5"', 'fb' + ff(15)],
    ['i256', `"-${2n ** 255n}"`, zero(31) + '80'],
    ['address', '"0xA"', zero(31) + '0a'],
    ['address', '"1"', zero(31) + '01'],
    ['vector<u8>', '"0xAb"', '01ab'],
    ['vector<u8>', '"ab"', '01ab'],
    ['vector<u8>', '""', '00'],
    ['vector<u16>', '[1,2]', '0201000200'],
    ['vector<vector<u8>>', '["0x01","","0x"]', '0301010000'],
    ['0x1::string::String', '"a\\u0000é"', '046100c3a9'],
    ['0x1::option::Option<u64>', '{"vec":[]}', '00'],
    ['0x1::option::Option<u64>', '{"vec":["5"],"more":1}', '0105' + zero(7)],
    ['0x1::option::Option<u64>', '{"vec":["5","6"]}', `0205${zero(7)}06${zero(7)}`],
    ['0x1::option::Option<u8>', '{"vec":"0x05"}', '0105'],
    ['0x1::option::Option<u8>', '{"vec":"0x"}', '00'],
    ['vector<0x1::object::Object<0x2::m::S>>', '[{"inner":"0xa"}]', '01' + zero(31) + '0a'],
    ['0x2::m::S', '{"b":"1","x":null,"a":2}', '0201' + zero(7)],
    ['0x2::m::Empty', '{}', ''],
    ['0x2::m::Dummy', '{"dummy_field":false}', '00'],
    ['0x2::m::Signed', '{"index":"-5"}', 'fb' + ff(15)],
    ['0x2::m::Proto', '{"__proto__":7}', '07'],
    ['0x2::m::Color', '{"Red":{}}', '00'],
    ['0x2::m::Color', '{"Custom":{"g":2,"r":1}}', '010102'],
    ['0x2::m::Color', '{"Tuple":{"_0":"0x07"}}', '020107'],
  ])('%s %s', async (type, json, hex) => {
    expect(await encode(type, json)).toBe(hex);
  });
});

const STRING_LAYOUT =
  'Struct(WithTypes { type_: StructTag { address: 0000000000000000000000000000000000000000000000000000000000000001, module: Identifier("string"), name: Identifier("String"), type_args: [] }, fields: [MoveFieldLayout { name: Identifier("bytes"), layout: Vector(U8) }] })';

describe('values that are refused (docs/spec/encode.md §A4)', () => {
  it.each([
    ['bool', 'null', 'invalid type: null, expected a boolean'],
    ['bool', '"true"', 'invalid type: string "true", expected a boolean'],
    ['bool', '1', 'invalid type: number, expected a boolean'],
    ['u8', 'true', 'invalid type: boolean `true`, expected u8'],
    ['u16', '"1"', 'invalid type: string "1", expected u16'],
    ['u32', '[]', 'invalid type: sequence, expected u32'],
    ['i32', '{}', 'invalid type: map, expected i32'],
    ['u8', '256', 'invalid number'],
    ['u8', '-1', 'invalid number'],
    ['u8', '1.0', 'invalid number'],
    ['u8', '1e2', 'invalid number'],
    ['u32', '4294967296', 'invalid number'],
    ['u32', '9'.repeat(400), 'invalid number'],
    ['i8', '128', 'invalid number'],
    ['i8', '-129', 'invalid number'],
    ['i16', '32768', 'invalid number'],
    ['i32', '-2147483649', 'invalid number'],
    ['u64', '5', 'invalid type: number, expected a string'],
    ['u64', 'null', 'invalid type: null, expected a string'],
    ['u64', 'false', 'invalid type: boolean `false`, expected a string'],
    [
      'u64',
      '""',
      'Parsing u64 string "" failed, caused by error: cannot parse integer from empty string',
    ],
    [
      'u64',
      '"18446744073709551616"',
      'Parsing u64 string "18446744073709551616" failed, caused by error: number too large to fit in target type',
    ],
    [
      'u64',
      '"-1"',
      'Parsing u64 string "-1" failed, caused by error: invalid digit found in string',
    ],
    [
      'u64',
      '"a\\"b"',
      'Parsing u64 string "a\\"b" failed, caused by error: invalid digit found in string',
    ],
    [
      'i64',
      '"-9223372036854775809"',
      'Parsing i64 string "-9223372036854775809" failed, caused by error: number too small to fit in target type',
    ],
    [
      'u256',
      '"x"',
      'Parsing move_core_types::int256::U256 string "x" failed, caused by error: invalid digit found in string',
    ],
    [
      'i256',
      '"x"',
      'Parsing move_core_types::int256::I256 string "x" failed, caused by error: invalid digit found in string',
    ],
    ['address', '5', 'invalid type: number, expected a string'],
    ['address', '{"inner":"0xa"}', 'invalid type: map, expected a string'],
    [
      'address',
      '"0x"',
      'Invalid account address: Hex string is too short, must be 1 to 64 chars long, excluding the leading 0x',
    ],
    [
      'address',
      '"0xzz"',
      "Invalid account address: Hex characters are invalid: Invalid character 'z' at position 62",
    ],
    ['vector<u8>', '[1]', 'invalid type: sequence, expected a string'],
    [
      'vector<u8>',
      '"0x1"',
      'decode hex-encoded string("0x1") failed, caused by error: Odd number of digits',
    ],
    [
      'vector<u8>',
      '"0X11"',
      `decode hex-encoded string("0X11") failed, caused by error: Invalid character 'X' at position 1`,
    ],
    ['vector<u64>', '"abc"', 'expected vector<U64>, but got: String("abc")'],
    ['vector<vector<u8>>', '"0x01"', 'expected vector<Vector(U8)>, but got: String("0x01")'],
    ['vector<u64>', '{"a":1.5}', 'expected vector<U64>, but got: Object {"a": Number(1.5)}'],
    ['vector<0x1::string::String>', 'null', `expected vector<${STRING_LAYOUT}>, but got: Null`],
    ['vector<u64>', '["1",2]', 'invalid type: number, expected a string'],
    ['0x1::string::String', '1', 'failed to parse string::String.'],
    ['0x1::string::String', '{"bytes":"0x61"}', 'failed to parse string::String.'],
    ['0x1::option::Option<u64>', 'null', 'Expecting a JSON Map for struct.'],
    ['0x1::option::Option<u64>', '"5"', 'Expecting a JSON Map for struct.'],
    ['0x1::option::Option<u64>', '{"Some":{"e":"5"}}', 'field vec not found.'],
    ['0x1::option::Option<u64>', '{"vec":"5"}', 'expected vector<U64>, but got: String("5")'],
    ['0x1::option::Option<u8>', '{"vec":[5]}', 'invalid type: sequence, expected a string'],
    ['vector<0x1::object::Object<0x2::m::S>>', '["0xa"]', 'Expecting a JSON Map for struct.'],
    ['0x2::m::S', '[]', 'Expecting a JSON Map for struct.'],
    ['0x2::m::S', '{"a":1}', 'field b not found.'],
    ['0x2::m::S', '{"a":"1"}', 'invalid type: string "1", expected u8'],
    ['0x2::m::Dummy', '{}', 'field dummy_field not found.'],
    ['0x2::m::Proto', '{}', 'field __proto__ not found.'],
    ['0x2::m::Color', '"Red"', 'Expecting a JSON Map for enum.'],
    ['0x2::m::Color', '{}', 'Enum value must have exactly one variant specified.'],
    [
      '0x2::m::Color',
      '{"Red":{},"Custom":{}}',
      'Enum value must have exactly one variant specified.',
    ],
    ['0x2::m::Color', '{"__variant__":"Red"}', 'Variant __variant__ not found.'],
    ['0x2::m::Color', '{"Blue":{}}', 'Variant Blue not found.'],
    ['0x2::m::Color', '{"Red":null}', 'Expecting a JSON Map for variant fields.'],
    ['0x2::m::Color', '{"Custom":{"r":1}}', 'field g not found in variant Custom.'],
    ['0x2::m::Color', '{"Red":{"x":1}}', 'Unknown fields ["x"] in variant Red.'],
    [
      '0x2::m::Color',
      '{"Custom":{"r":1,"p":1,"g":2,"q\\"":3,"s":4}}',
      'Unknown fields ["s", "p", "q\\""] in variant Custom.',
    ],
    // A field that was moved into a gap is still found.
    ['0x2::m::Color', '{"Custom":{"x":1,"r":1,"g":2}}', 'Unknown fields ["x"] in variant Custom.'],
  ])('%s %s: %s', async (type, json, message) => {
    expect(await refusal(type, json)).toBe(message);
  });

  it('takes nothing for a function type', () => {
    const run = () => encodeValueBytes({ kind: 'function' }, parseJson(Buffer.from('"a"')));
    expect(run).toThrow('unexpected move type Function for value String("a")');
  });
});

describe('bytes of arguments back to JSON', () => {
  function decodeRefusal(layout: Layout, hex: string): string {
    try {
      decodeArgument(layout, Buffer.from(hex, 'hex'));
    } catch (error) {
      if (error instanceof BcsError) return error.code;
      throw error;
    }
    throw new Error('not refused');
  }

  it.each([
    ['bool', '02', 'bad_bool'],
    ['u64', '00', 'unexpected_end'],
    ['u8', '0000', 'remaining_input'],
    ['vector<u64>', 'ffffffff07', 'unexpected_end'],
    ['vector<u8>', '8000', 'uleb_not_minimal'],
    ['0x1::string::String', '01ff', 'bad_utf8'],
    ['0x2::m::Color', '03', 'bad_variant'],
    ['vector<0x2::m::Empty>', 'ffffffff07', 'size_limit'],
  ])('%s %s: %s', async (type, hex, code) => {
    expect(decodeRefusal(await layoutOf(type), hex)).toBe(code);
  });

  it('refuses function values', () => {
    expect(decodeRefusal({ kind: 'function' }, '00')).toBe('function_value');
  });

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])('MAX_ARGUMENT_CONTAINERS %i', async (more, passes) => {
    const layout = await layoutOf('vector<0x2::m::Empty>');
    const json = Array.from({ length: MAX_ARGUMENT_CONTAINERS + more - 1 }, () => new Map());
    const bytes = encodeValueBytes(layout, json);
    if (passes) expect(decodeArgument(layout, bytes)).toHaveLength(json.length);
    else expect(decodeRefusal(layout, bytes.toString('hex'))).toBe('size_limit');
  });
});
