/**
 * SHA3-256 of short inputs in WebAssembly, assembled here on first use (FIPS 202). For short inputs, two
 * thirds of a call to `node:crypto` is overhead: it looks up the algorithm and allocates a context and the result
 * outside the heap. Measured on 96 bytes, an inner node of an accumulator: 0.6 µs here, 1.9 µs there. Above about
 * 1,700 bytes `node:crypto` is faster.
 */

import { byteTools } from '../bcs/bytes.ts';

/** Size of an input block in bytes. */
const RATE_BYTES = 136;
const DIGEST_BYTES = 32;
/** First and last byte of SHA3 padding; combined when they are the same byte. */
const PADDING_FIRST = 0x06;
const PADDING_LAST = 0x80;

/** Lanes of 64 bits. */
const LANES = 25;
const ROUNDS = 24;

/** All places of the state in their order: x within y. */
const PLACES = Array.from({ length: LANES }, (_, index) => ({
  x: index % 5,
  y: (index / 5) | 0,
}));
const at = (x: number, y: number): number => (x % 5) + 5 * y;

/** Bits by which step ρ rotates each lane. */
function rotations(): number[] {
  const bits = new Array<number>(LANES).fill(0);
  let x = 1;
  let y = 0;
  for (let step = 0; step < ROUNDS; step += 1) {
    bits[at(x, y)] = (((step + 1) * (step + 2)) / 2) % 64;
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  return bits;
}

/** The constants of step ι, from the shift register that defines them. */
function roundConstants(): bigint[] {
  let register = 1;
  return Array.from({ length: ROUNDS }, () => {
    let constant = 0n;
    for (let step = 0; step < 7; step += 1) {
      if ((register & 1) === 1) constant |= 1n << BigInt((1 << step) - 1);
      register = (register << 1) ^ ((register >> 7) * 0x171);
    }
    return constant;
  });
}

const MAX_BLOCKS = 8;
/** Longest input, in bytes: a block is never full without its padding. */
export const MAX_KECCAK_INPUT_BYTES = MAX_BLOCKS * RATE_BYTES - 1;
const LANE_BYTES = 8;

/** Offsets in the module's memory: round constants, digest, input. */
const ROUNDS_END = ROUNDS * LANE_BYTES;
const DIGEST_AT = ROUNDS_END;
const INPUT_AT = 256;

/** Instructions and types of WebAssembly (core specification 1.0, §5.3 and §5.4). */
const I32 = 0x7f;
const I64 = 0x7e;
const EMPTY_BLOCK = 0x40;
const LOOP = 0x03;
const END = 0x0b;
const BR_IF = 0x0d;
const LOCAL_GET = 0x20;
const LOCAL_SET = 0x21;
const LOCAL_TEE = 0x22;
const I64_LOAD = 0x29;
const I64_STORE = 0x37;
const I32_CONST = 0x41;
const I64_CONST = 0x42;
const I32_NE = 0x47;
const I32_ADD = 0x6a;
const I32_SUB = 0x6b;
const I64_AND = 0x83;
const I64_XOR = 0x85;
const I64_ROTL = 0x89;
const ALIGN_8 = 3;

/** Locals: the parameter and two pointers, then lanes. */
const BLOCKS = 0;
const INPUT = 1;
const ROUND = 2;
const lane = (index: number): number => 3 + index;
const parity = (x: number): number => 28 + (x % 5);
const mixed = (x: number): number => 33 + x;
const moved = (index: number): number => 38 + index;
const LANE_LOCALS = 60;

function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}

function signed(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest < -0x40 || rest > 0x3f; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest & 0x7f];
}

const get = (local: number): number[] => [LOCAL_GET, ...unsigned(local)];
const set = (local: number): number[] => [LOCAL_SET, ...unsigned(local)];
const i32 = (value: number): number[] => [I32_CONST, ...signed(value)];
const i64 = (value: number): number[] => [I64_CONST, ...signed(value)];
const load = (offset: number): number[] => [I64_LOAD, ALIGN_8, ...unsigned(offset)];
const vector = (items: readonly number[][]): number[] => [
  ...unsigned(items.length),
  ...items.flat(),
];
const section = (id: number, content: number[]): number[] => [
  id,
  ...unsigned(content.length),
  ...content,
];

function round(): number[] {
  const bits = rotations();
  const code: number[] = [];
  for (let x = 0; x < 5; x += 1) {
    code.push(...get(lane(x)));
    for (let y = 1; y < 5; y += 1) code.push(...get(lane(at(x, y))), I64_XOR);
    code.push(...set(parity(x)));
  }
  for (let x = 0; x < 5; x += 1) {
    code.push(...get(parity(x + 4)), ...get(parity(x + 1)), ...i64(1), I64_ROTL, I64_XOR);
    code.push(...set(mixed(x)));
  }
  for (const { x, y } of PLACES) {
    code.push(...get(lane(at(x, y))), ...get(mixed(x)), I64_XOR, ...i64(bits[at(x, y)]!), I64_ROTL);
    code.push(...set(moved(at(y, (2 * x + 3 * y) % 5))));
  }
  for (const { x, y } of PLACES) {
    code.push(...get(moved(at(x, y))), ...get(moved(at(x + 1, y))), ...i64(-1), I64_XOR);
    code.push(...get(moved(at(x + 2, y))), I64_AND, I64_XOR, ...set(lane(at(x, y))));
  }
  return [...code, ...get(ROUND), ...load(0), ...get(lane(0)), I64_XOR, ...set(lane(0))];
}

/** The function body: hashes a number of blocks from an empty state and stores the digest. */
function hashBlocks(): number[] {
  const code = [...i32(INPUT_AT), ...set(INPUT), LOOP, EMPTY_BLOCK];
  for (let index = 0; index < RATE_BYTES / LANE_BYTES; index += 1) {
    const word = [...get(INPUT), ...load(LANE_BYTES * index)];
    code.push(...word, ...get(lane(index)), I64_XOR, ...set(lane(index)));
  }
  code.push(...i32(0), ...set(ROUND), LOOP, EMPTY_BLOCK, ...round());
  code.push(...get(ROUND), ...i32(LANE_BYTES), I32_ADD, LOCAL_TEE, ROUND);
  code.push(...i32(ROUNDS_END), I32_NE, BR_IF, 0, END);
  code.push(...get(INPUT), ...i32(RATE_BYTES), I32_ADD, ...set(INPUT));
  code.push(...get(BLOCKS), ...i32(1), I32_SUB, LOCAL_TEE, BLOCKS, BR_IF, 0, END);
  for (let index = 0; index < DIGEST_BYTES / LANE_BYTES; index += 1) {
    code.push(...i32(DIGEST_AT + LANE_BYTES * index), ...get(lane(index)), I64_STORE, ALIGN_8, 0);
  }
  return [
    ...vector([
      [2, I32],
      [LANE_LOCALS, I64],
    ]),
    ...code,
    END,
  ];
}

/** The module, which exports one function of a number and one page of memory. */
function moduleBytes(): Uint8Array<ArrayBuffer> {
  const body = hashBlocks();
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, vector([[0x60, ...vector([[I32]]), ...vector([])]])),
    ...section(3, vector([[0]])),
    ...section(5, vector([[0, 1]])),
    ...section(
      7,
      vector([
        [1, 0x6d, 2, 0],
        [1, 0x68, 0, 0],
      ]),
    ),
    ...section(10, vector([[...unsigned(body.length), ...body]])),
  ]);
}

/** The part of the WebAssembly API that is used here: its types come only with the DOM library. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

interface KeccakModule {
  readonly m: { readonly buffer: ArrayBuffer };
  readonly h: (blocks: number) => void;
}

interface Hasher {
  readonly bytes: Uint8Array;
  readonly digest: Uint8Array;
  readonly hashMemory: (blocks: number) => void;
}

/** Created lazily, because a page whose content security policy forbids WebAssembly loads this file too. */
let hasher: Hasher | undefined;

function makeHasher(): Hasher {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(moduleBytes()));
  const { m: memory, h: hashMemory } = instance.exports as unknown as KeccakModule;
  const constants = new DataView(memory.buffer);
  for (const [index, constant] of roundConstants().entries()) {
    constants.setBigUint64(LANE_BYTES * index, constant, true);
  }
  const bytes = new Uint8Array(memory.buffer);
  const digest = bytes.subarray(DIGEST_AT, DIGEST_AT + DIGEST_BYTES);
  return { bytes, digest, hashMemory };
}

/**
 * SHA3-256 of parts that follow one another and have `length` bytes together, at most
 * `MAX_KECCAK_INPUT_BYTES`; in a new buffer of 32 bytes.
 * @throws RangeError for more, and for parts of another length
 */
export function keccakSha3(parts: readonly Uint8Array[], length: number): Buffer {
  if (length > MAX_KECCAK_INPUT_BYTES) throw new RangeError(`${length} bytes are too many`);
  hasher ??= makeHasher();
  const { bytes, digest, hashMemory } = hasher;
  let end = INPUT_AT;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.length;
  }
  if (end - INPUT_AT !== length) throw new RangeError(`the parts are not ${length} bytes`);
  const blocks = ((length / RATE_BYTES) | 0) + 1;
  const paddedEnd = INPUT_AT + blocks * RATE_BYTES;
  bytes.fill(0, end, paddedEnd);
  bytes[end] = PADDING_FIRST;
  bytes[paddedEnd - 1]! |= PADDING_LAST;
  hashMemory(blocks);
  const result = byteTools.allocate(DIGEST_BYTES);
  result.set(digest);
  return result;
}
