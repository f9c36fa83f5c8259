/** Bits of byte strings, counted from the most significant bit of the first byte. */

/** False for a bit beyond the end. */
export function isBitSet(bytes: Uint8Array, bit: number): boolean {
  return ((bytes[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0;
}

/** Ascending. */
export function setBits(bytes: Uint8Array): number[] {
  const bits: number[] = [];
  for (let bit = 0; bit < bytes.length * 8; bit += 1) if (isBitSet(bytes, bit)) bits.push(bit);
  return bits;
}
