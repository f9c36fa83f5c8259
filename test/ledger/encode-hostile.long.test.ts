/** Malicious requests: each only causes a refusal or a response, soon, and within limits. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  entryFunctionField,
  MAX_CACHED_TEXT_LENGTH,
  MAX_LIST_ITEMS,
  MAX_TYPE_TEXTS_LENGTH,
  moveTypeListField,
} from '../../src/submission/encode/fields.ts';
import { EncodeError, encodeSubmission } from '../../src/submission/encode/index.ts';
import { NEW_FRAMEWORK } from '../move/values/layout-modules.ts';
import { roundsOf, testSeed } from '../random.ts';
import { ledgerOf } from './encode-modules.ts';

const seed = testSeed('encode-hostile');

const BODY_BYTES = 8 * 1024 * 1024;

const lookupModule = ledgerOf(
  {
    '0x1::m::f': {
      parameters: ['&signer', 'u8', 'u64', 'address', 'vector<u8>', 'vector<bool>'],
    },
    '0x1::m::g': {
      parameters: ['T0', '0x1::option::Option<T0>', '0x1::string::String', '&0x1::m::S<T0>'],
      typeParameters: 1,
    },
    '0x1::m::v': { parameters: ['T0'], typeParameters: 1 },
  },
  NEW_FRAMEWORK,
);

async function outcome(body: Uint8Array): Promise<Buffer | EncodeError> {
  try {
    return await encodeSubmission(body, { chainId: 1, lookupModule });
  } catch (error) {
    if (error instanceof EncodeError) return error;
    throw error;
  }
}

const FIELDS = {
  sender: '0x1',
  sequence_number: '0',
  max_gas_amount: '1',
  gas_unit_price: '1',
  expiration_timestamp_secs: '1',
};

const VALUES = ['u8', '5', '0x1', 'ff', '-1', '', 'é', '0x1::m::f', '0x1::a::B<u8>', '&u8', 'T0'];
const PAYLOADS = ['entry_function_payload', 'script_payload', 'multisig_payload'];

/** A value of any kind, often one that fits somewhere. */
const anything = fc.oneof(
  fc.constantFrom(...VALUES, 5, 1.5, -0, true, null, [], {}, { vec: [] }, { vec: '05' }),
  fc.constantFrom<unknown>(['u8'], [5, '5', '0x1', '0x', [true]], { __proto__: 1 }),
  fc.jsonValue({ maxDepth: 3 }),
);

const payload = fc.letrec<{ payload: unknown }>((tie) => ({
  payload: fc.record(
    {
      type: fc.constantFrom(...PAYLOADS, 'module_bundle_payload', 'encrypted_transaction_payload'),
      function: fc.oneof(
        fc.constantFrom('0x1::m::f', '1::m::g', '0x1::m::v', '0x2::m::f'),
        anything,
      ),
      type_arguments: fc.oneof(fc.array(fc.constantFrom(...VALUES), { maxLength: 2 }), anything),
      arguments: fc.oneof(fc.array(anything, { maxLength: 6 }), anything),
      code: fc.oneof(
        fc.record({ bytecode: fc.constantFrom('', '0x', 'a11ceb0b06'), abi: anything }),
        anything,
      ),
      multisig_address: fc.constantFrom('0x1', 'x', null),
      transaction_payload: fc.oneof({ maxDepth: 2 }, fc.constant(null), tie('payload')),
      encrypted_state: fc.constantFrom('encrypted', 'decrypted', 'x'),
      payload_hash: fc.constant('0'.repeat(64)),
      ciphertext: fc.constantFrom('', '0x20', 'zz'),
      encryption_epoch: fc.constantFrom('1', 1),
      claimed_entry_fun: anything,
    },
    {
      requiredKeys: ['type', 'function', 'type_arguments', 'arguments', 'code', 'multisig_address'],
    },
  ),
})).payload;

describe('random requests', () => {
  it('of the right shape end in an answer or an EncodeError', async () => {
    const request = fc.record({
      base: fc.constant(FIELDS),
      change: fc.oneof(
        { weight: 4, arbitrary: fc.constant({}) },
        fc.dictionary(fc.constantFrom(...Object.keys(FIELDS), '__proto__', 'x'), anything),
      ),
      payload,
      more: fc.oneof(
        { weight: 4, arbitrary: fc.constant({ replay_protection_nonce: '5' }) },
        fc.record({ replay_protection_nonce: anything, secondary_signers: anything }),
      ),
    });
    let converted = 0;
    await fc.assert(
      fc.asyncProperty(request, async ({ base, change, payload, more }) => {
        const body = JSON.stringify({ ...base, ...change, payload, ...more });
        const result = await outcome(Buffer.from(body));
        if (!(result instanceof EncodeError) || result.stage === 'convert') converted += 1;
      }),
      { seed, numRuns: roundsOf('REQUESTS', 5_000, 50_000) },
    );
    expect(converted).toBeGreaterThan(100);
  });

  it('with random bytes in them do as well', async () => {
    const whole = Buffer.from(
      JSON.stringify({
        ...FIELDS,
        payload: {
          type: 'entry_function_payload',
          function: '0x1::m::v',
          type_arguments: ['vector<0x1::string::String>'],
          arguments: [['é"\\', 'b']],
        },
        secondary_signers: ['0x1'],
      }),
    );
    expect(await outcome(whole)).toBeInstanceOf(Buffer);
    const changes = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(changes, fc.nat(whole.length), async (bytes, length) => {
        const body = Buffer.from(whole);
        for (const [at, byte] of bytes) body[at] = byte;
        await outcome(body);
        await outcome(body.subarray(0, length));
      }),
      { seed, numRuns: roundsOf('REQUESTS', 3_000, 50_000) },
    );
  });
});

function requestText(payloadText: string, more = ''): Buffer {
  return Buffer.from(`${JSON.stringify(FIELDS).slice(0, -1)},${more}"payload":${payloadText}}`);
}

function call(name: string, types: string, args: string): Buffer {
  return requestText(
    `{"type":"entry_function_payload","function":"${name}","type_arguments":${types},"arguments":${args}}`,
  );
}

function fill(unit: string): string {
  return unit.repeat(Math.floor((BODY_BYTES - 1_000) / unit.length));
}

// A quadratic algorithm would take minutes for these and exceed the test's time limit.
describe('bodies of 8 MiB end soon', () => {
  const many = (unit: string) => `[${fill(`${unit},`)}${unit}]`;
  const abi =
    '"name":"m","visibility":"public","is_entry":true,"is_view":false,"generic_type_params":[],"return":[]';
  const bodies: readonly (readonly [string, () => Buffer])[] = [
    ['unknown fields', () => requestText('1', `"x":${many('256')},`)],
    ['deep', () => requestText(fill('['))],
    ['a payload that is none', () => requestText(many('"a"'))],
    ['argument: hex', () => call('0x1::m::v', '["vector<u8>"]', `["${fill('ab')}"]`)],
    ['argument: an address', () => call('0x1::m::v', '["address"]', `["${fill('1')}"]`)],
    ['argument: an integer', () => call('0x1::m::v', '["u256"]', `["${fill('9')}"]`)],
    ['argument: zeros', () => call('0x1::m::v', '["u256"]', `["${fill('0')}1"]`)],
    ['argument: a string', () => call('0x1::m::v', '["0x1::string::String"]', `["${fill('é')}"]`)],
    ['argument: a list', () => call('0x1::m::v', '["vector<u64>"]', `[${many('"1"')}]`)],
    ['argument: the wrong list', () => call('0x1::m::v', '["u64"]', `[${many('"1"')}]`)],
    ['arguments', () => call('0x1::m::v', '["u64"]', many('"1"'))],
    ['control characters', () => call('0x1::m::v', '["u64"]', `["${fill('\\u0001')}",1]`)],
    ['a wide type', () => call('0x1::m::v', `["0x1::a::B<${fill('u8,')}>"]`, '[1]')],
    ['a deep type', () => call('0x1::m::v', `["${fill('vector<')}"]`, '[1]')],
    ['types', () => call('0x1::m::v', many('"vector<u8>"'), '[1]')],
    ['a function name', () => call(`0x1::m::${fill('f')}`, '[]', '[]')],
    ['a function of colons', () => call(fill('::'), '[]', '[]')],
    [
      'a script',
      () =>
        requestText(
          `{"type":"script_payload","code":{"bytecode":"${fill('a1')}"},"type_arguments":[],"arguments":[]}`,
        ),
    ],
    [
      'parameters of a script',
      () =>
        requestText(
          `{"type":"script_payload","code":{"bytecode":"","abi":{${abi},"params":${many('"bool"')}}},` +
            '"type_arguments":[],"arguments":[]}',
        ),
    ],
    [
      'an argument no script takes',
      () =>
        requestText(
          `{"type":"script_payload","code":{"bytecode":"","abi":{${abi},"params":["0x1::string::String"]}},` +
            `"type_arguments":[],"arguments":["${fill('a')}"]}`,
        ),
    ],
    [
      'signers',
      () => requestText('{"type":"multisig_payload"}', `"secondary_signers":${many('"1"')},`),
    ],
  ];
  it.each(bodies)('%s', async (_name, make) => {
    const body = make();
    expect(body.length).toBeGreaterThan(BODY_BYTES - 2_000);
    await outcome(body);
  });
});

describe('limits of our own', () => {
  const signers = (count: number) =>
    requestText(
      '{"type":"multisig_payload","multisig_address":"1"}',
      `"secondary_signers":${JSON.stringify(Array(count).fill('1'))},`,
    );

  it('items of a list', async () => {
    for (const count of [MAX_LIST_ITEMS - 1, MAX_LIST_ITEMS]) {
      const message = (await outcome(signers(count))) as Buffer;
      expect(message.subarray(-32).toString('hex')).toBe('1'.padStart(64, '0'));
    }
    const error = (await outcome(signers(MAX_LIST_ITEMS + 1))) as EncodeError;
    expect([error.stage, error.code]).toEqual(['parse', 'too_large']);
    expect(error.message).toBe(
      'parse request payload error: list of 65537 items, at most 65536 are read ' +
        '(occurred while parsing "optional<[string(Address)]>") ' +
        '(occurred while parsing "EncodeSubmissionRequest")',
    );
  });

  it('all types of a list together', async () => {
    const types = (length: number) =>
      call('0x1::m::v', JSON.stringify(['u8', 'x'.repeat(length - 2)]), '[1]');
    for (const length of [MAX_TYPE_TEXTS_LENGTH - 1, MAX_TYPE_TEXTS_LENGTH]) {
      expect(((await outcome(types(length))) as EncodeError).code).toBe('unparsable_type');
    }
    const error = (await outcome(types(MAX_TYPE_TEXTS_LENGTH + 1))) as EncodeError;
    expect([error.stage, error.code]).toEqual(['parse', 'too_large']);
  });
});

describe('what is cached of texts', () => {
  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])('a text of the longest length and %i: cached is %s', (beyond, isCached) => {
    const textOf = (start: string) =>
      start + 'a'.repeat(MAX_CACHED_TEXT_LENGTH + beyond - start.length);
    const type = () => moveTypeListField([textOf('0x1::a::')], '')[0];
    expect(Object.is(type(), type())).toBe(isCached);
    const id = () => entryFunctionField(textOf('0x1::a::'), '');
    expect(id()).toEqual(id());
    expect(Object.is(id(), id())).toBe(isCached);
  });
});
