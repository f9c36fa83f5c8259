/**
 * Assets of balances: coins by their type, fungible assets by their metadata address. An asset makes the state
 * keys of its balances: all of a key but the account is the same for all of them, so the input of the hash is laid out
 * once and only the account is filled in.
 */
import { domainSeed, HASH_BYTES, sha3 } from '../../move/crypto/hash.ts';
import {
  ADDRESS_BYTES,
  ADDRESS_ZERO,
  type Address,
  addressBytes,
} from '../../move/types/address.ts';
import { pairedMetadataAddress, primaryStoreOf } from '../../move/types/derived-address.ts';
import { coinStoreTag, OBJECT_GROUP_TAG } from '../../move/types/framework-tag.ts';
import {
  type AccessPathKey,
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../../move/types/state-key.ts';
import type { StructTag } from '../../move/types/type-tag.ts';

/** Where the address is in the input: after the domain's seed and the key's tag. */
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

interface BalanceKeys {
  /** Address of the metadata of the asset, or of the one that the coin is paired with; 32 bytes. */
  readonly metadata: Uint8Array;
  readonly coinStores: AccountKeyHasher | undefined;
}

export function primaryStoreGroup(account: Address, { metadata }: BalanceKeys): Buffer {
  return objectGroupKeys.hash(primaryStoreOf(addressBytes(account), metadata));
}

export class CoinAsset {
  readonly kind = 'coin';
  readonly type: StructTag;
  #keys: BalanceKeys | undefined;

  constructor(type: StructTag) {
    this.type = type;
  }

  /** Made when they are first wanted. @throws RangeError for a type too deep for a coin store's key */
  get keys(): BalanceKeys {
    this.#keys ??= {
      metadata: addressBytes(pairedMetadataAddress(this.type)),
      coinStores: new AccountKeyHasher(resourceStateKey(ADDRESS_ZERO, coinStoreTag(this.type))),
    };
    return this.#keys;
  }
}

export class FungibleAsset {
  readonly kind = 'fungibleAsset';
  readonly metadata: Address;
  readonly #keys: BalanceKeys;

  constructor(metadata: Address) {
    this.metadata = metadata;
    this.#keys = { metadata: addressBytes(metadata), coinStores: undefined };
  }

  get keys(): BalanceKeys {
    return this.#keys;
  }
}

export type Asset = CoinAsset | FungibleAsset;
