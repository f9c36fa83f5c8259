/** Numbers of state keys, for tables of the keys of one chunk: texts would take longer to make and more memory. */
import { randomInt } from 'node:crypto';

/** Numbers begin at random, so that nobody can make many keys that share one. */
const SEED = randomInt(2 ** 32);
const FNV_PRIME = 0x0100_0193;

/** A number that few keys share: a small integer of V8. */
export function keyNumber(key: Uint8Array): number {
  let number = SEED;
  for (let at = 0; at < key.length; at += 1) number = Math.imul(number ^ key[at]!, FNV_PRIME);
  return number >>> 2;
}
