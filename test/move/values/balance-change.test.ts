/**
 * Which state keys are those of balances, and how many of their paths are cached (src/move/values/balance-values.ts).
 */
import { describe, expect, it } from 'vitest';
import { addressBytes, padAddress } from '../../../src/move/types/address.ts';
import {
  NATIVE_METADATA_ADDRESS,
  pairedMetadataAddress,
  primaryStoreAddress,
  primaryStoreOf,
} from '../../../src/move/types/derived-address.ts';
import {
  coinStoreTag,
  frameworkTag,
  OBJECT_GROUP_TAG,
} from '../../../src/move/types/framework-tag.ts';
import {
  moduleStateKey,
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
} from '../../../src/move/types/state-key.ts';
import { parseStructTag } from '../../../src/move/types/type-parser.ts';
import { balancePathOf, MAX_CACHED_PATH_BYTES } from '../../../src/move/values/balance-values.ts';

const OWNER = padAddress('a11ce');

/** More than are cached. */
const MANY_PATHS = 10_000;

function coinKey(type: string): Buffer {
  return physicalStateKey(resourceStateKey(OWNER, coinStoreTag(parseStructTag(type))));
}

function metadataOf(type: string): Buffer {
  return Buffer.from(addressBytes(pairedMetadataAddress(parseStructTag(type))));
}

describe('balancePathOf', () => {
  it('knows coin stores and object groups', () => {
    const native = coinKey('0x1::aptos_coin::AptosCoin');
    const metadata = Buffer.from(addressBytes(NATIVE_METADATA_ADDRESS));
    expect(balancePathOf(native)).toEqual({ kind: 'coinStore', metadata });
    const group = physicalStateKey(resourceGroupStateKey(OWNER, OBJECT_GROUP_TAG));
    expect(balancePathOf(group)).toEqual({ kind: 'objectGroup' });
  });

  it.each([
    ['another resource', resourceStateKey(OWNER, frameworkTag('account', 'Account'))],
    ['another group', resourceGroupStateKey(OWNER, frameworkTag('object', 'Other'))],
    ['the group’s tag as a resource', resourceStateKey(OWNER, OBJECT_GROUP_TAG)],
    ['a module', moduleStateKey(OWNER, 'coin')],
    ['a coin store of nothing', resourceStateKey(OWNER, frameworkTag('coin', 'CoinStore'))],
    [
      'a coin store of no struct',
      resourceStateKey(OWNER, frameworkTag('coin', 'CoinStore', [{ kind: 'u8' }])),
    ],
    [
      'a coin store elsewhere',
      resourceStateKey(OWNER, parseStructTag('0x2::coin::CoinStore<0x1::a::B>')),
    ],
  ])('leaves %s alone', (_, key) => {
    expect(balancePathOf(physicalStateKey(key))).toBeUndefined();
  });

  it('leaves other kinds of keys alone', () => {
    expect(balancePathOf(Buffer.concat([Buffer.of(1), Buffer.alloc(40)]))).toBeUndefined();
    expect(balancePathOf(Buffer.from('ff00', 'hex'))).toBeUndefined();
  });

  it.each([-1, 0, 1])('gives the same for a path of the longest remembered, %d', (difference) => {
    const length = 33 + MAX_CACHED_PATH_BYTES + difference;
    const module = 'm'.repeat(200);
    let name = 'C';
    while (coinKey(`0x5a::${module}::${name}`).length < length) name += 'c';
    const type = `0x5a::${module}::${name}`;
    expect(coinKey(type)).toHaveLength(length);
    for (let again = 0; again < 2; again += 1) {
      expect(balancePathOf(coinKey(type))).toEqual({
        kind: 'coinStore',
        metadata: metadataOf(type),
      });
    }
  });

  it('gives the same for more paths than are remembered', () => {
    const types = Array.from({ length: MANY_PATHS }, (_, index) => `0x5a::c${index}::C`);
    const paths = types.map((type) => ({
      key: coinKey(type),
      path: { kind: 'coinStore', metadata: metadataOf(type) },
    }));
    for (const asked of [paths, paths.toReversed()]) {
      for (const { key, path } of asked) expect(balancePathOf(key)).toEqual(path);
    }
  });
});

it('the address of a primary store is the same in bytes', () => {
  const [owner, metadata] = [OWNER, NATIVE_METADATA_ADDRESS];
  const bytes = primaryStoreOf(addressBytes(owner), addressBytes(metadata));
  expect(bytes.toString('hex')).toBe(primaryStoreAddress(owner, metadata));
});
