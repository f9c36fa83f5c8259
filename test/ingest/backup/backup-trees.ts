/** Trees by their definitions (docs/spec/backup.md §1.2, §4.5): slow, and using nothing of src/ but the hash. */
import { domainHash } from '../../../src/move/crypto/hash.ts';

const STATE_PLACEHOLDER = Buffer.alloc(32);
STATE_PLACEHOLDER.write('SPARSE_MERKLE_PLACEHOLDER_HASH');
const ACCUMULATOR_PLACEHOLDER = Buffer.alloc(32);
ACCUMULATOR_PLACEHOLDER.write('ACCUMULATOR_PLACEHOLDER_HASH');

export interface StateLeaf {
  readonly key: Buffer;
  readonly valueHash: Buffer;
}

const bitOf = (key: Buffer, bit: number): number => (key[bit >> 3]! >> (7 - (bit & 7))) & 1;

/** Root of leaves that share their first `depth` bits. */
export function stateRoot(leaves: readonly StateLeaf[], depth = 0): Buffer {
  const [first] = leaves;
  if (first === undefined) return STATE_PLACEHOLDER;
  if (leaves.length === 1) return domainHash('SparseMerkleLeafNode', first.key, first.valueHash);
  const [left, right] = halves(leaves, depth);
  return domainHash(
    'SparseMerkleInternal',
    stateRoot(left, depth + 1),
    stateRoot(right, depth + 1),
  );
}

/** The siblings to the right of the path to a leaf, lowest first. */
export function stateRangeProof(leaves: readonly StateLeaf[], key: Buffer): Buffer[] {
  const siblings: Buffer[] = [];
  let below = leaves;
  for (let depth = 0; below.length > 1; depth += 1) {
    const [left, right] = halves(below, depth);
    if (bitOf(key, depth) === 0) siblings.unshift(stateRoot(right, depth + 1));
    below = bitOf(key, depth) === 0 ? left : right;
  }
  return siblings;
}

function halves(leaves: readonly StateLeaf[], depth: number): [StateLeaf[], StateLeaf[]] {
  return [
    leaves.filter(({ key }) => bitOf(key, depth) === 0),
    leaves.filter(({ key }) => bitOf(key, depth) === 1),
  ];
}

/** The levels of an accumulator, leaves first; each level is padded to an even number of hashes. */
export class NaiveAccumulator {
  readonly #levels: Buffer[][] = [];
  readonly depth: number;

  constructor(leaves: readonly Buffer[]) {
    this.depth = Math.ceil(Math.log2(leaves.length));
    let level = [...leaves];
    for (let height = 0; height < this.depth; height += 1) {
      if (level.length % 2 === 1) level.push(ACCUMULATOR_PLACEHOLDER);
      this.#levels.push(level);
      level = Array.from({ length: level.length / 2 }, (_, at) =>
        domainHash('TransactionAccumulator', level[2 * at]!, level[2 * at + 1]!),
      );
    }
    this.#levels.push(level);
  }

  get root(): Buffer {
    return this.#levels[this.depth]![0]!;
  }

  /** Siblings of the path from a leaf to the root, lowest first. */
  siblings(leaf: number): Buffer[] {
    return this.#path(leaf).map(([, sibling]) => sibling);
  }

  /** The siblings to the left of the path from the first leaf, and to the right of the path from the last. */
  range(first: number, last: number): { readonly left: Buffer[]; readonly right: Buffer[] } {
    const isRight = ([place]: readonly [number, Buffer]) => place % 2 === 1;
    return {
      left: this.#path(first)
        .filter(isRight)
        .map(([, sibling]) => sibling),
      right: this.#path(last)
        .filter((step) => !isRight(step))
        .map(([, sibling]) => sibling),
    };
  }

  #path(leaf: number): [number, Buffer][] {
    return Array.from({ length: this.depth }, (_, height) => {
      const place = leaf >> height;
      return [place, this.#levels[height]![place ^ 1]!];
    });
  }
}
