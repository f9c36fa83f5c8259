/** Readers of `0x1::fungible_asset` and `0x1::primary_fungible_store` (docs/spec/transactions.md §9.4). */
import type { Address } from '../../move/types/address.ts';
import { NATIVE_METADATA_ADDRESS, primaryStoreAddress } from '../../move/types/derived-address.ts';
import {
  CONCURRENT_FUNGIBLE_BALANCE_TAG,
  FUNGIBLE_METADATA_TAG,
  FUNGIBLE_STORE_TAG,
  frameworkTag,
  OBJECT_CORE_TAG,
} from '../../move/types/framework-tag.ts';
import type { FrameworkState } from './framework-state.ts';
import { NotRunError } from './view-error.ts';
import {
  addressArgument,
  boolBytes,
  type FrameworkView,
  optionOf,
  u64Bytes,
  u64Value,
} from './view-values.ts';

const OBJECT_DOES_NOT_EXIST = 0x6_0002n;
const FUNGIBLE_STORE_EXISTENCE = 0x6_0017n;
const INVALID_DISPATCHABLE_OPERATIONS = 0x1_001cn;

const SUPPLY_TAG = frameworkTag('fungible_asset', 'Supply');
const CONCURRENT_SUPPLY_TAG = frameworkTag('fungible_asset', 'ConcurrentSupply');
const DERIVE_SUPPLY_TAG = frameworkTag('fungible_asset', 'DeriveSupply');
const DISPATCH_TAG = frameworkTag('fungible_asset', 'DispatchFunctionStore');

/** A field of the metadata of a fungible asset. */
export function assetField(name: string): FrameworkView {
  return async (state, { args }) => [
    await state.field(addressArgument(args[0]!), FUNGIBLE_METADATA_TAG, name),
  ];
}

export const assetMetadata: FrameworkView = async (state, { args }) => [
  await state.borrow(addressArgument(args[0]!), FUNGIBLE_METADATA_TAG),
];

export const fungibleAssetSupply: FrameworkView = async (state, { args }) => [
  optionOf(await assetSupply(state, addressArgument(args[0]!))),
];

/** The supply of an asset, a u128 in BCS; `undefined` where it is not tracked. */
export async function assetSupply(
  state: FrameworkState,
  metadata: Address,
): Promise<Buffer | undefined> {
  if (metadata !== NATIVE_METADATA_ADDRESS && (await state.exists(metadata, DERIVE_SUPPLY_TAG))) {
    throw await state.abort('fungible_asset', INVALID_DISPATCHABLE_OPERATIONS);
  }
  for (const tag of [CONCURRENT_SUPPLY_TAG, SUPPLY_TAG]) {
    if (!(await state.exists(metadata, tag))) continue;
    // An aggregator begins with its value.
    return (await state.field(metadata, tag, 'current')).subarray(0, 16);
  }
  return undefined;
}

export const fungibleStoreBalance: FrameworkView = async (state, { args }) => [
  u64Bytes(await storeBalance(state, addressArgument(args[0]!), 'abort')),
];

/**
 * The balance of a store.
 * @param ifDerived what happens where the asset computes balances itself: this function aborts, others run that code
 */
async function storeBalance(
  state: FrameworkState,
  store: Address,
  ifDerived: 'abort' | 'run',
): Promise<bigint> {
  if (!(await state.exists(store, FUNGIBLE_STORE_TAG))) {
    throw await state.abort('fungible_asset', FUNGIBLE_STORE_EXISTENCE);
  }
  const metadata = addressArgument(await state.field(store, FUNGIBLE_STORE_TAG, 'metadata'));
  if (await hasDerivedBalance(state, metadata, ifDerived)) {
    if (ifDerived === 'run') throw new NotRunError();
    throw await state.abort('fungible_asset', INVALID_DISPATCHABLE_OPERATIONS);
  }
  const balance = u64Value(await state.field(store, FUNGIBLE_STORE_TAG, 'balance'));
  if (balance !== 0n || !(await state.exists(store, CONCURRENT_FUNGIBLE_BALANCE_TAG))) {
    return balance;
  }
  const concurrent = await state.field(store, CONCURRENT_FUNGIBLE_BALANCE_TAG, 'balance');
  return u64Value(concurrent);
}

async function hasDerivedBalance(
  state: FrameworkState,
  metadata: Address,
  ifDerived: 'abort' | 'run',
): Promise<boolean> {
  if (ifDerived === 'abort' && metadata === NATIVE_METADATA_ADDRESS) return false;
  if (!(await state.exists(metadata, DISPATCH_TAG))) return false;
  const derived = await state.field(metadata, DISPATCH_TAG, 'derived_balance_function');
  return derived[0] === 1;
}

export const primaryStoreBalance: FrameworkView = async (state, { args }) => {
  const [owner, metadata] = args.map(addressArgument);
  return [u64Bytes(await primaryBalance(state, owner!, metadata!))];
};

/** The balance of an owner's primary store of an asset; 0 without one. */
export async function primaryBalance(
  state: FrameworkState,
  owner: Address,
  metadata: Address,
): Promise<bigint> {
  const store = primaryStoreAddress(owner, metadata);
  if (!(await state.exists(store, FUNGIBLE_STORE_TAG))) return 0n;
  if (!(await state.exists(store, OBJECT_CORE_TAG))) {
    throw await state.abort('object', OBJECT_DOES_NOT_EXIST);
  }
  return storeBalance(state, store, 'run');
}

export const primaryStoreExists: FrameworkView = async (state, { args }) => {
  const [owner, metadata] = args.map(addressArgument);
  const store = primaryStoreAddress(owner!, metadata!);
  return [boolBytes(await state.exists(store, FUNGIBLE_STORE_TAG))];
};
