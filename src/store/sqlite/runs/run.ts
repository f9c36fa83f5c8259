/**
 * One sorted run: blocks of entries in the order of their keys, which never change. Its index, which names the first
 * key of each block as far as it differs from the key before, and its filter are in memory; blocks are read when
 * needed.
 */
import {
  CHECKSUM_BYTES,
  checkValue,
  markOf,
  putChecksum,
  StoredValueError,
} from '../stored-value.ts';
import { BLOCK_MARK, Block, compareBytes } from './block.ts';
import type { BlockCache } from './block-cache.ts';
import { MAX_RUN_BLOCKS, type RunFacts } from './manifest.ts';
import { mayHave } from './run-filter.ts';

/** Bytes of one row of an index; the last of a run has the rest. */
const PART_BYTES = 256 * 1024;
const WORD_BYTES = 4;
/** Bytes of a key that are compared as one number. */
const PREFIX_BYTES = 6;

/** Where blocks and indexes are, by id. */
export interface BlockRows {
  readBlock(id: number): Buffer | undefined;
}

/** What a run has in memory. */
export interface RunIndex {
  /** Where the first key of each block ends in `fences`. */
  readonly fenceEnds: Uint32Array;
  readonly fences: Buffer;
  /** Empty in the oldest run, which most reads end with. */
  readonly filter: Uint32Array;
  /** Rows that were put, rows that were deleted, and bytes of keys and values, by column number. */
  readonly columns: ReadonlyMap<number, ColumnCounts>;
}

interface ColumnCounts {
  readonly puts: number;
  readonly deletes: number;
  readonly bytes: number;
}

/** A run as readers use it. */
export class Run {
  readonly facts: RunFacts;
  readonly #rows: BlockRows;
  readonly #cache: BlockCache | undefined;
  #index: RunIndex | undefined;
  #prefixes: Float64Array | undefined;

  constructor(facts: RunFacts, rows: BlockRows, index?: RunIndex, cache?: BlockCache) {
    this.facts = facts;
    this.#rows = rows;
    this.#index = index;
    this.#cache = cache;
  }

  /** @throws StoredValueError when both the stored index and a block are damaged */
  get index(): RunIndex {
    this.#index ??= this.#readIndex();
    return this.#index;
  }

  /** @throws StoredValueError when the stored index is damaged */
  checkIndex(): void {
    readIndex(this.facts, this.#rows);
  }

  #readIndex(): RunIndex {
    try {
      return readIndex(this.facts, this.#rows);
    } catch (error) {
      if (!(error instanceof StoredValueError)) throw error;
      return this.#indexOfBlocks();
    }
  }

  /** What the blocks say: an index without a filter and counts. */
  #indexOfBlocks(): RunIndex {
    const fences: Buffer[] = [];
    // Nothing is looked for in a block without entries: the next one begins at the same key.
    let next: Buffer = Buffer.of(0xff);
    for (let at = this.facts.blocks - 1; at >= 0; at -= 1) {
      const block = this.block(at);
      if (block.count > 0) next = Buffer.from(block.keyAt(0));
      fences.unshift(next);
    }
    let end = 0;
    const fenceEnds = Uint32Array.from(fences, ({ length }) => {
      end += length;
      return end;
    });
    const filter = new Uint32Array(0);
    return { fences: Buffer.concat(fences), fenceEnds, filter, columns: new Map() };
  }

  mayHavePartition(hash: number): boolean {
    const { filter } = this.index;
    return filter.length === 0 || mayHave(filter, hash);
  }

  /** The number of the block that has a key, or would have it; -1 for a key before the first. */
  blockOf(key: Uint8Array): number {
    const { fences, fenceEnds } = this.index;
    const prefixes = this.#prefixes ?? this.#makePrefixes();
    const prefix = prefixOf(key, 0, key.length);
    let low = 0;
    let high = prefixes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const start = middle === 0 ? 0 : fenceEnds[middle - 1]!;
      const isAbove =
        prefixes[middle] === prefix
          ? compareBytes(fences, start, fenceEnds[middle]!, key, 0, key.length) > 0
          : prefixes[middle]! > prefix;
      if (isAbove) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }

  /** @throws StoredValueError */
  block(at: number): Block {
    const id = this.idOf(at);
    const cached = this.#cache?.get(id);
    if (cached !== undefined) return cached;
    const bytes = this.#rows.readBlock(id);
    if (bytes === undefined) throw new StoredValueError('its block is missing');
    const block = new Block(bytes, id);
    this.#cache?.add(id, block);
    return block;
  }

  idOf(block: number): number {
    return this.facts.number * MAX_RUN_BLOCKS + block;
  }

  /** What no key of a block is below, and what all are below; `undefined` at the end of the run. */
  fencesOf(block: number): readonly [from: Buffer, to: Buffer | undefined] {
    const { fences, fenceEnds } = this.index;
    const fenceAt = (at: number) =>
      fences.subarray(at === 0 ? 0 : fenceEnds[at - 1]!, fenceEnds[at]!);
    return [fenceAt(block), block + 1 < fenceEnds.length ? fenceAt(block + 1) : undefined];
  }

  #makePrefixes(): Float64Array {
    const { fences, fenceEnds } = this.index;
    let start = 0;
    this.#prefixes = Float64Array.from(fenceEnds, (end) => {
      const prefix = prefixOf(fences, start, end);
      start = end;
      return prefix;
    });
    return this.#prefixes;
  }
}

/** The first bytes of a key as a number, so that most comparisons compare numbers. */
export function prefixOf(bytes: Uint8Array, start: number, end: number): number {
  let prefix = 0;
  for (let at = start; at < start + PREFIX_BYTES; at += 1) {
    prefix = prefix * 256 + (at < end ? bytes[at]! : 0);
  }
  return prefix;
}

/** Splits an index into the rows that follow the blocks of its run. */
export function* indexRows(
  number: number,
  blocks: number,
  bytes: Buffer,
): Generator<readonly [id: number, row: Buffer]> {
  for (let at = 0, part = 0; at < bytes.length; at += PART_BYTES, part += 1) {
    const id = number * MAX_RUN_BLOCKS + blocks + part;
    const row = Buffer.concat([Buffer.alloc(CHECKSUM_BYTES), bytes.subarray(at, at + PART_BYTES)]);
    putChecksum(row, markOf(id, BLOCK_MARK));
    yield [id, row];
  }
}

/**
 * All numbers are u32, little-endian as on every machine that Node supports: of columns, bytes of fences, words of the
 * filter; for each column its number, puts, deletes, and bytes as f64; where each fence ends; the fences, filled up to
 * whole words; the filter.
 */
export function encodeIndex({ fences, fenceEnds, filter, columns }: RunIndex): Buffer {
  const head = Buffer.alloc(3 * WORD_BYTES + columns.size * 5 * WORD_BYTES);
  head.writeUInt32LE(columns.size, 0);
  head.writeUInt32LE(fences.length, WORD_BYTES);
  head.writeUInt32LE(filter.length, 2 * WORD_BYTES);
  let at = 3 * WORD_BYTES;
  for (const [number, { puts, deletes, bytes }] of columns) {
    at = head.writeUInt32LE(number, at);
    at = head.writeUInt32LE(puts, at);
    at = head.writeUInt32LE(deletes, at);
    at = head.writeDoubleLE(bytes, at);
  }
  const filled = Buffer.alloc(-fences.length & (WORD_BYTES - 1));
  return Buffer.concat([head, bytesOf(fenceEnds), fences, filled, bytesOf(filter)]);
}

function decodeIndex(bytes: Buffer, blocks: number): RunIndex {
  const columnCount = bytes.readUInt32LE(0);
  const fenceBytes = bytes.readUInt32LE(WORD_BYTES);
  const filterWords = bytes.readUInt32LE(2 * WORD_BYTES);
  const columns = new Map<number, ColumnCounts>();
  let at = 3 * WORD_BYTES;
  for (let left = columnCount; left > 0; left -= 1) {
    columns.set(bytes.readUInt32LE(at), {
      puts: bytes.readUInt32LE(at + WORD_BYTES),
      deletes: bytes.readUInt32LE(at + 2 * WORD_BYTES),
      bytes: bytes.readDoubleLE(at + 3 * WORD_BYTES),
    });
    at += 5 * WORD_BYTES;
  }
  const fenceEnds = wordsOf(bytes, at, blocks);
  at += blocks * WORD_BYTES;
  const fences = Buffer.from(bytes.subarray(at, at + fenceBytes));
  at += Math.ceil(fenceBytes / WORD_BYTES) * WORD_BYTES;
  return { fenceEnds, fences, columns, filter: wordsOf(bytes, at, filterWords) };
}

/** @throws StoredValueError */
function readIndex({ number, blocks, indexBytes }: RunFacts, rows: BlockRows): RunIndex {
  const parts: Buffer[] = [];
  for (let part = 0; part * PART_BYTES < indexBytes; part += 1) {
    const id = number * MAX_RUN_BLOCKS + blocks + part;
    const row = rows.readBlock(id);
    if (row === undefined) throw new StoredValueError('a part of the index is missing');
    checkValue(row, markOf(id, BLOCK_MARK));
    parts.push(row.subarray(CHECKSUM_BYTES));
  }
  return decodeIndex(Buffer.concat(parts), blocks);
}

function bytesOf(words: Uint32Array): Buffer {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength);
}

function wordsOf(bytes: Buffer, at: number, count: number): Uint32Array {
  const words = new Uint32Array(count);
  bytesOf(words).set(bytes.subarray(at, at + count * WORD_BYTES));
  return words;
}
