import { describe, expect, it } from 'vitest';
import {
  ADDRESS,
  ASSET_TYPE,
  IDENTIFIER,
  type Parameter,
  pathParameter,
  queryParameter,
  readParameters,
  U16,
  U32,
  U64,
} from '../../src/api/endpoints/parameters.ts';
import { Query } from '../../src/api/request-target.ts';

const address = pathParameter(ADDRESS, '');
const creationNumber = pathParameter(U64, '');
const start = queryParameter(U64, '');
const limit = queryParameter(U16, '');
const moduleName = pathParameter(IDENTIFIER, '');
const assetType = pathParameter(ASSET_TYPE, '');

function readPath<T>(parameter: Parameter<T>, name: string, raw: string): T {
  return readParameters({ [name]: parameter }, { path: { [name]: raw }, query: new Query('') })[
    name
  ]!;
}

function readQuery<T>(parameter: Parameter<T>, name: string, text: string): T {
  return readParameters({ [name]: parameter }, { path: {}, query: new Query(text) })[name]!;
}

function refusal(message: string) {
  return expect.objectContaining({ status: 400, code: 'web_framework_error', message });
}

describe('address, docs/spec/http.md §5.2', () => {
  const sixtyFour = 'a'.repeat(64);

  it.each([
    ['0x1', '1'],
    ['1', '1'],
    ['0X'.slice(0, 1), '0'],
    ['0xABC', 'abc'],
    [sixtyFour, sixtyFour],
    [`0x${sixtyFour}`, sixtyFour],
    ['%30x1', '1'],
  ])('takes %s', (raw, digits) => {
    expect(readPath(address, 'address', raw)).toBe(digits.padStart(64, '0'));
  });

  it.each([
    ['', 'Hex string is too short, must be 1 to 64 chars long, excluding the leading 0x'],
    ['0x', 'Hex string is too short, must be 1 to 64 chars long, excluding the leading 0x'],
    ['xyz', "Hex characters are invalid: Invalid character 'x' at position 61"],
    ['0xzz', "Hex characters are invalid: Invalid character 'z' at position 62"],
    ['00x1', "Hex characters are invalid: Invalid character 'x' at position 62"],
    ['invalid', "Hex characters are invalid: Invalid character 'i' at position 57"],
    ['%C3%A9', "Hex characters are invalid: Invalid character 'Ã' at position 62"],
    ['0X1', "Hex characters are invalid: Invalid character 'X' at position 62"],
    ["'", "Hex characters are invalid: Invalid character '\\'' at position 63"],
    ['%5C', "Hex characters are invalid: Invalid character '\\\\' at position 63"],
    ['%0A', "Hex characters are invalid: Invalid character '\\n' at position 63"],
    ['"', "Hex characters are invalid: Invalid character '\"' at position 63"],
    ['%2530x1', "Hex characters are invalid: Invalid character '%' at position 59"],
    ['z'.repeat(65), 'Hex characters are invalid: Odd number of digits'],
    ['a'.repeat(66), 'Hex characters are invalid: Invalid string length'],
  ])('refuses %s', (raw, tail) => {
    expect(() => readPath(address, 'address', raw)).toThrow(
      refusal(
        'failed to parse path `address`: failed to parse "string(Address)": ' +
          `Invalid account address: ${tail}`,
      ),
    );
  });
});

const NUMBER_FAILURES: readonly [string, string][] = [
  ['', 'cannot parse integer from empty string'],
  ['-1', 'invalid digit found in string'],
  ['abc', 'invalid digit found in string'],
  ['%2B', 'invalid digit found in string'],
  ['1_0', 'invalid digit found in string'],
  ['0x1', 'invalid digit found in string'],
  ['1.0', 'invalid digit found in string'],
  ['%D9%A1', 'invalid digit found in string'],
];

describe('u64 parameters, docs/spec/http.md §5.3', () => {
  it.each([
    ['0', 0n],
    ['007', 7n],
    ['%2B5', 5n],
    ['18446744073709551615', 18446744073709551615n],
  ])('take %s', (raw, value) => {
    expect(readPath(creationNumber, 'creation_number', raw)).toBe(value);
    expect(readQuery(start, 'start', `start=${raw}`)).toBe(value);
  });

  it.each([...NUMBER_FAILURES, ['18446744073709551616', 'number too large to fit in target type']])(
    'refuse %s',
    (raw, why) => {
      const text = decodeURIComponent(raw);
      const reason =
        `failed to parse "string(U64)": Parsing u64 string "${text}" failed, ` +
        `caused by error: ${why}`;
      expect(() => readPath(creationNumber, 'creation_number', raw)).toThrow(
        refusal(`failed to parse path \`creation_number\`: ${reason}`),
      );
      expect(() => readQuery(start, 'start', `start=${raw}`)).toThrow(
        refusal(
          `failed to parse parameter \`start\`: ${reason} ` +
            '(occurred while parsing "optional<string(U64)>")',
        ),
      );
    },
  );

  it('show the text with escapes, and a plus as the blank that it means', () => {
    expect(() => readPath(creationNumber, 'creation_number', '%22%5C%0A')).toThrow(
      refusal(
        'failed to parse path `creation_number`: failed to parse "string(U64)": ' +
          'Parsing u64 string "\\"\\\\\\n" failed, caused by error: invalid digit found in string',
      ),
    );
    expect(() => readQuery(start, 'start', 'start=+5')).toThrow(/u64 string " 5" failed/);
  });

  it('are absent when the name is not there', () => {
    expect(readQuery(start, 'start', 'limit=5')).toBeUndefined();
  });
});

describe('limit, docs/spec/http.md §5.3', () => {
  it.each([
    ['0', 0],
    ['65535', 65535],
    ['%2B0025', 25],
  ])('takes %s', (raw, value) => {
    expect(readQuery(limit, 'limit', `limit=${raw}`)).toBe(value);
  });

  it.each([
    ...NUMBER_FAILURES,
    ['65536', 'number too large to fit in target type'],
    ['99999x', 'number too large to fit in target type'],
    ['65535x', 'invalid digit found in string'],
    ['9'.repeat(400), 'number too large to fit in target type'],
    ['5%0A', 'invalid digit found in string'],
  ])('refuses %s', (raw, why) => {
    expect(() => readQuery(limit, 'limit', `limit=${raw}`)).toThrow(
      refusal(
        `failed to parse parameter \`limit\`: failed to parse "integer(uint16)": ${why} ` +
          '(occurred while parsing "optional<integer(uint16)>")',
      ),
    );
  });

  it('has a wider sibling', () => {
    const duration = queryParameter(U32, '');
    expect(readQuery(duration, 'd', 'd=4294967295')).toBe(4294967295);
    expect(() => readQuery(duration, 'd', 'd=4294967296')).toThrow(/too large/);
  });
});

describe('module_name, docs/spec/http.md §5.5', () => {
  it.each(['coin', 'A_9$', '_a', '$1', '<SELF>', '%3CSELF%3E_12'])('takes %s', (raw) => {
    expect(readPath(moduleName, 'module_name', raw)).toBe(decodeURIComponent(raw));
  });

  it.each(['', '_', '$', '1a', 'a-b', 'a::b', 'ä', '<SELF', '<SELF>_', 'a%0A', "it's"])(
    'refuses %s',
    (raw) => {
      expect(() => readPath(moduleName, 'module_name', raw)).toThrow(
        refusal(
          'failed to parse path `module_name`: failed to parse "string(IdentifierWrapper)": ' +
            `Invalid identifier '${decodeURIComponent(raw)}'`,
        ),
      );
    },
  );
});

describe('asset_type, docs/spec/http.md §9.1, §9.2', () => {
  it.each(['0xa', 'a', 'face', '1'])('takes %s as an address', (raw) => {
    expect(readPath(assetType, 'asset_type', raw)).toEqual({
      kind: 'fungibleAsset',
      metadata: raw.replace('0x', '').padStart(64, '0'),
    });
  });

  it.each(['0x1::aptos_coin::AptosCoin', '%200x01%20::aptos_coin%20::AptosCoin<%20>'])(
    'takes %s as a coin',
    (raw) => {
      expect(readPath(assetType, 'asset_type', raw)).toEqual({
        kind: 'coin',
        type: {
          address: '1'.padStart(64, '0'),
          module: 'aptos_coin',
          name: 'AptosCoin',
          typeArguments: [],
        },
      });
    },
  );

  const nested = (depth: number) => `${'0x1::a::B<'.repeat(depth)}u8${'>'.repeat(depth)}`;

  it.each([
    ['foo', ', unexpected token Name("foo"), expected type tag'],
    ['0x1::a', ', expected token ColonColon, got EOF'],
    ['0x1::a::b::c', ', expected token EOF, got ColonColon'],
    ['0x1::a-b::C', ', unrecognized token'],
    ['0x1::_a::B', ', unrecognized token'],
    ['0x', ', unrecognized token'],
    ['a:b', ', unrecognized token'],
    ['0x1::1a::B', ', invalid suffix'],
    ['0x1::u8::T', ', expected name, got U8Type'],
    ['0x1::a::B<u8', ', expected token Comma, got EOF'],
    [`0x${'1'.repeat(65)}::a::B`, ', Hex characters are invalid: Odd number of digits'],
    [nested(9), ', Exceeded TypeTag nesting limit during parsing: 9'],
    ['u64', ''],
    ['vector<u8>', ''],
  ])('refuses %s', (raw, tail) => {
    expect(() => readPath(assetType, 'asset_type', raw)).toThrow(
      refusal(
        'failed to parse path `asset_type`: failed to parse "string(AssetType)": ' +
          `invalid struct tag: ${raw}${tail}`,
      ),
    );
  });

  it('takes 8 levels below the outermost', () => {
    expect(readPath(assetType, 'asset_type', nested(8)).kind).toBe('coin');
  });
});
