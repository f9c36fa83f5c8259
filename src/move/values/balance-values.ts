/** Amounts in stored bytes (docs/spec/http.md §9.3, §9.5). */

import { Cache, copiedBytes } from '../../cache.ts';
import { byteTools } from '../bcs/bytes.ts';
import { tryParse } from '../errors.ts';
import { ADDRESS_BYTES, addressBytes } from '../types/address.ts';
import { pairedMetadataAddress, primaryStoreOf } from '../types/derived-address.ts';
import {
  CONCURRENT_FUNGIBLE_BALANCE_TAG,
  coinStoreTag,
  FUNGIBLE_STORE_TAG,
  OBJECT_CORE_TAG,
  OBJECT_GROUP_TAG,
} from '../types/framework-tag.ts';
import { decodeResourceGroup, encodeStructTag } from '../types/resource-group.ts';
import { encodePath, parsePhysicalStateKey } from '../types/state-key.ts';
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
  return balanceIn(membersOf(bytes));
}

function balanceIn({ store, concurrent }: StoreGroup): bigint {
  if (store === undefined) return 0n;
  const balance = isSized(store, FUNGIBLE_STORE_BYTES, FUNGIBLE_STORE_FROZEN_OFFSET)
    ? store.readBigUInt64LE(FUNGIBLE_STORE_BALANCE_OFFSET)
    : fungibleStoreCodec.decode(store).balance;
  if (balance !== 0n || concurrent === undefined) return balance;
  return concurrentFungibleBalanceCodec.decode(concurrent).value;
}

/** No members for a group that does not decode. */
function membersOf(bytes: Buffer): StoreGroup {
  const members = tryParse(() => decodeResourceGroup(bytes));
  const find = (tag: Buffer) => members?.find(({ tagBytes }) => tagBytes.equals(tag))?.data;
  return { core: find(CORE_TAG), store: find(STORE_TAG), concurrent: find(CONCURRENT_TAG) };
}

/** Views on the value of a group: the owner of its fungible store, and the address of the asset's metadata. */
interface StoreHolder {
  readonly owner: Buffer;
  readonly metadata: Buffer;
}

/** Undefined for a group without a store. */
function storeHolderIn({ core, store }: StoreGroup): StoreHolder | undefined {
  if (core === undefined || store === undefined) return undefined;
  if (!isSized(core, OBJECT_CORE_BYTES, OBJECT_CORE_TRANSFERABLE_OFFSET)) return undefined;
  if (!isSized(store, FUNGIBLE_STORE_BYTES, FUNGIBLE_STORE_FROZEN_OFFSET)) return undefined;
  const ownerEnd = OBJECT_CORE_OWNER_OFFSET + ADDRESS_BYTES;
  return {
    owner: core.subarray(OBJECT_CORE_OWNER_OFFSET, ownerEnd),
    metadata: store.subarray(0, ADDRESS_BYTES),
  };
}

/** The kind of balance under a state key; all keys of a kind have the same path. */
type BalancePath =
  | { readonly kind: 'coinStore'; readonly metadata: Buffer }
  | { readonly kind: 'objectGroup' };

/** An amount; `undefined` if its bytes do not decode, so that requests for the balance fail. */
export type Amount = bigint | undefined;

export interface CoinStoreChange {
  readonly kind: 'coinStore';
  readonly owner: Buffer;
  readonly metadata: Buffer;
  readonly amount: Amount;
}

/** The amount in the object group at an address, if it is a primary store. */
export interface ObjectGroupChange {
  readonly kind: 'objectGroup';
  /** Address of the object, 32 bytes. */
  readonly address: Buffer;
  readonly amount: Amount;
  /** The owner of the primary store, if the value contains it; without it, it may still be a primary store. */
  readonly holder: StoreHolder | undefined;
}

const ACCESS_PATH_TAG = 0x00;
const PATH_OFFSET = 1 + ADDRESS_BYTES;
/** Longest path that is cached, in bytes, its length before it included. */
export const MAX_CACHED_PATH_BYTES = 512;
/** Estimated bytes of a path in the cache besides its key. */
const CACHED_PATH_BYTES = 256;

/** By the path's bytes as latin1; a few paths are written again and again. */
const paths = new Cache<{ readonly path: BalancePath | undefined }>('parsed');

/** Which balance a physical state key holds; `undefined` for all others. @throws BcsError when it is not a state key */
export function balancePathOf(physical: Buffer): BalancePath | undefined {
  if (physical[0] !== ACCESS_PATH_TAG) return undefined;
  if (physical.length > PATH_OFFSET + MAX_CACHED_PATH_BYTES) return readPath(physical);
  const key = physical.toString('latin1', PATH_OFFSET);
  const known = paths.get(key);
  if (known !== undefined) return known.path;
  const path = readPath(physical);
  paths.set(key, { path }, CACHED_PATH_BYTES);
  return path;
}

const OBJECT_GROUP_PATH = encodePath({ kind: 'resourceGroup', tag: OBJECT_GROUP_TAG });

function readPath(physical: Buffer): BalancePath | undefined {
  const key = parsePhysicalStateKey(physical);
  if (key.kind !== 'accessPath') return undefined;
  if (key.path.equals(OBJECT_GROUP_PATH)) return { kind: 'objectGroup' };
  const { parsed } = key;
  if (parsed?.kind !== 'resource') return undefined;
  const [argument] = parsed.tag.typeArguments;
  if (argument?.kind !== 'struct') return undefined;
  const coin = argument.struct;
  const path = encodePath({ kind: 'resource', tag: coinStoreTag(coin) });
  if (!path.equals(key.path)) return undefined;
  return { kind: 'coinStore', metadata: copiedBytes(addressBytes(pairedMetadataAddress(coin))) };
}

/** The amount in the coin store of a physical key after a write; 0 after a deletion. */
export function coinStoreChange(
  physical: Buffer,
  metadata: Buffer,
  value: Uint8Array | undefined,
): CoinStoreChange {
  const owner = physical.subarray(1, PATH_OFFSET);
  const amount =
    value === undefined ? 0n : tryParse(() => coinStoreAmount(byteTools.asBuffer(value)));
  return { kind: 'coinStore', owner, metadata, amount };
}

/** The amount in the object of a physical key after a write; 0 after a deletion. */
export function objectGroupChange(
  physical: Buffer,
  value: Uint8Array | undefined,
): ObjectGroupChange {
  const address = physical.subarray(1, PATH_OFFSET);
  if (value === undefined) return { kind: 'objectGroup', address, amount: 0n, holder: undefined };
  const group = membersOf(byteTools.asBuffer(value));
  const amount = tryParse(() => balanceIn(group));
  const holder = storeHolderIn(group);
  const isPrimary = holder && primaryStoreOf(holder.owner, holder.metadata).equals(address);
  return { kind: 'objectGroup', address, amount, holder: isPrimary === true ? holder : undefined };
}
