/** Encoding with caches: synchronous if the lookup is, and with the same results as without caches. */
import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson } from '../../src/move/json/json-text.ts';
import type { ModuleLookup } from '../../src/move/modules/lookup.ts';
import type { ModuleId } from '../../src/move/types/module-id.ts';
import { encodeValue } from '../../src/submission/encode/index.ts';
import { OLD_FRAMEWORK } from '../move/values/layout-modules.ts';
import { ledgerOf } from './encode-modules.ts';

const FUNCTIONS = {
  '0x2::m::transfer': { parameters: ['&signer', 'address', 'u64'] },
  '0x2::m::typed': { parameters: ['&signer', 'address', 'u64'], typeParameters: 1 },
  '0x2::m::object': { parameters: ['&signer', '0x1::object::Object<T0>'], typeParameters: 1 },
  '0x2::m::mixed': { parameters: ['bool', '0x1::string::String', 'vector<u8>', 'u128'] },
  '0x2::m::nothing': { parameters: ['signer'] },
};
const FULL = `0x${'0123456789abcdef'.repeat(4)}`;

function requestOf(payload: object, changes: object = {}): JsonValue {
  const request = {
    sender: FULL,
    sequence_number: '7',
    max_gas_amount: '2000',
    gas_unit_price: '100',
    expiration_timestamp_secs: '1893456000',
    payload: { type: 'entry_function_payload', type_arguments: [], ...payload },
    ...changes,
  };
  return parseJson(Buffer.from(JSON.stringify(request)));
}

const transfer = { function: '0x2::m::transfer', arguments: [FULL, '5'] };
const objectCall = { function: '0x2::m::object', arguments: ['0xa'] };

const REQUESTS: readonly (readonly [string, JsonValue, modules: readonly string[]])[] = [
  ['a transfer', requestOf(transfer), ['m']],
  ['an orderless one', requestOf(transfer, { replay_protection_nonce: '5' }), ['m']],
  ['one of several signers', requestOf(transfer, { secondary_signers: ['0x1'] }), ['m']],
  [
    'a type argument',
    requestOf({ ...transfer, function: '2::m::typed', type_arguments: ['0x1::a::B<u8>'] }),
    ['m'],
  ],
  ['an object', requestOf({ ...objectCall, type_arguments: ['0x1::a::B'] }), ['m']],
  [
    'layouts of other modules',
    requestOf({ function: '0x2::m::mixed', arguments: [true, 'é', '0x01', '9'] }),
    ['m', 'string'],
  ],
  ['no arguments', requestOf({ function: '0x2::m::nothing', arguments: [] }), ['m']],
];

describe.each(REQUESTS)('%s', (_, request, modules) => {
  it('is encoded at once when its function is cached, with one look-up of each module', async () => {
    const ledger = ledgerOf(FUNCTIONS, OLD_FRAMEWORK);
    const asked: string[] = [];
    const lookupModule: ModuleLookup = (id) => {
      asked.push(id.name);
      return ledger(id);
    };
    const first = await encodeValue(request, { chainId: 4, lookupModule });
    asked.length = 0;
    const again = encodeValue(request, { chainId: 4, lookupModule });
    expect(again).toBeInstanceOf(Buffer);
    expect(again).toEqual(first);
    expect(asked.toSorted()).toEqual(modules);
  });

  it('looks each module up once, too, when the ledger answers later', async () => {
    const ledger = ledgerOf(FUNCTIONS, OLD_FRAMEWORK);
    const asked: ModuleId[] = [];
    const lookupModule: ModuleLookup = async (id) => {
      asked.push(id);
      return ledger(id);
    };
    const first = await encodeValue(request, { chainId: 4, lookupModule });
    asked.length = 0;
    expect(await encodeValue(request, { chainId: 4, lookupModule })).toEqual(first);
    expect(asked.map(({ name }) => name).toSorted()).toEqual(modules);
  });
});

describe('an upgrade', () => {
  const functions = { '0x2::m::text': { parameters: ['0x3::s::S'] } };
  const struct = (type: 'u8' | 'u16') => ({ '0x3::s::S': { fields: [['a', type]] as const } });
  const request = requestOf({ function: '0x2::m::text', arguments: [{ a: 1 }] });

  it.each([false, true])(
    'of a module that a layout is made of counts, answers later: %s',
    async (isLater) => {
      const [before, after] = [struct('u8'), struct('u16')].map((one) => ledgerOf(functions, one));
      let isUpgraded = false;
      const caller = before!({ address: '2'.padStart(64, '0'), name: 'm' });
      const now: ModuleLookup = (id) =>
        id.name === 'm' ? caller : (isUpgraded ? after : before)!(id);
      const lookupModule: ModuleLookup = isLater ? async (id) => now(id) : now;
      const encode = async () => encodeValue(request, { chainId: 4, lookupModule });
      const old = await encode();
      expect(await encode()).toEqual(old);
      isUpgraded = true;
      const upgraded = await encode();
      expect(upgraded).not.toEqual(old);
      expect(await encode()).toEqual(upgraded);
      isUpgraded = false;
      expect(await encode()).toEqual(old);
    },
  );
});
