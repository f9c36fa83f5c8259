/** The root of the state's sparse Merkle tree over a whole set of leaves (docs/spec/ledger.md §2.7). */
import { nodeHasher } from './accumulator.ts';
import { HASH_BYTES } from './hash.ts';

/** The root of an empty subtree. */
export const SPARSE_MERKLE_PLACEHOLDER = Buffer.concat(
  [Buffer.from('SPARSE_MERKLE_PLACEHOLDER_HASH', 'ascii')],
  HASH_BYTES,
);

const LEAF_BYTES = 2 * HASH_BYTES;
const INITIAL_LEAVES = 256;

const hashInternal = nodeHasher('SparseMerkleInternal');
const hashLeaf = nodeHasher('SparseMerkleLeafNode');

/**
 * Collects leaves and computes their root. 64 bytes per leaf, packed: a leaf of two buffers would need ten times as
 * much.
 */
export class SparseMerkleLeaves {
  #packed = Buffer.allocUnsafe(INITIAL_LEAVES * LEAF_BYTES);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /**
   * Adds a leaf: the hash of a state key and that of its value, 32 bytes each.
   * @throws RangeError for other sizes.
   */
  add(keyHash: Uint8Array, valueHash: Uint8Array): void {
    if (keyHash.length !== HASH_BYTES || valueHash.length !== HASH_BYTES) {
      throw new RangeError(`leaf of ${keyHash.length} and ${valueHash.length} bytes`);
    }
    const at = this.#count * LEAF_BYTES;
    if (at === this.#packed.length) {
      const grown = Buffer.allocUnsafe(at * 2);
      this.#packed.copy(grown);
      this.#packed = grown;
    }
    this.#packed.set(keyHash, at);
    this.#packed.set(valueHash, at + HASH_BYTES);
    this.#count += 1;
  }

  /**
   * The root hash, 32 bytes; leaves may have come in any order.
   * @throws RangeError when a key was added twice.
   */
  rootHash(): Buffer {
    const order = Uint32Array.from({ length: this.#count }, (_, index) => index * LEAF_BYTES);
    order.sort((left, right) => this.#compareKeys(left, right));
    for (let index = 1; index < order.length; index += 1) {
      if (this.#compareKeys(order[index - 1]!, order[index]!) === 0) {
        throw new RangeError('a key has two leaves');
      }
    }
    return this.#subtree(order, 0);
  }

  #compareKeys(left: number, right: number): number {
    const packed = this.#packed;
    return packed.compare(packed, right, right + HASH_BYTES, left, left + HASH_BYTES);
  }

  /** The root over leaves (their positions, in key order) that agree in the first `depth` bits; at most 256 deep. */
  #subtree(leaves: Uint32Array, depth: number): Buffer {
    if (leaves.length === 0) return SPARSE_MERKLE_PLACEHOLDER;
    if (leaves.length === 1) {
      const at = leaves[0]!;
      return hashLeaf(
        this.#packed.subarray(at, at + HASH_BYTES),
        this.#packed.subarray(at + HASH_BYTES, at + LEAF_BYTES),
      );
    }
    const middle = this.#firstWithBit(leaves, depth);
    const left = this.#subtree(leaves.subarray(0, middle), depth + 1);
    const right = this.#subtree(leaves.subarray(middle), depth + 1);
    return hashInternal(left, right);
  }

  /** Index of the first leaf whose bit `depth`, counted from the most significant, is set. */
  #firstWithBit(leaves: Uint32Array, depth: number): number {
    const byte = depth >> 3;
    const mask = 0x80 >> (depth & 7);
    let low = 0;
    let high = leaves.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#packed[leaves[middle]! + byte]! & mask) === 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
