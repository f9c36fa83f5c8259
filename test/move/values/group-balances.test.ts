/** Balances in object groups are the same as if the whole group was decoded (docs/spec/http.md §9.3). */
import { describe, expect, it } from 'vitest';
import { tryParse } from '../../../src/move/errors.ts';
import { padAddress } from '../../../src/move/types/address.ts';
import {
  CONCURRENT_FUNGIBLE_BALANCE_TAG,
  FUNGIBLE_STORE_TAG,
  frameworkTag,
} from '../../../src/move/types/framework-tag.ts';
import {
  decodeResourceGroup,
  encodeResourceGroup,
} from '../../../src/move/types/resource-group.ts';
import { formatStructTag } from '../../../src/move/types/type-tag.ts';
import { fungibleGroupBalance } from '../../../src/move/values/balance-values.ts';
import {
  concurrentFungibleBalanceCodec,
  fungibleStoreCodec,
} from '../../../src/move/values/framework-resource.ts';
import { Random, testSeed } from '../../random.ts';

const METADATA = padAddress('a');

function group(balance: bigint, concurrent?: bigint, otherBytes?: number): Buffer {
  const store = fungibleStoreCodec.encode({ metadata: METADATA, balance, frozen: false });
  const members = [{ tag: FUNGIBLE_STORE_TAG, data: store }];
  if (concurrent !== undefined) {
    const data = concurrentFungibleBalanceCodec.encode({ value: concurrent, maxValue: 9n });
    members.push({ tag: CONCURRENT_FUNGIBLE_BALANCE_TAG, data });
  }
  if (otherBytes !== undefined) {
    members.push({ tag: frameworkTag('object', 'Zed'), data: Buffer.alloc(otherBytes, 7) });
  }
  return encodeResourceGroup(members);
}

/** By decoding everything; `undefined` if a value does not decode. */
function expectedOf(bytes: Buffer): bigint | undefined {
  const members = tryParse(() => decodeResourceGroup(bytes)) ?? [];
  const find = (name: string) => members.find(({ tag }) => formatStructTag(tag) === name)?.data;
  const store = find('0x1::fungible_asset::FungibleStore');
  const concurrent = find('0x1::fungible_asset::ConcurrentFungibleBalance');
  if (store === undefined) return 0n;
  return tryParse(() => {
    const { balance } = fungibleStoreCodec.decode(store);
    if (balance !== 0n || concurrent === undefined) return balance;
    return concurrentFungibleBalanceCodec.decode(concurrent).value;
  });
}

describe('the balance of an object group', () => {
  it('is that of the decoded members, whatever one byte becomes', () => {
    const random = new Random(testSeed());
    for (const original of [group(5n), group(0n, 7n), group(3n, 7n, 0), group(1n, undefined, 40)]) {
      expect(fungibleGroupBalance(original)).toBe(expectedOf(original));
      for (let at = 0; at < original.length; at += 1) {
        const changed = Buffer.from(original);
        changed[at]! ^= 1 + random.below(255);
        const found = tryParse(() => fungibleGroupBalance(changed));
        expect([at, found]).toEqual([at, expectedOf(changed)]);
      }
    }
  });
});
