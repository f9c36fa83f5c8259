/**
 * The keys under an account, in the order that listings have: by the bytes of the physical state
 * key (docs/spec/ledger.md §5.4). A row's order part is what follows the address there: the path's
 * length, then the path.
 *
 * Long keys. Key parts are bounded (MAX_ORDER_BYTES), state keys are not: a type with deep generics
 * takes kilobytes. A longer key is cut into segments; a segment that goes on has an empty value,
 * and its continuation lies in a partition of its own in account_key_tails, named by the address
 * and a chained hash of the segments before. Walking the rows depth first gives exactly the order
 * of the whole keys, whatever they share. No key is the beginning of another, because each begins
 * with its own length, so a row is either an end or a branch, never both.
 */

import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { HASH_BYTES, sha3 } from '../../move/crypto/hash.ts';
import { ADDRESS_BYTES, type Address, addressBytes } from '../../move/types/address.ts';
import type { Batch } from '../batch.ts';
import type { Row, RowKey, StoreReader } from '../store.ts';
import { ACCOUNT_KEY_TAILS, ACCOUNT_KEYS, type Column, MAX_ORDER_BYTES } from './columns.ts';
import { decodeRow } from './row-codec.ts';

/** First byte of the physical encoding of a key under an account. */
export const ACCESS_PATH_TAG = 0x00;
/** Bytes before the part that orders an account's keys: tag and address. */
export const ACCESS_PATH_PREFIX_BYTES = 1 + ADDRESS_BYTES;

const BRANCH = new Uint8Array(0);
/** Rows read at a time while walking. */
const WALK_PAGE_ROWS = 256;

/** A key under an account. */
export interface AccountKey {
  /** The physical state key. */
  readonly key: Buffer;
  /** The version that wrote it first, as far as it is kept. */
  readonly firstVersion: bigint;
}

/** Where a segment of a key lies. */
interface SegmentKey extends RowKey {
  readonly column: Column;
}

/**
 * The rows of a physical state key: branches first, the end last. @throws RangeError when it is no
 * such key.
 */
export function accountKeySegments(physical: Uint8Array): readonly SegmentKey[] {
  if (physical[0] !== ACCESS_PATH_TAG || physical.length <= ACCESS_PATH_PREFIX_BYTES) {
    throw new RangeError('not the physical key of something under an account');
  }
  const address = physical.subarray(1, ACCESS_PATH_PREFIX_BYTES);
  const segments: SegmentKey[] = [];
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

/**
 * Files a key under its account; the first write decides, so the caller puts only keys that are not
 * there.
 */
export function putAccountKey(batch: Batch, physical: Uint8Array, firstVersion: bigint): void {
  const segments = accountKeySegments(physical);
  const end = segments[segments.length - 1]!;
  for (const { column, partition, order } of segments) {
    if (order !== end.order) batch.put(column, partition, order, BRANCH);
  }
  const value = encodeBcs((writer) => writer.u64(firstVersion));
  batch.put(end.column, end.partition, end.order, value);
}

/**
 * Walks the keys of an account in order, from a physical key (or any bytes that begin like one) on.
 * Reads as it is drawn from, a page at a time. @throws RowDamagedError
 */
export async function* walkAccountKeys(
  store: StoreReader,
  address: Address,
  from?: Uint8Array,
): AsyncGenerator<AccountKey> {
  const partition = addressBytes(address);
  const prefix = Buffer.concat([Buffer.of(ACCESS_PATH_TAG), partition]);
  const side = from === undefined ? -1 : Buffer.compare(head(from), prefix);
  // Below the account's first key there is nothing to skip, above its last there is nothing to
  // show.
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
  const fromGoesOn = from !== undefined && from.length > MAX_ORDER_BYTES;
  for await (const row of rowsFrom(store, column, partition, firstOrder)) {
    const { order, value } = row;
    const key = Buffer.concat([prefix, order]);
    // Only the row that begins like `from` can hold keys on both sides of it.
    const isFirst = fromGoesOn && Buffer.compare(order, firstOrder!) === 0;
    if (value.length === 0) {
      const hash = chainedHash(hashBefore, order);
      const tail = Buffer.concat([partition.subarray(0, ADDRESS_BYTES), hash]);
      yield* walk(store, tail, key, hash, isFirst ? from.subarray(MAX_ORDER_BYTES) : undefined);
    } else if (!isFirst) {
      yield { key, firstVersion: decodeFirstVersion(column, partition, row) };
    }
  }
}

async function* rowsFrom(
  store: StoreReader,
  column: Column,
  partition: Uint8Array,
  from: Uint8Array | undefined,
): AsyncGenerator<Row> {
  let last: Uint8Array | undefined;
  let next = from !== undefined && from.length > 0 ? from : undefined;
  for (;;) {
    const page = await store.range(column, partition, { from: next, limit: WALK_PAGE_ROWS });
    for (const row of page) {
      // Bounds belong to a range, so every page but the first begins with the last row of the one
      // before.
      if (last === undefined || Buffer.compare(row.order, last) !== 0) yield row;
    }
    if (page.length < WALK_PAGE_ROWS) return;
    last = page[page.length - 1]!.order;
    next = last;
  }
}

function decodeFirstVersion(column: Column, partition: Uint8Array, row: Row): bigint {
  return decodeRow(column, partition, row.order, row.value, (reader) => reader.u64());
}

function head(physical: Uint8Array): Uint8Array {
  return physical.subarray(0, ACCESS_PATH_PREFIX_BYTES);
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
