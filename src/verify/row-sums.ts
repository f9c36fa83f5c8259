/**
 * Sums of hashes of rows, one for each column. Versions produce rows in their order, columns have them in the
 * order of keys: equal sums show that both are the same rows, without looking up any of them.
 *
 * Each row is hashed together with a secret that is made for one examination, so nobody can choose rows whose hashes
 * add up to those of others: sums of different rows are equal with a probability of 2^-128.
 */
import { randomBytes } from 'node:crypto';
import { sha3 } from '../move/crypto/hash.ts';
import type { Column, RowKey } from '../store/columns/columns.ts';

const SECRET_BYTES = 16;
/** Number of the column, length of the order. */
const HEAD_BYTES = 3;
const WORDS = 4;
const WORD_BYTES = 4;
const INITIAL_BYTES = 4_096;
/** In place of a value that is not compared. */
export const NO_VALUE = new Uint8Array(0);

/** By the number of a column, its sum. */
export type SavedSums = readonly (readonly [column: number, words: Uint32Array])[];

export function newSecret(): Uint8Array {
  return randomBytes(SECRET_BYTES);
}

export class RowSums {
  readonly #sums = new Map<number, Uint32Array>();
  #bytes: Buffer;

  /** @param secret of the examination; sums with different ones cannot be compared */
  constructor(secret: Uint8Array, saved: SavedSums = []) {
    this.#bytes = Buffer.allocUnsafe(INITIAL_BYTES);
    this.#bytes.set(secret, 0);
    for (const [column, words] of saved) this.#sums.set(column, words);
  }

  add({ number }: Column, { partition, order }: RowKey, value: Uint8Array): void {
    const orderAt = SECRET_BYTES + HEAD_BYTES + partition.length;
    const valueAt = orderAt + order.length;
    const end = valueAt + value.length;
    if (end > this.#bytes.length) this.#grow(end);
    const bytes = this.#bytes;
    bytes[SECRET_BYTES] = number;
    bytes[SECRET_BYTES + 1] = order.length;
    bytes[SECRET_BYTES + 2] = order.length >>> 8;
    bytes.set(partition, SECRET_BYTES + HEAD_BYTES);
    bytes.set(order, orderAt);
    bytes.set(value, valueAt);
    const hash = sha3(bytes.subarray(0, end));
    const sum = this.#sumOf(number);
    // The words of the array overflow, as intended.
    for (let at = 0; at < WORDS; at += 1) sum[at]! += hash.readUInt32LE(at * WORD_BYTES);
  }

  isEqual({ number }: Column, other: RowSums): boolean {
    const otherSum = other.#sumOf(number);
    return this.#sumOf(number).every((word, at) => word === otherSum[at]);
  }

  save(): SavedSums {
    return [...this.#sums];
  }

  #sumOf(column: number): Uint32Array {
    let sum = this.#sums.get(column);
    if (sum === undefined) {
      sum = new Uint32Array(WORDS);
      this.#sums.set(column, sum);
    }
    return sum;
  }

  #grow(byteLength: number): void {
    const larger = Buffer.allocUnsafe(2 * byteLength);
    this.#bytes.copy(larger, 0, 0, SECRET_BYTES);
    this.#bytes = larger;
  }
}
