/** Memory that a committing process retains: it does not grow with the number of versions. */
import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import { STATE } from '../../src/store/columns/columns.ts';
import { encodeU64Key } from '../../src/store/columns/order-key.ts';
import { temporarySqliteStore } from './engines.ts';

/** Number of reachable objects of a class; all others have been garbage collected. */
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
  // Those of the last commits may remain.
  expect(countOf(Batch)).toBeLessThan(10);
});
