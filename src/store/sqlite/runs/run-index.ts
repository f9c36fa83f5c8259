/**
 * The index of a sorted run, which is kept in memory: a fence for each block, a filter of partitions, and the number of
 * rows that the run has of each column.
 *
 * A fence is the first key of a block, up to the first byte that differs from the key before. The filter is a Bloom
 * filter whose bits for one partition are all in one line of 64 bytes. It has no false negatives, and about one false
 * positive in a hundred.
 */
import { COLUMNS, STATE } from '../../columns/columns.ts';
import { FORK_LAYOUT } from '../../columns/fork-columns.ts';
import { CHECKSUM_BYTES, checkValue, markOf, putChecksum } from '../stored-value.ts';
import { BLOCK_MARK, ENTRY_HEAD_BYTES, type Entry, versionOf } from './block.ts';

const NO_KEY = Buffer.alloc(0);
const WORD_BYTES = 4;
const LINE_WORDS = 16;
const LINE_BITS = LINE_WORDS * 32;
const BITS_PER_PARTITION = 10;
const BITS_SET = 6;
const PLACE_BITS = 9;
const MULTIPLIERS = [0x9e37_79b1, 0x85eb_ca6b, 0xc2b2_ae35] as const;

/** Bytes of the column's number and the partition in a key, by the column's number. */
const PARTITION_BYTES = new Uint8Array(256);
for (const { number, partitionBytes } of [...COLUMNS, ...FORK_LAYOUT.columns]) {
  PARTITION_BYTES[number] = 1 + partitionBytes;
}

export function partitionBytesOf(key: Uint8Array, at = 0): number {
  return PARTITION_BYTES[key[at]!]!;
}

interface ColumnCounts {
  puts: number;
  deletes: number;
  bytes: number;
}

export interface RunIndex {
  readonly fenceEnds: Uint32Array;
  readonly fences: Buffer;
  /** Empty in the oldest run, because most reads end there. */
  readonly filter: Uint32Array;
  readonly columns: ReadonlyMap<number, ColumnCounts>;
}

export class RunIndexBuilder {
  readonly #fenceEnds: number[] = [];
  readonly #columns = new Map<number, ColumnCounts>();
  readonly #filter: Uint32Array;
  #fences = Buffer.alloc(1_024);
  #fenceBytes = 0;
  #last: Entry | undefined;
  #lastHash = -1;
  /** The column of the last entry, and its counts. */
  #number = -1;
  #counts: ColumnCounts = { puts: 0, deletes: 0, bytes: 0 };
  entries = 0;
  lowestVersion = Number.POSITIVE_INFINITY;
  highestVersion = -1;

  /** @param expected upper bound of the number of entries, for the filter; 0 for an index without one */
  constructor(expected: number) {
    const lines = Math.max(1, Math.ceil((expected * BITS_PER_PARTITION) / LINE_BITS));
    this.#filter = new Uint32Array(expected === 0 ? 0 : lines * LINE_WORDS);
  }

  get blocks(): number {
    return this.#fenceEnds.length;
  }

  /** @param firstKey of the block that begins */
  addBlock(firstKey: Uint8Array): void {
    const lastKey = this.#last?.key ?? NO_KEY;
    let length = 0;
    while (length < firstKey.length && firstKey[length] === lastKey[length]) length += 1;
    const fence = firstKey.subarray(0, length + 1);
    const end = this.#fenceBytes + fence.length;
    if (end > this.#fences.length) {
      this.#fences = Buffer.concat([this.#fences, Buffer.alloc(this.#fences.length + end)]);
    }
    this.#fences.set(fence, this.#fenceBytes);
    this.#fenceBytes = end;
    this.#fenceEnds.push(end);
  }

  addEntry(entry: Entry): void {
    const { bytes, at, keyAt, keyEnd, end, isDeleted } = entry;
    const number = bytes[keyAt]!;
    this.entries += 1;
    this.#last = entry;
    if (number !== this.#number) {
      this.#number = number;
      this.#counts = this.#columns.get(number) ?? { puts: 0, deletes: 0, bytes: 0 };
      this.#columns.set(number, this.#counts);
    }
    if (isDeleted) this.#counts.deletes += 1;
    else this.#counts.puts += 1;
    this.#counts.bytes += end - at - ENTRY_HEAD_BYTES;
    if (number === STATE.number) {
      const version = versionOf(bytes, keyEnd);
      this.lowestVersion = Math.min(this.lowestVersion, version);
      this.highestVersion = Math.max(this.highestVersion, version);
    }
    if (this.#filter.length === 0) return;
    const hash = partitionHash(bytes, keyAt);
    if (hash !== this.#lastHash) addToFilter(this.#filter, hash);
    this.#lastHash = hash;
  }

  finish(): RunIndex {
    return {
      fenceEnds: Uint32Array.from(this.#fenceEnds),
      fences: Buffer.from(this.#fences.subarray(0, this.#fenceBytes)),
      filter: this.#filter,
      columns: this.#columns,
    };
  }
}

/**
 * Encodes the row of an index: its checksum, then u32 in little-endian. Arrays are copied from memory, so the machine
 * must be little-endian. The order is: the numbers of columns, of bytes of fences and of words of the filter; for each
 * column its number, puts, deletes, and bytes as f64; where each fence ends; the fences, padded to whole words; the
 * filter.
 */
export function encodeIndex({ fences, fenceEnds, filter, columns }: RunIndex, id: number): Buffer {
  const head = Buffer.alloc(CHECKSUM_BYTES + 3 * WORD_BYTES + columns.size * 5 * WORD_BYTES);
  let at = head.writeUInt32LE(columns.size, CHECKSUM_BYTES);
  at = head.writeUInt32LE(fences.length, at);
  at = head.writeUInt32LE(filter.length, at);
  for (const [number, { puts, deletes, bytes }] of columns) {
    at = head.writeUInt32LE(number, at);
    at = head.writeUInt32LE(puts, at);
    at = head.writeUInt32LE(deletes, at);
    at = head.writeDoubleLE(bytes, at);
  }
  const padding = Buffer.alloc(-fences.length & (WORD_BYTES - 1));
  const row = Buffer.concat([head, bytesOf(fenceEnds), fences, padding, bytesOf(filter)]);
  putChecksum(row, markOf(id, BLOCK_MARK));
  return row;
}

/** @throws StoredValueError */
export function decodeIndex(row: Buffer, id: number, blocks: number): RunIndex {
  checkValue(row, markOf(id, BLOCK_MARK));
  let at = CHECKSUM_BYTES;
  const next = (): number => {
    at += WORD_BYTES;
    return row.readUInt32LE(at - WORD_BYTES);
  };
  const [columnCount, fenceBytes, filterWords] = [next(), next(), next()];
  const columns = new Map<number, ColumnCounts>();
  for (let left = columnCount; left > 0; left -= 1) {
    const [number, puts, deletes] = [next(), next(), next()];
    columns.set(number, { puts, deletes, bytes: row.readDoubleLE(at) });
    at += 2 * WORD_BYTES;
  }
  const fenceEnds = wordsOf(row, at, blocks);
  at += blocks * WORD_BYTES;
  const fences = Buffer.from(row.subarray(at, at + fenceBytes));
  at += Math.ceil(fenceBytes / WORD_BYTES) * WORD_BYTES;
  return { fenceEnds, fences, columns, filter: wordsOf(row, at, filterWords) };
}

function bytesOf(words: Uint32Array): Buffer {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength);
}

function wordsOf(bytes: Buffer, at: number, count: number): Uint32Array {
  const words = new Uint32Array(count);
  bytesOf(words).set(bytes.subarray(at, at + count * WORD_BYTES));
  return words;
}

function addToFilter(filter: Uint32Array, hash: number): void {
  const line = lineOf(filter, hash);
  let bits = secondHash(hash);
  for (let count = 0; count < BITS_SET; count += 1) {
    const bit = bits >>> (32 - PLACE_BITS);
    filter[line + (bit >>> 5)]! |= 1 << (bit & 31);
    bits = Math.imul(bits, MULTIPLIERS[1]) + MULTIPLIERS[2];
  }
}

export function mayContain(filter: Uint32Array, hash: number): boolean {
  const line = lineOf(filter, hash);
  let bits = secondHash(hash);
  for (let count = 0; count < BITS_SET; count += 1) {
    const bit = bits >>> (32 - PLACE_BITS);
    if ((filter[line + (bit >>> 5)]! & (1 << (bit & 31))) === 0) return false;
    bits = Math.imul(bits, MULTIPLIERS[1]) + MULTIPLIERS[2];
  }
  return true;
}

export function partitionHash(bytes: Uint8Array, keyAt = 0): number {
  const end = keyAt + partitionBytesOf(bytes, keyAt);
  let hash = 0;
  let at = keyAt;
  for (; at + 4 <= end; at += 4) {
    const low = bytes[at]! | (bytes[at + 1]! << 8);
    const word = low | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    hash = Math.imul(hash ^ word, MULTIPLIERS[0]);
    hash ^= hash >>> 15;
  }
  for (; at < end; at += 1) hash = Math.imul(hash ^ bytes[at]!, MULTIPLIERS[0]);
  return (hash ^ (hash >>> 15)) >>> 0;
}

function lineOf(filter: Uint32Array, hash: number): number {
  return Math.floor((hash / 0x1_0000_0000) * (filter.length / LINE_WORDS)) * LINE_WORDS;
}

function secondHash(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 13), MULTIPLIERS[2]);
  return mixed ^ (mixed >>> 16);
}
