/**
 * The root of a state and the range proofs of its chunks (docs/spec/backup.md §1.5), in one pass over the keys. The
 * siblings to the right of the path to a chunk's last key are subtrees of later keys, so the proofs are complete only
 * after the last key of the state.
 */
import { encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { isBitSet } from '../../move/bcs/bits.ts';
import { writeHash } from '../../move/bcs/fixed-bytes.ts';
import {
  SPARSE_MERKLE_PLACEHOLDER,
  StateRootBuilder,
  sharedBitsOf,
} from '../../move/crypto/sparse-merkle.ts';
import { stateValueHash } from '../../move/types/state-value.ts';
import type { LiveValue } from '../../store/read/live-state.ts';

interface ChunkEnd {
  readonly key: Buffer;
  readonly sharedBits: number;
  /** Keyed by the bit of the path where they branch off. Subtrees without keys are left out. */
  readonly siblings: Map<number, Buffer>;
}

export class StateProofs {
  readonly #root = new StateRootBuilder(this.#addRightChild.bind(this));
  readonly #ends: ChunkEnd[] = [];
  #firstKey: Buffer | undefined;
  #lastKey: Buffer | undefined;
  /** Bits that the last key shares with the one before it; -1 for the first key. */
  #sharedBits = -1;

  get keys(): number {
    return this.#root.count;
  }

  add(value: LiveValue): void {
    this.#root.add(value.keyHash, stateValueHash(value));
    const key = Buffer.from(value.keyHash);
    if (this.#lastKey !== undefined) this.#sharedBits = sharedBitsOf(this.#lastKey, key);
    this.#firstKey ??= key;
    this.#lastKey = key;
  }

  /** Ends a chunk with the last key. @returns its first key and its last */
  endChunk(): { readonly firstKey: Buffer; readonly lastKey: Buffer } {
    const [firstKey, lastKey] = [this.#firstKey!, this.#lastKey!];
    this.#ends.push({ key: lastKey, sharedBits: this.#sharedBits, siblings: new Map() });
    this.#firstKey = undefined;
    return { firstKey, lastKey };
  }

  /** The root of all keys. Call it once, after the last key: it completes the proofs. */
  rootHash(): Buffer {
    return this.#root.rootHash();
  }

  /** BCS of the SparseMerkleRangeProof of each chunk, in order. Call `rootHash` first. */
  proofs(): Buffer[] {
    return this.#ends.map(({ key, sharedBits, siblings }) => {
      const path: Buffer[] = [];
      for (let bit = Math.max(sharedBits, ...siblings.keys()); bit >= 0; bit -= 1) {
        if (!isBitSet(key, bit)) path.push(siblings.get(bit) ?? SPARSE_MERKLE_PLACEHOLDER);
      }
      return encodeBcs((writer) => writer.vector(path, writeHash));
    });
  }

  #addRightChild(bit: number, hash: Buffer, lastKey: Uint8Array): void {
    for (let at = this.#ends.length - 1; at >= 0; at -= 1) {
      const { key, siblings } = this.#ends[at]!;
      const shared = sharedBitsOf(key, lastKey);
      // Keys ascend, so earlier ends share no more bits.
      if (shared < bit) return;
      if (shared === bit) siblings.set(bit, hash);
    }
  }
}
