/**
 * Which partitions a run has entries of: a Bloom filter whose bits for one partition are all in one line of 64 bytes.
 * It never denies one that is there, and wrongly affirms about one in a hundred.
 */
const LINE_WORDS = 16;
const LINE_BITS = LINE_WORDS * 32;
const BITS_PER_PARTITION = 10;
const BITS_SET = 6;
const PLACE_BITS = 9;
const MULTIPLIERS = [0x9e37_79b1, 0x85eb_ca6b, 0xc2b2_ae35] as const;

/** Words of a filter for so many partitions. */
export function filterWords(partitions: number): number {
  return Math.max(1, Math.ceil((partitions * BITS_PER_PARTITION) / LINE_BITS)) * LINE_WORDS;
}

export function addToFilter(filter: Uint32Array, hash: number): void {
  const line = lineOf(filter, hash);
  let bits = second(hash);
  for (let count = 0; count < BITS_SET; count += 1) {
    const bit = bits >>> (32 - PLACE_BITS);
    filter[line + (bit >>> 5)]! |= 1 << (bit & 31);
    bits = Math.imul(bits, MULTIPLIERS[1]) + MULTIPLIERS[2];
  }
}

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

/** A number for a partition: the beginning of a key, of so many bytes. */
export function hashOf(key: Uint8Array, length: number): number {
  let hash = 0;
  let at = 0;
  for (; at + 4 <= length; at += 4) {
    const word = key[at]! | (key[at + 1]! << 8) | (key[at + 2]! << 16) | (key[at + 3]! << 24);
    hash = Math.imul(hash ^ word, MULTIPLIERS[0]);
    hash ^= hash >>> 15;
  }
  for (; at < length; at += 1) hash = Math.imul(hash ^ key[at]!, MULTIPLIERS[0]);
  return (hash ^ (hash >>> 15)) >>> 0;
}

function lineOf(filter: Uint32Array, hash: number): number {
  return Math.floor((hash / 0x1_0000_0000) * (filter.length / LINE_WORDS)) * LINE_WORDS;
}

function second(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 13), MULTIPLIERS[2]);
  return mixed ^ (mixed >>> 16);
}
