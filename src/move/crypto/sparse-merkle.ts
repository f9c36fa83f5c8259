/**
 * Computes the root of the state's sparse Merkle tree from its leaves in the order of their keys, in one pass and with
 * at most 256 hashes in memory (docs/spec/backup.md §1).
 */
import { BcsReader } from '../bcs/bcs-reader.ts';
import { encodeBcs } from '../bcs/bcs-writer.ts';
import { isBitSet } from '../bcs/bits.ts';
import { readHash, writeHash } from '../bcs/fixed-bytes.ts';
import { MoveError } from '../errors.ts';
import { nodeHasher } from './accumulator.ts';
import { HASH_BYTES } from './hash.ts';

/** The root of an empty subtree. */
export const SPARSE_MERKLE_PLACEHOLDER = Buffer.concat(
  [Buffer.from('SPARSE_MERKLE_PLACEHOLDER_HASH', 'ascii')],
  HASH_BYTES,
);

/** Bits of a key: the depth of the tree. */
const KEY_BITS = 8 * HASH_BYTES;
const LEAF_BYTES = 2 * HASH_BYTES;
const INITIAL_LEAVES = 256;
/** Stands for the bits shared with the previous leaf if there is none. */
const FIRST = -1;

export const hashInternal = nodeHasher('SparseMerkleInternal');
export const hashLeaf = nodeHasher('SparseMerkleLeafNode');

/** Leaves that are not in ascending order of their keys. */
export class LeafOrderError extends MoveError<'leaf_order'> {
  constructor(keyHash: Uint8Array, before: Uint8Array) {
    const [key, last] = [keyHash, before].map((bytes) => Buffer.from(bytes).toString('hex'));
    super('leaf_order', `the leaf of ${key} comes after that of ${last}`);
  }
}

/** Collects leaves in any order and computes their root. 64 bytes per leaf, packed. */
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
    assertLeaf(keyHash, valueHash);
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

  /** The root hash, 32 bytes. @throws LeafOrderError when a key was added twice */
  rootHash(): Buffer {
    const packed = this.#packed;
    const order = Uint32Array.from({ length: this.#count }, (_, index) => index * LEAF_BYTES);
    order.sort((left, right) =>
      packed.compare(packed, right, right + HASH_BYTES, left, left + HASH_BYTES),
    );
    const root = new StateRootBuilder();
    for (const at of order) {
      const middle = at + HASH_BYTES;
      root.add(packed.subarray(at, middle), packed.subarray(middle, at + LEAF_BYTES));
    }
    return root.rootHash();
  }
}

/**
 * Called with each right child when it is complete: its hash, the bit of the path where it branches off, and the last
 * key in it.
 */
type OnRightChild = (bit: number, hash: Buffer, lastKey: Uint8Array) => void;

/** Computes a root from leaves in ascending order of their keys (docs/spec/backup.md §1.3). */
export class StateRootBuilder {
  readonly #onRightChild: OnRightChild | undefined;
  #count = 0;
  readonly #key = Buffer.alloc(HASH_BYTES);
  #leafHash: Buffer = SPARSE_MERKLE_PLACEHOLDER;
  /** Bits that the keys of the last two leaves share. */
  #sharedBits = FIRST;
  /** By depth: hashes of finished subtrees that are left children on the last leaf's path. */
  readonly #left: (Buffer | undefined)[] = [];

  constructor(onRightChild?: OnRightChild) {
    this.#onRightChild = onRightChild;
  }

  /** Leaves so far. */
  get count(): number {
    return this.#count;
  }

  /**
   * Adds the next leaf: the hash of a state key and that of its value, 32 bytes each.
   * @throws LeafOrderError; RangeError for other sizes
   */
  add(keyHash: Uint8Array, valueHash: Uint8Array): void {
    assertLeaf(keyHash, valueHash);
    if (this.#count > 0) {
      const shared = sharedBitsOf(this.#key, keyHash);
      if (shared === KEY_BITS || isBitSet(this.#key, shared)) {
        throw new LeafOrderError(keyHash, this.#key);
      }
      const below = shared + 1;
      this.#left[below] = this.#climb(below);
      // The ones below are now parts of it.
      this.#left.length = below + 1;
      this.#sharedBits = shared;
    }
    this.#key.set(keyHash);
    this.#leafHash = hashLeaf(keyHash, valueHash);
    this.#count += 1;
  }

  /** The root of all leaves so far, 32 bytes. */
  rootHash(): Buffer {
    return this.#count === 0 ? SPARSE_MERKLE_PLACEHOLDER : this.#climb(0);
  }

  /**
   * Whether the leaves so far are the leftmost ones of a tree, with none missing between them
   * (docs/spec/backup.md §1.6).
   * @param rightSiblings of a SparseMerkleRangeProof for the last of them, the lowest first
   */
  beginsTree(root: Uint8Array, rightSiblings: readonly Uint8Array[]): boolean {
    if (this.#count === 0) return false;
    const zeros: number[] = [];
    for (let bit = 0; bit < KEY_BITS; bit += 1) if (!isBitSet(this.#key, bit)) zeros.push(bit);
    const last = rightSiblings.length === 0 ? FIRST : zeros[rightSiblings.length - 1];
    if (last === undefined) return false;
    const depth = Math.max(this.#sharedBits, last) + 1;
    if (zeros.filter((bit) => bit < depth).length !== rightSiblings.length) return false;
    let next = 0;
    let hash = this.#leafHash;
    for (let bit = depth - 1; bit >= 0; bit -= 1) {
      if (isBitSet(this.#key, bit)) {
        hash = hashInternal(this.#left[bit + 1] ?? SPARSE_MERKLE_PLACEHOLDER, hash);
      } else {
        hash = hashInternal(hash, rightSiblings[next]!);
        next += 1;
      }
    }
    return hash.equals(root);
  }

  /** Serializes the state for `restore`, which continues after the last leaf: at most 9 KB. */
  save(): Buffer {
    const left = [...this.#left.entries()].filter(([, hash]) => hash !== undefined);
    return encodeBcs((writer) => {
      writer.u64(this.#count).u16(this.#sharedBits + 1);
      writeHash(writer, this.#key);
      writeHash(writer, this.#leafHash);
      writer.vector(left, (inner, [depth, hash]) => writeHash(inner.u16(depth), hash!));
    });
  }

  /** @throws BcsError for bytes that `save` did not return */
  static restore(bytes: Uint8Array, onRightChild?: OnRightChild): StateRootBuilder {
    const reader = new BcsReader(bytes);
    const builder = new StateRootBuilder(onRightChild);
    builder.#count = Number(reader.u64());
    builder.#sharedBits = reader.u16() - 1;
    builder.#key.set(readHash(reader));
    builder.#leafHash = Buffer.from(readHash(reader));
    reader.vector(2 + HASH_BYTES, (inner) => {
      const depth = inner.u16();
      if (depth > KEY_BITS) throw inner.error('bad_value', `a subtree of depth ${depth}`);
      builder.#left[depth] = Buffer.from(readHash(inner));
    });
    reader.finish();
    return builder;
  }

  /** The hash of the subtree of depth `stop` that ends with the last leaf. */
  #climb(stop: number): Buffer {
    let hash = this.#leafHash;
    for (let depth = Math.max(this.#sharedBits + 1, stop); depth > stop; depth -= 1) {
      if (isBitSet(this.#key, depth - 1)) {
        this.#onRightChild?.(depth - 1, hash, this.#key);
        hash = hashInternal(this.#left[depth] ?? SPARSE_MERKLE_PLACEHOLDER, hash);
      } else hash = hashInternal(hash, SPARSE_MERKLE_PLACEHOLDER);
    }
    return hash;
  }
}

/** The right siblings of a SparseMerkleRangeProof, the lowest first (docs/spec/backup.md §1.5). @throws BcsError */
export function readRangeProof(reader: BcsReader): Buffer[] {
  const start = reader.offset;
  const siblings = reader.vector(HASH_BYTES, readHash);
  if (siblings.length <= KEY_BITS) return siblings;
  throw reader.error('bad_value', `${siblings.length} siblings, at most ${KEY_BITS}`, start);
}

function assertLeaf(keyHash: Uint8Array, valueHash: Uint8Array): void {
  if (keyHash.length === HASH_BYTES && valueHash.length === HASH_BYTES) return;
  throw new RangeError(`leaf of ${keyHash.length} and ${valueHash.length} bytes`);
}

/** Bits from the beginning that two keys share. */
export function sharedBitsOf(left: Uint8Array, right: Uint8Array): number {
  for (let at = 0; at < HASH_BYTES; at += 1) {
    const different = left[at]! ^ right[at]!;
    if (different !== 0) return 8 * at + Math.clz32(different) - 24;
  }
  return KEY_BITS;
}
