/** State keys of balances: each is hashed in one pass, with the same result as from the key's parts. */
import { describe, expect, it } from 'vitest';
import { CoinAsset, FungibleAsset, primaryStoreGroup } from '../../src/ledger/balances/balance.ts';
import {
  pairedMetadataAddress,
  primaryStoreAddress,
} from '../../src/move/types/derived-address.ts';
import { coinStoreTag, OBJECT_GROUP_TAG } from '../../src/move/types/framework-tag.ts';
import {
  hashedStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../../src/move/types/state-key.ts';
import { parseStructTag } from '../../src/move/types/type-parser.ts';
import { Random, testSeed } from '../random.ts';

const seed = testSeed('balance-keys');

/** Returns a whole number below another. */
function belowSource(start: number): (below: number) => number {
  const random = new Random(start);
  return (below) => random.below(below);
}

function hex(random: (below: number) => number): string {
  return Array.from({ length: 64 }, () => random(16).toString(16)).join('');
}

describe('state keys of balances', () => {
  it('are those of their parts', () => {
    const random = belowSource(seed);
    const coins = [
      '0x1::aptos_coin::AptosCoin',
      '0x5a::usd::USD',
      '0x1::coin::Wrap<0x2::a::B, u8>',
    ];
    for (let round = 0; round < 200; round += 1) {
      const account = hex(random);
      const type = parseStructTag(coins[round % coins.length]!);
      const { keys } = new CoinAsset(type);
      const coinStore = resourceStateKey(account, coinStoreTag(type));
      expect(keys.coinStores?.key(account)).toEqual(hashedStateKey(coinStore));
      const store = primaryStoreAddress(account, pairedMetadataAddress(type));
      const group = hashedStateKey(resourceGroupStateKey(store, OBJECT_GROUP_TAG));
      expect(primaryStoreGroup(account, keys)).toEqual(group);
      const metadata = hex(random);
      const asset = new FungibleAsset(metadata).keys;
      expect(asset.coinStores).toBeUndefined();
      const other = primaryStoreAddress(account, metadata);
      expect(primaryStoreGroup(account, asset)).toEqual(
        hashedStateKey(resourceGroupStateKey(other, OBJECT_GROUP_TAG)),
      );
    }
  });
});
