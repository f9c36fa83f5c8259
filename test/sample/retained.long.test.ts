/** What a process that produces and commits retains: no more after more versions. */
import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import { SampleLedger } from '../../src/sample/history/sample-ledger.ts';
import { checkSettings } from '../../src/sample/settings.ts';
import { Batch } from '../../src/store/batch.ts';
import { STATE } from '../../src/store/columns/columns.ts';
import { encodeU64Key } from '../../src/store/columns/order-key.ts';
import { temporarySqliteStore } from '../store/engines.ts';

/** Objects of a class that are reachable: everything else has been collected. */
function countOf(ctor: { readonly prototype: object }): number {
  return queryObjects(ctor as never, { format: 'count' });
}

/** Bytes of buffers that are reachable, with all that they hold of the pool of small ones. */
function bufferBytes(): number {
  countOf(Batch);
  return process.memoryUsage().arrayBuffers;
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

test('the model of a sample does not grow with its history', () => {
  const ledger = new SampleLedger({ ...checkSettings(1, 500), clockChanges: [] });
  ledger.takeGenesis();
  const makeUpTo = (version: bigint): void => {
    while (ledger.nextVersion < version) ledger.nextBlock();
  };
  // The accounts are there, and the orders and paintings of which the oldest go.
  makeUpTo(5_000n);
  const before = bufferBytes();
  makeUpTo(12_000n);
  expect(bufferBytes() - before).toBeLessThan(1024 * 1024);
});
