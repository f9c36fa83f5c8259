/**
 * State keys of balances, made quickly: all of a key but the account is the same for all balances of an asset, so the
 * hash input is laid out once per asset and only the account is filled in.
 */

import { domainSeed, HASH_BYTES, sha3 } from '../move/crypto/hash.ts';
import { ADDRESS_BYTES, ADDRESS_ZERO, type Address, addressBytes } from '../move/types/address.ts';
import { pairedMetadataAddress, primaryStoreOf } from '../move/types/derived-address.ts';
import { coinStoreTag, OBJECT_GROUP_TAG } from '../move/types/framework-tag.ts';
import {
  type AccessPathKey,
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../move/types/state-key.ts';
import type { Asset } from './api-contract.ts';

/** Where the address stands in the input: after the domain's seed and the key's tag. */
const ADDRESS_OFFSET = HASH_BYTES + 1;

/** Hashes of the state keys that differ in the account only. */
class AccountKeyHasher {
  readonly #input: Buffer;

  /** @param key such a key of any account; its path names no account */
  constructor(key: AccessPathKey) {
    this.#input = Buffer.concat([domainSeed('StateKey'), physicalStateKey(key)]);
  }

  /** The state key hash for an account, given as hex or as bytes. */
  hash(account: Address | Uint8Array): Buffer {
    if (typeof account === 'string')
      this.#input.write(account, ADDRESS_OFFSET, ADDRESS_BYTES, 'hex');
    else this.#input.set(account, ADDRESS_OFFSET);
    return sha3(this.#input);
  }
}

const objectGroupKeys = new AccountKeyHasher(resourceGroupStateKey(ADDRESS_ZERO, OBJECT_GROUP_TAG));

/** State keys of one asset's balances. */
export class BalanceKeys {
  readonly #coinStores: AccountKeyHasher | undefined;
  /** Address of the metadata of the asset, or of the one that the coin is paired with; 32 bytes. */
  readonly metadata: Uint8Array;

  /** @throws RangeError for a coin type too deep for a coin store's key */
  constructor(asset: Asset) {
    const isCoin = asset.kind === 'coin';
    this.metadata = addressBytes(isCoin ? pairedMetadataAddress(asset.type) : asset.metadata);
    this.#coinStores = isCoin
      ? new AccountKeyHasher(resourceStateKey(ADDRESS_ZERO, coinStoreTag(asset.type)))
      : undefined;
  }

  /** Key hash of the account's coin store; `undefined` for an asset that is no coin. */
  coinStore(account: Address): Buffer | undefined {
    return this.#coinStores?.hash(account);
  }

  /** Key hash of the object group of the account's primary store. */
  primaryStoreGroup(account: Address): Buffer {
    return objectGroupKeys.hash(primaryStoreOf(addressBytes(account), this.metadata));
  }
}

/** Kept as long as the asset is: the API gives the same object for the same text as long as it remembers it. */
const keysOfAssets = new WeakMap<Asset, BalanceKeys>();

/** The keys of an asset. @throws RangeError as the constructor */
export function balanceKeysOf(asset: Asset): BalanceKeys {
  let keys = keysOfAssets.get(asset);
  if (keys === undefined) {
    keys = new BalanceKeys(asset);
    keysOfAssets.set(asset, keys);
  }
  return keys;
}
