/** Balances in object groups that have a form which is known: as if the group was decoded (docs/spec/http.md §9.3). */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BcsReader } from '../../../src/move/bcs/bcs-reader.ts';
import { unlessRefused } from '../../../src/move/errors.ts';
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
import {
  fungibleGroupBalance,
  MAX_SHAPED_GROUP_BYTES,
} from '../../../src/move/values/balance-values.ts';
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

/** By decoding everything; `undefined` where a value does not decode. */
function expectedOf(bytes: Buffer): bigint | undefined {
  const members = unlessRefused(() => decodeResourceGroup(bytes)) ?? [];
  const find = (name: string) => members.find(({ tag }) => formatStructTag(tag) === name)?.data;
  const store = find('0x1::fungible_asset::FungibleStore');
  const concurrent = find('0x1::fungible_asset::ConcurrentFungibleBalance');
  if (store === undefined) return 0n;
  return unlessRefused(() => {
    const { balance } = fungibleStoreCodec.decode(store);
    if (balance !== 0n || concurrent === undefined) return balance;
    return concurrentFungibleBalanceCodec.decode(concurrent).value;
  });
}

describe('the balance of an object group', () => {
  afterEach(() => vi.restoreAllMocks());

  it('is the same whatever one byte of a known form becomes', () => {
    const random = new Random(testSeed());
    for (const original of [group(5n), group(0n, 7n), group(3n, 7n, 0), group(1n, undefined, 40)]) {
      for (let at = 0; at < original.length; at += 1) {
        // The form is known again before each change.
        expect(fungibleGroupBalance(original)).toBe(expectedOf(original));
        const changed = Buffer.from(original);
        changed[at]! ^= 1 + random.below(255);
        const found = unlessRefused(() => fungibleGroupBalance(changed));
        expect([at, found]).toEqual([at, expectedOf(changed)]);
      }
    }
  });

  it('is the same for groups of one length and other forms', () => {
    const other = (bytes: number) =>
      encodeResourceGroup([{ tag: frameworkTag('object', 'Zed'), data: Buffer.alloc(bytes, 7) }]);
    const length = group(5n).length;
    let bytes = 0;
    while (other(bytes).length < length) bytes += 1;
    expect(other(bytes)).toHaveLength(length);
    for (let round = 0; round < 3; round += 1) {
      expect(fungibleGroupBalance(group(5n))).toBe(5n);
      expect(fungibleGroupBalance(other(bytes))).toBe(0n);
    }
  });

  it.each([
    [-1, 0],
    [0, 0],
    [1, 1],
  ])('is read without decoding up to the longest form, %d', (difference, decodings) => {
    const empty = group(5n, undefined, 200).length - 200;
    const bytes = MAX_SHAPED_GROUP_BYTES + difference - empty;
    const long = group(6n, undefined, bytes);
    expect(long).toHaveLength(MAX_SHAPED_GROUP_BYTES + difference);
    expect(fungibleGroupBalance(group(5n, undefined, bytes))).toBe(5n);
    const finish = vi.spyOn(BcsReader.prototype, 'finish');
    expect(fungibleGroupBalance(long)).toBe(6n);
    expect(finish).toHaveBeenCalledTimes(decodings);
  });
});
