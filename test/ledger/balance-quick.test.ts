/** The quick ways of reading balances give what the plain ways give: keys, amounts, and what does not decode. */
import { describe, expect, it } from 'vitest';
import { CoinAsset, FungibleAsset, primaryStoreGroup } from '../../src/ledger/balances/asset.ts';
import {
  pairedMetadataAddress,
  primaryStoreAddress,
} from '../../src/move/types/derived-address.ts';
import {
  CONCURRENT_FUNGIBLE_BALANCE_TAG,
  coinStoreTag,
  FUNGIBLE_STORE_TAG,
  frameworkTag,
  OBJECT_CORE_TAG,
  OBJECT_GROUP_TAG,
} from '../../src/move/types/framework-tag.ts';
import { encodeResourceGroup } from '../../src/move/types/resource-group.ts';
import {
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
  stateKeyHash,
} from '../../src/move/types/state-key.ts';
import { parseStructTag } from '../../src/move/types/type-parser.ts';
import {
  coinStoreAmount,
  fungibleGroupBalance,
  generalGroupBalance,
} from '../../src/move/values/balance-values.ts';
import {
  coinStoreCodec,
  concurrentFungibleBalanceCodec,
  fungibleStoreCodec,
  objectCoreCodec,
} from '../../src/move/values/framework-resource.ts';
import { Random, testSeed } from '../random.ts';

const seed = testSeed('balance-quick');

/** A whole number below another. */
function belowSource(start: number): (below: number) => number {
  const random = new Random(start);
  return (below) => random.below(below);
}

function hex(random: (below: number) => number): string {
  return Array.from({ length: 64 }, () => random(16).toString(16)).join('');
}

function outcome(read: () => bigint): string {
  try {
    return String(read());
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const EVENT_HANDLE = { counter: 3n, key: { creationNumber: 2n, address: '1'.padStart(64, '0') } };

function randomMembers(random: (below: number) => number) {
  const amount = [0n, 1n, 2n ** 53n + 1n, 2n ** 64n - 1n][random(4)]!;
  const metadata = hex(random);
  const all = [
    {
      tag: OBJECT_CORE_TAG,
      data: objectCoreCodec.encode({
        guidCreationNumber: 5n,
        owner: metadata,
        allowUngatedTransfer: true,
        transferEvents: EVENT_HANDLE,
      }),
    },
    { tag: frameworkTag('object', 'Untransferable'), data: Buffer.of(0) },
    {
      tag: FUNGIBLE_STORE_TAG,
      data: fungibleStoreCodec.encode({ metadata, balance: amount, frozen: random(2) === 1 }),
    },
    {
      tag: CONCURRENT_FUNGIBLE_BALANCE_TAG,
      data: concurrentFungibleBalanceCodec.encode({ value: 77n, maxValue: 2n ** 64n - 1n }),
    },
    { tag: frameworkTag('zzz_other', 'Thing'), data: Buffer.alloc(random(300)) },
    { tag: frameworkTag('a', 'B'), data: Buffer.alloc(random(3)) },
  ];
  return all.filter(() => random(3) > 0);
}

describe('balances, quick and plain', () => {
  it('make the same state keys', () => {
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
      expect(keys.coinStores?.hash(account)).toEqual(stateKeyHash(physicalStateKey(coinStore)));
      const store = primaryStoreAddress(account, pairedMetadataAddress(type));
      const group = stateKeyHash(physicalStateKey(resourceGroupStateKey(store, OBJECT_GROUP_TAG)));
      expect(primaryStoreGroup(account, keys)).toEqual(group);
      const metadata = hex(random);
      const asset = new FungibleAsset(metadata).keys;
      expect(asset.coinStores).toBeUndefined();
      const other = primaryStoreAddress(account, metadata);
      expect(primaryStoreGroup(account, asset)).toEqual(
        stateKeyHash(physicalStateKey(resourceGroupStateKey(other, OBJECT_GROUP_TAG))),
      );
    }
  });

  it('read the same from groups, whole and damaged', () => {
    const random = belowSource(seed + 1);
    const seen = new Map<string, number>();
    for (let round = 0; round < 20_000; round += 1) {
      const bytes = Buffer.from(encodeResourceGroup(randomMembers(random)));
      if (random(2) === 1 && bytes.length > 0) bytes[random(bytes.length)]! ^= 1 << random(8);
      const cut = random(6) === 0 ? bytes.subarray(0, random(bytes.length + 1)) : bytes;
      const plain = outcome(() => generalGroupBalance(cut));
      expect(outcome(() => fungibleGroupBalance(cut))).toBe(plain);
      seen.set(plain, (seen.get(plain) ?? 0) + 1);
    }
    // The rounds met stores of every amount, concurrent balances, absences and damage.
    expect(seen.size).toBeGreaterThan(5);
  });

  it('read the same from coin stores, whole and damaged', () => {
    const random = belowSource(seed + 2);
    for (let round = 0; round < 5_000; round += 1) {
      const bytes = coinStoreCodec.encode({
        amount: BigInt(random(2 ** 31)) << 20n,
        frozen: random(2) === 1,
        depositEvents: EVENT_HANDLE,
        withdrawEvents: EVENT_HANDLE,
      });
      if (random(2) === 1) bytes[random(bytes.length)]! ^= 1 << random(8);
      const cut = random(6) === 0 ? bytes.subarray(0, random(bytes.length + 1)) : bytes;
      const plain = outcome(() => coinStoreCodec.decode(cut).amount);
      expect(outcome(() => coinStoreAmount(cut))).toBe(plain);
    }
  });
});
