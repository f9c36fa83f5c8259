/** Generated range proofs compared with those by definition (docs/spec/backup.md §1.5). */
import { expect, it } from 'vitest';
import { StateProofs } from '../../../src/ingest/backup/range-proofs.ts';
import { BcsReader } from '../../../src/move/bcs/bcs-reader.ts';
import { readRangeProof } from '../../../src/move/crypto/sparse-merkle.ts';
import { stateValueHash } from '../../../src/move/types/state-value.ts';
import type { LiveValue } from '../../../src/store/read/live-state.ts';
import { Random, testSeed } from '../../random.ts';
import { stateRangeProof, stateRoot } from './backup-trees.ts';

const TREES = 20;

/** Values whose keys share up to 255 bits, ascending. */
function randomValues(random: Random): LiveValue[] {
  const keys = new Map<string, Buffer>();
  const count = 1 + random.below(40);
  while (keys.size < count) {
    const key = Buffer.from(random.bytes(32));
    const [like] = [...keys.values()].slice(random.below(keys.size + 1));
    const shared = random.below(256);
    if (like !== undefined && random.below(3) > 0) {
      like.copy(key, 0, 0, shared >> 3);
      const mask = 0xff >> (shared & 7);
      key[shared >> 3] = (like[shared >> 3]! & ~mask) | (key[shared >> 3]! & mask);
    }
    keys.set(key.toString('hex'), key);
  }
  const sorted = [...keys.values()].sort(Buffer.compare);
  return sorted.map((keyHash) => ({ keyHash, bytes: random.bytes(3), metadata: undefined }));
}

it('are those of the definition', () => {
  const random = new Random(testSeed());
  for (let tree = 0; tree < TREES; tree += 1) {
    const values = randomValues(random);
    const leaves = values.map((value) => ({
      key: value.keyHash,
      valueHash: stateValueHash(value),
    }));
    const ends: Buffer[] = [];
    const proofs = new StateProofs();
    for (const [index, value] of values.entries()) {
      proofs.add(value);
      if (random.below(3) > 0 && index < values.length - 1) continue;
      const firstKey =
        values[values.findIndex(({ keyHash }) => keyHash === ends.at(-1)) + 1]!.keyHash;
      expect(proofs.endChunk()).toEqual({ firstKey, lastKey: value.keyHash });
      ends.push(value.keyHash);
    }
    expect(proofs.rootHash()).toEqual(stateRoot(leaves));
    const written = proofs.proofs().map((proof) => readRangeProof(new BcsReader(proof)));
    expect(written).toEqual(ends.map((key) => stateRangeProof(leaves, key)));
  }
});
