/**
 * Entries of sorted runs as words: a key of fixed length, cut into big-endian numbers of 32 bits, then the place, then
 * the value where entries have one. So typed arrays compare and copy entries, and the order of words is the order of
 * the key's bytes.
 */
import type { Column, RowKey } from '../../columns/columns.ts';

export const WORD_BYTES = 4;
const CHECKSUM_BYTES = 4;
/** Most bytes of a block: with the header, exactly one page of 8 KiB that holds nothing else. */
const MAX_BLOCK_BYTES = 8_168;

/** The place of an entry that says: the row is deleted. */
export const DELETED = 0xffff_ffff;

/** Words of a partition that are in memory of the first key of a block. */
export const FENCE_PARTITION_WORDS = 2;

/** How the entries of one column are made. */
export interface RunShape {
  /** The number of the column. */
  readonly column: number;
  readonly partitionBytes: number;
  readonly keyBytes: number;
  /** Bytes of the value behind the place. */
  readonly valueBytes: number;
  readonly partitionWords: number;
  readonly keyWords: number;
  /** Words of a whole entry: the key, the place, and the value. */
  readonly entryWords: number;
  /** Words of the first key of a block that are in memory: two of the partition, and those of the order. */
  readonly fenceWords: number;
  readonly blockEntries: number;
}

/**
 * @param column its partitions are a multiple of four bytes; all its orders are equally long
 * @param valueBytes what every value has, if entries have values
 */
export function runShape(
  { number: column, partitionBytes, orderBytes }: Column,
  valueBytes = 0,
): RunShape {
  const partitionWords = partitionBytes / WORD_BYTES;
  const orderWords = Math.ceil(orderBytes[0] / WORD_BYTES);
  const keyWords = partitionWords + orderWords;
  const entryWords = keyWords + 1 + Math.ceil(valueBytes / WORD_BYTES);
  return {
    ...{ column, partitionBytes, valueBytes, partitionWords, keyWords, entryWords },
    keyBytes: partitionBytes + orderBytes[0],
    fenceWords: FENCE_PARTITION_WORDS + orderWords,
    blockEntries: Math.floor((MAX_BLOCK_BYTES - CHECKSUM_BYTES) / (entryWords * WORD_BYTES)),
  };
}

/** Writes a key, or as much of it as there is, and zeros for the rest. */
export function writeKey(
  shape: RunShape,
  { partition, order }: RowKey,
  to: Uint32Array,
  at: number,
) {
  writeWords(partition, to, at, shape.partitionWords);
  writeWords(order, to, at + shape.partitionWords, shape.keyWords - shape.partitionWords);
}

/** Writes bytes as so many words, and zeros where there are none left. */
export function writeWords(bytes: Uint8Array, to: Uint32Array, at: number, count: number): void {
  for (let word = 0; word < count; word += 1) {
    const byte = word * WORD_BYTES;
    to[at + word] =
      (bytes[byte]! << 24) | (bytes[byte + 1]! << 16) | (bytes[byte + 2]! << 8) | bytes[byte + 3]!;
  }
}

/** The bytes of a key. */
export function keyOf({ keyBytes }: RunShape, from: Uint32Array, at: number): Buffer {
  return bytesOf(from, at, keyBytes);
}

/** The bytes that were written as words. */
export function bytesOf(from: Uint32Array, at: number, count: number): Buffer {
  const bytes = Buffer.allocUnsafe(count);
  const whole = count - (count % WORD_BYTES);
  let word = at;
  for (let byte = 0; byte < whole; byte += WORD_BYTES, word += 1) {
    const value = from[word]!;
    bytes[byte] = value >>> 24;
    bytes[byte + 1] = value >>> 16;
    bytes[byte + 2] = value >>> 8;
    bytes[byte + 3] = value;
  }
  for (let byte = whole; byte < count; byte += 1) {
    bytes[byte] = from[word]! >>> (24 - 8 * (byte - whole));
  }
  return bytes;
}

/** Compares some words: below zero, zero or above. */
export function compareWords(
  a: Uint32Array,
  aAt: number,
  b: Uint32Array,
  bAt: number,
  words: number,
): number {
  for (let word = 0; word < words; word += 1) {
    const [left, right] = [a[aAt + word]!, b[bAt + word]!];
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

/** The first of `count` sorted entries whose key is above `key` (or not below it, if `orEqual`). */
export function firstAbove(
  { entryWords, keyWords }: RunShape,
  entries: Uint32Array,
  count: number,
  key: Uint32Array,
  orEqual: boolean,
): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const order = compareWords(entries, middle * entryWords, key, 0, keyWords);
    if (order < 0 || (order === 0 && !orEqual)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Copies one entry. */
export function copyEntry(
  { entryWords }: RunShape,
  from: Uint32Array,
  fromAt: number,
  to: Uint32Array,
  toAt: number,
): void {
  for (let word = 0; word < entryWords; word += 1) to[toAt + word] = from[fromAt + word]!;
}
