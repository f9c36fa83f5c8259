/**
 * Struct tags of the framework's resources, groups and events that the node itself reads
 * (docs/spec/ledger.md §2.3, §5).
 */
import { ADDRESS_ONE } from './address.ts';
import type { StructTag, TypeTag } from './type-tag.ts';

/** A struct tag of address 0x1. */
export function frameworkTag(
  module: string,
  name: string,
  typeArguments: readonly TypeTag[] = [],
): StructTag {
  return { address: ADDRESS_ONE, module, name, typeArguments };
}

/** Whether a tag names a struct of 0x1, with any type arguments. */
export function isFrameworkStruct(
  tag: Pick<StructTag<unknown>, 'address' | 'module' | 'name'> | undefined,
  module: string,
  name: string,
): boolean {
  return tag?.name === name && tag.module === module && tag.address === ADDRESS_ONE;
}

/** `0x1::coin::CoinStore<coinType>`. */
export function coinStoreTag(coinType: StructTag): StructTag {
  return frameworkTag('coin', 'CoinStore', [{ kind: 'struct', struct: coinType }]);
}

/** `0x1::coin::CoinInfo<coinType>`. */
export function coinInfoTag(coinType: StructTag): StructTag {
  return frameworkTag('coin', 'CoinInfo', [{ kind: 'struct', struct: coinType }]);
}

export const ACCOUNT_TAG = frameworkTag('account', 'Account');
export const APTOS_COIN_TAG = frameworkTag('aptos_coin', 'AptosCoin');
export const BLOCK_RESOURCE_TAG = frameworkTag('block', 'BlockResource');
export const CHAIN_ID_TAG = frameworkTag('chain_id', 'ChainId');
export const CONCURRENT_FUNGIBLE_BALANCE_TAG = frameworkTag(
  'fungible_asset',
  'ConcurrentFungibleBalance',
);
export const FEATURES_TAG = frameworkTag('features', 'Features');
export const FUNGIBLE_METADATA_TAG = frameworkTag('fungible_asset', 'Metadata');
export const FUNGIBLE_STORE_TAG = frameworkTag('fungible_asset', 'FungibleStore');
/** The module event that newer frameworks emit immediately before the handle event; same data. */
export const NEW_EPOCH_TAG = frameworkTag('reconfiguration', 'NewEpoch');
export const OBJECT_CORE_TAG = frameworkTag('object', 'ObjectCore');
export const OBJECT_GROUP_TAG = frameworkTag('object', 'ObjectGroup');
export const VALIDATOR_SET_TAG = frameworkTag('stake', 'ValidatorSet');
