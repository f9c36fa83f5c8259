/** Hashes state keys, for tables of the keys of one chunk. Strings would take more time and memory. */
import { randomInt } from 'node:crypto';

/** The seed is random, so that nobody can construct many keys with the same number. */
const SEED = randomInt(2 ** 32);
const FNV_PRIME = 0x0100_0193;

/** A hash that few keys share. It is a small integer in V8. */
export function keyNumber(key: Uint8Array): number {
  let number = SEED;
  for (let at = 0; at < key.length; at += 1) number = Math.imul(number ^ key[at]!, FNV_PRIME);
  return number >>> 2;
}
