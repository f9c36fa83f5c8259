/** The quick way of encoding gives what the plain way gives, or leaves it to the plain way. */
import { describe, expect, it } from 'vitest';
import { convertWhenFound } from '../../src/ledger/encode/convert.ts';
import { EncodeError } from '../../src/ledger/encode/encode-error.ts';
import { encodeQuickly } from '../../src/ledger/encode/quick.ts';
import { parseEncodeRequest } from '../../src/ledger/encode/request.ts';
import { verifyEncodeRequest } from '../../src/ledger/encode/verify.ts';
import { type JsonValue, parseJson } from '../../src/move/json/json-text.ts';
import type { ModuleLookup } from '../../src/move/modules/lookup.ts';
import { OLD_FRAMEWORK } from '../move/values/layout-modules.ts';
import { Random, testSeed } from '../random.ts';
import { ledgerOf } from './encode-modules.ts';

const lookupModule = ledgerOf(
  {
    '0x2::m::transfer': { parameters: ['&signer', 'address', 'u64'] },
    '0x2::m::typed': { parameters: ['&signer', 'address', 'u64'], typeParameters: 1 },
    '0x2::m::generic': { parameters: ['T0'], typeParameters: 1 },
    '0x2::m::mixed': { parameters: ['bool', '0x1::string::String', 'vector<u8>', 'u128'] },
    '0x2::m::hidden': { parameters: [], isEntry: false },
    '0x2::m::nothing': { parameters: ['signer'] },
  },
  OLD_FRAMEWORK,
);
const context = { chainId: 4, lookupModule };
const FULL = `0x${'0123456789abcdef'.repeat(4)}`;

function requestOf(payload: object, changes: object = {}): object {
  return {
    sender: FULL,
    sequence_number: '7',
    max_gas_amount: '2000',
    gas_unit_price: '100',
    expiration_timestamp_secs: '1893456000',
    payload: { type: 'entry_function_payload', type_arguments: [], ...payload },
    ...changes,
  };
}

function jsonOf(request: unknown): JsonValue {
  return parseJson(Buffer.from(JSON.stringify(request)));
}

async function plainly(value: JsonValue, used = context): Promise<Buffer | EncodeError> {
  try {
    const request = parseEncodeRequest(value);
    verifyEncodeRequest(request);
    return await convertWhenFound(request, used);
  } catch (error) {
    if (error instanceof EncodeError) return error;
    throw error;
  }
}

const transfer = { function: '0x2::m::transfer', arguments: [FULL, '5'] };

describe('the quick way', () => {
  it.each<[string, object]>([
    ['a transfer', requestOf(transfer)],
    ['capital digits', requestOf({ ...transfer, arguments: [FULL.replace('a', 'A'), '5'] })],
    ['short addresses in arguments', requestOf({ ...transfer, arguments: ['0x1', '5'] })],
    [
      'large integers in arguments',
      requestOf({ ...transfer, arguments: [FULL, `${2n ** 64n - 1n}`] }),
    ],
    ['15 digits', requestOf(transfer, { sequence_number: '999999999999999' })],
    ['leading zeros', requestOf(transfer, { sequence_number: '000000000000007' })],
    [
      'a type argument',
      requestOf({ ...transfer, function: '2::m::typed', type_arguments: ['0x1::a::B<u8>'] }),
    ],
    ['other types', requestOf({ function: '0x2::m::mixed', arguments: [true, 'é', '0x01', '9'] })],
    ['no arguments', requestOf({ function: '0x2::m::nothing', arguments: [] })],
    ['members that are null', requestOf(transfer, { secondary_signers: null, other: 1 })],
  ])('takes %s once the layouts are kept', async (_what, request) => {
    const value = jsonOf(request);
    const expected = await plainly(value);
    expect(expected).toBeInstanceOf(Buffer);
    const quick = encodeQuickly(value, context);
    expect(quick?.toString('hex')).toBe((expected as Buffer).toString('hex'));
  });

  it.each<[string, unknown]>([
    ['no object', []],
    ['a nonce', requestOf(transfer, { replay_protection_nonce: '0' })],
    ['signers', requestOf(transfer, { secondary_signers: [] })],
    ['a short sender', requestOf(transfer, { sender: '0x1' })],
    ['a sender that is none', requestOf(transfer, { sender: FULL.replace('a', 'g') })],
    ['16 digits', requestOf(transfer, { sequence_number: '1000000000000000' })],
    ['a sign', requestOf(transfer, { max_gas_amount: '+1' })],
    ['a blank', requestOf(transfer, { gas_unit_price: ' 1' })],
    ['an empty integer', requestOf(transfer, { gas_unit_price: '' })],
    ['a number', requestOf(transfer, { expiration_timestamp_secs: 1 })],
    ['no payload', requestOf(transfer, { payload: null })],
    ['another payload', requestOf({ ...transfer, type: 'script_payload' })],
    ['an unknown function', requestOf({ ...transfer, function: '0x2::m::none' })],
    ['an unknown module', requestOf({ ...transfer, function: '0x2::none::none' })],
    ['a function that is no entry', requestOf({ function: '0x2::m::hidden', arguments: [] })],
    ['no function name', requestOf({ ...transfer, function: 'x' })],
    [
      'a generic parameter',
      requestOf({ function: '0x2::m::generic', arguments: ['1'], type_arguments: ['u64'] }),
    ],
    [
      'a type that is none',
      requestOf({ ...transfer, function: '0x2::m::typed', type_arguments: ['T'] }),
    ],
    [
      'a reference as a type',
      requestOf({ ...transfer, function: '0x2::m::typed', type_arguments: ['&u8'] }),
    ],
    [
      'a type that is too deep',
      requestOf({
        ...transfer,
        function: '0x2::m::typed',
        type_arguments: [`${'0x1::a::B<'.repeat(5)}u8${'>'.repeat(5)}`],
      }),
    ],
    ['too many type arguments', requestOf({ ...transfer, type_arguments: ['u8'] })],
    ['too few arguments', requestOf({ ...transfer, arguments: [FULL] })],
    [
      'an address that is none',
      requestOf({ ...transfer, arguments: [FULL.replace('a', 'g'), '5'] }),
    ],
    ['an integer that is none', requestOf({ ...transfer, arguments: [FULL, '5x'] })],
    ['an integer with a sign', requestOf({ ...transfer, arguments: [FULL, '+5'] })],
    ['an argument of a wrong type', requestOf({ ...transfer, arguments: [FULL, 5] })],
    ['arguments that are no list', requestOf({ ...transfer, arguments: { 0: FULL, 1: '5' } })],
  ])('leaves %s to the plain way', async (_what, request) => {
    await plainly(jsonOf(requestOf(transfer)));
    expect(encodeQuickly(jsonOf(request), context)).toBeUndefined();
  });

  it('leaves layouts that are not kept, lookups that take their time, and chains that are none', async () => {
    const value = jsonOf(requestOf({ function: '0x2::m::fresh', arguments: ['1'] }));
    const fresh = ledgerOf({ '0x2::m::fresh': { parameters: ['u64'] } });
    const used = { chainId: 4, lookupModule: fresh };
    expect(encodeQuickly(value, used)).toBeUndefined();
    const expected = await plainly(value, used);
    expect(encodeQuickly(value, used)).toEqual(expected);
    const later: ModuleLookup = async (id) => fresh(id);
    expect(encodeQuickly(value, { chainId: 4, lookupModule: later })).toBeUndefined();
    for (const chainId of [-1, 256, Number.NaN]) {
      expect(encodeQuickly(value, { chainId, lookupModule: fresh })).toBeUndefined();
    }
  });

  it('uses a layout no more after an upgrade of the module it was made of', async () => {
    const functions = { '0x2::m::text': { parameters: ['0x3::s::S'] } };
    const struct = (type: 'u8' | 'u16') => ({ '0x3::s::S': { fields: [['a', type]] as const } });
    const [before, after] = [struct('u8'), struct('u16')].map((one) => ledgerOf(functions, one));
    let isUpgraded = false;
    const caller = before!({ address: '2'.padStart(64, '0'), name: 'm' });
    const lookup: ModuleLookup = (id) =>
      id.name === 'm' ? caller : (isUpgraded ? after : before)!(id);
    const value = jsonOf(requestOf({ function: '0x2::m::text', arguments: [{ a: 1 }] }));
    const used = { chainId: 4, lookupModule: lookup };
    const old = await plainly(value, used);
    expect(encodeQuickly(value, used)).toEqual(old);
    isUpgraded = true;
    expect(encodeQuickly(value, used)).toBeUndefined();
    const upgraded = await plainly(value, used);
    expect(encodeQuickly(value, used)).toEqual(upgraded);
    expect(upgraded).not.toEqual(old);
  });

  const seed = testSeed('quick way');
  it(`agrees with the plain way on requests with random faults, SEED=${seed}`, async () => {
    const random = new Random(seed);
    const texts = [
      '',
      '0',
      '5',
      '+5',
      '-1',
      '0x1',
      FULL,
      FULL.slice(2),
      '9'.repeat(15),
      '9'.repeat(16),
    ];
    const others = [
      null,
      7,
      true,
      [],
      {},
      ['0x1'],
      'u8',
      '&u8',
      '0x2::m::transfer',
      '0x2::m::typed',
    ];
    let quickOnes = 0;
    for (let turn = 0; turn < 5_000; turn += 1) {
      const request = structuredClone(requestOf(transfer)) as Record<string, unknown>;
      for (let faults = random.below(3); faults > 0; faults -= 1) {
        const target = random.pick([request, request['payload'] as Record<string, unknown>]);
        if (typeof target !== 'object' || target === null) continue;
        const name = random.pick(Object.keys(target));
        const list = target[name];
        // A copy: a list put into itself has no end.
        const fault = structuredClone(random.pick<unknown>([...texts, ...others]));
        if (Array.isArray(list) && list.length > 0) list[random.below(list.length)] = fault;
        else if (name !== 'payload') target[name] = fault;
      }
      const value = jsonOf(request);
      const quick = encodeQuickly(value, context);
      if (quick === undefined) continue;
      quickOnes += 1;
      expect(quick.toString('hex')).toBe(((await plainly(value)) as Buffer).toString('hex'));
    }
    expect(quickOnes).toBeGreaterThan(1_000);
  });
});
