/**
 * Which partitions a run has entries of: a Bloom filter whose bits for one partition are all in one line of 64 bytes.
 * It never denies one that is there, and wrongly affirms about one in a hundred.
 */
import { compareWords, type RunShape } from './run-shape.ts';

const LINE_WORDS = 16;
const LINE_BITS = LINE_WORDS * 32;
const BITS_PER_ENTRY = 10;
const BITS_SET = 6;
const PLACE_BITS = 9;
const MULTIPLIERS = [0x9e37_79b1, 0x85eb_ca6b, 0xc2b2_ae35] as const;

/** Words of a filter for so many entries. */
export function filterWords(entries: number): number {
  return Math.max(1, Math.ceil((entries * BITS_PER_ENTRY) / LINE_BITS)) * LINE_WORDS;
}

export function addToFilter(shape: RunShape, filter: Uint32Array, key: Uint32Array, at: number) {
  const hash = hashOf(shape, key, at);
  const line = lineOf(filter, hash);
  let bits = second(hash);
  for (let count = 0; count < BITS_SET; count += 1) {
    const bit = bits >>> (32 - PLACE_BITS);
    filter[line + (bit >>> 5)]! |= 1 << (bit & 31);
    bits = Math.imul(bits, MULTIPLIERS[1]) + MULTIPLIERS[2];
  }
}

/** Two numbers from a partition, to be asked of many filters. */
export function mayHave(filter: Uint32Array, hash: number): boolean {
  const line = lineOf(filter, hash);
  let bits = second(hash);
  for (let count = 0; count < BITS_SET; count += 1) {
    const bit = bits >>> (32 - PLACE_BITS);
    if ((filter[line + (bit >>> 5)]! & (1 << (bit & 31))) === 0) return false;
    bits = Math.imul(bits, MULTIPLIERS[1]) + MULTIPLIERS[2];
  }
  return true;
}

/** A number for the partition of a key. */
export function hashOf({ partitionWords }: RunShape, key: Uint32Array, at: number): number {
  let hash = 0;
  for (let word = 0; word < partitionWords; word += 1) {
    hash = Math.imul(hash ^ key[at + word]!, MULTIPLIERS[0]);
    hash ^= hash >>> 15;
  }
  return hash >>> 0;
}

function lineOf(filter: Uint32Array, hash: number): number {
  return Math.floor((hash / 0x1_0000_0000) * (filter.length / LINE_WORDS)) * LINE_WORDS;
}

function second(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 13), MULTIPLIERS[2]);
  return mixed ^ (mixed >>> 16);
}

/** Whether two entries have the same partition. */
export function isSamePartition(
  { partitionWords }: RunShape,
  a: Uint32Array,
  aAt: number,
  b: Uint32Array,
  bAt: number,
): boolean {
  return compareWords(a, aAt, b, bAt, partitionWords) === 0;
}
