/**
 * The view functions that are answered without running code: plain reads of the framework's state. What each reads was
 * taken from the framework of 2026 (docs/spec/transactions.md §9.4).
 */
import { ADDRESS_ONE } from '../../move/types/address.ts';
import {
  ACCOUNT_TAG,
  CHAIN_ID_TAG,
  frameworkTag,
  OBJECT_CORE_TAG,
} from '../../move/types/framework-tag.ts';
import type { StructTag } from '../../move/types/type-tag.ts';
import { DEFAULT_ACCOUNT_FLAG } from '../modules/features.ts';
import { coinBalance, coinField, coinSupply, isAccountRegistered } from './coin-views.ts';
import {
  assetField,
  assetMetadata,
  fungibleAssetSupply,
  fungibleStoreBalance,
  primaryStoreBalance,
  primaryStoreExists,
} from './fungible-asset-views.ts';
import { addressArgument, boolBytes, type FrameworkView, u64Bytes } from './view-values.ts';

const ACCOUNT_DOES_NOT_EXIST = 0x6_0002n;
const TIME_TAG = frameworkTag('timestamp', 'CurrentTimeMicroseconds');

const accountExists: FrameworkView = async (state, { args }) => {
  const exists =
    (await state.isFeatureEnabled(DEFAULT_ACCOUNT_FLAG)) ||
    (await state.exists(addressArgument(args[0]!), ACCOUNT_TAG));
  return [boolBytes(exists)];
};

const sequenceNumber: FrameworkView = async (state, { args }) => {
  const address = addressArgument(args[0]!);
  if (await state.exists(address, ACCOUNT_TAG)) {
    return [await state.field(address, ACCOUNT_TAG, 'sequence_number')];
  }
  if (await state.isFeatureEnabled(DEFAULT_ACCOUNT_FLAG)) return [u64Bytes(0n)];
  throw await state.abort('account', ACCOUNT_DOES_NOT_EXIST);
};

const objectOwner: FrameworkView = async (state, { args }) => [
  await state.field(addressArgument(args[0]!), OBJECT_CORE_TAG, 'owner'),
];

const isObject: FrameworkView = async (state, { args }) => [
  boolBytes(await state.exists(addressArgument(args[0]!), OBJECT_CORE_TAG)),
];

/** A field of a resource of the framework itself. */
function chainField(tag: StructTag, name: string): FrameworkView {
  return async (state) => [await state.field(ADDRESS_ONE, tag, name)];
}

/** By module and name, all of 0x1. */
export const FRAMEWORK_VIEWS: ReadonlyMap<string, FrameworkView> = new Map([
  ['coin::balance', coinBalance],
  ['coin::name', coinField('name')],
  ['coin::symbol', coinField('symbol')],
  ['coin::decimals', coinField('decimals')],
  ['coin::supply', coinSupply],
  ['coin::is_account_registered', isAccountRegistered],
  ['primary_fungible_store::balance', primaryStoreBalance],
  ['primary_fungible_store::primary_store_exists', primaryStoreExists],
  ['fungible_asset::balance', fungibleStoreBalance],
  ['fungible_asset::name', assetField('name')],
  ['fungible_asset::symbol', assetField('symbol')],
  ['fungible_asset::decimals', assetField('decimals')],
  ['fungible_asset::supply', fungibleAssetSupply],
  ['fungible_asset::metadata', assetMetadata],
  ['account::exists_at', accountExists],
  ['account::get_sequence_number', sequenceNumber],
  ['object::owner', objectOwner],
  ['object::is_object', isObject],
  ['chain_id::get', chainField(CHAIN_ID_TAG, 'id')],
  ['timestamp::now_microseconds', chainField(TIME_TAG, 'microseconds')],
]);
