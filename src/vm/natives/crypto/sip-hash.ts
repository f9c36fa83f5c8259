/** SipHash-2-4 with a key of zeros (Aumasson and Bernstein, 2012). */
const MASK = 0xffff_ffff_ffff_ffffn;
const WORD_BYTES = 8;

const rotated = (value: bigint, bits: bigint): bigint =>
  ((value << bits) | (value >> (64n - bits))) & MASK;

export class SipHash {
  #v0 = 0x736f6d6570736575n;
  #v1 = 0x646f72616e646f6dn;
  #v2 = 0x6c7967656e657261n;
  #v3 = 0x7465646279746573n;
  /** Bytes after the last whole word. */
  #word = 0n;
  #length = 0;

  /** @param bytes all chunks but the last are whole words */
  update(bytes: Uint8Array): void {
    for (const [index, byte] of bytes.entries()) {
      this.#word |= BigInt(byte) << BigInt((index % WORD_BYTES) * 8);
      if (index % WORD_BYTES === WORD_BYTES - 1) {
        this.#absorb(this.#word);
        this.#word = 0n;
      }
    }
    this.#length += bytes.length;
  }

  digest(): bigint {
    this.#absorb(this.#word | (BigInt(this.#length & 0xff) << 56n));
    this.#v2 ^= 0xffn;
    this.#rounds(4);
    return this.#v0 ^ this.#v1 ^ this.#v2 ^ this.#v3;
  }

  #absorb(word: bigint): void {
    this.#v3 ^= word;
    this.#rounds(2);
    this.#v0 ^= word;
  }

  #rounds(count: number): void {
    for (let round = 0; round < count; round += 1) {
      this.#v0 = (this.#v0 + this.#v1) & MASK;
      this.#v2 = (this.#v2 + this.#v3) & MASK;
      this.#v1 = rotated(this.#v1, 13n) ^ this.#v0;
      this.#v3 = rotated(this.#v3, 16n) ^ this.#v2;
      this.#v0 = rotated(this.#v0, 32n);
      this.#v2 = (this.#v2 + this.#v1) & MASK;
      this.#v0 = (this.#v0 + this.#v3) & MASK;
      this.#v1 = rotated(this.#v1, 17n) ^ this.#v2;
      this.#v3 = rotated(this.#v3, 21n) ^ this.#v0;
      this.#v2 = rotated(this.#v2, 32n);
    }
  }
}
