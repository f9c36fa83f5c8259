/**
 * State keys. Every known key has a row: keys of an account in the order of listings, other keys by their hash. Keys
 * that are longer than MAX_ORDER_BYTES are cut into segments (docs/data-layout.md, "Keys of an account").
 */
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { HASH_BYTES, sha3 } from '../../move/crypto/hash.ts';
import { ADDRESS_BYTES, type Address, addressBytes } from '../../move/types/address.ts';
import type { Batch } from '../batch.ts';
import { rowsBetween, type StoreReader } from '../store.ts';
import {
  ACCOUNT_KEY_TAILS,
  ACCOUNT_KEYS,
  type Column,
  MAX_ORDER_BYTES,
  type RowKey,
  type ScannedRow,
  STATE_KEYS,
} from './columns.ts';
import { NO_ORDER } from './order-key.ts';
import { decodeRow } from './row-codec.ts';

/** Longest physical state key, in bytes; the reference allows a write of 1 MiB, key included. */
export const MAX_STATE_KEY_BYTES = 1024 * 1024;

const ACCESS_PATH_TAG = 0x00;
const TABLE_ITEM_TAG = 0x01;
const TRADING_TAG = 0x02;
const ACCESS_PATH_PREFIX_BYTES = 1 + ADDRESS_BYTES;
/** Tag, kind and exchange come before the account of a trading key. */
const TRADING_ACCOUNT_AT = 2 + ADDRESS_BYTES;
const NO_OWNER = Buffer.alloc(ADDRESS_BYTES);
const ACCESS_PATH_PREFIX = Buffer.of(ACCESS_PATH_TAG);

const BRANCH = new Uint8Array(0);

export interface AccountKey {
  readonly key: Buffer;
  /** The version that wrote it first, as far as history is retained. */
  readonly firstVersion: bigint;
}

interface KeyRow extends RowKey {
  readonly column: Column;
}

export function isAccountKey(physical: Uint8Array): boolean {
  return physical[0] === ACCESS_PATH_TAG && physical.length > ACCESS_PATH_PREFIX_BYTES;
}

/** The owner of a key: the account, the handle of the table, or zeros. 32 bytes, a view where possible. */
export function ownerOfKey(physical: Buffer): Buffer {
  switch (physical[0]) {
    case ACCESS_PATH_TAG:
    case TABLE_ITEM_TAG:
      return physical.subarray(1, 1 + ADDRESS_BYTES);
    case TRADING_TAG:
      return physical.subarray(TRADING_ACCOUNT_AT, TRADING_ACCOUNT_AT + ADDRESS_BYTES);
    default:
      return NO_OWNER;
  }
}

/** Whether a key of an account has rows in ACCOUNT_KEY_TAILS. */
export function isLongKey(physical: Uint8Array): boolean {
  return physical.length > ACCESS_PATH_PREFIX_BYTES + MAX_ORDER_BYTES;
}

/** The rows of a key: branches first, the end last; one row for a key that does not belong to an account. */
export function rowsOfKey(physical: Uint8Array, hash: Uint8Array): readonly KeyRow[] {
  if (!isAccountKey(physical)) return [{ column: STATE_KEYS, partition: hash, order: NO_ORDER }];
  const address = physical.subarray(1, ACCESS_PATH_PREFIX_BYTES);
  const segments: KeyRow[] = [];
  let partition: Uint8Array = address;
  let hashBefore: Uint8Array = BRANCH;
  for (let at = ACCESS_PATH_PREFIX_BYTES; at < physical.length; at += MAX_ORDER_BYTES) {
    const order = physical.subarray(at, at + MAX_ORDER_BYTES);
    segments.push({ column: columnOf(partition), partition, order });
    if (at + MAX_ORDER_BYTES >= physical.length) break;
    hashBefore = chainedHash(hashBefore, order);
    partition = Buffer.concat([address, hashBefore]);
  }
  return segments;
}

/** Puts the rows of a key that no earlier version wrote. */
export function putKey(
  batch: Batch,
  rows: readonly KeyRow[],
  physical: Uint8Array,
  firstVersion: bigint,
): void {
  for (const { column, partition, order } of rows.slice(0, -1)) {
    batch.put(column, partition, order, BRANCH);
  }
  const { column, partition, order } = rows[rows.length - 1]!;
  const isOfAccount = column !== STATE_KEYS;
  const value = isOfAccount ? encodeBcs((writer) => writer.u64(firstVersion)) : physical;
  batch.put(column, partition, order, value);
}

/**
 * Walks the keys of an account in order, from a physical key (or any bytes that begin like one) on. It reads lazily, a
 * page at a time. @throws RowDamagedError
 */
export async function* walkAccountKeys(
  store: StoreReader,
  address: Address,
  from?: Uint8Array,
): AsyncGenerator<AccountKey> {
  const partition = addressBytes(address);
  const prefix = Buffer.concat([ACCESS_PATH_PREFIX, partition]);
  const start = from?.subarray(0, ACCESS_PATH_PREFIX_BYTES);
  const side = start === undefined ? -1 : Buffer.compare(start, prefix);
  // If `from` is before the account's first key, nothing is skipped. After its last key, there is nothing to list.
  if (side > 0) return;
  const rest = side < 0 ? undefined : from?.subarray(ACCESS_PATH_PREFIX_BYTES);
  yield* walk(store, partition, prefix, BRANCH, rest);
}

async function* walk(
  store: StoreReader,
  partition: Uint8Array,
  prefix: Uint8Array,
  hashBefore: Uint8Array,
  from: Uint8Array | undefined,
): AsyncGenerator<AccountKey> {
  const column = columnOf(partition);
  const firstOrder = from?.subarray(0, MAX_ORDER_BYTES);
  const isFromLonger = from !== undefined && from.length > MAX_ORDER_BYTES;
  const bounds = firstOrder?.length === 0 ? {} : { from: firstOrder };
  for await (const { order, value } of rowsBetween(store, column, partition, bounds)) {
    const key = Buffer.concat([prefix, order]);
    // Only the row that begins like `from` can hold keys on both sides of it.
    const isFirst = isFromLonger && Buffer.compare(order, firstOrder!) === 0;
    if (value.length === 0) {
      const hash = chainedHash(hashBefore, order);
      const tail = Buffer.concat([partition.subarray(0, ADDRESS_BYTES), hash]);
      yield* walk(store, tail, key, hash, isFirst ? from.subarray(MAX_ORDER_BYTES) : undefined);
    } else if (!isFirst) yield endOfKey(column, { partition, order, value }, key);
  }
}

function endOfKey(
  column: Column,
  row: RowKey & { readonly value: Buffer },
  key: Buffer,
): AccountKey {
  return { key, firstVersion: decodeRow(column, row, row.value, (reader) => reader.u64()) };
}

/** The key of a row of ACCOUNT_KEYS; `undefined` for a branch, where longer keys begin. @throws RowDamagedError */
export function keyOfRow(row: ScannedRow): AccountKey | undefined {
  if (row.value.length === 0) return undefined;
  const key = Buffer.concat([ACCESS_PATH_PREFIX, row.partition, row.order]);
  return endOfKey(ACCOUNT_KEYS, row, key);
}

/** Walks the keys that begin with a branch of ACCOUNT_KEYS, in order. @throws RowDamagedError */
export function keysAfter(
  store: StoreReader,
  { partition, order }: ScannedRow,
): AsyncGenerator<AccountKey> {
  const hash = chainedHash(BRANCH, order);
  const key = Buffer.concat([ACCESS_PATH_PREFIX, partition, order]);
  return walk(store, Buffer.concat([partition, hash]), key, hash, undefined);
}

/**
 * The first versions of the keys that contain the segment of a row of ACCOUNT_KEY_TAILS. The row has only a hash of
 * their beginnings. @throws RowDamagedError
 */
export async function* firstVersionsOfTail(
  store: StoreReader,
  row: ScannedRow,
): AsyncGenerator<bigint> {
  const { partition, order, value } = row;
  if (value.length > 0) {
    yield endOfKey(ACCOUNT_KEY_TAILS, row, order).firstVersion;
    return;
  }
  const hash = chainedHash(partition.subarray(ADDRESS_BYTES), order);
  const tail = Buffer.concat([partition.subarray(0, ADDRESS_BYTES), hash]);
  for await (const { firstVersion } of walk(store, tail, order, hash, undefined))
    yield firstVersion;
}

function columnOf(partition: Uint8Array): Column {
  return partition.length === ADDRESS_BYTES ? ACCOUNT_KEYS : ACCOUNT_KEY_TAILS;
}

function chainedHash(hashBefore: Uint8Array, segment: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(HASH_BYTES + segment.length).fill(0, 0, HASH_BYTES);
  bytes.set(hashBefore, 0);
  bytes.set(segment, HASH_BYTES);
  return sha3(bytes);
}
