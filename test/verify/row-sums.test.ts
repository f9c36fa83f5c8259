/** Sums of rows: the same for the same rows in any order, and different for any other rows. */
import { expect, test } from 'vitest';
import { EVENTS, STATE, TRANSACTION_HASHES } from '../../src/store/columns/columns.ts';
import { newSecret, RowSums } from '../../src/verify/row-sums.ts';
import { randomSource, testSeed } from '../random.ts';

const random = randomSource(testSeed());
const bytes = (length: number) =>
  Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
const rows = Array.from({ length: 200 }, (_, index) => ({
  key: { partition: bytes(32), order: bytes(8) },
  // Short and long ones, because long ones are hashed by another implementation.
  value: bytes(index % 20 === 0 ? 6_000 : index),
}));
const secret = newSecret();

function sumsOf(added: typeof rows, column = STATE, with_ = secret): RowSums {
  const sums = new RowSums(with_);
  for (const { key, value } of added) sums.add(column, key, value);
  return sums;
}

test('the order does not count, nor the thread', () => {
  const sums = sumsOf(rows);
  expect(sums.isEqual(STATE, sumsOf(rows.toReversed()))).toBe(true);
  expect(sums.isEqual(STATE, new RowSums(secret, structuredClone(sums.save())))).toBe(true);
  expect(sums.isEqual(EVENTS, sumsOf([], EVENTS))).toBe(true);
});

test('any other row is told: missing, twice, changed, or with bytes moved between its parts', () => {
  const sums = sumsOf(rows);
  const [first, second] = rows;
  const others = rows.slice(2);
  const changed = { ...first!, value: Buffer.concat([first!.value, Buffer.of(0)]) };
  const swapped = [
    { ...first!, value: second!.value },
    { ...second!, value: first!.value },
  ];
  const { partition, order } = first!.key;
  const moved = {
    key: { partition, order: Buffer.concat([order, first!.value.subarray(0, 1)]) },
    value: first!.value.subarray(1),
  };
  for (const list of [
    rows.slice(1),
    [...rows, first!],
    [changed, second!, ...others],
    [...swapped, ...others],
    [moved, second!, ...others],
  ]) {
    expect(sums.isEqual(STATE, sumsOf(list))).toBe(false);
  }
});

test('the same bytes in another column, or with another secret, have another sum', () => {
  const words = (sums: RowSums) => sums.save()[0]![1];
  const sum = words(sumsOf(rows));
  expect(words(sumsOf(rows, TRANSACTION_HASHES))).not.toEqual(sum);
  expect(words(sumsOf(rows, STATE, newSecret()))).not.toEqual(sum);
});
