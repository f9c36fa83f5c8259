/**
 * The state's sparse Merkle tree in memory, changed leaf by leaf (docs/spec/backup.md §1.2). A block changes a few
 * hundred leaves, and only the nodes above them are hashed again. About 150 bytes for each leaf.
 */
import { isBitSet } from '../bcs/bits.ts';
import { HASH_BYTES } from './hash.ts';
import {
  hashInternal,
  hashLeaf,
  SPARSE_MERKLE_PLACEHOLDER,
  sharedBitsOf,
} from './sparse-merkle.ts';

const INITIAL_NODES = 1_024;
/** A subtree without leaves. Positive: an inner node; negative: a leaf. */
const EMPTY = 0;

export class StateTree {
  #root = EMPTY;
  /** By inner node: its two children. */
  #children = new Int32Array(2 * INITIAL_NODES);
  #hashes = Buffer.alloc(HASH_BYTES * INITIAL_NODES);
  /** By inner node: 1 while its hash must be recomputed. */
  #stale = new Uint8Array(INITIAL_NODES);
  #freeNodes: number[] = [];
  #nextNode = 1;
  #keys = Buffer.alloc(HASH_BYTES * INITIAL_NODES);
  #leafHashes = Buffer.alloc(HASH_BYTES * INITIAL_NODES);
  #freeLeaves: number[] = [];
  #nextLeaf = 1;

  /** How many keys have a value. */
  get count(): number {
    return this.#nextLeaf - 1 - this.#freeLeaves.length;
  }

  /** Sets the value of a key, or removes it; hashes of 32 bytes. */
  set(keyHash: Buffer, valueHash: Buffer | undefined): void {
    const path: number[] = [];
    let at = this.#root;
    while (at > EMPTY) {
      path.push(at);
      this.#stale[at] = 1;
      at = this.#children[2 * at + bitOf(keyHash, path.length - 1)]!;
    }
    const found = at === EMPTY ? undefined : this.#keyOf(-at);
    if (valueHash === undefined) {
      if (found?.equals(keyHash) === true) this.#remove(path, keyHash, -at);
      return;
    }
    const hash = hashLeaf(keyHash, valueHash);
    if (found?.equals(keyHash) === true) {
      this.#leafHashes.set(hash, HASH_BYTES * -at);
      return;
    }
    const leaf = this.#newLeaf(keyHash, hash);
    if (found === undefined) {
      this.#attach(path, keyHash, -leaf);
      return;
    }
    // The two branch at the first bit that differs.
    const shared = sharedBitsOf(found, keyHash);
    while (path.length <= shared) {
      const node = this.#newNode();
      this.#attach(path, keyHash, node);
      path.push(node);
    }
    this.#attach(path, keyHash, -leaf);
    this.#attach(path, found, at);
  }

  /** The root of all leaves, 32 bytes. */
  rootHash(): Buffer {
    return Buffer.from(this.#hashOf(this.#root));
  }

  #hashOf(at: number): Buffer {
    if (at === EMPTY) return SPARSE_MERKLE_PLACEHOLDER;
    if (at < EMPTY) return this.#leafHashes.subarray(HASH_BYTES * -at, HASH_BYTES * (1 - at));
    const place = HASH_BYTES * at;
    if (this.#stale[at] === 1) {
      const left = this.#hashOf(this.#children[2 * at]!);
      this.#hashes.set(hashInternal(left, this.#hashOf(this.#children[2 * at + 1]!)), place);
      this.#stale[at] = 0;
    }
    return this.#hashes.subarray(place, place + HASH_BYTES);
  }

  /** Removes the leaf at the end of a path; a sibling leaf that is then alone moves up. */
  #remove(path: number[], keyHash: Buffer, leaf: number): void {
    this.#freeLeaves.push(leaf);
    let left = EMPTY;
    for (;;) {
      this.#attach(path, keyHash, left);
      const parent = path[path.length - 1];
      if (parent === undefined) return;
      const [zero, one] = [this.#children[2 * parent]!, this.#children[2 * parent + 1]!];
      const isAlone = (zero === EMPTY && one <= EMPTY) || (one === EMPTY && zero <= EMPTY);
      if (!isAlone) return;
      left = zero === EMPTY ? one : zero;
      this.#freeNodes.push(parent);
      path.pop();
    }
  }

  /** Puts a subtree at the end of a path, on the side of a key. */
  #attach(path: readonly number[], keyHash: Buffer, subtree: number): void {
    const parent = path[path.length - 1];
    if (parent === undefined) this.#root = subtree;
    else this.#children[2 * parent + bitOf(keyHash, path.length - 1)] = subtree;
  }

  #keyOf(leaf: number): Buffer {
    return this.#keys.subarray(HASH_BYTES * leaf, HASH_BYTES * (leaf + 1));
  }

  #newLeaf(keyHash: Buffer, hash: Buffer): number {
    const leaf = this.#freeLeaves.pop() ?? this.#nextLeaf;
    if (leaf === this.#nextLeaf) this.#nextLeaf += 1;
    if (HASH_BYTES * leaf === this.#keys.length) {
      this.#keys = grown(this.#keys);
      this.#leafHashes = grown(this.#leafHashes);
    }
    this.#keys.set(keyHash, HASH_BYTES * leaf);
    this.#leafHashes.set(hash, HASH_BYTES * leaf);
    return leaf;
  }

  #newNode(): number {
    const node = this.#freeNodes.pop() ?? this.#nextNode;
    if (node === this.#nextNode) this.#nextNode += 1;
    if (node === this.#stale.length) {
      const children = new Int32Array(4 * node);
      children.set(this.#children);
      this.#children = children;
      const stale = new Uint8Array(2 * node);
      stale.set(this.#stale);
      this.#stale = stale;
      this.#hashes = grown(this.#hashes);
    }
    this.#children.fill(EMPTY, 2 * node, 2 * node + 2);
    this.#stale[node] = 1;
    return node;
  }
}

function bitOf(keyHash: Buffer, bit: number): 0 | 1 {
  return isBitSet(keyHash, bit) ? 1 : 0;
}

function grown(bytes: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  const larger = Buffer.alloc(2 * bytes.length);
  bytes.copy(larger);
  return larger;
}
