/**
 * The objects that belong to pinned accounts: their primary fungible stores, so that their balances can be read at
 * every retained version. The store of an account and an asset has a derived address (docs/spec/ledger.md §6.2); the
 * asset is read from its value, and the address must match both.
 */
import { BcsError } from '../../move/bcs/bcs-reader.ts';
import { type Address, addressFromBytes } from '../../move/types/address.ts';
import { primaryStoreAddress } from '../../move/types/derived-address.ts';
import { FUNGIBLE_STORE_TAG, OBJECT_GROUP_TAG } from '../../move/types/framework-tag.ts';
import { decodeResourceGroup, findGroupMember } from '../../move/types/resource-group.ts';
import {
  physicalStateKey,
  resourceGroupStateKey,
  stateKeyHash,
} from '../../move/types/state-key.ts';
import { fungibleStoreCodec } from '../../move/values/framework-resource.ts';
import type { PinnedAccounts } from '../../store/columns/pruning-column.ts';
import type { PinnedObject } from '../../store/pruning/superseded-state.ts';

/** Maximum number of cached addresses of primary stores; all are dropped together when there are more. About 100 MB. */
const MAX_CACHED_STORES = 500_000;

export function pinnedPrimaryStores(accounts: PinnedAccounts): PinnedObject {
  const sinceByAsset = new Map<Address, ReadonlyMap<Address, bigint>>();
  return ({ hash, owner }, entries) => {
    const address = addressFromBytes(owner);
    const groupKey = physicalStateKey(resourceGroupStateKey(address, OBJECT_GROUP_TAG));
    if (!stateKeyHash(groupKey).equals(hash)) return undefined;
    for (const { bytes } of entries) {
      const metadata = bytes && assetOf(bytes);
      if (metadata === undefined) continue;
      let stores = sinceByAsset.get(metadata);
      if (stores === undefined) {
        if ((sinceByAsset.size + 1) * accounts.size > MAX_CACHED_STORES) sinceByAsset.clear();
        stores = storesOf(accounts, metadata);
        sinceByAsset.set(metadata, stores);
      }
      return stores.get(address);
    }
    return undefined;
  };
}

function storesOf(accounts: PinnedAccounts, metadata: Address): ReadonlyMap<Address, bigint> {
  const stores = new Map<Address, bigint>();
  for (const [account, since] of accounts) {
    stores.set(primaryStoreAddress(account, metadata), since);
  }
  return stores;
}

function assetOf(group: Buffer): Address | undefined {
  try {
    const store = findGroupMember(decodeResourceGroup(group), FUNGIBLE_STORE_TAG);
    return store && fungibleStoreCodec.decode(store).metadata;
  } catch (error) {
    if (error instanceof BcsError) return undefined;
    throw error;
  }
}
