/** JSON arrays of transactions, which end when they get large. */
import { expect, it } from 'vitest';
import {
  MAX_TRANSACTIONS_JSON_BYTES,
  TransactionArray,
} from '../../src/ledger/transactions/renderer.ts';

/** Renders bytes as a JSON text of the same length. */
const renderer = {
  render: (item: Buffer) => ({
    json: Buffer.from(`"${'x'.repeat(item.length - 2)}"`),
    tagCore: '',
    isFinal: true,
  }),
};

async function lengths(sizes: readonly number[], maxBytes?: number): Promise<number[]> {
  const array = new TransactionArray(renderer, undefined, maxBytes);
  await array.add(sizes.map((size) => Buffer.alloc(size)));
  const items = JSON.parse(Buffer.concat(array.pieces).toString()) as string[];
  return items.map((text) => text.length + 2);
}

it('end with the transaction that reaches the limit', async () => {
  expect(await lengths([])).toEqual([]);
  expect(await lengths([10, 20, 30])).toEqual([10, 20, 30]);
  for (const [maxBytes, count] of [
    [29, 2],
    [30, 2],
    [31, 3],
  ] as const) {
    expect([maxBytes, (await lengths([10, 20, 30], maxBytes)).length]).toEqual([maxBytes, count]);
  }
});

it('of 64 MiB', async () => {
  expect(MAX_TRANSACTIONS_JSON_BYTES).toBe(67_108_864);
  const half = MAX_TRANSACTIONS_JSON_BYTES / 2;
  expect((await lengths([half, half - 1, 10, 10])).length).toBe(3);
  expect((await lengths([half, half, 10])).length).toBe(2);
});

it('let other work run between transactions', async () => {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await lengths(Array.from({ length: 50 }, () => 64 * 1024));
  isDone = true;
  expect(turns).toBeGreaterThan(10);
});

it('one step of all arrays in a turn, however many are made', async () => {
  const size = 64 * 1024;
  let rendered = 0;
  const counted = {
    render: (item: Buffer) => {
      rendered += 1;
      return renderer.render(item);
    },
  };
  const inTurns: number[] = [];
  let isDone = false;
  const endTurn = (): void => {
    inTurns.push(rendered);
    rendered = 0;
    if (!isDone) setImmediate(endTurn);
  };
  const items = Array.from({ length: 4 }, () => Buffer.alloc(size));
  const arrays = Array.from({ length: 50 }, async () => {
    const array = new TransactionArray(counted);
    await array.add(items);
    return Buffer.concat(array.pieces).length;
  });
  endTurn();
  const lengths = await Promise.all(arrays);
  isDone = true;
  expect(lengths.every((length) => length > 4 * size)).toBe(true);
  // Arrays that start together begin in the same turn, with one item each.
  expect(inTurns[0]).toBe(50);
  expect(Math.max(...inTurns.slice(1))).toBe(1);
});
