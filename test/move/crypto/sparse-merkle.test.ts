/**
 * The state's sparse Merkle tree compared with its definition, and with the known answers of docs/spec/backup.md §1.7.
 */
import { describe, expect, it, test } from 'vitest';
import { decodeBcs } from '../../../src/move/bcs/bcs-reader.ts';
import { encodeBcs } from '../../../src/move/bcs/bcs-writer.ts';
import { writeHash } from '../../../src/move/bcs/fixed-bytes.ts';
import { domainHash, domainSeed, sha3 } from '../../../src/move/crypto/hash.ts';
import {
  LeafOrderError,
  readRangeProof,
  SPARSE_MERKLE_PLACEHOLDER,
  SparseMerkleLeaves,
  StateRootBuilder,
} from '../../../src/move/crypto/sparse-merkle.ts';
import { stateValueHash } from '../../../src/move/types/state-value.ts';
import { Random, testSeed } from '../../random.ts';

const leaf = (index: number) => sha3(Buffer.from(`leaf ${index}`));
const hex = (text: string) => Buffer.from(text, 'hex');

interface Leaf {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** By the definition, on bit strings. */
function plainSparseRoot(leaves: readonly { key: Buffer; value: Buffer }[], depth = 0): Buffer {
  if (leaves.length === 0) return SPARSE_MERKLE_PLACEHOLDER;
  const [only] = leaves;
  if (leaves.length === 1) return domainHash('SparseMerkleLeafNode', only!.key, only!.value);
  const side = (bit: string) =>
    leaves.filter(({ key }) => key[depth >> 3]!.toString(2).padStart(8, '0')[depth % 8] === bit);
  return domainHash(
    'SparseMerkleInternal',
    plainSparseRoot(side('0'), depth + 1),
    plainSparseRoot(side('1'), depth + 1),
  );
}

describe('SparseMerkleLeaves', () => {
  test.each([0, 1, 2, 3, 10, 255, 256, 257, 1000])('%i leaves in any order', (count) => {
    const leaves = Array.from({ length: count }, (_, index) => ({
      key: leaf(index),
      value: leaf(-index),
    }));
    const tree = new SparseMerkleLeaves();
    for (const { key, value } of leaves) tree.add(key, value);
    expect(tree.count).toBe(count);
    expect(tree.rootHash().equals(plainSparseRoot(leaves))).toBe(true);
    expect(tree.rootHash().equals(tree.rootHash())).toBe(true);
  });

  test('keys that differ in the last bit only: 256 levels', () => {
    const first = Buffer.alloc(32, 0xaa);
    const second = Buffer.from(first);
    second[31]! ^= 1;
    const tree = new SparseMerkleLeaves();
    tree.add(second, leaf(2));
    tree.add(first, leaf(1));
    const expected = plainSparseRoot([
      { key: first, value: leaf(1) },
      { key: second, value: leaf(2) },
    ]);
    expect(tree.rootHash().equals(expected)).toBe(true);
  });

  test('refuses a key given twice and other sizes', () => {
    const tree = new SparseMerkleLeaves();
    tree.add(leaf(1), leaf(2));
    tree.add(leaf(1), leaf(3));
    expect(() => tree.rootHash()).toThrow(LeafOrderError);
    expect(() => tree.add(Buffer.alloc(31), leaf(1))).toThrow(RangeError);
    expect(() => tree.add(leaf(1), Buffer.alloc(33))).toThrow(RangeError);
  });
});

function rootOf(leaves: readonly Leaf[]): Buffer {
  return builderOf(leaves).rootHash();
}

function builderOf(leaves: readonly Leaf[]): StateRootBuilder {
  const builder = new StateRootBuilder();
  for (const { key, value } of leaves) builder.add(key, value);
  return builder;
}

function ascending(leaves: readonly Leaf[]): Leaf[] {
  return [...leaves].sort((left, right) => Buffer.compare(left.key, right.key));
}

/** The leaves of the known answers, by number. */
const KNOWN: readonly Leaf[] = [0, 1, 2, 3, 4].map((index) => ({
  key: sha3(Buffer.from(`key-${index}`)),
  value: sha3(Buffer.from(`value-${index}`)),
}));
const KNOWN_ROOT = '236e3dd9fd91fd362e221afdab6fcd89ce570895088cb31d91508890943de165';

/** A leaf whose key has the given first and last byte, and zeros between them. */
function plainLeaf(first: number, last: number, value: number): Leaf {
  const key = Buffer.alloc(32);
  key[0] = first;
  key[31] = last;
  return { key, value: Buffer.alloc(32, value) };
}

describe('known answers', () => {
  it.each([
    ['SparseMerkleLeafNode', '9df5ce426e6c3cc7a648886c12b661d7d87cba44ce9b7c3b8579bac5b8e8519b'],
    ['SparseMerkleInternal', '6738db124643f427d7b7d92c0cc11ac9ef1caaaaec2ac77145646e1d293e6b38'],
    ['StateValue', 'f23de2fd4cb9705bff983c28e48638d29707ad5e0fc73d5db94b50dfd36dbcfa'],
  ])('seed %s', (name, seed) => {
    expect(domainSeed(name).toString('hex')).toBe(seed);
  });

  it('hashes of values', () => {
    const hashOf = (bytes: string, isPaid = false) =>
      stateValueHash({
        bytes: hex(bytes),
        metadata: isPaid ? { kind: 'v0', deposit: 100n, creationTimeUsecs: 7n } : undefined,
      }).toString('hex');
    expect(hashOf('aabb')).toBe('ada3db9120263a5124631116bb839a0dd64f613200543cfab8e22819a63b9934');
    expect(hashOf('aabb', true)).toBe(
      'd389419d300b08de7c31299705cf94ffaefdf3ba95d8ebf37be333f8f80fc0ea',
    );
    expect(hashOf('')).toBe('f9bdbd32474db8b9c74465e2917a1e0b0aafaad6ce74d5f6bbc6dc0b954b45fc');
  });

  it.each([
    [[0], '511d52480125041d1bc47bd9e2b9e442ef923192df8c17db6b6b564297205b90'],
    [[0, 1], '72fab37abb4b59ffa4641bfba7173582cf25131cea599a0da87a107119bdfa67'],
    [[0, 1, 2], '648cf8e0b63e1a76afde6e36b12f2c5e4c6d26ae7cd6e6a4bcbd20192d65f9ba'],
    [[0, 1, 2, 3, 4], KNOWN_ROOT],
  ])('leaves %j', (numbers, root) => {
    expect(rootOf(ascending(numbers.map((number) => KNOWN[number]!))).toString('hex')).toBe(root);
  });

  it.each([
    [
      [plainLeaf(0, 0, 0x11), plainLeaf(0, 1, 0x22)],
      '9093e977b48319cde7738fc512f47825f4a0d2f78bb33b38b1ac04d96e5ca132',
    ],
    [
      [plainLeaf(0, 0, 0x11), plainLeaf(0, 1, 0x22), plainLeaf(0x80, 0, 0x33)],
      'efff04608b8eee0e3ef12ddb3eb905831e597dad8263954da80432818df35f89',
    ],
    [
      [plainLeaf(0, 0, 0x11), plainLeaf(0x80, 0, 0x22)],
      '97a581d0585b4e00763fc752a9a9e9012286235588a4d31be18a8f5244e1596a',
    ],
    [
      [plainLeaf(0x10, 0, 0x11), plainLeaf(0x18, 0, 0x22)],
      'b4dc2353236451ae2092f76961cd0443839956eaa93435d4d34a4354d682b636',
    ],
  ])('keys that share bits (%#)', (leaves, root) => {
    expect(rootOf(leaves).toString('hex')).toBe(root);
  });
});

describe('StateRootBuilder', () => {
  const random = new Random(testSeed());
  const randomLeaves = (count: number): Leaf[] =>
    Array.from({ length: count }, () => {
      // Half of the keys share a long prefix with others.
      const key = random.bytes(32);
      if (random.below(2) === 0) key.fill(random.below(2), 0, random.below(32));
      return { key, value: random.bytes(32) };
    });
  const distinct = (leaves: readonly Leaf[]) => [
    ...new Map(leaves.map((one) => [one.key.toString('hex'), one])).values(),
  ];

  it('agrees with the definition, also when it is saved and restored after every leaf', () => {
    for (let run = 0; run < 15; run += 1) {
      const leaves = ascending(distinct(randomLeaves(random.below(40))));
      let saved = new StateRootBuilder();
      for (const [index, { key, value }] of leaves.entries()) {
        saved.add(key, value);
        saved = StateRootBuilder.restore(saved.save());
        const root = plainSparseRoot(leaves.slice(0, index + 1));
        expect(saved.rootHash()).toEqual(root);
        expect(saved.count).toBe(index + 1);
      }
      expect(rootOf(leaves)).toEqual(plainSparseRoot(leaves));
    }
  });

  it('refuses leaves out of order, twice, and of another size', () => {
    const builder = builderOf([plainLeaf(1, 0, 1)]);
    const addOf = (first: number, last: number) => () =>
      builder.add(plainLeaf(first, last, 1).key, leaf(1));
    expect(addOf(1, 0)).toThrow(LeafOrderError);
    expect(addOf(0, 255)).toThrow(LeafOrderError);
    expect(addOf(1, 1)).not.toThrow();
    expect(() => builder.add(leaf(1).subarray(1), leaf(1))).toThrow(RangeError);
    expect(() => builder.add(leaf(1), Buffer.alloc(33))).toThrow(RangeError);
  });

  it('takes nothing else for a saved state', () => {
    const saved = builderOf(ascending(KNOWN)).save();
    expect(() => StateRootBuilder.restore(saved.subarray(1))).toThrow();
    expect(() => StateRootBuilder.restore(Buffer.concat([saved, Buffer.of(0)]))).toThrow();
  });
});

/** The right siblings of the last leaf, lowest first, by the definition. */
function plainRightSiblings(leaves: readonly Leaf[], last: Leaf, depth = 0): Buffer[] {
  if (leaves.length <= 1) return [];
  const isRight = ({ key }: Leaf) => (key[depth >> 3]! & (0x80 >> (depth & 7))) !== 0;
  const own = leaves.filter((one) => isRight(one) === isRight(last));
  const siblings = plainRightSiblings(own, last, depth + 1);
  const others = leaves.filter((one) => isRight(one) !== isRight(last));
  return isRight(last) ? siblings : [...siblings, plainSparseRoot(others, depth + 1)];
}

describe('range proofs', () => {
  const leaves = ascending(KNOWN);
  const root = hex(KNOWN_ROOT);

  it('known answers', () => {
    const P = SPARSE_MERKLE_PLACEHOLDER;
    const hashOf = ({ key, value }: Leaf) => domainHash('SparseMerkleLeafNode', key, value);
    const [, one, two, , four] = KNOWN.map(hashOf) as [Buffer, Buffer, Buffer, Buffer, Buffer];
    const first = hex('9575f202cd9ccb0d8077f903c355c79d42809936775bd4769f9b22262e4b2eb4');
    const proofs = [[first, P, one], [four, P, two, P, one], [P, two, P, one], [P, one], []];
    const builder = new StateRootBuilder();
    for (const [index, { key, value }] of leaves.entries()) {
      builder.add(key, value);
      const proof = proofs[index]!;
      expect(builder.beginsTree(root, proof)).toBe(true);
      const bytes = encodeBcs((writer) => writer.vector(proof, writeHash));
      expect(decodeBcs(bytes, readRangeProof)).toEqual(proof);
      expect(builder.beginsTree(root, [...proof, P])).toBe(false);
      expect(builder.beginsTree(root, proof.slice(1))).toBe(proof.length === 0);
      expect(builder.beginsTree(leaf(1), proof)).toBe(false);
    }
  });

  it('placeholders below the last leaf: 256 and 255 siblings', () => {
    const two = [plainLeaf(0, 0, 0x11), plainLeaf(0, 1, 0x22)] as const;
    const proof = [
      domainHash('SparseMerkleLeafNode', two[1].key, two[1].value),
      ...Array.from({ length: 255 }, () => SPARSE_MERKLE_PLACEHOLDER),
    ];
    const builder = builderOf([two[0]]);
    expect(builder.beginsTree(rootOf(two), proof)).toBe(true);
    builder.add(two[1].key, two[1].value);
    expect(builder.beginsTree(rootOf(two), proof.slice(1))).toBe(true);
    expect(builder.beginsTree(rootOf(two), [...proof, proof[1]!])).toBe(false);
  });

  it('hold for every beginning of random trees, and for no other leaves', () => {
    const random = new Random(testSeed());
    for (let run = 0; run < 20; run += 1) {
      const all = ascending(
        Array.from({ length: 2 + random.below(30) }, () => ({
          key: random.bytes(32),
          value: random.bytes(32),
        })),
      );
      const whole = rootOf(all);
      const left = random.below(all.length);
      const builder = new StateRootBuilder();
      const gapped = new StateRootBuilder();
      for (const [index, one] of all.entries()) {
        builder.add(one.key, one.value);
        if (index !== left) gapped.add(one.key, one.value);
        const proof = plainRightSiblings(all, one);
        expect(builder.beginsTree(whole, proof)).toBe(true);
        if (index > left) expect(gapped.beginsTree(whole, proof)).toBe(false);
      }
    }
  });

  it('have at most 256 siblings', () => {
    const proofOf = (count: number) =>
      encodeBcs((writer) =>
        writer.vector(
          Array.from({ length: count }, () => leaf(1)),
          writeHash,
        ),
      );
    expect(decodeBcs(proofOf(255), readRangeProof)).toHaveLength(255);
    expect(decodeBcs(proofOf(256), readRangeProof)).toHaveLength(256);
    expect(() => decodeBcs(proofOf(257), readRangeProof)).toThrow('257 siblings');
    expect(new StateRootBuilder().beginsTree(leaf(1), [])).toBe(false);
  });
});
