/** SipHash-2-4 with a key of zeros (Aumasson and Bernstein, 2012). */
const MASK = 0xffff_ffff_ffff_ffffn;

const rotated = (value: bigint, bits: bigint): bigint =>
  ((value << bits) | (value >> (64n - bits))) & MASK;

export function sipHash(bytes: Uint8Array): bigint {
  let v0 = 0x736f6d6570736575n;
  let v1 = 0x646f72616e646f6dn;
  let v2 = 0x6c7967656e657261n;
  let v3 = 0x7465646279746573n;
  const rounds = (count: number): void => {
    for (let round = 0; round < count; round += 1) {
      v0 = (v0 + v1) & MASK;
      v2 = (v2 + v3) & MASK;
      v1 = rotated(v1, 13n) ^ v0;
      v3 = rotated(v3, 16n) ^ v2;
      v0 = rotated(v0, 32n);
      v2 = (v2 + v1) & MASK;
      v0 = (v0 + v3) & MASK;
      v1 = rotated(v1, 17n) ^ v2;
      v3 = rotated(v3, 21n) ^ v0;
      v2 = rotated(v2, 32n);
    }
  };
  const absorb = (word: bigint): void => {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  };
  let word = 0n;
  for (const [index, byte] of bytes.entries()) {
    word |= BigInt(byte) << BigInt((index & 7) * 8);
    if ((index & 7) === 7) {
      absorb(word);
      word = 0n;
    }
  }
  absorb(word | (BigInt(bytes.length & 0xff) << 56n));
  v2 ^= 0xffn;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}
