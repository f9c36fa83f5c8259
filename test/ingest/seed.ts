/** Seeded randomness of the tests in this folder: the seed is printed, and taken from SEED. */
import { randomInt } from 'node:crypto';

/** A source of integers below a bound; the same seed gives the same ones. */
export interface SeededRandom {
  readonly seed: number;
  below(bound: number): number;
}

/** Starts from SEED, or from a new seed, and prints which. */
export function seededRandom(what: string): SeededRandom {
  const seed = process.env.SEED === undefined ? randomInt(2 ** 31) : Number(process.env.SEED);
  console.log(`${what}: SEED=${seed}`);
  let state = seed >>> 0;
  return {
    seed,
    below(bound) {
      // mulberry32
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
    },
  };
}
