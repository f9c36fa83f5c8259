import { domainSeed, HASH_BYTES } from './hash.ts';
import { keccakSha3 } from './keccak.ts';

/** The root of no leaves, and the replacement of a missing right sibling. */
export const ACCUMULATOR_PLACEHOLDER = Buffer.concat(
  [Buffer.from('ACCUMULATOR_PLACEHOLDER_HASH', 'ascii')],
  HASH_BYTES,
);

/** Maximum number of leaves, as in the reference. */
export const MAX_ACCUMULATOR_LEAVES = 1n << 63n;

/** Names of the accumulators' inner nodes. */
type AccumulatorName = 'EventAccumulator' | 'TransactionAccumulator';

/** H(name, left ‖ right) for a fixed name. */
type NodeHash = (left: Uint8Array, right: Uint8Array) => Buffer;

/** A function hashing the two children of inner nodes: 32 bytes each. */
export function nodeHasher(name: string): NodeHash {
  const seed = domainSeed(name);
  return (left, right) => keccakSha3([seed, left, right], 3 * HASH_BYTES);
}

/** An accumulator in memory: 32 bytes per bit of its leaf count. */
export class MerkleAccumulator {
  readonly name: AccumulatorName;
  readonly #hashNode: NodeHash;
  /** Roots of the full subtrees, one per set bit of the leaf count, largest first. */
  #frozen: Buffer[];
  #leafCount: bigint;

  /**
   * An empty accumulator, or one that continues from frozen roots.
   * @throws RangeError unless there is one root of 32 bytes for each set bit of `leafCount`.
   */
  constructor(name: AccumulatorName, leafCount = 0n, frozenSubtreeRoots: readonly Buffer[] = []) {
    if (leafCount < 0n || leafCount > MAX_ACCUMULATOR_LEAVES) {
      throw new RangeError(`accumulator of ${leafCount} leaves`);
    }
    if (frozenSubtreeRoots.length !== bitCount(leafCount)) {
      throw new RangeError(`${frozenSubtreeRoots.length} frozen roots for ${leafCount} leaves`);
    }
    if (frozenSubtreeRoots.some((root) => root.length !== HASH_BYTES)) {
      throw new RangeError(`a frozen root is not ${HASH_BYTES} bytes`);
    }
    this.name = name;
    this.#hashNode = nodeHasher(name);
    this.#frozen = [...frozenSubtreeRoots];
    this.#leafCount = leafCount;
  }

  get leafCount(): bigint {
    return this.#leafCount;
  }

  /** Roots of the full subtrees, largest first. */
  get frozenSubtreeRoots(): readonly Buffer[] {
    return [...this.#frozen];
  }

  /** Adds a leaf of 32 bytes. @throws RangeError when full, or for another size. */
  append(leaf: Buffer): void {
    if (leaf.length !== HASH_BYTES) throw new RangeError(`leaf of ${leaf.length} bytes`);
    if (this.#leafCount === MAX_ACCUMULATOR_LEAVES) throw new RangeError('accumulator is full');
    let root = leaf;
    for (let rest = this.#leafCount; (rest & 1n) === 1n; rest >>= 1n) {
      root = this.#hashNode(this.#frozen.pop()!, root);
    }
    this.#frozen.push(root);
    this.#leafCount += 1n;
  }

  /** The root hash, 32 bytes. */
  rootHash(): Buffer {
    let root: Buffer | undefined;
    let next = this.#frozen.length - 1;
    let rootLevel = 0;
    let level = 0;
    for (let rest = this.#leafCount; rest !== 0n; rest >>= 1n, level += 1) {
      if ((rest & 1n) === 0n) continue;
      const left = this.#frozen[next]!;
      next -= 1;
      if (root === undefined) {
        root = left;
        rootLevel = level;
        continue;
      }
      for (; rootLevel < level; rootLevel += 1) {
        root = this.#hashNode(root, ACCUMULATOR_PLACEHOLDER);
      }
      root = this.#hashNode(left, root);
      rootLevel += 1;
    }
    return root ?? ACCUMULATOR_PLACEHOLDER;
  }

  /**
   * The root of a larger accumulator that begins with these leaves (docs/spec/backup.md §4.5).
   * @param rightSiblings of the path of the last leaf, from the bottom up; placeholders included
   * @param depth levels above the leaves of the larger accumulator
   * @returns undefined when there are too many siblings or too few, or no leaves
   */
  rootWithin(depth: number, rightSiblings: readonly Buffer[]): Buffer | undefined {
    if (this.#leafCount === 0n || this.#leafCount > 1n << BigInt(depth)) return undefined;
    const left = [...this.#frozen];
    const right = rightSiblings.values();
    let used = 0;
    let root = left.pop()!;
    let level = 0;
    let position = this.#leafCount;
    for (; (position & 1n) === 0n; position >>= 1n) level += 1;
    // The rest is one more than the position of the last full subtree on its level.
    for (position -= 1n; level < depth; level += 1, position >>= 1n) {
      if ((position & 1n) === 1n) {
        root = this.#hashNode(left.pop()!, root);
        continue;
      }
      const sibling = right.next();
      if (sibling.done === true) return undefined;
      used += 1;
      root = this.#hashNode(root, sibling.value);
    }
    return used === rightSiblings.length ? root : undefined;
  }

  clone(): MerkleAccumulator {
    return new MerkleAccumulator(this.name, this.#leafCount, this.#frozen);
  }
}

function bitCount(value: bigint): number {
  let count = 0;
  for (let rest = value; rest !== 0n; rest &= rest - 1n) count += 1;
  return count;
}

/** The root of some leaves of 32 bytes in order. */
export function accumulatorRoot(name: AccumulatorName, leaves: Iterable<Buffer>): Buffer {
  const hashNode = nodeHasher(name);
  let level = [...leaves];
  while (level.length > 1) {
    const above: Buffer[] = [];
    for (let at = 0; at < level.length; at += 2) {
      above.push(hashNode(level[at]!, level[at + 1] ?? ACCUMULATOR_PLACEHOLDER));
    }
    level = above;
  }
  return level[0] ?? ACCUMULATOR_PLACEHOLDER;
}
