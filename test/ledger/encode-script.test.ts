/** Scripts, multisig and encrypted payloads, with and without nonce (docs/spec/encode.md §A4 "Script", A5). */
import { describe, expect, it } from 'vitest';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import type { Layout } from '../../src/move/values/layout.ts';
import { debugMoveValue, MAX_DEBUG_VALUE_LENGTH } from '../../src/move/values/value-debug.ts';
import {
  EncodeError,
  type EncodeErrorCode,
  encodeSubmission,
} from '../../src/submission/encode/index.ts';
import { OLD_FRAMEWORK } from '../move/values/layout-modules.ts';
import { ledgerOf } from './encode-modules.ts';

const ledger = ledgerOf(
  { '0x2::m::f': { parameters: ['&signer', 'u8'] } },
  {
    ...OLD_FRAMEWORK,
    '0x2::m::Colour': {
      variants: [
        ['Red', []],
        ['Grey', [['_0', 'u64']]],
      ],
    },
    '0x2::m::Deep': {
      fields: [
        ['a', 'bool'],
        ['b', { vector: 'address' }],
      ],
    },
  },
);
const PREFIX = 'The given transaction is invalid: Failed to parse transaction payload: ';
const CODE = '0xc0de';

/** A script of version 6 whose only table is its signatures; it returns at once. */
function scriptCode(parameters: string, typeParameters = 0): string {
  const count = parameters === '' ? 0 : parameters.split(' ').length;
  const signatures = `${hexByte(count)}${parameters.replaceAll(' ', '')}00`;
  const tail = `${hexByte(typeParameters)}${'00'.repeat(typeParameters)}00010102`;
  return `a11ceb0b060000000105${'00'}${hexByte(signatures.length / 2)}${signatures}${tail}`;
}

function hexByte(value: number): string {
  return Buffer.from([value]).toString('hex');
}

function abi(params: readonly string[]): object {
  return {
    name: 'main',
    visibility: 'public',
    is_entry: true,
    is_view: false,
    generic_type_params: [],
    params,
    return: [],
  };
}

interface Extra {
  readonly replay_protection_nonce?: string;
  readonly secondary_signers?: readonly string[];
}

function encode(payload: object, extra: Extra = {}): Promise<Buffer> {
  const request = {
    sender: '0xdd',
    sequence_number: '7',
    max_gas_amount: '1',
    gas_unit_price: '2',
    expiration_timestamp_secs: '3',
    payload,
    ...extra,
  };
  const context = { chainId: 4, lookupModule: ledger };
  return encodeSubmission(Buffer.from(JSON.stringify(request)), context);
}

/** The payload's hex; checks that the sequence number matches the nonce. */
async function payloadHex(payload: object, extra: Extra = {}): Promise<string> {
  const message = await encode(payload, extra);
  const orderless = extra.replay_protection_nonce !== undefined;
  expect(message.subarray(64, 72).toString('hex')).toBe(
    orderless ? 'ff'.repeat(8) : '0700000000000000',
  );
  return message.subarray(72, message.length - 25).toString('hex');
}

async function expectFailure(payload: object, code: EncodeErrorCode, text: string): Promise<void> {
  const error = await encode(payload).then(
    () => new Error('accepted'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof EncodeError)) throw error;
  expect([error.message, error.stage, error.code]).toEqual([PREFIX + text, 'convert', code]);
}

function script(
  code: { readonly bytecode: string; readonly abi?: object },
  args: readonly unknown[],
  typeArguments: readonly string[] = [],
): object {
  return { type: 'script_payload', code, type_arguments: typeArguments, arguments: args };
}

function withAbi(type: string, value: unknown, typeArguments: readonly string[] = []): object {
  return script({ bytecode: CODE, abi: abi([type]) }, [value], typeArguments);
}

const id = (digits: string) => digits.padStart(64, '0');

describe('arguments of scripts', () => {
  it.each([
    ['u8', 255, '00ff'],
    ['u64', '1', '010100000000000000'],
    ['u128', '1', `0201${'00'.repeat(15)}`],
    ['address', '0xa', `03${id('a')}`],
    ['vector<u8>', '0x0102', '04020102'],
    ['vector<u8>', '', '0400'],
    ['bool', true, '0501'],
    ['u16', 258, '060201'],
    ['u32', 1, '0701000000'],
    ['u256', '1', `0801${'00'.repeat(31)}`],
    ['vector<u64>', [], '0400'],
    ['vector<0x1::string::String>', [], '0400'],
    ['vector<vector<u8>>', [], '0400'],
    ['0x1::object::Object<0x9::a::B>', '0xa', `03${id('a')}`],
  ])('%s, given by the abi', async (type, value, hex) => {
    expect(await payloadHex(withAbi(type, value))).toBe(`0002c0de0001${hex}`);
  });

  // Signature tokens: docs/spec/move.md §1.6.
  it.each([
    ['02', 7, '0007'],
    ['0d', 7, '060700'],
    ['0a02', '0x07', '040107'],
    ['0900', '0x7', `03${id('7')}`],
  ])('token %s of the code', async (token, value, hex) => {
    const bytecode = scriptCode(token, 1);
    const length = hexByte(bytecode.length / 2);
    expect(await payloadHex(script({ bytecode }, [value]))).toBe(
      `00${length}${bytecode}0001${hex}`,
    );
    const typed = await payloadHex(script({ bytecode }, [value], ['u8', 'bool']));
    expect(typed).toBe(`00${length}${bytecode}02010001${hex}`);
  });

  it.each([
    ['u8', '1', 'integer<u8>', 'invalid type: string "1", expected u8'],
    ['0x1::string::String', 1, 'string<move_struct_tag_id>', 'failed to parse string::String.'],
    ['0x9::a::B', {}, 'string<move_struct_tag_id>', 'Could not find module'],
  ])('%s refuses %j', async (type, value, name, why) => {
    const text = `parse arguments[0] failed, expect ${name}, caused by error: ${why}`;
    await expectFailure(withAbi(type, value), 'bad_argument', text);
  });

  it.each([
    ['0x1::string::String', 'a', 'Struct(Runtime([Vector([U8(97)])]))'],
    ['0x1::option::Option<u64>', { vec: ['5'] }, 'Struct(Runtime([Vector([U64(5)])]))'],
    ['0x2::m::Colour', { Grey: { _0: '5' } }, 'Struct(RuntimeVariant(1, [U64(5)]))'],
    [
      '0x2::m::Deep',
      { a: true, b: ['0x1', '0x2'] },
      `Struct(Runtime([Bool(true), Vector([Address(${id('1')}), Address(${id('2')})])]))`,
    ],
  ])('%s is no argument of a script', async (type, value, shown) => {
    const text = `invalid transaction argument: ${shown}`;
    await expectFailure(withAbi(type, value), 'bad_script_argument', text);
  });

  it.each([
    ['vector<u64>', ['1', '2'], 'U64(1)'],
    ['vector<vector<u8>>', ['0x0102'], 'Vector([U8(1), U8(2)])'],
    ['vector<0x1::string::String>', ['a'], 'Struct(Runtime([Vector([U8(97)])]))'],
  ])('%s takes no items', async (type, value, shown) => {
    const text = `unexpected value in bytes: ${shown}`;
    await expectFailure(withAbi(type, value), 'bad_script_argument', text);
  });

  it('fail after type arguments do', async () => {
    const text =
      'Invalid move type for converting into `TypeTag`: Reference { mutable: false, to: U8 }';
    await expectFailure(withAbi('vector<u64>', ['1'], ['&u8']), 'bad_type', text);
  });

  it.each(['T0', 'i8', 'i256', '|u8|u8', 'vector<T0>'])('the abi cannot say %s', async (type) => {
    const text = `Invalid move type for converting into \`TypeTag\`: Unparsable("${type}")`;
    await expectFailure(withAbi(type, 1), 'bad_type', text);
    const named = `expected 1 arguments [${type}], but got 0 ([])`;
    const none = script({ bytecode: CODE, abi: abi([type]) }, []);
    await expectFailure(none, 'argument_count', named);
  });

  it('take no signers', async () => {
    const types = ['signer', '&signer', 'u8', '&mut signer', 'bool'];
    const hex = await payloadHex(script({ bytecode: CODE, abi: abi(types) }, [1, false]));
    expect(hex).toBe('0002c0de000200010500');
    const text = 'expected 2 arguments [integer<u8>, boolean], but got 0 ([])';
    await expectFailure(script({ bytecode: CODE, abi: abi(types) }, []), 'argument_count', text);
  });
});

describe('the code of scripts', () => {
  const good = scriptCode('02');

  it.each([
    ['nothing', ''],
    ['garbage', 'c0de'],
    ['a truncated script', good.slice(0, -2)],
    ['a version to come', good.replace('a11ceb0b06', 'a11ceb0b0b')],
    [
      'a module',
      'a11ceb0b0600000003010002070205080720000000014d00000000000000000000000000000000000000000000000000000000000000010000',
    ],
  ])('may not be %s', async (_name, bytecode) => {
    await expectFailure(
      script({ bytecode }, [1]),
      'bad_script',
      'invalid transaction script bytecode',
    );
  });

  it('may be anything beside an abi', async () => {
    expect(await payloadHex(script({ bytecode: '', abi: abi([]) }, []))).toBe('00000000');
  });

  it('may have bytes after its end', async () => {
    const hex = await payloadHex(script({ bytecode: `${good}ffff` }, [1]));
    expect(hex).toContain(`${good}ffff`);
  });
});

describe('shapes of payloads (docs/spec/encode.md §A5, "Which shape")', () => {
  const entry = {
    type: 'entry_function_payload',
    function: '0x2::m::f',
    type_arguments: [],
    arguments: [9],
  };
  const call = `${id('2')}016d0166000101${'09'}`;
  const run = withAbi('u8', 9);
  const runs = '02c0de00010009';
  const multisig = (inner?: object | null) => ({
    type: 'multisig_payload',
    multisig_address: '0xabcd',
    transaction_payload: inner,
  });
  const nonce = { replay_protection_nonce: '258' };
  const n = '0201000000000000';
  const m = id('abcd');

  it.each([
    ['entry function', entry, `02${call}`, `040001${call}000001${n}`],
    ['script', run, `00${runs}`, `040000${runs}000001${n}`],
    ['multisig alone', multisig(), `03${m}00`, `0400020001${m}01${n}`],
    ['multisig with null', multisig(null), `03${m}00`, `0400020001${m}01${n}`],
    [
      'multisig, entry function',
      multisig(entry),
      `03${m}0100${call}`,
      `040001${call}0001${m}01${n}`,
    ],
    ['multisig, script', multisig(run), `03${m}0101${runs}`, `040000${runs}0001${m}01${n}`],
  ])('%s', async (_name, payload, plain, orderless) => {
    expect(await payloadHex(payload)).toBe(plain);
    expect(await payloadHex(payload, nonce)).toBe(orderless);
  });

  it('with secondary signers, none of them too, doubled ones too', async () => {
    const plain = await encode(entry, nonce);
    for (const signers of [[], ['0x2'], ['0x2', '0x2']]) {
      const message = await encode(entry, { ...nonce, secondary_signers: signers });
      const tail = hexByte(signers.length) + id('2').repeat(signers.length);
      expect(message.subarray(32).toString('hex')).toBe(
        `00${plain.subarray(32).toString('hex')}${tail}`,
      );
      expect(message.subarray(0, 32).equals(plain.subarray(0, 32))).toBe(false);
    }
  });

  const ciphertext =
    `2058${'66'.repeat(31)}20${'02'.repeat(32)}a002${`c0${'00'.repeat(95)}`.repeat(3)}` +
    `${'04'.repeat(16)}${'05'.repeat(12)}03060606${'0107'}${'08'.repeat(64)}`;
  const encrypted = {
    type: 'encrypted_transaction_payload',
    encrypted_state: 'encrypted',
    payload_hash: `0x${'09'.repeat(32)}`,
    ciphertext: `0x${ciphertext}`,
    encryption_epoch: '5',
  };
  const hash = '09'.repeat(32);

  it.each([
    [null, '00'],
    [{ module: '0x3::pay' }, `01${id('3')}0370617900`],
    [{ module: '0x3::pay', name: null }, `01${id('3')}0370617900`],
    [{ module: '0x3::pay', name: 'out' }, `01${id('3')}0370617901036f7574`],
  ])('encrypted, claiming %j', async (claimed, hex) => {
    const payload = { ...encrypted, claimed_entry_fun: claimed };
    const tail = `${hash}0500000000000000${hex}`;
    expect(await payloadHex(payload)).toBe(`0500${ciphertext}000000${tail}`);
    expect(await payloadHex(payload, nonce)).toBe(`0500${ciphertext}000001${n}${tail}`);
  });

  it.each([
    ['', 'unexpected end of input'],
    [ciphertext.slice(0, -2), 'unexpected end of input'],
    [`${ciphertext}00`, 'remaining input'],
  ])('encrypted without a whole ciphertext', async (bytes, why) => {
    const text = `Failed to BCS-deserialize ciphertext: ${why}`;
    await expectFailure({ ...encrypted, ciphertext: bytes }, 'bad_ciphertext', text);
  });
});

describe('debug prints of values', () => {
  const print = (layout: Layout, hex: string) =>
    debugMoveValue(layout, new BcsReader(Buffer.from(hex, 'hex')));

  it.each([
    ['u8', '01', 'U8(1)'],
    ['u16', '0100', 'U16(1)'],
    ['u32', '01000000', 'U32(1)'],
    ['u64', '0100000000000000', 'U64(1)'],
    ['u128', `01${'00'.repeat(15)}`, 'U128(1)'],
    ['u256', `01${'00'.repeat(31)}`, 'U256(1)'],
    ['i8', 'ff', 'I8(-1)'],
    ['i16', 'feff', 'I16(-2)'],
    ['i32', 'ffffffff', 'I32(-1)'],
    ['i64', 'ff'.repeat(8), 'I64(-1)'],
    ['i128', 'ff'.repeat(16), 'I128(-1)'],
    ['i256', 'ff'.repeat(32), 'I256(-1)'],
    ['bool', '00', 'Bool(false)'],
    ['address', id('a'), `Address(${id('a')})`],
  ] as const)('of %s', (kind, hex, text) => {
    expect(print({ kind }, hex)).toBe(text);
    expect(print({ kind: 'vector', element: { kind } }, `01${hex}`)).toBe(`Vector([${text}])`);
    expect(print({ kind: 'vector', element: { kind } }, '00')).toBe('Vector([])');
  });

  it('end at their limit', () => {
    const layout: Layout = { kind: 'vector', element: { kind: 'bool' } };
    const bytes = encodeBcs((writer) => writer.bytes(Buffer.alloc(4_000_000)));
    const text = debugMoveValue(layout, new BcsReader(bytes));
    expect(text.endsWith('…')).toBe(true);
    expect(text.length).toBeLessThan(MAX_DEBUG_VALUE_LENGTH + 20);
  });
});
