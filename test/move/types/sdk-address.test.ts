/** Derived addresses compared with those of an independent implementation (@aptos-labs/ts-sdk 6.3.1). */

import {
  AccountAddress,
  createObjectAddress,
  createTokenAddress,
  createUserDerivedObjectAddress,
} from '@aptos-labs/ts-sdk';
import { describe, expect, test } from 'vitest';
import {
  namedObjectAddress,
  primaryStoreAddress,
} from '../../../src/move/types/derived-address.ts';

const SENDER = AccountAddress.from(`0x${'5e'.repeat(32)}`);
const OTHER = AccountAddress.from(`0x${'07'.repeat(32)}`);

describe('addresses', () => {
  const hexOf = (address: AccountAddress) => address.toStringLong().slice(2);

  test('objects, tokens, stores', () => {
    const sender = hexOf(SENDER);
    expect(namedObjectAddress(sender, 'seed')).toBe(hexOf(createObjectAddress(SENDER, 'seed')));
    expect(namedObjectAddress(sender, 'Cö::t')).toBe(hexOf(createTokenAddress(SENDER, 'Cö', 't')));
    expect(primaryStoreAddress(sender, hexOf(OTHER))).toBe(
      hexOf(createUserDerivedObjectAddress(SENDER, OTHER)),
    );
  });
});
