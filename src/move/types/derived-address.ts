/**
 * Addresses derived from others (docs/spec/ledger.md §6, docs/spec/http.md §9.4). All are SHA3-256 of the
 * named parts.
 */
import { sha3 } from '../crypto/hash.ts';
import {
  ADDRESS_ONE,
  type Address,
  addressBytes,
  addressFromBytes,
  padAddress,
} from './address.ts';
import { formatStructTag, type StructTag } from './type-tag.ts';

/** Metadata of the native coin as a fungible asset, and creator of all paired metadata: 0xa. */
export const NATIVE_METADATA_ADDRESS: Address = padAddress('a');

const SCHEME_DERIVED_OBJECT = 0xfc;
const SCHEME_NAMED_OBJECT = 0xfe;
const SCHEME_RESOURCE_ACCOUNT = 0xff;

export function namedObjectAddress(creator: Address, seed: string): Address {
  const scheme = Buffer.of(SCHEME_NAMED_OBJECT);
  return addressFromBytes(sha3(Buffer.concat([addressBytes(creator), Buffer.from(seed), scheme])));
}

/** An account that another one has created and that has no key. */
export function resourceAccountAddress(creator: Address, seed: Uint8Array): Address {
  const scheme = Buffer.of(SCHEME_RESOURCE_ACCOUNT);
  return addressFromBytes(sha3(Buffer.concat([addressBytes(creator), seed, scheme])));
}

/** The object that holds an owner's balance of a fungible asset, derived from the asset's metadata. */
export function primaryStoreAddress(owner: Address, metadata: Address): Address {
  return addressFromBytes(primaryStoreOf(addressBytes(owner), addressBytes(metadata)));
}

/** The same in bytes: 32 each (docs/spec/ledger.md §6.2). */
export function primaryStoreOf(owner: Uint8Array, metadata: Uint8Array): Buffer {
  return sha3(Buffer.concat([owner, metadata, Buffer.of(SCHEME_DERIVED_OBJECT)]));
}

export function pairedMetadataAddress(coinType: StructTag): Address {
  if (isNativeCoin(coinType)) return NATIVE_METADATA_ADDRESS;
  return namedObjectAddress(NATIVE_METADATA_ADDRESS, formatStructTag(coinType));
}

function isNativeCoin(coinType: StructTag): boolean {
  return (
    coinType.address === ADDRESS_ONE &&
    coinType.module === 'aptos_coin' &&
    coinType.name === 'AptosCoin' &&
    coinType.typeArguments.length === 0
  );
}
