/** Accumulators compared with a direct implementation of their definition (docs/spec/ledger.md §2.7). */
import { describe, expect, test } from 'vitest';
import {
  ACCUMULATOR_PLACEHOLDER,
  accumulatorRoot,
  MAX_ACCUMULATOR_LEAVES,
  MerkleAccumulator,
} from '../../../src/move/crypto/accumulator.ts';
import { domainHash, domainSeed, sha3 } from '../../../src/move/crypto/hash.ts';
import { writeSetHash } from '../../../src/move/transactions/write-set.ts';

const leaf = (index: number) => sha3(Buffer.from(`leaf ${index}`));

/** Level by level, as the definition says. */
function plainRoot(name: string, leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return ACCUMULATOR_PLACEHOLDER;
  let level = [...leaves];
  while (level.length > 1) {
    if (level.length % 2 === 1) level.push(ACCUMULATOR_PLACEHOLDER);
    const next: Buffer[] = [];
    for (let index = 0; index < level.length; index += 2) {
      next.push(domainHash(name, level[index]!, level[index + 1]!));
    }
    level = next;
  }
  return level[0]!;
}

test('published seeds and hashes', () => {
  expect(domainSeed('StateKey').toString('hex')).toBe(
    '14715f27d7ab9aad7041a4809fbb1dc5bcd80e0c5ee58c18469f1fde7bd347e4',
  );
  expect(domainSeed('Transaction').toString('hex')).toBe(
    'fa210a9417ef3e7fa45bfa1d17a8dbd4d883711910a550d265fee189e9266dd4',
  );
  expect(writeSetHash(Buffer.from([0, 0])).toString('hex')).toBe(
    'afb6e14fe47d850fd0a7395bcfb997ffacf4715e0f895cc162c218e4a7564bc6',
  );
});

describe('MerkleAccumulator', () => {
  test.each(['EventAccumulator', 'TransactionAccumulator'] as const)(
    '%s: the root after each of 130 leaves',
    (name) => {
      const accumulator = new MerkleAccumulator(name);
      const leaves: Buffer[] = [];
      expect(accumulator.rootHash()).toEqual(ACCUMULATOR_PLACEHOLDER);
      for (let count = 1; count <= 130; count += 1) {
        leaves.push(leaf(count));
        accumulator.append(leaf(count));
        expect(accumulator.leafCount).toBe(BigInt(count));
        expect(accumulator.rootHash().equals(plainRoot(name, leaves))).toBe(true);
        expect(accumulatorRoot(name, leaves).equals(accumulator.rootHash())).toBe(true);
      }
      expect(accumulatorRoot(name, [])).toEqual(ACCUMULATOR_PLACEHOLDER);
    },
  );

  test('restored at any length, goes on to the same roots', () => {
    for (let length = 0; length <= 40; length += 1) {
      const whole = new MerkleAccumulator('TransactionAccumulator');
      for (let index = 0; index < length; index += 1) whole.append(leaf(index));
      const restored = new MerkleAccumulator(
        'TransactionAccumulator',
        whole.leafCount,
        whole.frozenSubtreeRoots,
      );
      const copy = whole.clone();
      for (let index = length; index < length + 9; index += 1) {
        whole.append(leaf(index));
        restored.append(leaf(index));
        expect(restored.rootHash().equals(whole.rootHash())).toBe(true);
        expect(restored.frozenSubtreeRoots).toEqual(whole.frozenSubtreeRoots);
      }
      expect(copy.leafCount).toBe(BigInt(length));
    }
  });

  test('the roots of full subtrees, largest first', () => {
    const accumulator = new MerkleAccumulator('EventAccumulator');
    for (let index = 0; index < 3; index += 1) accumulator.append(leaf(index));
    const pair = domainHash('EventAccumulator', leaf(0), leaf(1));
    expect(accumulator.frozenSubtreeRoots).toEqual([pair, leaf(2)]);
  });

  test('goes on from a count of many bits', () => {
    const count = MAX_ACCUMULATOR_LEAVES - 1n;
    const roots = Array.from({ length: 63 }, (_, index) => leaf(index));
    const accumulator = new MerkleAccumulator('TransactionAccumulator', count, roots);
    expect(accumulator.rootHash()).toHaveLength(32);
    accumulator.append(leaf(99));
    expect(accumulator.leafCount).toBe(MAX_ACCUMULATOR_LEAVES);
    expect(accumulator.frozenSubtreeRoots).toHaveLength(1);
    expect(() => accumulator.append(leaf(100))).toThrow('accumulator is full');
  });

  test('refuses roots that do not fit the count', () => {
    const make = (count: bigint, roots: Buffer[]) =>
      new MerkleAccumulator('EventAccumulator', count, roots);
    expect(() => make(3n, [leaf(0)])).toThrow(RangeError);
    expect(() => make(1n, [Buffer.alloc(31)])).toThrow(RangeError);
    expect(() => make(-1n, [])).toThrow(RangeError);
    expect(() => make(MAX_ACCUMULATOR_LEAVES + 1n, [leaf(0), leaf(1)])).toThrow(RangeError);
    expect(() => make(0n, []).append(Buffer.alloc(33))).toThrow(RangeError);
  });
});
