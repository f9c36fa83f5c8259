/**
 * Blocks of sorted runs: a checksum, then entries in key order (docs/data-layout.md, "Sorted runs"). A block fills one
 * page of the database. Every result for a key, even its absence, comes from a block whose checksum was verified.
 */
import { CACHE_BUDGETS } from '../../../cache.ts';
import {
  CHECKSUM_BYTES,
  checkValue,
  copyInto,
  markOf,
  putChecksum,
  StoredValueError,
} from '../stored-value.ts';

const PAGE_BYTES = 4_096;
/** A page has room for a row of this many bytes. */
export const MAX_BLOCK_BYTES = 4_050;
const COUNT_BYTES = 2;
const FIRST_ENTRY = CHECKSUM_BYTES + COUNT_BYTES;
export const ENTRY_HEAD_BYTES = 4;
const OFFSET_BYTES = 2;
const DELETED = 0xffff;
const LOG_MARK = 0x6c6f_6720;
export const BLOCK_MARK = 0x626c_6f63;

/**
 * A key and its value, as stored in blocks, the log and batches: length of the key u16, length of the value u16 or
 * DELETED, key, value. Keys begin with the column's number. An entry is a position in such bytes.
 */
export class Entry {
  readonly bytes: Buffer;
  /** Where it begins. */
  readonly at: number;

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  get keyAt(): number {
    return this.at + ENTRY_HEAD_BYTES;
  }

  get keyEnd(): number {
    return this.keyAt + u16At(this.bytes, this.at);
  }

  get isDeleted(): boolean {
    return u16At(this.bytes, this.at + 2) === DELETED;
  }

  get end(): number {
    const valueBytes = u16At(this.bytes, this.at + 2);
    return this.keyEnd + (valueBytes === DELETED ? 0 : valueBytes);
  }

  get key(): Buffer {
    return this.bytes.subarray(this.keyAt, this.keyEnd);
  }

  /** `undefined` for a key that was deleted. */
  get value(): Buffer | undefined {
    return this.isDeleted ? undefined : this.bytes.subarray(this.keyEnd, this.end);
  }

  /** Below zero: this key comes before the other one. */
  compare(other: Entry): number {
    const { bytes, keyAt, keyEnd } = other;
    return compareBytes(this.bytes, this.keyAt, this.keyEnd, bytes, keyAt, keyEnd);
  }

  /** Below zero: the key comes before the other one. */
  compareKey(key: Uint8Array): number {
    return compareBytes(this.bytes, this.keyAt, this.keyEnd, key, 0, key.length);
  }

  /** The first bits of the key as a number. Keys with different prefixes are in the order of their prefixes. */
  get prefix(): number {
    const at = this.keyAt;
    const { bytes, keyEnd } = this;
    let prefix = 0;
    for (let byte = at; byte < at + PREFIX_BYTES; byte += 1) {
      prefix = (prefix << 8) | (byte < keyEnd ? bytes[byte]! : 0);
    }
    return prefix >>> (8 * PREFIX_BYTES - PREFIX_BITS);
  }
}

/** A prefix fits into a small integer of V8, whatever the column's number is. */
export const PREFIX_BITS = 30;
const PREFIX_BYTES = 4;

function u16At(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8);
}

function u32At(bytes: Uint8Array, at: number): number {
  const high = (bytes[at]! << 24) | (bytes[at + 1]! << 16);
  return (high | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

export function entryOf(key: Uint8Array, value: Uint8Array | undefined): Entry {
  const bytes = Buffer.allocUnsafe(ENTRY_HEAD_BYTES + key.length + (value?.length ?? 0));
  bytes.writeUInt16LE(key.length, 0);
  bytes.writeUInt16LE(value === undefined ? DELETED : value.length, 2);
  bytes.set(key, ENTRY_HEAD_BYTES);
  if (value !== undefined) bytes.set(value, ENTRY_HEAD_BYTES + key.length);
  return new Entry(bytes, 0);
}

/** The version at the end of a key. */
export function versionOf(bytes: Uint8Array, keyEnd = bytes.length): number {
  return u32At(bytes, keyEnd - 8) * 0x1_0000_0000 + u32At(bytes, keyEnd - 4);
}

/** Compares parts of two buffers. Keys differ so early that a call into the runtime would take longer. */
export function compareBytes(
  a: Uint8Array,
  aFrom: number,
  aTo: number,
  b: Uint8Array,
  bFrom: number,
  bTo: number,
): number {
  const length = Math.min(aTo - aFrom, bTo - bFrom);
  for (let at = 0; at < length; at += 1) {
    const difference = a[aFrom + at]! - b[bFrom + at]!;
    if (difference !== 0) return difference;
  }
  return aTo - aFrom - (bTo - bFrom);
}

export class Block {
  readonly bytes: Buffer;
  readonly count: number;
  readonly #offsetsAt: number;

  /** @throws StoredValueError */
  constructor(bytes: Buffer, id: number) {
    checkValue(bytes, markOf(id, BLOCK_MARK));
    this.bytes = bytes;
    this.count = bytes.readUInt16LE(CHECKSUM_BYTES);
    this.#offsetsAt = bytes.length - this.count * OFFSET_BYTES;
    if (this.#offsetsAt < FIRST_ENTRY) throw new StoredValueError('its entries are cut short');
  }

  entryAt(at: number): Entry {
    return new Entry(this.bytes, this.#startOf(at));
  }

  #startOf(at: number): number {
    return u16At(this.bytes, this.#offsetsAt + at * OFFSET_BYTES);
  }

  /** Below zero: the entry's key comes before the other key; zero: it is the same. */
  compareAt(at: number, key: Uint8Array): number {
    const start = this.#startOf(at);
    const from = start + ENTRY_HEAD_BYTES;
    return compareBytes(this.bytes, from, from + u16At(this.bytes, start), key, 0, key.length);
  }

  /** The first entry whose key is at or above a key; `count` if none is. */
  firstAtOrAbove(key: Uint8Array): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compareAt(middle, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Most blocks in each of the cache's two generations. */
const MAX_CACHED_BLOCKS = CACHE_BUDGETS.blocks.bytes / 2 / PAGE_BYTES;

/** Recently used blocks by id. */
export class BlockCache {
  #young = new Map<number, Block>();
  #old = new Map<number, Block>();

  get(id: number): Block | undefined {
    const block = this.#young.get(id);
    if (block !== undefined) return block;
    const old = this.#old.get(id);
    if (old !== undefined) this.add(id, old);
    return old;
  }

  add(id: number, block: Block): void {
    if (this.#young.size >= MAX_CACHED_BLOCKS) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(id, block);
  }
}

export class BlockWriter {
  readonly #bytes = Buffer.alloc(MAX_BLOCK_BYTES);
  readonly #offsets: number[] = [];
  #end = FIRST_ENTRY;

  get count(): number {
    return this.#offsets.length;
  }

  /** Whether there is room for an entry of this many bytes. */
  hasRoomFor(bytes: number): boolean {
    return this.#end + (this.#offsets.length + 1) * OFFSET_BYTES + bytes <= MAX_BLOCK_BYTES;
  }

  add({ bytes, at, end }: Entry): void {
    this.#offsets.push(this.#end);
    copyInto(this.#bytes, this.#end, bytes, at, end);
    this.#end += end - at;
  }

  /** Returns the block and starts an empty one. The block is a view that is valid until the next entry is added. */
  finish(id: number): Buffer {
    const bytes = this.#bytes;
    bytes.writeUInt16LE(this.#offsets.length, CHECKSUM_BYTES);
    for (const offset of this.#offsets) {
      bytes[this.#end] = offset & 0xff;
      bytes[this.#end + 1] = offset >> 8;
      this.#end += OFFSET_BYTES;
    }
    const block = bytes.subarray(0, this.#end);
    putChecksum(block, markOf(id, BLOCK_MARK));
    this.#offsets.length = 0;
    this.#end = FIRST_ENTRY;
    return block;
  }
}

/** Encodes the row that a commit adds to the log. It has any number of entries. */
export function encodeEntries(entries: readonly Entry[], id: number): Buffer {
  let length = CHECKSUM_BYTES;
  for (const { at, end } of entries) length += end - at;
  const row = Buffer.allocUnsafe(length);
  let to = CHECKSUM_BYTES;
  for (const { bytes, at, end } of entries) {
    copyInto(row, to, bytes, at, end);
    to += end - at;
  }
  putChecksum(row, markOf(id, LOG_MARK));
  return row;
}

/** @throws StoredValueError */
export function decodeEntries(bytes: Buffer, id: number): Entry[] {
  checkValue(bytes, markOf(id, LOG_MARK));
  const entries: Entry[] = [];
  for (let at = CHECKSUM_BYTES; at < bytes.length; ) {
    const entry = new Entry(bytes, at);
    entries.push(entry);
    at = entry.end;
  }
  return entries;
}
