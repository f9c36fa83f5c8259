/** Every message of spec/encode.md A1 to A3 and spec/http.md §5.8: request, stage, code, text. */
import { describe, expect, it } from 'vitest';
import {
  EncodeError,
  type EncodeErrorCode,
  type EncodeStage,
  parseEncodeRequest,
  verifyEncodeRequest,
} from '../../src/ledger/encode/index.ts';

const TRANSFER = {
  type: 'entry_function_payload',
  function: '0x1::aptos_account::transfer',
  type_arguments: [] as unknown[],
  arguments: ['0x1', '5'] as unknown[],
};
const SCRIPT = {
  type: 'script_payload',
  code: { bytecode: '0x' } as unknown,
  type_arguments: [],
  arguments: [],
};
const REQUEST = {
  sender: '0xdd',
  sequence_number: '7',
  max_gas_amount: '1000000',
  gas_unit_price: '100',
  expiration_timestamp_secs: '1700000000',
  payload: TRANSFER as unknown,
};

/** Runs the stages before conversion. */
function failure(body: unknown): EncodeError {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  try {
    verifyEncodeRequest(parseEncodeRequest(bytes));
  } catch (error) {
    if (error instanceof EncodeError) return error;
    throw error;
  }
  throw new Error(`accepted: ${bytes.toString().slice(0, 200)}`);
}

function expectFailure(
  body: unknown,
  stage: EncodeStage,
  code: EncodeErrorCode,
  message: string,
): void {
  const error = failure(body);
  expect([error.message, error.stage, error.code]).toEqual([message, stage, code]);
}

const occurred = (...names: string[]) =>
  names.map((name) => ` (occurred while parsing "${name}")`).join('');
const T = occurred('UserTransactionRequestInner', 'EncodeSubmissionRequest');
const PARSE = 'parse request payload error: ';
const U64 = 'failed to parse "string(U64)": ';
const ADDRESS = 'failed to parse "string(Address)": ';

describe('bodies that are no request (spec/encode.md A1)', () => {
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

describe('fields of the request (spec/encode.md A1, spec/http.md §5.8)', () => {
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

describe('payloads (spec/encode.md A2)', () => {
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

describe('encrypted payloads (spec/encode.md A2)', () => {
  const ENCRYPTED = {
    type: 'encrypted_transaction_payload',
    encrypted_state: 'encrypted',
    payload_hash: '0'.repeat(64),
    ciphertext: '0x',
    encryption_epoch: '1',
  };
  const UNION = 'EncryptedTransactionPayload';
  const TRACE = occurred(UNION, 'TransactionPayload') + T;
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
    const text = 'Expected input type "TransactionPayload", found null.';
    expectFailure({ ...REQUEST, payload }, 'parse', 'bad_field', PARSE + text + TRACE);
  });
});

describe('verification (spec/encode.md A3)', () => {
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
