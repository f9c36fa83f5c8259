/**
 * Blocks of sorted runs: entries in the order of their keys, behind a checksum (docs/data-layout.md, "Sorted runs"). A
 * block fills one page of the database. Every answer about a key, also its absence, comes from a block whose checksum
 * was compared.
 */
import { CACHE_BUDGETS } from '../../../cache.ts';
import {
  CHECKSUM_BYTES,
  checkValue,
  markOf,
  putChecksum,
  StoredValueError,
} from '../stored-value.ts';

const PAGE_BYTES = 4_096;
/** A page has room for a row of this many bytes. */
export const MAX_BLOCK_BYTES = 4_050;
const COUNT_BYTES = 2;
const FIRST_ENTRY = CHECKSUM_BYTES + COUNT_BYTES;
const HEAD_BYTES = 4;
const OFFSET_BYTES = 2;
const DELETED = 0xffff;
const LOG_MARK = 0x6c6f_6720;
export const BLOCK_MARK = 0x626c_6f63;

/** A key and its value; without one, the key was deleted. Keys begin with the number of the column. */
export interface Entry {
  readonly key: Buffer;
  readonly value: Buffer | undefined;
}

export function entryBytes({ key, value }: Entry): number {
  return HEAD_BYTES + key.length + (value?.length ?? 0) + OFFSET_BYTES;
}

export function versionOf(key: Buffer): number {
  return key.readUInt32BE(key.length - 8) * 0x1_0000_0000 + key.readUInt32BE(key.length - 4);
}

/** Compares parts of two buffers. Keys differ so early that a call into the runtime takes longer. */
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

/** Below zero: the first key comes before the second. */
export function compareKeys(a: Uint8Array, b: Uint8Array): number {
  return compareBytes(a, 0, a.length, b, 0, b.length);
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
    return { key: this.keyAt(at), value: this.valueAt(at) };
  }

  keyAt(at: number): Buffer {
    const start = this.#startOf(at);
    return this.bytes.subarray(start + HEAD_BYTES, start + HEAD_BYTES + this.#keyBytes(start));
  }

  #startOf(at: number): number {
    const offset = this.#offsetsAt + at * OFFSET_BYTES;
    return this.bytes[offset]! | (this.bytes[offset + 1]! << 8);
  }

  /** `undefined` for a key that was deleted. */
  valueAt(at: number): Buffer | undefined {
    const start = this.#startOf(at);
    if (this.bytes[start + 2] === 0xff && this.bytes[start + 3] === 0xff) return undefined;
    const end = at + 1 < this.count ? this.#startOf(at + 1) : this.#offsetsAt;
    return this.bytes.subarray(start + HEAD_BYTES + this.#keyBytes(start), end);
  }

  /** Below zero: the entry's key comes before the other key; zero: it is the same. */
  compareAt(at: number, key: Uint8Array): number {
    const start = this.#startOf(at);
    const from = start + HEAD_BYTES;
    return compareBytes(this.bytes, from, from + this.#keyBytes(start), key, 0, key.length);
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

  #keyBytes(start: number): number {
    return this.bytes[start]! | (this.bytes[start + 1]! << 8);
  }
}

/** Blocks of one generation of the cache, of two. */
const MAX_CACHED_BLOCKS = CACHE_BUDGETS.blocks.bytes / 2 / PAGE_BYTES;

/** Recently used blocks by id. */
export class BlockCache {
  #young = new Map<number, Block>();
  #old = new Map<number, Block>();

  get(id: number): Block | undefined {
    const block = this.#young.get(id);
    if (block !== undefined) return block;
    const aged = this.#old.get(id);
    if (aged !== undefined) this.add(id, aged);
    return aged;
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

  hasRoomFor(bytes: number): boolean {
    return this.#end + this.#offsets.length * OFFSET_BYTES + bytes <= MAX_BLOCK_BYTES;
  }

  add(entry: Entry): void {
    this.#offsets.push(this.#end);
    this.#end = writeEntry(this.#bytes, this.#end, entry);
  }

  /** The block of what was added; the next one is empty. */
  finish(id: number): Buffer {
    const bytes = this.#bytes;
    bytes.writeUInt16LE(this.#offsets.length, CHECKSUM_BYTES);
    for (const offset of this.#offsets) {
      bytes.writeUInt16LE(offset, this.#end);
      this.#end += OFFSET_BYTES;
    }
    const block = Buffer.from(bytes.subarray(0, this.#end));
    putChecksum(block, markOf(id, BLOCK_MARK));
    this.#offsets.length = 0;
    this.#end = FIRST_ENTRY;
    return block;
  }
}

/** @returns where the entry ends */
function writeEntry(bytes: Buffer, from: number, { key, value }: Entry): number {
  let at = bytes.writeUInt16LE(key.length, from);
  at = bytes.writeUInt16LE(value === undefined ? DELETED : value.length, at);
  bytes.set(key, at);
  if (value !== undefined) bytes.set(value, at + key.length);
  return at + key.length + (value?.length ?? 0);
}

/** The row that a commit adds to the log: any number of entries. */
export function encodeEntries(entries: readonly Entry[], id: number): Buffer {
  let length = CHECKSUM_BYTES;
  for (const { key, value } of entries) length += HEAD_BYTES + key.length + (value?.length ?? 0);
  const bytes = Buffer.allocUnsafe(length);
  let at = CHECKSUM_BYTES;
  for (const entry of entries) at = writeEntry(bytes, at, entry);
  putChecksum(bytes, markOf(id, LOG_MARK));
  return bytes;
}

/** @throws StoredValueError */
export function decodeEntries(bytes: Buffer, id: number): Entry[] {
  checkValue(bytes, markOf(id, LOG_MARK));
  const entries: Entry[] = [];
  for (let at = CHECKSUM_BYTES; at < bytes.length; ) {
    const keyEnd = at + HEAD_BYTES + bytes.readUInt16LE(at);
    const valueBytes = bytes.readUInt16LE(at + 2);
    const key = bytes.subarray(at + HEAD_BYTES, keyEnd);
    at = keyEnd + (valueBytes === DELETED ? 0 : valueBytes);
    entries.push({ key, value: valueBytes === DELETED ? undefined : bytes.subarray(keyEnd, at) });
  }
  return entries;
}
