/** Amounts in stored bytes (docs/spec/http.md §9.3, §9.5). */

import { Cache, copiedBytes } from '../../cache.ts';
import { byteTools } from '../bcs/bytes.ts';
import { unlessRefused } from '../errors.ts';
import { ADDRESS_BYTES, addressBytes } from '../types/address.ts';
import { pairedMetadataAddress, primaryStoreOf } from '../types/derived-address.ts';
import {
  CONCURRENT_FUNGIBLE_BALANCE_TAG,
  coinStoreTag,
  FUNGIBLE_STORE_TAG,
  OBJECT_CORE_TAG,
  OBJECT_GROUP_TAG,
} from '../types/framework-tag.ts';
import { decodeResourceGroup, encodeStructTag, type GroupMember } from '../types/resource-group.ts';
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
  const { store, concurrent } = membersOf(bytes);
  if (store === undefined) return 0n;
  const balance = isSized(store, FUNGIBLE_STORE_BYTES, FUNGIBLE_STORE_FROZEN_OFFSET)
    ? store.readBigUInt64LE(FUNGIBLE_STORE_BALANCE_OFFSET)
    : fungibleStoreCodec.decode(store).balance;
  if (balance !== 0n || concurrent === undefined) return balance;
  return concurrentFungibleBalanceCodec.decode(concurrent).value;
}

/** Where a value is in its group. */
interface DataPlace {
  readonly start: number;
  readonly end: number;
}

/** The form of groups that are the same but for the values of their members, by one of them. */
interface GroupShape {
  readonly bytes: Buffer;
  /** Of all members, in their order. */
  readonly places: readonly DataPlace[];
  readonly core: DataPlace | undefined;
  readonly store: DataPlace | undefined;
  readonly concurrent: DataPlace | undefined;
}

/** Longer groups are decoded each time, in bytes. */
export const MAX_SHAPED_GROUP_BYTES = 1_024;
/** What a form takes in the cache besides its bytes, in bytes, estimated. */
const SHAPE_BYTES = 512;
/**
 * By the length of the group: primary stores have one of few forms. Balances of object groups, read or written, take a
 * third of the time that decoding takes.
 */
const shapes = new Cache<GroupShape>('group_shapes');

function membersOf(bytes: Buffer): StoreGroup {
  const shape = bytes.length > MAX_SHAPED_GROUP_BYTES ? undefined : shapes.get(`${bytes.length}`);
  if (shape !== undefined && hasShape(bytes, shape)) {
    const at = (place: DataPlace | undefined) => place && bytes.subarray(place.start, place.end);
    return { core: at(shape.core), store: at(shape.store), concurrent: at(shape.concurrent) };
  }
  const members = unlessRefused(() => decodeResourceGroup(bytes));
  if (members === undefined) return { core: undefined, store: undefined, concurrent: undefined };
  if (bytes.length <= MAX_SHAPED_GROUP_BYTES) rememberShape(bytes, members);
  const find = (tag: Buffer) => members.find(({ tagBytes }) => tagBytes.equals(tag))?.data;
  return { core: find(CORE_TAG), store: find(STORE_TAG), concurrent: find(CONCURRENT_TAG) };
}

/** Whether all but the values is the same: number of members, tags and lengths. */
function hasShape(bytes: Buffer, shape: GroupShape): boolean {
  let at = 0;
  for (const { start, end } of shape.places) {
    if (bytes.compare(shape.bytes, at, start, at, start) !== 0) return false;
    at = end;
  }
  return at === bytes.length;
}

function rememberShape(group: Buffer, members: readonly GroupMember[]): void {
  const places = members.map(({ data }) => {
    const start = data.byteOffset - group.byteOffset;
    return { start, end: start + data.length };
  });
  const find = (tag: Buffer) => places[members.findIndex(({ tagBytes }) => tagBytes.equals(tag))];
  const named = { core: find(CORE_TAG), store: find(STORE_TAG), concurrent: find(CONCURRENT_TAG) };
  const bytes = copiedBytes(group);
  shapes.set(`${bytes.length}`, { bytes, places, ...named }, bytes.length + SHAPE_BYTES);
}

/**
 * The owner and the asset (the address of its metadata) of the fungible store in an object group, views on `bytes`;
 * `undefined` for a group without a store and for one that does not decode.
 */
function storeHolderIn(
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

/** The kind of balance under a state key; all keys of a kind have the same path. */
type BalancePath =
  | { readonly kind: 'coinStore'; readonly metadata: Buffer }
  | { readonly kind: 'objectGroup' };

/** An amount; `undefined` where bytes do not decode, and asking for the balance fails. */
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
  /** Of the object, 32 bytes. */
  readonly address: Buffer;
  readonly amount: Amount;
  /** The owner of the primary store, if the value contains it; otherwise it may still be a primary store. */
  readonly holder: { readonly owner: Buffer; readonly metadata: Buffer } | undefined;
}

const ACCESS_PATH_TAG = 0x00;
const PATH_OFFSET = 1 + ADDRESS_BYTES;
/** Longest path that is cached, in bytes, its length before it included. */
export const MAX_CACHED_PATH_BYTES = 512;
/** What a path takes in the cache besides its key, in bytes, estimated. */
const CACHED_PATH_BYTES = 256;

/** By the path's bytes as latin1; few paths are written again and again. */
const paths = new Cache<{ readonly path: BalancePath | undefined }>('balance_paths');

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
  return { kind: 'coinStore', owner, metadata, amount: amountOf(value, coinStoreAmount) };
}

/** The amount in the object of a physical key after a write; 0 after a deletion. */
export function objectGroupChange(
  physical: Buffer,
  value: Uint8Array | undefined,
): ObjectGroupChange {
  const address = physical.subarray(1, PATH_OFFSET);
  const amount = amountOf(value, fungibleGroupBalance);
  const holder = value && storeHolderIn(byteTools.asBuffer(value));
  const isPrimary = holder && primaryStoreOf(holder.owner, holder.metadata).equals(address);
  return { kind: 'objectGroup', address, amount, holder: isPrimary === true ? holder : undefined };
}

function amountOf(value: Uint8Array | undefined, read: (bytes: Buffer) => bigint): Amount {
  return value === undefined ? 0n : unlessRefused(() => read(byteTools.asBuffer(value)));
}
