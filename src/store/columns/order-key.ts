/**
 * Numbers in keys: fixed width, big-endian, so that keys sort like the numbers. A number that exceeds its width is a
 * programming error and throws RangeError; a u64 can represent every version, height and sequence number
 * (docs/spec/ledger.md §7: u32 does not).
 */

import { U64_MAX } from '../../move/bcs/bcs-reader.ts';
import { BUCKET_PARTITION_BYTES } from './columns.ts';

export const U64_BYTES = 8;

/** An empty key part: the order of the only row of a partition. */
export const NO_ORDER: Uint8Array = new Uint8Array(0);

const u64View = new DataView(new ArrayBuffer(U64_BYTES));
const u64Bytes = new Uint8Array(u64View.buffer);

/** A u64 as 8 bytes. @throws RangeError */
export function encodeU64Key(value: bigint): Buffer {
  if (value < 0n || value > U64_MAX) throw new RangeError(`${value} does not fit in u64`);
  const bytes = Buffer.allocUnsafe(U64_BYTES);
  // Several times as fast as Buffer.writeBigUInt64BE, which splits the value with bigint operations.
  u64View.setBigUint64(0, value);
  for (let index = 0; index < U64_BYTES; index += 1) bytes[index] = u64Bytes[index]!;
  return bytes;
}

/** The u64 of 8 bytes at `offset`. @throws RangeError */
export function decodeU64Key(bytes: Buffer, offset = 0): bigint {
  const high = bytes.readUInt32BE(offset);
  const low = BigInt(bytes.readUInt32BE(offset + 4));
  // Bigint operations take longer than everything else here.
  return high === 0 ? low : (BigInt(high) << 32n) | low;
}

/** A version or height as the two parts of a bucketed key. */
export interface BucketKey {
  readonly partition: Buffer;
  readonly order: Buffer;
}

/** Splits a version or height: 65,536 consecutive ones share a partition. @throws RangeError */
export function encodeBucketKey(value: bigint): BucketKey {
  return bucketKeyOf(encodeU64Key(value));
}

/** The parts of a u64's 8 bytes, as views. */
export function bucketKeyOf(bytes: Buffer): BucketKey {
  return {
    partition: bytes.subarray(0, BUCKET_PARTITION_BYTES),
    order: bytes.subarray(BUCKET_PARTITION_BYTES),
  };
}

export function bucketStart(value: bigint): bigint {
  return value & ~0xffffn;
}

export function bucketEnd(value: bigint): bigint {
  return value | 0xffffn;
}

/** The number of a bucketed key. `order` may be longer than the two bytes that belong to the number. */
export function decodeBucketKey(partition: Uint8Array, order: Uint8Array): bigint {
  const bytes = Buffer.allocUnsafe(U64_BYTES);
  bytes.set(partition, 0);
  bytes.set(order.subarray(0, U64_BYTES - BUCKET_PARTITION_BYTES), BUCKET_PARTITION_BYTES);
  return bytes.readBigUInt64BE();
}
