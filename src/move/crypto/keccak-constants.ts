/** What SHA3-256 and its permutation are made of (FIPS 202). */

/** Size of an input block in bytes. */
export const RATE_BYTES = 136;
export const DIGEST_BYTES = 32;
/** First and last byte of SHA3 padding; combined when they are the same byte. */
export const PADDING_FIRST = 0x06;
export const PADDING_LAST = 0x80;

/** Lanes of 64 bits. */
export const LANES = 25;
export const ROUNDS = 24;

/** All places of the state in their order: x within y. */
export const PLACES = Array.from({ length: LANES }, (_, index) => ({
  x: index % 5,
  y: (index / 5) | 0,
}));
export const at = (x: number, y: number): number => (x % 5) + 5 * y;

/** By how many bits step ρ rotates each lane. */
export function rotations(): number[] {
  const bits = new Array<number>(LANES).fill(0);
  let x = 1;
  let y = 0;
  for (let step = 0; step < ROUNDS; step += 1) {
    bits[at(x, y)] = (((step + 1) * (step + 2)) / 2) % 64;
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  return bits;
}

/** The constants of step ι, from the shift register that defines them. */
export function roundConstants(): bigint[] {
  let register = 1;
  return Array.from({ length: ROUNDS }, () => {
    let constant = 0n;
    for (let step = 0; step < 7; step += 1) {
      if ((register & 1) === 1) constant |= 1n << BigInt((1 << step) - 1);
      register = (register << 1) ^ ((register >> 7) * 0x171);
    }
    return constant;
  });
}
