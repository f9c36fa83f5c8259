/** Every message of docs/spec/encode.md §A2 and A3 about payloads: stage, code, text. */
import { describe, expect, it } from 'vitest';
import { parseEncodeRequest, verifyEncodeRequest } from '../../src/submission/encode/index.ts';
import {
  ADDRESS,
  expectFailure,
  occurred,
  PARSE,
  REQUEST,
  SCRIPT,
  T,
  TRANSFER,
  U64,
} from './encode-refused.ts';

describe('payloads (docs/spec/encode.md §A2)', () => {
  it.each([
    [undefined, 'null'],
    [null, 'null'],
    [1234, '1234'],
    ['x', '"x"'],
    [[], '[]'],
    [{}, '{}'],
    [{ type: 5 }, '{"type":5}'],
    [{ type: 'EntryFunctionPayload', a: [] }, '{"type":"EntryFunctionPayload","a":[]}'],
    [{ type: 'write_set_payload' }, '{"type":"write_set_payload"}'],
  ])('%j', (payload, shown) => {
    const text = `Expected input type "TransactionPayload", found ${shown}.`;
    expectFailure({ ...REQUEST, payload }, 'parse', 'bad_payload', PARSE + text + T);
  });

  const ENTRY_TRACE = occurred('EntryFunctionPayload', 'TransactionPayload') + T;
  const ID = 'failed to parse "string(EntryFunctionId)": ';
  const TYPE = 'failed to parse "string(MoveType)": deserialize Move type failed, ';
  const LIST = occurred('[string(MoveType)]');
  it.each([
    [{ function: null }, `${ID}invalid type: null, expected a string`],
    [{ function: 5 }, `${ID}invalid type: number, expected a string`],
    ...[
      '',
      'x',
      '0x1::coin',
      'coin::transfer',
      '0x1::coin::',
      '0x1:: coin::transfer',
      '0x1::coin::transfer ',
      '0X1::coin::transfer',
      '0x1::a::b::c',
      '0x1::_::f',
      '0x1::m::$',
      '0x1::m::1f',
      '0x1::m::<SELF>_',
      '0x1::m::f\n',
      `0x${'1'.repeat(65)}::m::f`,
    ].map((text) => [{ function: text }, `${ID}Invalid entry function ID ${text}`] as const),
    [{ type_arguments: null }, 'Expected input type "[string(MoveType)]", found null.'],
    [{ type_arguments: 'u8' }, 'Expected input type "[string(MoveType)]", found "u8".'],
    [
      { type_arguments: ['u8', true] },
      `${TYPE}invalid type: boolean \`true\`, expected a string${LIST}`,
    ],
    [{ type_arguments: [null] }, `${TYPE}invalid type: null, expected a string${LIST}`],
    [{ type_arguments: [1] }, `${TYPE}invalid type: number, expected a string${LIST}`],
    [{ arguments: undefined }, 'Expected input type "[any]", found null.'],
    [{ arguments: { a: 1 } }, 'Expected input type "[any]", found {"a":1}.'],
    [
      { function: 1, type_arguments: 1, arguments: 1 },
      `${ID}invalid type: number, expected a string`,
    ],
    [{ type_arguments: 1, arguments: 1 }, 'Expected input type "[string(MoveType)]", found 1.'],
  ] as const)('entry function with %j', (change, text) => {
    const body = { ...REQUEST, payload: { ...TRANSFER, ...change } };
    expectFailure(body, 'parse', 'bad_field', PARSE + text + ENTRY_TRACE);
  });

  it.each(['1::coin::transfer', '0x1::_a::$b', '0x1::<SELF>::<SELF>_0', '0x1::a$::b_9'])(
    'function %s is a name',
    (text) => {
      const body = { ...REQUEST, payload: { ...TRANSFER, function: text } };
      expect(parseEncodeRequest(Buffer.from(JSON.stringify(body))).payload.kind).toBe(
        'entryFunction',
      );
    },
  );

  const SCRIPT_TRACE = occurred('ScriptPayload', 'TransactionPayload') + T;
  const CODE_TRACE = occurred('MoveScriptBytecode') + SCRIPT_TRACE;
  const HEX = 'failed to parse "string(HexEncodedBytes)": ';
  const decodeHex = (text: string, why: string) =>
    `${HEX}decode hex-encoded string("${text}") failed, caused by error: ${why}`;
  it.each([
    [null, 'Expected input type "MoveScriptBytecode", found null.', SCRIPT_TRACE],
    ['0x00', 'Expected input type "MoveScriptBytecode", found "0x00".', SCRIPT_TRACE],
    [{}, `${HEX}invalid type: null, expected a string`, CODE_TRACE],
    [{ bytecode: [] }, `${HEX}invalid type: sequence, expected a string`, CODE_TRACE],
    [{ bytecode: '0x0' }, decodeHex('0x0', 'Odd number of digits'), CODE_TRACE],
    [{ bytecode: '0X00' }, decodeHex('0X00', "Invalid character 'X' at position 1"), CODE_TRACE],
    [{ bytecode: '0x0g' }, decodeHex('0x0g', "Invalid character 'g' at position 1"), CODE_TRACE],
  ] as const)('script with code %j', (code, text, trace) => {
    const body = { ...REQUEST, payload: { ...SCRIPT, code } };
    expectFailure(body, 'parse', 'bad_field', PARSE + text + trace);
  });

  const ABI = {
    name: 'not checked at all',
    visibility: 'friend',
    is_entry: true,
    is_view: false,
    generic_type_params: [{ constraints: ['copy', 'drop', 'store', 'key'] }] as unknown,
    params: ['u8'] as unknown,
    return: [] as unknown,
  };
  const OPTIONAL = occurred('optional<MoveFunction>');
  const FUNCTION = occurred('MoveFunction') + OPTIONAL;
  const GENERIC = occurred('MoveFunctionGenericTypeParam', '[MoveFunctionGenericTypeParam]');
  it.each([
    [5, `Expected input type "MoveFunction", found 5.${OPTIONAL}`],
    [
      { name: 5 },
      `failed to parse "string(IdentifierWrapper)": invalid type: number, expected a string${FUNCTION}`,
    ],
    [
      { visibility: 'Public' },
      `Expected input type "MoveFunctionVisibility", found "Public".${FUNCTION}`,
    ],
    [{ is_entry: null }, `Expected input type "boolean", found null.${FUNCTION}`],
    [{ is_view: 'true' }, `Expected input type "boolean", found "true".${FUNCTION}`],
    [
      { generic_type_params: 1 },
      `Expected input type "[MoveFunctionGenericTypeParam]", found 1.${FUNCTION}`,
    ],
    [
      { generic_type_params: [1] },
      'Expected input type "MoveFunctionGenericTypeParam", found 1.' +
        occurred('[MoveFunctionGenericTypeParam]') +
        FUNCTION,
    ],
    [
      { generic_type_params: [{}] },
      `Expected input type "[string(MoveAbility)]", found null.${GENERIC}${FUNCTION}`,
    ],
    [
      { generic_type_params: [{ constraints: ['Copy'] }] },
      'failed to parse "string(MoveAbility)": Invalid ability string: Copy' +
        occurred('[string(MoveAbility)]') +
        GENERIC +
        FUNCTION,
    ],
    [{ params: null }, `Expected input type "[string(MoveType)]", found null.${FUNCTION}`],
    [{ params: [1] }, `${TYPE}invalid type: number, expected a string${LIST}${FUNCTION}`],
    [{ return: {} }, `Expected input type "[string(MoveType)]", found {}.${FUNCTION}`],
  ] as const)('script with abi %j', (change, text) => {
    const abi = typeof change === 'object' ? { ...ABI, ...change } : change;
    const body = { ...REQUEST, payload: { ...SCRIPT, code: { bytecode: '', abi } } };
    expectFailure(body, 'parse', 'bad_field', PARSE + text + CODE_TRACE);
  });

  it('takes an abi with any name, and null as none', () => {
    for (const [abi, parameters] of [
      [ABI, [{ kind: 'u8' }]],
      [null, undefined],
    ] as const) {
      const body = { ...REQUEST, payload: { ...SCRIPT, code: { bytecode: '', abi } } };
      const { payload } = parseEncodeRequest(Buffer.from(JSON.stringify(body)));
      expect(payload.kind === 'script' && payload.abiParameters).toEqual(parameters);
    }
  });

  const MULTISIG_TRACE = occurred('MultisigPayload', 'TransactionPayload') + T;
  const UNION = 'MultisigTransactionPayload';
  const { type: _type, ...untyped } = TRANSFER;
  it.each([
    [{ type: 'multisig_payload' }, 'bad_field', `${ADDRESS}invalid type: null, expected a string`],
    [
      { multisig_address: 'zz', transaction_payload: 5 },
      'bad_field',
      `${ADDRESS}Invalid account address: Hex characters are invalid: Invalid character 'z' at position 62`,
    ],
    [
      { multisig_address: '0x1', transaction_payload: 5 },
      'bad_payload',
      `Expected input type "${UNION}", found 5.${occurred(`optional<${UNION}>`)}`,
    ],
    [
      { multisig_address: '0x1', transaction_payload: untyped },
      'bad_payload',
      `Expected input type "${UNION}", found ${JSON.stringify(untyped)}.` +
        occurred(`optional<${UNION}>`),
    ],
    [
      { multisig_address: '0x1', transaction_payload: { type: 'multisig_payload' } },
      'bad_payload',
      `Expected input type "${UNION}", found {"type":"multisig_payload"}.` +
        occurred(`optional<${UNION}>`),
    ],
    [
      { multisig_address: '0x1', transaction_payload: { ...TRANSFER, function: 'x' } },
      'bad_field',
      `${ID}Invalid entry function ID x` +
        occurred('EntryFunctionPayload', UNION, `optional<${UNION}>`),
    ],
    [
      { multisig_address: '0x1', transaction_payload: { ...SCRIPT, code: 1 } },
      'bad_field',
      'Expected input type "MoveScriptBytecode", found 1.' +
        occurred('ScriptPayload', UNION, `optional<${UNION}>`),
    ],
  ] as const)('multisig with %j', (change, code, text) => {
    const body = { ...REQUEST, payload: { ...change, type: 'multisig_payload' } };
    expectFailure(body, 'parse', code, PARSE + text + MULTISIG_TRACE);
  });
});

describe('encrypted payloads (docs/spec/encode.md §A2)', () => {
  const ENCRYPTED = {
    type: 'encrypted_transaction_payload',
    encrypted_state: 'encrypted',
    payload_hash: '0'.repeat(64),
    ciphertext: '0x',
    encryption_epoch: '1',
  };
  const UNION = 'EncryptedTransactionPayload';
  const TRACE = occurred('EncryptedPayload', UNION, 'TransactionPayload') + T;
  const CLAIMED = occurred('ClaimedEntryFunction', 'optional<ClaimedEntryFunction>');

  it('have one of three states', () => {
    const payload = { type: ENCRYPTED.type, encrypted_state: 'x' };
    const shown = '{"type":"encrypted_transaction_payload","encrypted_state":"x"}';
    const text = `Expected input type "${UNION}", found ${shown}.${occurred('TransactionPayload')}`;
    expectFailure({ ...REQUEST, payload }, 'parse', 'bad_payload', PARSE + text + T);
  });

  it.each([
    [
      { payload_hash: 1 },
      'failed to parse "string(HashValue)": invalid type: number, expected a string',
    ],
    [{ payload_hash: '0x12' }, 'failed to parse "string(HashValue)": unable to parse HashValue'],
    [
      { ciphertext: 'x' },
      'failed to parse "string(HexEncodedBytes)": decode hex-encoded string("x") failed, ' +
        'caused by error: Odd number of digits',
    ],
    [{ encryption_epoch: 1 }, `${U64}invalid type: number, expected a string`],
    [
      { claimed_entry_fun: 1 },
      `Expected input type "ClaimedEntryFunction", found 1.${occurred('optional<ClaimedEntryFunction>')}`,
    ],
    [
      { claimed_entry_fun: { module: '0x1' } },
      `failed to parse "string(MoveModuleId)": Invalid Move module ID: 0x1${CLAIMED}`,
    ],
    [
      { claimed_entry_fun: { module: '0x1::m', name: 1 } },
      'failed to parse "string(IdentifierWrapper)": invalid type: number, expected a string' +
        occurred('optional<string(IdentifierWrapper)>') +
        CLAIMED,
    ],
  ])('with %j', (change, text) => {
    const body = { ...REQUEST, payload: { ...ENCRYPTED, ...change } };
    expectFailure(body, 'parse', 'bad_field', PARSE + text + TRACE);
  });

  it.each([
    ['failed_decryption', 'Cannot submit a failed decryption payload'],
    ['decrypted', 'Cannot submit a decrypted payload'],
  ])('that are %s are not for submission', (state, text) => {
    const payload = {
      ...ENCRYPTED,
      encrypted_state: state,
      decrypted_payload: TRANSFER,
      decryption_nonce: '0x00',
    };
    const message = `'UserTransactionRequest' invalid: ${text}`;
    expectFailure({ ...REQUEST, payload }, 'verify', 'payload_not_encrypted', message);
  });

  it('that are decrypted hold what was decrypted', () => {
    const payload = { ...ENCRYPTED, encrypted_state: 'decrypted' };
    const text =
      'Expected input type "EncryptedTransactionInnerPayload", found null.' +
      occurred('DecryptedPayload', UNION, 'TransactionPayload');
    expectFailure({ ...REQUEST, payload }, 'parse', 'bad_payload', PARSE + text + T);
  });
});

describe('verification (docs/spec/encode.md §A3)', () => {
  const INVALID = "'UserTransactionRequest' invalid: ";
  const B = '0x1::a::B<';
  const b = (count: number, inner: string) => B.repeat(count) + inner + '>'.repeat(count);
  const v = (count: number, inner: string) => 'vector<'.repeat(count) + inner + '>'.repeat(count);
  const WRAP = 'Invalid struct tag for generic type params:';
  const LIMIT = 'has gone over the limit of recursive types 8';

  it('refuses module bundles, whatever they hold', () => {
    const payload = { type: 'module_bundle_payload', modules: 5 };
    const message = `${INVALID}Module bundle payload has been removed`;
    expectFailure({ ...REQUEST, payload }, 'verify', 'payload_removed', message);
  });

  const mixed = `vector<${B}vector<${B}vector<${B}u8>>>>>>`;
  it.each([
    [v(9, 'u8'), `Unable to parse move type ${v(9, 'u8')}`],
    [b(9, 'u8'), `Unable to parse move type ${b(9, 'u8')}`],
    ['i64', 'Unable to parse move type i64'],
    ['T0', 'Unable to parse move type T0'],
    ['&T0', 'Unable to parse move type T0'],
    ['&mut T0', 'Unable to parse move type T0'],
    ['', 'Unable to parse move type '],
    [
      b(4, '0x01::a::C'),
      `${[4, 3, 2, 1].map((n) => `${WRAP} ${b(n, '0x1::a::C')} `).join('')}` +
        `Move struct tag 0x1::a::C ${LIMIT}`,
    ],
    ...[5, 6, 7, 8].map(
      (depth) =>
        [
          b(depth, 'u8'),
          `${[0, 1, 2, 3].map((n) => `${WRAP} ${b(depth - n, 'u8')} `).join('')}` +
            `Move struct tag ${b(depth - 4, 'u8')} ${LIMIT}`,
        ] as const,
    ),
    [
      mixed,
      `${WRAP} 0x1::a::B<vector<0x1::a::B<vector<0x1::a::B<u8>>>>> ` +
        `${WRAP} 0x1::a::B<vector<0x1::a::B<u8>>> ${WRAP} 0x1::a::B<u8> Move type u8 ${LIMIT}`,
    ],
    [`&${v(8, 'u8')}`, `Move type u8 ${LIMIT}`],
  ] as const)('refuses the type argument %s', (type, text) => {
    const code = text.startsWith('Unable') ? 'unparsable_type' : 'type_too_deep';
    const entry = { ...TRANSFER, type_arguments: ['u8', type] };
    const script = { ...SCRIPT, type_arguments: [type] };
    const multisig = {
      type: 'multisig_payload',
      multisig_address: '1',
      transaction_payload: entry,
    };
    for (const payload of [entry, script, multisig]) {
      expectFailure({ ...REQUEST, payload }, 'verify', code, INVALID + text);
    }
  });

  it.each([
    v(8, 'u8'),
    v(7, 'u8'),
    b(4, 'u8'),
    b(3, '0x1::a::C'),
    '&u8',
    '&mut u8',
    `&${v(7, 'u8')}`,
  ])('lets the type argument %s pass', (type) => {
    const body = { ...REQUEST, payload: { ...TRANSFER, type_arguments: [type] } };
    expect(() => {
      verifyEncodeRequest(parseEncodeRequest(Buffer.from(JSON.stringify(body))));
    }).not.toThrow();
  });

  it('reports the first bad type argument', () => {
    const payload = { ...TRANSFER, type_arguments: ['u8', 'x y', 'i8'] };
    const message = `${INVALID}Unable to parse move type x y`;
    expectFailure({ ...REQUEST, payload }, 'verify', 'unparsable_type', message);
  });
});
