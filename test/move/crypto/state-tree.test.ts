/** The state tree compared with the root over all leaves, after random changes. */
import { describe, expect, it } from 'vitest';
import { SparseMerkleLeaves } from '../../../src/move/crypto/sparse-merkle.ts';
import { StateTree } from '../../../src/move/crypto/state-tree.ts';
import { Random, testSeed } from '../../random.ts';

describe('StateTree', () => {
  it('has the root of its leaves, whatever was added, changed and removed', () => {
    const random = new Random(testSeed());
    for (let run = 0; run < 8; run += 1) {
      const tree = new StateTree();
      const leaves = new Map<string, Buffer>();
      // Few different first bytes, so that keys share long prefixes.
      const keys = Array.from({ length: 10 + random.below(run < 7 ? 60 : 3_000) }, () => {
        const key = random.bytes(32);
        return key.fill(random.below(3), 0, random.below(32));
      });
      for (let round = 0; round < 12; round += 1) {
        for (let change = random.below(keys.length); change > 0; change -= 1) {
          const key = random.pick(keys);
          const value = random.below(3) === 0 ? undefined : random.bytes(32);
          tree.set(key, value);
          if (value === undefined) leaves.delete(key.toString('hex'));
          else leaves.set(key.toString('hex'), value);
        }
        const whole = new SparseMerkleLeaves();
        for (const [key, value] of leaves) whole.add(Buffer.from(key, 'hex'), value);
        expect(tree.count).toBe(leaves.size);
        expect(tree.rootHash()).toEqual(whole.rootHash());
      }
      for (const key of keys) tree.set(key, undefined);
      expect(tree.rootHash()).toEqual(new SparseMerkleLeaves().rootHash());
    }
  });
});
