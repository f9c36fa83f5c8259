/** SLH-DSA-SHA2-128s of FIPS 205 without a context, built on SHA2-256 alone (docs/spec/vm.md §9). */
import { hash } from 'node:crypto';

/** Bytes of a hash. */
const N = 16;
const LAYERS = 7;
const HEIGHT = 9;
/** Trees of the few-time signature, and the height of each. */
const FORS_TREES = 14;
const FORS_HEIGHT = 12;
/** Chains of a one-time signature: for the digits of the message, 4 bits each, and their checksum. */
const DIGIT_BITS = 4;
const MESSAGE_CHAINS = 32;
const CHAINS = 35;
const LAST_STEP = 15;
/** Parts of the digest: the few-time signature, the tree, the leaf. */
const FORS_BYTES = 21;
const TREE_BYTES = 7;
const DIGEST_BYTES = 30;
const WOTS_HASH = 0;
const WOTS_KEY = 1;
const TREE = 2;
const FORS_TREE = 3;
const FORS_ROOTS = 4;

const sha256 = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer');

/** The address of a hash, which is part of its input. */
interface Place {
  readonly layer: number;
  readonly tree: bigint;
  readonly leaf: number;
}

class Hashes {
  /** The key's seed, padded to a block. */
  readonly #seed = Buffer.alloc(64);

  constructor(seed: Uint8Array) {
    this.#seed.set(seed);
  }

  of(
    { layer, tree, leaf }: Place,
    words: readonly [type: number, second: number, third: number],
    parts: readonly Uint8Array[],
  ): Buffer {
    const [type, second, third] = words;
    const address = Buffer.alloc(22);
    address[0] = layer;
    address.writeBigUInt64BE(tree, 1);
    address[9] = type;
    address.writeUInt32BE(type === TREE ? 0 : leaf, 10);
    address.writeUInt32BE(second, 14);
    address.writeUInt32BE(third, 18);
    return sha256(Buffer.concat([this.#seed, address, ...parts])).subarray(0, N);
  }

  /**
   * The root of a tree, from a leaf and the neighbours on the way up.
   * @param index of the leaf within its level
   */
  root(place: Place, type: number, index: number, leaf: Buffer, path: readonly Buffer[]): Buffer {
    let node = leaf;
    for (const [level, neighbour] of path.entries()) {
      const isRight = ((index >> level) & 1) === 1;
      const parts = isRight ? [neighbour, node] : [node, neighbour];
      node = this.of(place, [type, level + 1, index >> (level + 1)], parts);
    }
    return node;
  }
}

/** Verifies a signature of 7,856 bytes over a message with a key of 32 bytes. */
export function isSlhDsaSignature(
  signature: Uint8Array,
  key: Uint8Array,
  message: Uint8Array,
): boolean {
  const parts = piecesOf(signature);
  const take = (count: number): Buffer[] => parts.splice(0, count);
  const [seed, root] = piecesOf(key);
  const [random] = take(1);
  const hashes = new Hashes(seed!);
  const digest = digestOf(random!, seed!, root!, Buffer.concat([Buffer.of(0, 0), message]));
  const treeBits = BigInt((LAYERS - 1) * HEIGHT);
  let tree = BigInt.asUintN(Number(treeBits), numberOf(digest, FORS_BYTES, TREE_BYTES));
  let leaf = Number(numberOf(digest, FORS_BYTES + TREE_BYTES, 2)) % (1 << HEIGHT);
  let node = forsKey(
    hashes,
    { layer: 0, tree, leaf },
    digest,
    take(FORS_TREES * (FORS_HEIGHT + 1)),
  );
  for (let layer = 0; layer < LAYERS; layer += 1) {
    const place = { layer, tree, leaf };
    const oneTimePublicKey = oneTimeKey(hashes, place, node, take(CHAINS));
    node = hashes.root(place, TREE, leaf, oneTimePublicKey, take(HEIGHT));
    leaf = Number(BigInt.asUintN(HEIGHT, tree));
    tree >>= BigInt(HEIGHT);
  }
  return node.equals(root!);
}

function piecesOf(bytes: Uint8Array): Buffer[] {
  return Array.from({ length: bytes.length / N }, (_, index) =>
    Buffer.from(bytes.subarray(index * N, (index + 1) * N)),
  );
}

function digestOf(random: Buffer, seed: Buffer, root: Buffer, message: Buffer): Buffer {
  const inner = sha256(Buffer.concat([random, seed, root, message]));
  const counter = Buffer.alloc(4);
  return sha256(Buffer.concat([random, seed, inner, counter])).subarray(0, DIGEST_BYTES);
}

function numberOf(bytes: Buffer, at: number, length: number): bigint {
  return BigInt(`0x${bytes.toString('hex', at, at + length)}`);
}

/** The digits of some bytes, most significant first. */
function digitsOf(bytes: Buffer, bits: number, count: number): number[] {
  const all = numberOf(bytes, 0, bytes.length) >> BigInt(bytes.length * 8 - bits * count);
  return Array.from({ length: count }, (_, index) =>
    Number(BigInt.asUintN(bits, all >> BigInt(bits * (count - 1 - index)))),
  );
}

/** The key of the few-time signature of a digest. */
function forsKey(hashes: Hashes, place: Place, digest: Buffer, parts: readonly Buffer[]): Buffer {
  const digits = digitsOf(digest.subarray(0, FORS_BYTES), FORS_HEIGHT, FORS_TREES);
  const roots = digits.map((digit, tree) => {
    const start = tree * (FORS_HEIGHT + 1);
    const index = (tree << FORS_HEIGHT) + digit;
    const leaf = hashes.of(place, [FORS_TREE, 0, index], [parts[start]!]);
    const path = parts.slice(start + 1, start + 1 + FORS_HEIGHT);
    return hashes.root(place, FORS_TREE, index, leaf, path);
  });
  return hashes.of(place, [FORS_ROOTS, 0, 0], roots);
}

/** The key of the one-time signature of a node below, found by completing its chains. */
function oneTimeKey(hashes: Hashes, place: Place, node: Buffer, parts: readonly Buffer[]): Buffer {
  const digits = digitsOf(node, DIGIT_BITS, MESSAGE_CHAINS);
  const checksum = Buffer.alloc(2);
  checksum.writeUInt16BE(digits.reduce((sum, digit) => sum + LAST_STEP - digit, 0) << DIGIT_BITS);
  const all = [...digits, ...digitsOf(checksum, DIGIT_BITS, CHAINS - MESSAGE_CHAINS)];
  const ends = all.map((digit, chain) => {
    let end = parts[chain]!;
    for (let step = digit; step < LAST_STEP; step += 1) {
      end = hashes.of(place, [WOTS_HASH, chain, step], [end]);
    }
    return end;
  });
  return hashes.of(place, [WOTS_KEY, 0, 0], ends);
}
