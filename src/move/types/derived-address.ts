/**
 * Addresses that follow from others (docs/spec/ledger.md §6, docs/spec/http.md §9.4). All are SHA3-256 of the
 * parts named.
 */

import { encodeBcs } from '../bcs/bcs-writer.ts';
import { sha3 } from '../crypto/hash.ts';
import { type MultiEd25519PublicKey, multiEd25519KeyBytes } from '../crypto/multi-ed25519.ts';
import { type AnyPublicKey, writeAnyPublicKey } from '../crypto/public-key.ts';
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

const SCHEME_ED25519 = 0x00;
const SCHEME_MULTI_ED25519 = 0x01;
const SCHEME_SINGLE_KEY = 0x02;
const SCHEME_MULTI_KEY = 0x03;
const SCHEME_UNIQUE_OBJECT = 0xfb;
const SCHEME_DERIVED_OBJECT = 0xfc;
const SCHEME_GUID_OBJECT = 0xfd;
const SCHEME_NAMED_OBJECT = 0xfe;
const SCHEME_RESOURCE_ACCOUNT = 0xff;

const MULTISIG_ACCOUNT_SEED = Buffer.from('aptos_framework::multisig_account', 'ascii');

function derive(scheme: number, ...parts: readonly Uint8Array[]): Address {
  return addressFromBytes(sha3(Buffer.concat([...parts, Buffer.of(scheme)])));
}

function u64Bytes(value: bigint): Buffer {
  return encodeBcs((writer) => writer.u64(value));
}

function seedBytes(seed: string | Uint8Array): Uint8Array {
  return typeof seed === 'string' ? Buffer.from(seed, 'utf8') : seed;
}

/** An object created with a seed. */
export function namedObjectAddress(creator: Address, seed: string | Uint8Array): Address {
  return derive(SCHEME_NAMED_OBJECT, addressBytes(creator), seedBytes(seed));
}

/** An object created with the creator's next creation number. */
export function guidObjectAddress(creator: Address, creationNumber: bigint): Address {
  return derive(SCHEME_GUID_OBJECT, u64Bytes(creationNumber), addressBytes(creator));
}

/** The `counter`-th unique address of a transaction, by the transaction's hash. */
export function uniqueObjectAddress(transactionHash: Uint8Array, counter: bigint): Address {
  return derive(SCHEME_UNIQUE_OBJECT, transactionHash, u64Bytes(counter));
}

/** An account without key, made by another account. */
export function resourceAccountAddress(source: Address, seed: string | Uint8Array): Address {
  return derive(SCHEME_RESOURCE_ACCOUNT, addressBytes(source), seedBytes(seed));
}

/** The multisig account a creator makes at its sequence number `nonce`. */
export function multisigAccountAddress(creator: Address, nonce: bigint): Address {
  return resourceAccountAddress(creator, Buffer.concat([MULTISIG_ACCOUNT_SEED, u64Bytes(nonce)]));
}

/** A collection of digital assets (0x4). */
export function collectionAddress(creator: Address, collection: string): Address {
  return namedObjectAddress(creator, collection);
}

/** A digital asset (0x4) of a collection. */
export function tokenAddress(creator: Address, collection: string, token: string): Address {
  return namedObjectAddress(creator, `${collection}::${token}`);
}

/** Where an owner's balance of a fungible asset is kept: the object derived from the asset's metadata. */
export function primaryStoreAddress(owner: Address, metadata: Address): Address {
  return addressFromBytes(primaryStoreOf(addressBytes(owner), addressBytes(metadata)));
}

/** The same in bytes: 32 each (docs/spec/ledger.md §6.2). */
export function primaryStoreOf(owner: Uint8Array, metadata: Uint8Array): Buffer {
  return sha3(Buffer.concat([owner, metadata, Buffer.of(SCHEME_DERIVED_OBJECT)]));
}

/** The metadata of the fungible asset that is paired with a coin type. */
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

/** The address of a fresh account with an Ed25519 key of 32 bytes: its authentication key. */
export function ed25519AccountAddress(publicKey: Uint8Array): Address {
  return derive(SCHEME_ED25519, publicKey);
}

/** The address of a fresh account with a MultiEd25519 key. */
export function multiEd25519AccountAddress(publicKey: MultiEd25519PublicKey): Address {
  return derive(SCHEME_MULTI_ED25519, multiEd25519KeyBytes(publicKey));
}

/** The address of a fresh account with one key of any scheme. */
export function singleKeyAccountAddress(publicKey: AnyPublicKey): Address {
  return derive(
    SCHEME_SINGLE_KEY,
    encodeBcs((writer) => writeAnyPublicKey(writer, publicKey)),
  );
}

/** The address of a fresh account with several keys, `signaturesRequired` of which must sign. */
export function multiKeyAccountAddress(
  publicKeys: readonly AnyPublicKey[],
  signaturesRequired: number,
): Address {
  const encoded = encodeBcs((writer) => {
    writer.vector(publicKeys, writeAnyPublicKey).u8(signaturesRequired);
  });
  return derive(SCHEME_MULTI_KEY, encoded);
}
