/** Amounts in stored bytes (docs/spec/http.md §9.3, §9.5). */
import { unlessRefused } from '../errors.ts';
import { ADDRESS_BYTES } from '../types/address.ts';
import {
  CONCURRENT_FUNGIBLE_BALANCE_TAG,
  FUNGIBLE_STORE_TAG,
  OBJECT_CORE_TAG,
} from '../types/framework-tag.ts';
import { decodeResourceGroup, encodeStructTag } from '../types/resource-group.ts';
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
/** Members are found by the BCS of their tags. */
const CORE_TAG = encodeStructTag(OBJECT_CORE_TAG);
const STORE_TAG = encodeStructTag(FUNGIBLE_STORE_TAG);
const CONCURRENT_TAG = encodeStructTag(CONCURRENT_FUNGIBLE_BALANCE_TAG);

/** Whether bytes are a struct of fixed size in which only one bool can be invalid. */
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
  readonly core: Buffer | undefined;
  readonly store: Buffer | undefined;
  readonly concurrent: Buffer | undefined;
}

/**
 * The balance of the fungible store in an object group; 0 when there is no store, or when the group does not decode
 * (§9.3 step 5). @throws BcsError when the store or the concurrent balance does not decode.
 */
export function fungibleGroupBalance(bytes: Buffer): bigint {
  const { store, concurrent } = membersOf(bytes);
  if (store === undefined) return 0n;
  const balance = isSized(store, FUNGIBLE_STORE_BYTES, FUNGIBLE_STORE_FROZEN_OFFSET)
    ? store.readBigUInt64LE(FUNGIBLE_STORE_BALANCE_OFFSET)
    : fungibleStoreCodec.decode(store).balance;
  if (balance !== 0n || concurrent === undefined) return balance;
  return concurrentFungibleBalanceCodec.decode(concurrent).value;
}

function membersOf(bytes: Buffer): StoreGroup {
  const members = unlessRefused(() => decodeResourceGroup(bytes)) ?? [];
  const find = (tag: Buffer) => members.find(({ tagBytes }) => tagBytes.equals(tag))?.data;
  return { core: find(CORE_TAG), store: find(STORE_TAG), concurrent: find(CONCURRENT_TAG) };
}

/**
 * The owner and the asset (the address of its metadata) of the fungible store in an object group, views on `bytes`;
 * `undefined` for a group without a store and for one that does not decode.
 */
export function storeHolderIn(
  bytes: Buffer,
): { readonly owner: Buffer; readonly metadata: Buffer } | undefined {
  const { core, store } = membersOf(bytes);
  if (core === undefined || store === undefined) return undefined;
  if (!isSized(core, OBJECT_CORE_BYTES, OBJECT_CORE_TRANSFERABLE_OFFSET)) return undefined;
  if (!isSized(store, FUNGIBLE_STORE_BYTES, FUNGIBLE_STORE_FROZEN_OFFSET)) return undefined;
  const ownerEnd = OBJECT_CORE_OWNER_OFFSET + ADDRESS_BYTES;
  return {
    owner: core.subarray(OBJECT_CORE_OWNER_OFFSET, ownerEnd),
    metadata: store.subarray(0, ADDRESS_BYTES),
  };
}
