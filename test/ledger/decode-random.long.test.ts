/**
 * Decoding everything that can be signed: random transactions of every shape, random calls that encode, and damaged
 * bytes. The result is truthful about itself: `encodesBack` is true exactly when its text encodes to the same bytes.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatHex } from '../../src/move/bcs/hex.ts';
import { JsonNumber, type JsonValue } from '../../src/move/json/json-text.ts';
import { formatJson } from '../../src/move/json/json-text-print.ts';
import { parseTypeTag } from '../../src/move/types/type-parser.ts';
import type { Layout } from '../../src/move/values/layout.ts';
import { resolveArgumentLayout } from '../../src/move/values/layout-resolver.ts';
import { DecodeError } from '../../src/submission/decode/index.ts';
import { encodeSubmission } from '../../src/submission/encode/index.ts';
import { signedTransaction } from '../move/transactions/user-transaction-arbitraries.ts';
import { genesisPresent, readGenesis } from '../move/values/layout-genesis.ts';
import { NEW_FRAMEWORK, OLD_FRAMEWORK, type Source } from '../move/values/layout-modules.ts';
import { address, list, option } from '../move/values/scalar-arbitraries.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import { ledgerOf } from './encode-modules.ts';
import { decodeAndEncode, messageOf, warningCodes } from './signing-bytes.ts';

const seed = testSeed('decoding');

const STRUCTS: Source = {
  '0x2::m::Colour': {
    variants: [
      ['Red', []],
      ['Grey', [['_0', 'u64']]],
      ['Mixed', [['__proto__', { vector: 'u8' }]]],
    ],
  },
  '0x2::m::Pair': {
    parameters: 2,
    fields: [
      ['first', { parameter: 0 }],
      ['constructor', { vector: { parameter: 1 } }],
    ],
  },
  '0x1::object::Object': { parameters: 1, fields: [['inner', 'address']] },
  '0x2::m::Signed': {
    fields: [
      ['a', 'i8'],
      ['b', 'i64'],
      ['c', 'i256'],
    ],
  },
};

const PARAMETER_TYPES = [
  ...['bool', 'u8', 'u16', 'u32', 'u64', 'u128', 'u256', 'address'],
  ...['vector<u8>', 'vector<u16>', 'vector<vector<u8>>', 'vector<vector<bool>>'],
  '0x1::string::String',
  'vector<0x1::string::String>',
  '0x1::option::Option<u8>',
  '0x1::option::Option<0x1::option::Option<address>>',
  '0x1::object::Object<u8>',
  'vector<0x1::object::Object<u8>>',
  '0x2::m::Colour',
  '0x2::m::Pair<u32, 0x2::m::Colour>',
  '0x2::m::Signed',
];

/** A random value of a layout. */
function randomJson(layout: Layout, random: Random): JsonValue {
  switch (layout.kind) {
    case 'bool':
      return random.below(2) === 0;
    case 'u8':
    case 'u16':
    case 'u32':
      return new JsonNumber(String(randomInteger(Number(layout.kind.slice(1)), random)));
    case 'i8':
    case 'i16':
    case 'i32': {
      const bits = Number(layout.kind.slice(1));
      return new JsonNumber(String(BigInt.asIntN(bits, randomInteger(bits, random))));
    }
    case 'u64':
    case 'u128':
    case 'u256':
      return String(randomInteger(Number(layout.kind.slice(1)), random));
    case 'i64':
    case 'i128':
    case 'i256': {
      const bits = Number(layout.kind.slice(1));
      return String(BigInt.asIntN(bits, randomInteger(bits, random)));
    }
    case 'address':
      return `0x${random.bytes(random.pick([1, 32])).toString('hex')}`;
    case 'string':
      return random.pick(['', 'a', 'Grüße "x"\n', '\u0000\u202e😀', 'y'.repeat(300)]);
    case 'bytes':
      return formatHex(random.bytes(random.below(4)));
    case 'vector':
      return Array.from({ length: random.below(3) }, () => randomJson(layout.element, random));
    case 'struct':
      return new Map(layout.fields.map((field) => [field.name, randomJson(field.layout, random)]));
    case 'enum': {
      const { name, fields } = random.pick(layout.variants);
      const body = new Map(fields.map((field) => [field.name, randomJson(field.layout, random)]));
      return new Map([[name, body]]);
    }
    case 'function':
    case 'signer':
      throw new TypeError('no value of a function type');
  }
}

function randomInteger(bits: number, random: Random): bigint {
  const kind = random.below(3);
  if (kind === 0) return BigInt(random.below(100));
  if (kind === 1) return (1n << BigInt(bits)) - 1n;
  return BigInt(`0x${random.bytes(bits / 8).toString('hex')}`);
}

/** The members around a payload: with or without nonce, signers and multisig. */
function wrap(payload: JsonValue, random: Random): JsonValue {
  const u64 = () => String(randomInteger(64, random));
  const someone = () => `0x${random.bytes(32).toString('hex')}`;
  const isMultisig = random.below(3) === 0;
  const multisig = new Map<string, JsonValue>([
    ['type', 'multisig_payload'],
    ['multisig_address', someone()],
    ['transaction_payload', random.below(4) === 0 ? null : payload],
  ]);
  const request = new Map<string, JsonValue>([
    ['sender', someone()],
    ['sequence_number', u64()],
    ['max_gas_amount', u64()],
    ['gas_unit_price', u64()],
    ['expiration_timestamp_secs', u64()],
    ['payload', isMultisig ? multisig : payload],
  ]);
  if (random.below(3) === 0) request.set('replay_protection_nonce', u64());
  if (random.below(3) === 0) {
    request.set('secondary_signers', Array.from({ length: random.below(3) }, someone));
  }
  return request;
}

describe.each([
  ['old', OLD_FRAMEWORK],
  ['new', NEW_FRAMEWORK],
] as const)('random calls, %s framework', (_name, framework) => {
  const functions = Object.fromEntries(
    PARAMETER_TYPES.flatMap((type, index) => [
      [`0x2::m::f${index}`, { parameters: ['&signer', type] }],
      [`0x2::m::g${index}`, { parameters: ['T0', 'signer', 'vector<T0>'], typeParameters: 1 }],
    ]),
  );
  const lookupModule = ledgerOf(functions, { ...framework, ...STRUCTS });
  const context = { chainId: 255, lookupModule };

  it(`come back as they were, SEED=${seed}`, async () => {
    const random = new Random(seed);
    for (let turn = 0; turn < 2_000; turn += 1) {
      const index = random.below(PARAMETER_TYPES.length);
      const type = PARAMETER_TYPES[index]!;
      const isGeneric = random.below(2) === 0;
      const layout = await resolveArgumentLayout(parseTypeTag(type), lookupModule);
      const values = [randomJson(layout, random)];
      if (isGeneric) {
        const vector = await resolveArgumentLayout(parseTypeTag(`vector<${type}>`), lookupModule);
        values.push(randomJson(vector, random));
      }
      const payload = new Map<string, JsonValue>([
        ['type', 'entry_function_payload'],
        ['function', `0x2::m::${isGeneric ? 'g' : 'f'}${index}`],
        ['type_arguments', isGeneric ? [type] : []],
        ['arguments', values],
      ]);
      const request = wrap(payload, random);
      const message = await encodeSubmission(request, context);
      const again = await decodeAndEncode(message, context);
      if (!(again.encoded instanceof Buffer && again.encoded.equals(message))) {
        expect(again.encoded, formatJson(request)).toEqual(message);
      }
      expect(again.decoded.notes.encodesBack).toBe(true);
      const expected = warningCodes(again.decoded).filter(
        (code) => code !== 'multisig_payload_on_chain',
      );
      expect(expected).toEqual([]);
    }
  });
});

describe.skipIf(!genesisPresent)('any transaction (needs ../shared for the modules)', () => {
  const { lookup } = genesisPresent ? readGenesis('devnet') : { lookup: () => undefined };
  const context = { lookupModule: lookup, chainId: 4 };

  it(`is shown, and says truly whether it encodes back, SEED=${seed}`, async () => {
    const signers = fc.record({
      secondarySigners: option(list(address)),
      feePayer: option(address),
    });
    await fc.assert(
      fc.asyncProperty(signedTransaction, signers, async ({ raw }, who) => {
        const message = messageOf(raw, who);
        const { decoded, encoded } = await decodeAndEncode(message, context);
        const isSame = encoded instanceof Buffer && encoded.equals(message);
        expect(decoded.notes.encodesBack).toBe(isSame && raw.chainId === 4);
        const warned = warningCodes(decoded).some((code) =>
          ['not_encodable', 'encodes_differently'].includes(code),
        );
        expect(warned).toBe(!isSame);
      }),
      { seed, numRuns: roundsOf('MESSAGES', 700, 20_000) },
    );
  });

  it(`damaged bytes are refused with a place, or shown truly, SEED=${seed}`, async () => {
    const random = new Random(seed);
    const samples = fc.sample(signedTransaction, { seed, numRuns: 300 });
    let refused = 0;
    for (const { raw } of samples) {
      const message = messageOf(raw, random.below(2) === 0 ? {} : { feePayer: raw.sender });
      for (let turn = 0; turn < 10; turn += 1) {
        const damaged = damage(message, random);
        try {
          const { decoded, encoded } = await decodeAndEncode(damaged, { lookupModule: lookup });
          const isSame = encoded instanceof Buffer && encoded.equals(damaged);
          expect(decoded.notes.encodesBack).toBe(isSame);
        } catch (error) {
          if (!(error instanceof DecodeError)) throw error;
          refused += 1;
          expect(error.offset ?? 0).toBeLessThanOrEqual(damaged.length);
        }
      }
    }
    expect(refused).toBeGreaterThan(500);
  });
});

/** Truncated, extended, or with one byte changed after the domain. */
function damage(message: Buffer, random: Random): Buffer {
  const at = 32 + random.below(message.length - 32);
  switch (random.below(4)) {
    case 0:
      return message.subarray(0, at);
    case 1:
      return Buffer.concat([message, random.bytes(1 + random.below(3))]);
    case 2:
      return Buffer.concat([message.subarray(0, at), random.bytes(1), message.subarray(at)]);
    default: {
      const changed = Buffer.from(message);
      changed[at] = random.pick([0, 1, 0x7f, 0x80, 0xff, random.below(256)]);
      return changed;
    }
  }
}
