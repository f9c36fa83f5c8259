/**
 * What a write to state means for balances (docs/spec/http.md §9.3): which state keys contain amounts, and the amounts
 * after a write. An account's balance of an asset is the sum of its coin store (if the asset is paired with a coin)
 * and its primary fungible store. Both are identified here by the owner and the address of the asset's metadata.
 */
import { Cache } from '../../cache.ts';
import { byteTools } from '../bcs/bytes.ts';
import { unlessRefused } from '../errors.ts';
import { ADDRESS_BYTES, addressBytes } from '../types/address.ts';
import { pairedMetadataAddress, primaryStoreOf } from '../types/derived-address.ts';
import { coinStoreTag, OBJECT_GROUP_TAG } from '../types/framework-tag.ts';
import { encodePath, parsePhysicalStateKey } from '../types/state-key.ts';
import { coinStoreAmount, fungibleGroupBalance, storeHolderIn } from './balance-values.ts';

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
  return { kind: 'coinStore', metadata: Buffer.from(addressBytes(pairedMetadataAddress(coin))) };
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
