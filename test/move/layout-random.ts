/** Random numbers from a seed, so that a failing run can be repeated with `SEED=…`. */

/** The seed of this run: `SEED`, or the time. */
export function testSeed(what: string): number {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  console.log(`${what}: SEED=${seed}`);
  return seed;
}

/** A linear congruential generator. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number in [0, 1). */
  fraction(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }

  /** An integer in [0, count). */
  below(count: number): number {
    return Math.floor(this.fraction() * count);
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
