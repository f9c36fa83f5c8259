/**
 * Amounts in stored bytes (docs/spec/http.md §9.3, §9.5). The members of a usual group are found by the bytes of their
 * tags; every other group takes the general path, through the strict decoder. A test compares the two.
 */

import { unlessRefused } from '../errors.ts';
import { ADDRESS_BYTES } from '../types/address.ts';
import {
  CONCURRENT_FUNGIBLE_BALANCE_TAG,
  FUNGIBLE_STORE_TAG,
  frameworkTag,
  OBJECT_CORE_TAG,
} from '../types/framework-tag.ts';
import { decodeResourceGroup, encodeStructTag, findGroupMember } from '../types/resource-group.ts';
import {
  coinStoreCodec,
  concurrentFungibleBalanceCodec,
  fungibleStoreCodec,
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
/** Lengths and counts below this take one byte of ULEB128. */
const ULEB_ONE_BYTE = 0x80;

/** Whether bytes are a struct of a fixed size whose only field that can be bad is one bool. */
function isSized(bytes: Buffer, byteLength: number, boolOffset: number): boolean {
  return bytes.length === byteLength && bytes[boolOffset]! <= 1;
}

/** The amount of a coin store. @throws BcsError */
export function coinStoreAmount(bytes: Buffer): bigint {
  return isSized(bytes, COIN_STORE_BYTES, COIN_STORE_FROZEN_OFFSET)
    ? bytes.readBigUInt64LE(0)
    : coinStoreCodec.decode(bytes).amount;
}

/** The values of an object group's members that balances depend on. */
interface StoreGroup {
  core?: Buffer | undefined;
  store?: Buffer | undefined;
  concurrent?: Buffer | undefined;
}

/**
 * The balance of the fungible store in an object group; 0 when there is no store, or when the group does not decode
 * (§9.3 step 5). @throws BcsError when the store or the concurrent balance does not decode.
 */
export function fungibleGroupBalance(bytes: Buffer): bigint {
  return balanceIn(usualMembers(bytes) ?? generalMembers(bytes));
}

/** The same by the general path. @throws BcsError */
export function generalGroupBalance(bytes: Buffer): bigint {
  return balanceIn(generalMembers(bytes));
}

function balanceIn({ store, concurrent }: StoreGroup): bigint {
  if (store === undefined) return 0n;
  const balance = isSized(store, FUNGIBLE_STORE_BYTES, FUNGIBLE_STORE_FROZEN_OFFSET)
    ? store.readBigUInt64LE(FUNGIBLE_STORE_BALANCE_OFFSET)
    : fungibleStoreCodec.decode(store).balance;
  if (balance !== 0n || concurrent === undefined) return balance;
  return concurrentFungibleBalanceCodec.decode(concurrent).value;
}

function generalMembers(bytes: Buffer): StoreGroup {
  const members = unlessRefused(() => decodeResourceGroup(bytes)) ?? [];
  return {
    core: findGroupMember(members, OBJECT_CORE_TAG),
    store: findGroupMember(members, FUNGIBLE_STORE_TAG),
    concurrent: findGroupMember(members, CONCURRENT_FUNGIBLE_BALANCE_TAG),
  };
}

/** Members that the group of a fungible store has in practice, in the order that groups have them. */
const KNOWN_MEMBERS = (
  [
    [OBJECT_CORE_TAG, 'core'],
    [frameworkTag('object', 'Untransferable'), undefined],
    [FUNGIBLE_STORE_TAG, 'store'],
    [CONCURRENT_FUNGIBLE_BALANCE_TAG, 'concurrent'],
  ] as const
)
  .map(([tag, name]) => ({ name, bytes: encodeStructTag(tag) }))
  .sort((left, right) => Buffer.compare(left.bytes, right.bytes));

/** The members of a group that has only known ones with short values; `undefined` for any other group. */
function usualMembers(bytes: Buffer): StoreGroup | undefined {
  const count = bytes[0]!;
  if (bytes.length === 0 || count >= ULEB_ONE_BYTE) return undefined;
  const group: StoreGroup = {};
  let at = 1;
  let known = 0;
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
    if (member.name !== undefined) group[member.name] = bytes.subarray(at, at + length);
    at += length;
  }
  return at === bytes.length ? group : undefined;
}

/**
 * The owner and the asset (the address of its metadata) of the fungible store in an object group, views on `bytes`;
 * `undefined` for a group without a store and for one that does not decode.
 */
export function storeHolderIn(
  bytes: Buffer,
): { readonly owner: Buffer; readonly metadata: Buffer } | undefined {
  const { core, store } = usualMembers(bytes) ?? generalMembers(bytes);
  if (core === undefined || store === undefined) return undefined;
  if (!isSized(core, OBJECT_CORE_BYTES, OBJECT_CORE_TRANSFERABLE_OFFSET)) return undefined;
  if (!isSized(store, FUNGIBLE_STORE_BYTES, FUNGIBLE_STORE_FROZEN_OFFSET)) return undefined;
  const ownerEnd = OBJECT_CORE_OWNER_OFFSET + ADDRESS_BYTES;
  return {
    owner: core.subarray(OBJECT_CORE_OWNER_OFFSET, ownerEnd),
    metadata: store.subarray(0, ADDRESS_BYTES),
  };
}

function startsWith(bytes: Buffer, at: number, wanted: Buffer): boolean {
  return (
    at + wanted.length <= bytes.length &&
    bytes.compare(wanted, 0, wanted.length, at, at + wanted.length) === 0
  );
}
