/** Derived addresses as an independent producer makes them (@aptos-labs/ts-sdk 6.3.1). */

import {
  AccountAddress,
  AnyPublicKey,
  AuthenticationKey,
  createObjectAddress,
  createResourceAddress,
  createTokenAddress,
  createUserDerivedObjectAddress,
  Ed25519PrivateKey,
  MultiEd25519PublicKey,
  MultiKey,
  Secp256k1PrivateKey,
} from '@aptos-labs/ts-sdk';
import { describe, expect, test } from 'vitest';
import {
  ed25519AccountAddress,
  multiEd25519AccountAddress,
  multiKeyAccountAddress,
  namedObjectAddress,
  primaryStoreAddress,
  resourceAccountAddress,
  singleKeyAccountAddress,
  tokenAddress,
} from '../../../src/move/types/derived-address.ts';

const SENDER = AccountAddress.from(`0x${'5e'.repeat(32)}`);
const OTHER = AccountAddress.from(`0x${'07'.repeat(32)}`);

const ed25519Keys = [1, 2, 3].map((byte) => new Ed25519PrivateKey(new Uint8Array(32).fill(byte)));
const [edKey] = ed25519Keys as [Ed25519PrivateKey];
const k1Key = new Secp256k1PrivateKey(new Uint8Array(32).fill(4));

const multiEdKey = new MultiEd25519PublicKey({
  publicKeys: ed25519Keys.map((key) => key.publicKey()),
  threshold: 2,
});
describe('addresses', () => {
  const hexOf = (address: AccountAddress) => address.toStringLong().slice(2);

  test('objects, tokens, resource accounts, stores', () => {
    const sender = hexOf(SENDER);
    expect(namedObjectAddress(sender, 'seed')).toBe(hexOf(createObjectAddress(SENDER, 'seed')));
    expect(resourceAccountAddress(sender, 'seed')).toBe(
      hexOf(createResourceAddress(SENDER, 'seed')),
    );
    expect(tokenAddress(sender, 'Cö', 't')).toBe(hexOf(createTokenAddress(SENDER, 'Cö', 't')));
    expect(primaryStoreAddress(sender, hexOf(OTHER))).toBe(
      hexOf(createUserDerivedObjectAddress(SENDER, OTHER)),
    );
  });

  test('accounts of every key scheme', () => {
    const derived = (
      publicKey: Parameters<typeof AuthenticationKey.fromPublicKey>[0]['publicKey'],
    ) => hexOf(AuthenticationKey.fromPublicKey({ publicKey }).derivedAddress());
    const bytesOf = (key: { toUint8Array(): Uint8Array }) => Buffer.from(key.toUint8Array());
    expect(ed25519AccountAddress(bytesOf(edKey.publicKey()))).toBe(derived(edKey.publicKey()));
    const keys = ed25519Keys.map((key) => bytesOf(key.publicKey()));
    expect(multiEd25519AccountAddress({ keys, threshold: 2 })).toBe(derived(multiEdKey));
    const k1 = { kind: 'secp256k1' as const, bytes: bytesOf(k1Key.publicKey()) };
    expect(singleKeyAccountAddress(k1)).toBe(derived(new AnyPublicKey(k1Key.publicKey())));
    const ed = { kind: 'ed25519' as const, bytes: keys[0]! };
    const multiKey = new MultiKey({
      publicKeys: [edKey.publicKey(), k1Key.publicKey()],
      signaturesRequired: 1,
    });
    expect(multiKeyAccountAddress([ed, k1], 1)).toBe(derived(multiKey));
  });
});
