/**
 * Amounts in stored bytes (docs/spec/http.md §9.3, §9.5). Values as the framework writes them are read without making
 * objects of them; everything else takes the general path, through the strict decoders. A test compares the two.
 */

import { BcsError } from '../bcs/bcs-reader.ts';
import { ADDRESS_BYTES, addressBytes } from '../types/address.ts';
import {
  CONCURRENT_FUNGIBLE_BALANCE_TAG,
  FUNGIBLE_STORE_TAG,
  frameworkTag,
  OBJECT_CORE_TAG,
} from '../types/framework-tag.ts';
import {
  decodeResourceGroup,
  encodeStructTag,
  findGroupMember,
  type GroupMember,
} from '../types/resource-group.ts';
import {
  coinStoreCodec,
  concurrentFungibleBalanceCodec,
  fungibleStoreCodec,
  objectCoreCodec,
} from './framework-resource.ts';

/** amount u64, frozen bool, two handles of 48 bytes. */
const COIN_STORE_BYTES = 105;
const COIN_STORE_FROZEN_OFFSET = 8;
/** metadata address, balance u64, frozen bool. */
const FUNGIBLE_STORE_BYTES = 41;
const FUNGIBLE_STORE_BALANCE_OFFSET = 32;
const FUNGIBLE_STORE_FROZEN_OFFSET = 40;
/** creation number u64, owner address, transferable bool, event handle of 48 bytes. */
const OBJECT_CORE_BYTES = 89;
const OBJECT_CORE_OWNER_OFFSET = 8;
const OBJECT_CORE_TRANSFERABLE_OFFSET = 40;
/** value u64, max u64. */
const CONCURRENT_BALANCE_BYTES = 16;
/** Lengths and counts below this take one byte of ULEB128. */
const ULEB_ONE_BYTE = 0x80;

/** The amount of a coin store. @throws BcsError */
export function coinStoreAmount(bytes: Buffer): bigint {
  if (bytes.length === COIN_STORE_BYTES && bytes[COIN_STORE_FROZEN_OFFSET]! <= 1) {
    return bytes.readBigUInt64LE(0);
  }
  return coinStoreCodec.decode(bytes).amount;
}

/**
 * The balance of the fungible store in an object group; 0 when there is no store, or when the group does not decode
 * (§9.3 step 5). @throws BcsError when the store or the concurrent balance does not decode.
 */
export function fungibleGroupBalance(bytes: Buffer): bigint {
  return fastGroupBalance(bytes) ?? generalGroupBalance(bytes);
}

/** The general path. @throws BcsError */
export function generalGroupBalance(bytes: Uint8Array): bigint {
  const members = readGroup(bytes);
  const store = findGroupMember(members, FUNGIBLE_STORE_TAG);
  if (store === undefined) return 0n;
  const { balance } = fungibleStoreCodec.decode(store);
  if (balance !== 0n) return balance;
  const concurrent = findGroupMember(members, CONCURRENT_FUNGIBLE_BALANCE_TAG);
  return concurrent === undefined ? 0n : concurrentFungibleBalanceCodec.decode(concurrent).value;
}

function readGroup(bytes: Uint8Array): readonly GroupMember[] {
  try {
    return decodeResourceGroup(bytes);
  } catch (error) {
    if (error instanceof BcsError) return [];
    throw error;
  }
}

/** Members that the group of a fungible store has in practice, in the order that groups have them. */
const KNOWN_MEMBERS = [
  OBJECT_CORE_TAG,
  frameworkTag('object', 'Untransferable'),
  FUNGIBLE_STORE_TAG,
  CONCURRENT_FUNGIBLE_BALANCE_TAG,
]
  .map((tag) => ({ tag, bytes: encodeStructTag(tag) }))
  .sort((left, right) => Buffer.compare(left.bytes, right.bytes));

/** Offsets of the values of a usual group; -1 for members that it does not have. */
interface GroupPlaces {
  readonly coreAt: number;
  readonly storeAt: number;
  readonly concurrentAt: number;
}

/**
 * The balance of a group whose members are all known ones with short values in their usual form; `undefined` for any
 * other group, which the general path decides.
 */
function fastGroupBalance(bytes: Buffer): bigint | undefined {
  const places = memberPlaces(bytes);
  return places && balanceAtPlaces(bytes, places);
}

function balanceAtPlaces(bytes: Buffer, { storeAt, concurrentAt }: GroupPlaces): bigint {
  if (storeAt < 0) return 0n;
  const balance = bytes.readBigUInt64LE(storeAt + FUNGIBLE_STORE_BALANCE_OFFSET);
  return balance !== 0n || concurrentAt < 0 ? balance : bytes.readBigUInt64LE(concurrentAt);
}

function memberPlaces(bytes: Buffer): GroupPlaces | undefined {
  const count = bytes[0]!;
  if (bytes.length === 0 || count >= ULEB_ONE_BYTE) return undefined;
  let at = 1;
  let known = 0;
  let coreAt = -1;
  let storeAt = -1;
  let concurrentAt = -1;
  for (let index = 0; index < count; index += 1) {
    while (known < KNOWN_MEMBERS.length && !startsWith(bytes, at, KNOWN_MEMBERS[known]!.bytes)) {
      known += 1;
    }
    const member = KNOWN_MEMBERS[known];
    if (member === undefined) return undefined;
    // Each at most once and in this order: the search for the next one starts after it.
    known += 1;
    at += member.bytes.length;
    const length = bytes[at];
    if (length === undefined || length >= ULEB_ONE_BYTE) return undefined;
    at += 1;
    if (member.tag === FUNGIBLE_STORE_TAG) {
      if (length !== FUNGIBLE_STORE_BYTES) return undefined;
      storeAt = at;
    } else if (member.tag === CONCURRENT_FUNGIBLE_BALANCE_TAG) {
      if (length !== CONCURRENT_BALANCE_BYTES) return undefined;
      concurrentAt = at;
    } else if (member.tag === OBJECT_CORE_TAG && length === OBJECT_CORE_BYTES) {
      if (bytes[at + OBJECT_CORE_TRANSFERABLE_OFFSET]! <= 1) coreAt = at;
    }
    at += length;
  }
  if (at !== bytes.length) return undefined;
  if (storeAt >= 0 && bytes[storeAt + FUNGIBLE_STORE_FROZEN_OFFSET]! > 1) return undefined;
  return { coreAt, storeAt, concurrentAt };
}

/** The owner and the asset of a fungible store; 32 bytes each. */
interface StoreHolder {
  readonly owner: Uint8Array;
  /** Address of the asset's metadata. */
  readonly metadata: Uint8Array;
}

/**
 * The owner and the asset in the object group of a fungible store, views on `bytes` where it has the usual
 * form; `undefined` for any other group and for one that does not decode.
 */
export function storeHolderIn(bytes: Buffer): StoreHolder | undefined {
  const places = memberPlaces(bytes);
  if (places !== undefined && places.coreAt >= 0) {
    const { coreAt, storeAt } = places;
    if (storeAt < 0) return undefined;
    const ownerAt = coreAt + OBJECT_CORE_OWNER_OFFSET;
    return {
      owner: bytes.subarray(ownerAt, ownerAt + ADDRESS_BYTES),
      metadata: bytes.subarray(storeAt, storeAt + ADDRESS_BYTES),
    };
  }
  return generalStoreHolder(bytes);
}

function generalStoreHolder(bytes: Buffer): StoreHolder | undefined {
  const members = readGroup(bytes);
  const core = findGroupMember(members, OBJECT_CORE_TAG);
  const store = findGroupMember(members, FUNGIBLE_STORE_TAG);
  if (core === undefined || store === undefined) return undefined;
  try {
    const { owner } = objectCoreCodec.decode(core);
    const { metadata } = fungibleStoreCodec.decode(store);
    return { owner: addressBytes(owner), metadata: addressBytes(metadata) };
  } catch (error) {
    if (error instanceof BcsError) return undefined;
    throw error;
  }
}

function startsWith(bytes: Buffer, at: number, wanted: Buffer): boolean {
  return (
    at + wanted.length <= bytes.length &&
    bytes.compare(wanted, 0, wanted.length, at, at + wanted.length) === 0
  );
}
