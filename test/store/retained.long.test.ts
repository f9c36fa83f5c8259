/** What a process that commits retains: no more after more versions. */
import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { STATE } from '../../src/store/columns/columns.ts';
import { encodeU64Key } from '../../src/store/columns/order-key.ts';
import { temporarySqliteStore } from './engines.ts';

/** Objects of a class that are reachable: everything else has been collected. */
function countOf(ctor: { readonly prototype: object }): number {
  return queryObjects(ctor as never, { format: 'count' });
}

test('a commit leaves nothing', async () => {
  const store = await temporarySqliteStore();
  const commit = (number: number): Promise<void> => {
    const order = encodeU64Key(BigInt(number % 10));
    return store.commit(new Batch().put(STATE, Buffer.alloc(32, number % 250), order, order));
  };
  for (let number = 0; number < 100; number += 1) await commit(number);
  const before = countOf(Array);
  for (let number = 0; number < 500; number += 1) await commit(number);
  expect(countOf(Array) - before).toBeLessThan(100);
  // Those of the last commits may stay.
  expect(countOf(Batch)).toBeLessThan(10);
});
