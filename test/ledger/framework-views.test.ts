/**
 * Readers of the framework's views in states that no recorded chain has (docs/spec/transactions.md §9.4): assets that
 * compute balances or supplies themselves, concurrent ones, coins without a supply, damaged objects.
 */
import { describe, expect, it } from 'vitest';
import type { FrameworkState } from '../../src/ledger/views/framework-state.ts';
import { FRAMEWORK_VIEWS } from '../../src/ledger/views/framework-views.ts';
import { NotRunError, ViewError } from '../../src/ledger/views/view-error.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import {
  ADDRESS_ONE,
  type Address,
  addressBytes,
  padAddress,
} from '../../src/move/types/address.ts';
import { primaryStoreAddress } from '../../src/move/types/derived-address.ts';
import { parseTypeTag } from '../../src/move/types/type-parser.ts';
import { formatStructTag, type StructTag } from '../../src/move/types/type-tag.ts';

type Fields = Readonly<Record<string, Buffer>>;
type Resources = Readonly<Record<string, Fields>>;

/** State by address and type; table items by key in hex. */
interface Made {
  readonly resources?: Resources;
  readonly items?: Readonly<Record<string, Buffer>>;
  readonly features?: readonly number[];
}

function stateOf({ resources = {}, items = {}, features = [] }: Made): FrameworkState {
  const fieldsOf = (address: Address, tag: StructTag): Fields | undefined =>
    resources[`${address.replace(/^0+/, '')} ${formatStructTag(tag)}`];
  const borrowed = (address: Address, tag: StructTag): Fields => {
    const fields = fieldsOf(address, tag);
    if (fields === undefined) throw new ViewError(`missing at ${address}`, 'MISSING_DATA');
    return fields;
  };
  const state: Pick<FrameworkState, 'abort' | 'borrow' | 'exists' | 'field' | 'tableItem'> &
    Pick<FrameworkState, 'isFeatureEnabled'> = {
    exists: async (address, tag) => fieldsOf(address, tag) !== undefined,
    borrow: async (address, tag) => Buffer.concat(Object.values(borrowed(address, tag))),
    field: async (address, tag, name) => borrowed(address, tag)[name]!,
    tableItem: async (_, key) => items[key.toString('hex')],
    isFeatureEnabled: async (flag) => features.includes(flag),
    abort: async (module, code, message = '') =>
      new ViewError(`${module} 0x${code.toString(16)}${message}`, 'ABORTED'),
  };
  return state as FrameworkState;
}

const u64 = (value: bigint): Buffer => encodeBcs((writer) => writer.u64(value));
const u128 = (value: bigint): Buffer => encodeBcs((writer) => writer.u128(value));
const address = (digits: string): Buffer => Buffer.from(addressBytes(padAddress(digits)));
const NONE = Buffer.of(0);
const some = (bytes: Buffer): Buffer => Buffer.concat([Buffer.of(1), bytes]);

/** What a reader gives, in hex; or why it gives nothing. */
async function read(
  name: string,
  made: Made,
  args: readonly Buffer[],
  type = '0x7::moon::Moon',
): Promise<string> {
  try {
    const call = { typeArguments: [parseTypeTag(type)], args };
    const values = await FRAMEWORK_VIEWS.get(name)!(stateOf(made), call);
    return Buffer.concat([...values]).toString('hex');
  } catch (error) {
    if (error instanceof NotRunError) return 'not run';
    if (error instanceof ViewError) return error.message;
    throw error;
  }
}

const STORE = 'f0';
const ASSET = 'a55e7';
const FA = '0x1::fungible_asset::';
const CORE = '0x1::object::ObjectCore';
const store = (balance: bigint, metadata = ASSET): Fields => ({
  metadata: address(metadata),
  balance: u64(balance),
});
const derived = { derived_balance_function: some(Buffer.alloc(1)) };

describe('fungible_asset::balance', () => {
  it.each<[string, Resources, string]>([
    ['without a store', {}, 'fungible_asset 0x60017'],
    ['of a store', { [`${STORE} ${FA}FungibleStore`]: store(5n) }, u64(5n).toString('hex')],
    [
      'that is concurrent',
      {
        [`${STORE} ${FA}FungibleStore`]: store(0n),
        [`${STORE} ${FA}ConcurrentFungibleBalance`]: { balance: Buffer.concat([u64(6n), u64(9n)]) },
      },
      u64(6n).toString('hex'),
    ],
    [
      'that is concurrent, beside one that is not',
      {
        [`${STORE} ${FA}FungibleStore`]: store(5n),
        [`${STORE} ${FA}ConcurrentFungibleBalance`]: { balance: Buffer.concat([u64(6n), u64(9n)]) },
      },
      u64(5n).toString('hex'),
    ],
    [
      'that the asset computes',
      {
        [`${STORE} ${FA}FungibleStore`]: store(5n),
        [`${ASSET} ${FA}DispatchFunctionStore`]: derived,
      },
      'fungible_asset 0x1001c',
    ],
    [
      'of an asset with other functions',
      {
        [`${STORE} ${FA}FungibleStore`]: store(5n),
        [`${ASSET} ${FA}DispatchFunctionStore`]: { derived_balance_function: NONE },
      },
      u64(5n).toString('hex'),
    ],
    [
      'of the native asset, whose functions are not looked at',
      {
        [`${STORE} ${FA}FungibleStore`]: store(5n, 'a'),
        [`a ${FA}DispatchFunctionStore`]: derived,
      },
      u64(5n).toString('hex'),
    ],
  ])('%s', async (_, resources, expected) => {
    expect(await read('fungible_asset::balance', { resources }, [address(STORE)])).toBe(expected);
  });
});

describe('primary_fungible_store::balance', () => {
  const OWNER = 'ace';
  const primary = primaryStoreAddress(padAddress(OWNER), padAddress(ASSET));

  it.each<[string, Resources, string]>([
    ['without a store', {}, u64(0n).toString('hex')],
    ['without an object', { [`${primary} ${FA}FungibleStore`]: store(5n) }, 'object 0x60002'],
    [
      'of a store',
      { [`${primary} ${FA}FungibleStore`]: store(5n), [`${primary} ${CORE}`]: {} },
      u64(5n).toString('hex'),
    ],
    [
      'that code computes',
      {
        [`${primary} ${FA}FungibleStore`]: store(5n),
        [`${primary} ${CORE}`]: {},
        [`${ASSET} ${FA}DispatchFunctionStore`]: derived,
      },
      'not run',
    ],
  ])('%s', async (_, resources, expected) => {
    const args = [address(OWNER), address(ASSET)];
    const trimmed = Object.fromEntries(
      Object.entries(resources).map(([key, fields]) => [key.replace(/^0+/, ''), fields]),
    );
    expect(await read('primary_fungible_store::balance', { resources: trimmed }, args)).toBe(
      expected,
    );
  });
});

describe('fungible_asset::supply', () => {
  it.each<[string, string, Resources, string]>([
    ['that nobody counts', ASSET, {}, '00'],
    [
      'that is counted',
      ASSET,
      { [`${ASSET} ${FA}Supply`]: { current: u128(7n) } },
      some(u128(7n)).toString('hex'),
    ],
    [
      'that is concurrent',
      ASSET,
      { [`${ASSET} ${FA}ConcurrentSupply`]: { current: Buffer.concat([u128(8n), u128(9n)]) } },
      some(u128(8n)).toString('hex'),
    ],
    ['that code computes', ASSET, { [`${ASSET} ${FA}DeriveSupply`]: {} }, 'fungible_asset 0x1001c'],
    ['of the native asset', 'a', { [`a ${FA}DeriveSupply`]: {} }, '00'],
  ])('%s', async (_, asset, resources, expected) => {
    expect(await read('fungible_asset::supply', { resources }, [address(asset)])).toBe(expected);
  });
});

describe('coins', () => {
  const MOON = '0x7::moon::Moon';
  const info = (supply: Buffer): Resources => ({
    [`7 0x1::coin::CoinInfo<${MOON}>`]: { supply },
  });
  const map: Resources = {
    '1 0x1::coin::CoinConversionMap': { coin_to_fungible_asset_map: address('7ab1e') },
  };
  const typeInfo = encodeBcs((writer) =>
    writer.address(padAddress('7')).string('moon').string('Moon'),
  ).toString('hex');
  const paired = { [typeInfo]: address(ASSET) };
  const integer = (value: bigint): Buffer =>
    some(Buffer.concat([NONE, some(Buffer.concat([u128(value), u128(99n)]))]));
  const aggregator = some(
    Buffer.concat([some(Buffer.concat([address('a99'), address('5'), u128(99n)])), NONE]),
  );
  const item = { [address('5').toString('hex')]: u128(11n) };

  it.each<[string, Made, string]>([
    ['not a coin', {}, `missing at ${padAddress('7')}`],
    ['none', { resources: info(NONE) }, '00'],
    ['an integer', { resources: info(integer(3n)) }, some(u128(3n)).toString('hex')],
    [
      'an aggregator',
      { resources: info(aggregator), items: item },
      some(u128(11n)).toString('hex'),
    ],
    ['an aggregator that is missing', { resources: info(aggregator) }, 'not run'],
    ['neither', { resources: info(some(Buffer.concat([NONE, NONE]))) }, 'option 0x40001'],
    [
      'with what was converted',
      {
        resources: {
          ...info(integer(3n)),
          ...map,
          [`${ASSET} ${FA}Supply`]: { current: u128(4n) },
        },
        items: paired,
      },
      some(u128(7n)).toString('hex'),
    ],
    [
      'paired with an asset whose supply nobody counts',
      { resources: { ...info(integer(3n)), ...map }, items: paired },
      'option 0x40001',
    ],
    [
      'none, but that of the paired asset',
      {
        resources: { ...info(NONE), ...map, [`${ASSET} ${FA}Supply`]: { current: u128(4n) } },
        items: paired,
      },
      '00',
    ],
    [
      'that is too large',
      {
        resources: {
          ...info(integer(2n ** 128n - 1n)),
          ...map,
          [`${ASSET} ${FA}Supply`]: { current: u128(1n) },
        },
        items: paired,
      },
      'not run',
    ],
  ])('have a supply: %s', async (_, made, expected) => {
    expect(await read('coin::supply', made, [])).toBe(expected);
  });

  const NO_STRUCT = 'type_info 0x1Expected a struct type, found: ';

  it.each([
    ['vector<u8>', `${NO_STRUCT}vector`],
    ['bool', `${NO_STRUCT}bool`],
    [MOON, u64(0n).toString('hex')],
  ])('have a balance: %s, with a map of pairs', async (type, expected) => {
    expect(await read('coin::balance', { resources: map }, [address('1')], type)).toBe(expected);
  });

  it('have no balance where the type is none and nothing is paired', async () => {
    expect(await read('coin::balance', {}, [address('1')], 'bool')).toBe('0'.repeat(16));
  });

  it('are paired by their type with its arguments', async () => {
    const type = '0x7::moon::Pair<u8, vector<0x1::string::String>>';
    const name = 'Pair<u8, vector<0x1::string::String>>';
    const key = encodeBcs((writer) => writer.address(padAddress('7')).string('moon').string(name));
    const primary = primaryStoreAddress(ADDRESS_ONE, padAddress(ASSET)).replace(/^0+/, '');
    const made = {
      resources: {
        ...map,
        [`${primary} ${FA}FungibleStore`]: store(5n),
        [`${primary} ${CORE}`]: {},
        [`1 0x1::coin::CoinStore<${type}>`]: { coin: u64(2n) },
      },
      items: { [key.toString('hex')]: address(ASSET) },
    };
    const balance = await read('coin::balance', made, [address('1')], type);
    expect(balance).toBe(u64(7n).toString('hex'));
  });

  it('are registered if they are coins, whatever the account', async () => {
    const args = [address('dead')];
    expect(await read('coin::is_account_registered', { resources: info(NONE) }, args)).toBe('01');
    expect(await read('coin::is_account_registered', {}, args)).toBe('coin 0x10003');
  });
});

describe('accounts', () => {
  const args = [address('dead')];
  const account: Made = {
    resources: { 'dead 0x1::account::Account': { sequence_number: u64(3n) } },
  };

  it.each<[string, Made, string, string]>([
    ['that are there', account, '01', u64(3n).toString('hex')],
    ['that are not', {}, '00', 'account 0x60002'],
    ['that need not be', { features: [91] }, '01', u64(0n).toString('hex')],
  ])('%s', async (_, made, exists, sequenceNumber) => {
    expect(await read('account::exists_at', made, args)).toBe(exists);
    expect(await read('account::get_sequence_number', made, args)).toBe(sequenceNumber);
  });
});
