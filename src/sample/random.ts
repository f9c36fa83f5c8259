/**
 * The sample ledger's own random numbers: sfc32 (Chris Doty-Humphrey's "small fast counter", 128 bits of state), seeded
 * from a SHA3-256 of the seed and a label. Not for secrets: the numbers are reproducible on purpose.
 */
import { domainHash } from '../move/crypto/hash.ts';

const UINT32_RANGE = 2 ** 32;
/** Draws that sfc32 needs before its state is well mixed. */
const WARM_UP_DRAWS = 12;

/** 32 bytes derived from nothing but a seed, a label and numbers. */
export function derivedBytes(seed: bigint, label: string, ...numbers: readonly number[]): Buffer {
  return domainHash('DaybookSample', Buffer.from([seed, label, ...numbers].join('/'), 'utf8'));
}

/** A reproducible sequence of numbers. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter: number;

  constructor(seed: bigint, label: string) {
    const state = derivedBytes(seed, label);
    this.#a = state.readUInt32LE(0) | 0;
    this.#b = state.readUInt32LE(4) | 0;
    this.#c = state.readUInt32LE(8) | 0;
    this.#counter = state.readUInt32LE(12) | 0;
    for (let draw = 0; draw < WARM_UP_DRAWS; draw += 1) this.u32();
  }

  /** 0 to 2^32 - 1. */
  u32(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** A number from 0 up to, but not including, 1. */
  unit(): number {
    return this.u32() / UINT32_RANGE;
  }

  /** 0 to `count` - 1. */
  below(count: number): number {
    return Math.floor(this.unit() * count);
  }

  /** `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** True with a probability in thousandths. */
  perMille(times: number): boolean {
    return this.below(1000) < times;
  }

  /** 0 to `count` - 1, with small numbers far more often, because few accounts do most of the work. */
  skewed(count: number): number {
    const unit = this.unit();
    return Math.floor(unit * unit * unit * count);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
}
