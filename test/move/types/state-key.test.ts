/** State keys: published encodings and hashes (docs/spec/http.md §11.3, docs/spec/ledger.md §1.2, §5.1). */
import { describe, expect, test } from 'vitest';
import { BcsError } from '../../../src/move/bcs/bcs-reader.ts';
import { ADDRESS_ONE, padAddress } from '../../../src/move/types/address.ts';
import { primaryStoreAddress } from '../../../src/move/types/derived-address.ts';
import {
  APTOS_COIN_TAG,
  CHAIN_ID_TAG,
  coinStoreTag,
  OBJECT_GROUP_TAG,
} from '../../../src/move/types/framework-tag.ts';
import {
  AccessPathKey,
  moduleStateKey,
  parsePhysicalStateKey,
  physicalStateKey,
  resourceGroupStateKey,
  resourceStateKey,
  StateKey,
  stateKeyHash,
} from '../../../src/move/types/state-key.ts';

const ONE = '01'.padStart(64, '0');

describe('published vectors', () => {
  test.each<[string, StateKey, string]>([
    ['module 0x1::coin', moduleStateKey(ADDRESS_ONE, 'coin'), `00${ONE}2600${ONE}04636f696e`],
    [
      'native coin store of 0x1',
      resourceStateKey(ADDRESS_ONE, coinStoreTag(APTOS_COIN_TAG)),
      `00${ONE}6801${ONE}04636f696e09436f696e53746f72650107${ONE}` +
        '0a6170746f735f636f696e094170746f73436f696e00',
    ],
    [
      'object group of the primary store of 0x1 for 0xa',
      resourceGroupStateKey(primaryStoreAddress(ADDRESS_ONE, padAddress('a')), OBJECT_GROUP_TAG),
      '00c6d3d69a9810647845a5ca5ebe905256dc37327c1c39c1d673de00caaac0e3a83502' +
        `${ONE}066f626a6563740b4f626a65637447726f757000`,
    ],
    [
      'table item',
      { kind: 'tableItem', handle: ADDRESS_ONE, key: Buffer.of(7, 8) },
      `01${ONE}0708`,
    ],
    [
      'position',
      {
        kind: 'tradingNative',
        exchange: padAddress('1'),
        account: padAddress('2'),
        market: padAddress('3'),
      },
      `0200${padAddress('1')}${padAddress('2')}${padAddress('3')}`,
    ],
    ['raw', { kind: 'raw', bytes: Buffer.of(1, 2) }, 'ff0102'],
  ])('%s', (_, key, physical) => {
    expect(physicalStateKey(key).toString('hex')).toBe(physical);
    expect(parsePhysicalStateKey(Buffer.from(physical, 'hex'))).toEqual(key);
  });

  test('hash of the chain id resource', () => {
    const key = resourceStateKey(ADDRESS_ONE, CHAIN_ID_TAG);
    expect(key.path).toHaveLength(51);
    expect(stateKeyHash(physicalStateKey(key)).toString('hex')).toBe(
      'd763efaa519ece09c8d43b66386f5e3d203d6caf7c4be3ede545eab4916f4d4c',
    );
  });
});

describe('BCS', () => {
  test.each<[string, StateKey, string]>([
    ['access path', new AccessPathKey(ADDRESS_ONE, Buffer.of(5, 6)), `00${ONE}020506`],
    ['table item', { kind: 'tableItem', handle: ADDRESS_ONE, key: Buffer.of(7) }, `01${ONE}0107`],
    ['raw', { kind: 'raw', bytes: Buffer.alloc(0) }, '0200'],
    [
      'position',
      { kind: 'tradingNative', exchange: ONE, account: ONE, market: ONE },
      `0300${ONE}${ONE}${ONE}`,
    ],
  ])('%s', (_, key, hex) => {
    expect(StateKey.encode(key).toString('hex')).toBe(hex);
    expect(StateKey.decode(Buffer.from(hex, 'hex'))).toEqual(key);
    expect(hex.length / 2).toBeGreaterThanOrEqual(StateKey.minBytes);
  });

  test.each(['', '04', '0200ff', `0301${ONE}${ONE}${ONE}`, `00${ONE}`, `00${ONE}8000`])(
    'refuses %s',
    (hex) => {
      expect(() => StateKey.decode(Buffer.from(hex, 'hex'))).toThrow(BcsError);
    },
  );
});

describe('physical encodings that are refused', () => {
  test.each([
    '',
    '03',
    'fe00',
    `00${ONE}`,
    `00${ONE}0105ff`,
    `01${'00'.repeat(31)}`,
    `0201${ONE}${ONE}${ONE}`,
  ])('%s', (hex) => {
    expect(() => parsePhysicalStateKey(Buffer.from(hex, 'hex'))).toThrow(BcsError);
  });
});

describe('paths', () => {
  test('what a path names', () => {
    expect(moduleStateKey(ADDRESS_ONE, 'coin').parsed).toEqual({
      kind: 'code',
      module: { address: ADDRESS_ONE, name: 'coin' },
    });
    expect(resourceStateKey(padAddress('f'), CHAIN_ID_TAG).parsed).toEqual({
      kind: 'resource',
      tag: CHAIN_ID_TAG,
    });
    const group = resourceGroupStateKey(padAddress('f'), OBJECT_GROUP_TAG);
    expect(group.parsed).toEqual({ kind: 'resourceGroup', tag: OBJECT_GROUP_TAG });
    expect(group.parsed).toBe(group.parsed);
  });

  test.each(['', '03', `00${ONE}`, `00${ONE}0161ff`, `01${ONE}016101620106`])(
    'a path that is none is kept: %s',
    (hex) => {
      const path = Buffer.from(hex, 'hex');
      const key = new AccessPathKey(ADDRESS_ONE, path);
      expect(key.parsed).toBeUndefined();
      const parsed = parsePhysicalStateKey(physicalStateKey(key));
      expect(parsed).toMatchObject({ kind: 'accessPath', path, parsed: undefined });
    },
  );
});
