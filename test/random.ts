/**
 * The randomness of all tests. A run draws the same numbers every time; `SEED=random` draws new ones and prints the
 * seed, `SEED=1234` repeats a run.
 */

const DEFAULT_SEED = 20_261_122;

/** Whether tests run many rounds instead of a few (`npm run test:long`). */
export const IS_LONG = process.env['LONG'] === '1';

/** Number of rounds of a test: `few`, `many` in a long run, or the value of the variable `name`. */
export function roundsOf(name: string, few: number, many: number): number {
  return Number(process.env[name] ?? (IS_LONG ? many : few));
}

/** Selects `few` evenly spread cases, or all of them in a long run. */
export function someOf<T>(cases: readonly T[], few: number): readonly T[] {
  if (IS_LONG || cases.length <= few) return cases;
  return Array.from({ length: few }, (_, nth) => cases[Math.floor((nth * cases.length) / few)]!);
}

/** The seed of this run, printed with its purpose. */
export function testSeed(what = 'tests'): number {
  const asked = process.env['SEED'] ?? String(DEFAULT_SEED);
  const seed = asked === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(asked);
  if (!Number.isSafeInteger(seed)) throw new Error(`SEED is ${asked}: give a number or "random"`);
  if (process.env['SEED'] !== undefined) console.log(`${what}: SEED=${seed}`);
  return seed;
}

/** The seed as a parameter of `fc.assert`. */
export function propertySeed(): { seed: number } {
  return { seed: testSeed('property') };
}

/** Uniform numbers in [0, 1) (mulberry32). */
export function randomSource(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Random integers, choices and bytes. */
export class Random {
  readonly seed: number;
  /** A number in [0, 1). */
  readonly fraction: () => number;

  /** An integer in [0, bound); a field, so that it can be passed on alone. */
  readonly below = (bound: number): number => Math.floor(this.fraction() * bound);

  constructor(seed: number) {
    this.seed = seed;
    this.fraction = randomSource(seed);
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.below(256)));
  }
}
