/** Every message of docs/spec/encode.md §A4, and the closest inputs that are accepted. */
import { describe, expect, it } from 'vitest';
import { MoveError } from '../../src/move/errors.ts';
import type { ModuleLookup } from '../../src/move/modules/lookup.ts';
import {
  EncodeError,
  type EncodeErrorCode,
  encodeSubmission,
} from '../../src/submission/encode/index.ts';
import { NEW_FRAMEWORK, OLD_FRAMEWORK, type Source } from '../move/values/layout-modules.ts';
import { type Functions, ledgerOf } from './encode-modules.ts';

const STRUCTS: Source = {
  '0x1::object::Object': { parameters: 1, fields: [['inner', 'address']] },
  '0x2::m::Pair': {
    parameters: 2,
    fields: [
      ['first', { parameter: 0 }],
      ['second', { parameter: 1 }],
    ],
  },
  '0x2::m::Empty': { fields: [['dummy_field', 'bool']] },
  '0x2::m::Colour': {
    variants: [
      ['Red', []],
      [
        'Rgb',
        [
          ['_0', 'u8'],
          ['_1', 'u8'],
          ['_2', 'u8'],
        ],
      ],
    ],
  },
  '0x2::m::Native': { native: true },
  '0x2::m::Signing': { fields: [['who', 'signer']] },
  '0x2::m::Lost': { fields: [['what', { is: '0x9::gone::S' }]] },
};

const FUNCTIONS: Functions = {
  '0x2::m::transfer': { parameters: ['&signer', 'address', 'u64'] },
  '0x2::m::hidden': { parameters: [], visibility: 'private' },
  '0x2::m::not_entry': { parameters: [], isEntry: false },
  '0x2::m::twice': [
    { parameters: ['u8'], isEntry: false },
    { parameters: ['u16'] },
    { parameters: ['u32'] },
  ],
  '0x2::m::generic': {
    parameters: ['signer', 'T0', 'vector<T1>', '&T0', '&mut signer', '0x2::m::Pair<T0, T1>'],
    typeParameters: 2,
  },
  '0x2::m::value': { parameters: ['T0'], typeParameters: 1 },
  '0x2::m::freeze': { parameters: ['address', '&0x2::m::Pair<T0, u8>'], typeParameters: 1 },
  '0x2::m::names': {
    parameters: [
      ...['u8', 'u16', 'u32', 'i8', 'i16', 'i32', 'u64', 'u128', 'u256', 'i64', 'i128', 'i256'],
      ...['bool', 'address', 'vector<u8>', 'vector<vector<u8>>', 'vector<bool>'],
      ...['0x1::string::String', 'vector<0x2::m::Empty>', '&u64'],
    ],
  },
};

const ledger = ledgerOf(FUNCTIONS, { ...OLD_FRAMEWORK, ...STRUCTS });
const newLedger = ledgerOf(FUNCTIONS, { ...NEW_FRAMEWORK, ...STRUCTS });

const PREFIX = 'The given transaction is invalid: Failed to parse transaction payload: ';

function requestOf(payload: unknown): Buffer {
  return Buffer.from(
    JSON.stringify({
      sender: '0xdd',
      sequence_number: '7',
      max_gas_amount: '1000000',
      gas_unit_price: '100',
      expiration_timestamp_secs: '1700000000',
      payload,
    }),
  );
}

function call(name: string, typeArguments: readonly string[], args: readonly unknown[]): Buffer {
  return requestOf({
    type: 'entry_function_payload',
    function: name.includes('::') ? name : `0x2::m::${name}`,
    type_arguments: typeArguments,
    arguments: args,
  });
}

function encode(body: Buffer, lookupModule: ModuleLookup = ledger): Promise<Buffer> {
  return encodeSubmission(body, { chainId: 4, lookupModule });
}

async function expectFailure(
  body: Buffer,
  code: EncodeErrorCode,
  text: string,
  lookupModule = ledger,
): Promise<void> {
  const error = await encode(body, lookupModule).then(
    () => new Error('accepted'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof EncodeError)) throw error;
  expect([error.message, error.stage, error.code]).toEqual([PREFIX + text, 'convert', code]);
}

/** The hex of the arguments of a call to a function of 0x2::m without type arguments. */
async function argumentsHex(
  name: string,
  args: readonly unknown[],
  lookupModule = ledger,
): Promise<string> {
  const message = await encode(call(name, [], args), lookupModule);
  const start = 32 + 32 + 8 + 1 + 32 + 2 + 1 + name.length + 1;
  return message.subarray(start, message.length - 25).toString('hex');
}

const id = (digits: string) => digits.padStart(64, '0');

describe('finding the function (docs/spec/encode.md §A4 steps 1 to 3)', () => {
  it('a missing module', async () => {
    const text = `Module ModuleId { address: ${id('2')}, name: Identifier("n") } can't be found`;
    await expectFailure(call('0x02::n::f', [], []), 'module_not_found', text);
  });

  it('a module that does not load', async () => {
    class Broken extends MoveError<'broken'> {}
    const lookup: ModuleLookup = () => {
      throw new Broken('broken', 'BROKEN');
    };
    const text =
      `Module ModuleId { address: ${id('2')}, name: Identifier("m") } ` +
      'deserialize with error code BROKEN';
    await expectFailure(call('hidden', [], []), 'module_not_loadable', text, lookup);
  });

  it('other failures of the lookup come through', async () => {
    const lookup: ModuleLookup = () => Promise.reject(new Error('disk on fire'));
    await expect(encode(call('hidden', [], []), lookup)).rejects.toThrow('disk on fire');
  });

  it.each(['not_entry', 'no_such', 'constructor', '__proto__a'])(
    'no entry function %s',
    async (name) => {
      const text = `could not find entry function by 0x2::m::${name}`;
      await expectFailure(call(`0x0002::m::${name}`, [], []), 'function_not_found', text);
    },
  );

  it('private entry functions, and the first of a name that is one', async () => {
    expect(await argumentsHex('hidden', [])).toBe('00');
    expect(await argumentsHex('twice', [1])).toBe('01020100');
  });

  it.each([[['u8']], [['u8', 'u8', 'u8']]])('type arguments %j for two', async (types) => {
    const text = `expect 2 type arguments for entry function 0x2::m::generic, but got ${types.length}`;
    await expectFailure(call('generic', types, []), 'type_argument_count', text);
  });

  it('too many type arguments for none', async () => {
    const text = 'expect 0 type arguments for entry function 0x2::m::hidden, but got 1';
    await expectFailure(call('hidden', ['u8'], []), 'type_argument_count', text);
  });
});

describe('the number of arguments (steps 4 to 6)', () => {
  it('names all parameters but signers', async () => {
    const names =
      'integer<u8>, integer<u16>, integer<u32>, integer<i8>, integer<i16>, integer<i32>, ' +
      'string<u64>, string<u128>, string<u256>, string<i64>, string<i128>, string<i256>, ' +
      'boolean, string<address>, string<hex>, array<string<hex>>, array<boolean>, ' +
      'string<move_struct_tag_id>, array<string<move_struct_tag_id>>, string<u64>';
    const text = `expected 20 arguments [${names}], but got 0 ([])`;
    await expectFailure(call('names', [], []), 'argument_count', text);
  });

  it('prints what it got', async () => {
    const args = ['0x1"\\\n\r\t\u0001é', 5, true, null, [1], { a: 1.5 }];
    const text =
      'expected 2 arguments [string<address>, string<u64>], but got 6 ' +
      '([String("0x1\\"\\\\\\n\\r\\t\\u{1}é"), Number(5), Bool(true), Null, Array [Number(1)], ' +
      'Object {"a": Number(1.5)}])';
    await expectFailure(call('transfer', [], args), 'argument_count', text);
  });

  it('puts type arguments in before it drops signers', async () => {
    const text =
      'expected 4 arguments [string<u64>, array<boolean>, string<u64>, ' +
      'string<move_struct_tag_id>], but got 0 ([])';
    await expectFailure(call('generic', ['u64', 'bool'], []), 'argument_count', text);
    const fewer = 'expected 2 arguments [string<hex>, string<move_struct_tag_id>], but got 0 ([])';
    await expectFailure(call('generic', ['signer', 'u8'], []), 'argument_count', fewer);
    const message = await encode(call('value', ['signer'], []));
    expect(message.subarray(-27, -25).toString('hex')).toBe('0500');
  });

  it('comes before any look at types and values', async () => {
    const text =
      'expected 2 arguments [string<address>, string<move_struct_tag_id>], but got 1 ' +
      '([String("zz")])';
    await expectFailure(call('freeze', ['u8'], ['zz']), 'argument_count', text);
  });
});

describe('types of arguments (steps 7 and 9)', () => {
  const pair =
    `Reference { mutable: false, to: Struct(MoveStructTag { address: Address(${id('2')}), ` +
    'module: IdentifierWrapper(Identifier("m")), name: IdentifierWrapper(Identifier("Pair")), ' +
    'generic_type_params: [U8, U8] }) }';

  it('a reference, when its turn comes', async () => {
    const text = `Invalid move type for converting into \`TypeTag\`: ${pair}`;
    await expectFailure(call('freeze', ['u8'], ['0x1', 1]), 'bad_type', text);
    const first =
      'parse arguments[0] failed, expect string<address>, caused by error: ' +
      'invalid type: number, expected a string';
    await expectFailure(call('freeze', ['u8'], [1, 1]), 'bad_argument', first);
  });

  it('a type argument that is a reference, after all arguments', async () => {
    const text =
      'Invalid move type for converting into `TypeTag`: Reference { mutable: true, to: Vector { items: U8 } }';
    await expectFailure(call('value', ['&mut vector<u8>'], ['0x']), 'bad_type', text);
    const inner = ledgerOf({ '0x2::m::f': { parameters: ['u8'], typeParameters: 1 } });
    await expectFailure(call('f', ['&mut vector<u8>'], [1]), 'bad_type', text, inner);
    const value = 'parse arguments[0] failed, expect integer<u8>, caused by error: invalid number';
    await expectFailure(call('f', ['&mut vector<u8>'], [256]), 'bad_argument', value, inner);
  });

  it('references to signers take no argument, at any depth', async () => {
    const message = await encode(call('value', ['&signer'], [])).catch((error: unknown) => error);
    expect((message as EncodeError).code).toBe('bad_type');
  });
});

describe('values (step 8)', () => {
  const cases: readonly (readonly [string, unknown, string, string])[] = [
    ['bool', 1, 'boolean', 'invalid type: number, expected a boolean'],
    ['u8', '1', 'integer<u8>', 'invalid type: string "1", expected u8'],
    ['u8', 256, 'integer<u8>', 'invalid number'],
    ['i8', -129, 'integer<i8>', 'invalid number'],
    ['u64', 5, 'string<u64>', 'invalid type: number, expected a string'],
    [
      'u128',
      'x',
      'string<u128>',
      'Parsing u128 string "x" failed, caused by error: invalid digit found in string',
    ],
    [
      'i64',
      '-9223372036854775809',
      'string<i64>',
      'Parsing i64 string "-9223372036854775809" failed, caused by error: ' +
        'number too small to fit in target type',
    ],
    [
      'address',
      'xyz',
      'string<address>',
      "Invalid account address: Hex characters are invalid: Invalid character 'x' at position 61",
    ],
    ['vector<u8>', [1], 'string<hex>', 'invalid type: sequence, expected a string'],
    [
      'vector<u8>',
      '0xz',
      'string<hex>',
      'decode hex-encoded string("0xz") failed, caused by error: Odd number of digits',
    ],
    ['vector<u64>', 'abc', 'array<string<u64>>', 'expected vector<U64>, but got: String("abc")'],
    ['0x1::string::String', 1, 'string<move_struct_tag_id>', 'failed to parse string::String.'],
    [
      '0x1::option::Option<u64>',
      null,
      'string<move_struct_tag_id>',
      'Expecting a JSON Map for struct.',
    ],
    ['0x1::option::Option<u64>', {}, 'string<move_struct_tag_id>', 'field vec not found.'],
    [
      '0x1::option::Option<u8>',
      { vec: [5] },
      'string<move_struct_tag_id>',
      'invalid type: sequence, expected a string',
    ],
    [
      '0x1::object::Object<0x9::gone::S>',
      { inner: '0x1' },
      'string<move_struct_tag_id>',
      'invalid type: map, expected a string',
    ],
    [
      'vector<0x1::object::Object<u8>>',
      ['0x1'],
      'array<string<move_struct_tag_id>>',
      'Expecting a JSON Map for struct.',
    ],
    ['0x2::m::Colour', { Blue: {} }, 'string<move_struct_tag_id>', 'Variant Blue not found.'],
    ['0x9::gone::S', {}, 'string<move_struct_tag_id>', 'Could not find module'],
    [
      '0x2::m::Nope',
      {},
      'string<move_struct_tag_id>',
      `Could not find struct named Nope in module ${id('2')}::m`,
    ],
    [
      '0x2::m::Empty<u8>',
      {},
      'string<move_struct_tag_id>',
      'Wrong number of type arguments for struct',
    ],
    ['0x2::m::Native', {}, 'string<move_struct_tag_id>', "Can't extract fields for native struct"],
    ['0x2::m::Signing', {}, 'string<move_struct_tag_id>', 'Type layouts cannot contain signer'],
    ['0x2::m::Lost', {}, 'string<move_struct_tag_id>', 'Could not find module'],
  ];
  it.each(cases)('%s refuses %j', async (type, value, name, why) => {
    const at = [call('f', [], ['5', value]), call('g', ['bool'], [true, value])] as const;
    const functions = ledgerOf(
      {
        '0x2::m::f': { parameters: ['&signer', 'u64', type] },
        '0x2::m::g': { parameters: ['T0', '&signer', type], typeParameters: 1 },
      },
      { ...OLD_FRAMEWORK, ...STRUCTS },
    );
    const text = `parse arguments[1] failed, expect ${name}, caused by error: ${why}`;
    for (const body of at) await expectFailure(body, 'bad_argument', text, functions);
  });

  const accepted: readonly (readonly [string, unknown, string])[] = [
    ['bool', true, '01'],
    ['u8', 255, 'ff'],
    ['i8', -128, '80'],
    ['u64', '+0018', '1200000000000000'],
    ['u256', '1', `01${'00'.repeat(31)}`],
    ['i128', '-5', `fb${'ff'.repeat(15)}`],
    ['address', '1', id('1')],
    ['vector<u8>', '', '00'],
    ['vector<vector<u8>>', ['0x01', '', '0x'], '0301010000'],
    ['0x1::string::String', 'é', '02c3a9'],
    ['0x1::option::Option<u64>', { vec: [] }, '00'],
    ['0x1::option::Option<u64>', { vec: ['5'], more: 1 }, '010500000000000000'],
    ['0x1::option::Option<u8>', { vec: '05' }, '0105'],
    ['0x1::object::Object<0x9::gone::S>', '0xa', id('a')],
    ['vector<0x1::object::Object<u8>>', [{ inner: '0xa' }], `01${id('a')}`],
    ['0x2::m::Pair<u8, 0x2::m::Empty>', { second: { dummy_field: false }, first: 7 }, '0700'],
    ['0x2::m::Colour', { Rgb: { _2: 3, _1: 2, _0: 1 } }, '01010203'],
    ['0x2::m::Colour', { Red: {} }, '00'],
  ];
  it.each(accepted)('%s takes %j', async (type, value, hex) => {
    for (const framework of [OLD_FRAMEWORK, NEW_FRAMEWORK]) {
      const functions = ledgerOf(
        { '0x2::m::f': { parameters: ['signer', type, '&mut signer'] } },
        { ...framework, ...STRUCTS },
      );
      const length = Buffer.from([hex.length / 2]).toString('hex');
      expect(await argumentsHex('f', [value], functions)).toBe(`01${length}${hex}`);
    }
  });

  it('take type arguments in parameters', async () => {
    const message = await encode(
      call('value', ['vector<0x2::m::Pair<u8, bool>>'], [[]]),
      newLedger,
    );
    expect(message.subarray(-28, -25).toString('hex')).toBe('010100');
    const body = call(
      'value',
      ['0x2::m::Pair<u8, 0x1::string::String>'],
      [{ first: 1, second: 'a' }],
    );
    expect((await encode(body)).subarray(-30, -25).toString('hex')).toBe('0103010161');
  });

  it('counts nodes of a layout up to 513', async () => {
    const wide = (fields: number): Source => ({
      '0x2::m::Wide': {
        fields: Array.from({ length: fields }, (_, index) => [`f${index}`, 'u8'] as const),
      },
    });
    const value = Object.fromEntries(Array.from({ length: 513 }, (_, index) => [`f${index}`, 0]));
    for (const fields of [511, 512, 513]) {
      const functions = ledgerOf({ '0x2::m::f': { parameters: ['0x2::m::Wide'] } }, wide(fields));
      if (fields <= 512) {
        expect((await argumentsHex('f', [value], functions)).length).toBe(2 * (1 + 2 + fields));
        continue;
      }
      const text =
        'parse arguments[0] failed, expect string<move_struct_tag_id>, caused by error: ' +
        'type layout exceeds the maximum of 512 nodes';
      await expectFailure(call('f', [], [value]), 'bad_argument', text, functions);
    }
  });
});

describe('layouts that are kept', () => {
  it('are not used once a module they were made from is another one', async () => {
    const functions: Functions = { '0x2::m::f': { parameters: ['0x3::s::S'] } };
    const older = ledgerOf(functions, { '0x3::s::S': { fields: [['a', 'u8']] } });
    const newer = ledgerOf(functions, {
      '0x3::s::S': {
        fields: [
          ['a', 'u8'],
          ['b', 'u16'],
        ],
      },
    });
    let upgraded = false;
    const lookup: ModuleLookup = (one) => {
      // The called module stays the same object.
      if (one.name === 'm') return older(one);
      return Promise.resolve(upgraded ? newer(one) : older(one));
    };
    const value = { a: 1, b: 2 };
    expect(await argumentsHex('f', [value], lookup)).toBe('010101');
    expect(await argumentsHex('f', [value], lookup)).toBe('010101');
    upgraded = true;
    expect(await argumentsHex('f', [value], lookup)).toBe('0103010200');
    upgraded = false;
    expect(await argumentsHex('f', [value], lookup)).toBe('010101');
  });

  it('are not kept of a module that was missing', async () => {
    const functions: Functions = { '0x2::m::f': { parameters: ['0x3::s::S'] } };
    const full = ledgerOf(functions, { '0x3::s::S': { fields: [['a', 'u8']] } });
    let published = false;
    const lookup: ModuleLookup = (one) => (one.name === 's' && !published ? undefined : full(one));
    await expectFailure(
      call('f', [], [{ a: 1 }]),
      'bad_argument',
      'parse arguments[0] failed, expect string<move_struct_tag_id>, caused by error: ' +
        'Could not find module',
      lookup,
    );
    published = true;
    expect(await argumentsHex('f', [{ a: 1 }], lookup)).toBe('010101');
  });
});

describe('multisig payloads convert as the payload inside does', () => {
  it('with the same messages', async () => {
    const inner = {
      type: 'entry_function_payload',
      function: '0x2::m::nope',
      type_arguments: [],
      arguments: [],
    };
    const payload = {
      type: 'multisig_payload',
      multisig_address: '0x1',
      transaction_payload: inner,
    };
    const text = 'could not find entry function by 0x2::m::nope';
    await expectFailure(requestOf(payload), 'function_not_found', text);
  });
});

describe('a chain id', () => {
  it('that is no u8 is the caller’s mistake', async () => {
    for (const chainId of [-1, 256, 1.5]) {
      const encoding = encodeSubmission(call('hidden', [], []), { chainId, lookupModule: ledger });
      await expect(encoding).rejects.toThrow(RangeError);
    }
    for (const chainId of [0, 255]) {
      const message = await encodeSubmission(call('hidden', [], []), {
        chainId,
        lookupModule: ledger,
      });
      expect(message.at(-1)).toBe(chainId);
    }
  });
});
