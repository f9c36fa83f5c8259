/** Writes a sorted run, entry by entry in the order of the keys. */
import { COLUMNS, STATE } from '../../columns/columns.ts';
import { FORK_LAYOUT } from '../../columns/fork-columns.ts';
import { type Block, BlockWriter, type Entry, entryBytes, versionOf } from './block.ts';
import type { RunFacts } from './manifest.ts';
import { encodeIndex, indexRows, type RunIndex } from './run.ts';
import { addToFilter, filterWords, hashOf } from './run-filter.ts';

export interface BlockWrites {
  writeBlock(id: number, bytes: Buffer): void;
}

/** Bytes of a column's number and partition in a key, by the number. */
const PARTITION_BYTES = new Uint8Array(256);
for (const { number, partitionBytes } of [...COLUMNS, ...FORK_LAYOUT.columns]) {
  PARTITION_BYTES[number] = 1 + partitionBytes;
}

/** Bytes of the column's number and the partition in a key. */
export function partitionBytesOf(key: Uint8Array): number {
  return PARTITION_BYTES[key[0]!]!;
}

export class RunBuilder {
  readonly number: number;
  readonly #rows: BlockWrites;
  readonly #firstId: number;
  readonly #writer = new BlockWriter();
  readonly #fenceEnds: number[] = [];
  readonly #filter: Uint32Array;
  readonly #columns = new Map<number, { puts: number; deletes: number; bytes: number }>();
  #fences = Buffer.alloc(1_024);
  #fenceBytes = 0;
  /** The last key of the block before; empty at first, so that the first fence is one byte. */
  #lastKey: Buffer = Buffer.alloc(0);
  #lastHash = -1;
  #entries = 0;
  #lowestVersion = Number.POSITIVE_INFINITY;
  #highestVersion = -1;

  /** @param expected at least as many entries as come, for the filter; 0 for a run without one */
  constructor(number: number, firstId: number, expected: number, rows: BlockWrites) {
    this.number = number;
    this.#firstId = firstId;
    this.#rows = rows;
    this.#filter = new Uint32Array(expected === 0 ? 0 : filterWords(expected));
  }

  add(entry: Entry): void {
    const valueBytes = entry.value?.length ?? 0;
    this.#makeRoom(entry.key, entryBytes(entry.key.length, valueBytes));
    this.#writer.add(entry);
    this.#note(entry.key, valueBytes, entry.value === undefined);
  }

  /** Copies an entry of another run. */
  copy(block: Block, at: number): void {
    const key = block.keyAt(at);
    const bytes = block.entryEnd(at) - block.entryStart(at);
    const headBytes = entryBytes(key.length, 0);
    this.#makeRoom(key, bytes + 2);
    this.#writer.copy(block, at);
    this.#note(key, bytes + 2 - headBytes, block.isDeletedAt(at));
  }

  /** Stores the rest and the index. */
  finish(): { readonly facts: RunFacts; readonly index: RunIndex } {
    if (this.#writer.count > 0) this.#finishBlock();
    const index: RunIndex = {
      fenceEnds: Uint32Array.from(this.#fenceEnds),
      fences: Buffer.from(this.#fences.subarray(0, this.#fenceBytes)),
      filter: this.#filter,
      columns: this.#columns,
    };
    const bytes = encodeIndex(index);
    const blocks = this.#fenceEnds.length;
    for (const [id, row] of indexRows(this.number, blocks, bytes)) this.#rows.writeBlock(id, row);
    const facts: RunFacts = {
      number: this.number,
      blocks,
      entries: this.#entries,
      indexBytes: bytes.length,
      lowestVersion: this.#lowestVersion,
      highestVersion: this.#highestVersion,
    };
    return { facts, index };
  }

  #makeRoom(key: Buffer, bytes: number): void {
    if (this.#writer.count > 0) {
      if (this.#writer.hasRoomFor(bytes)) return;
      this.#finishBlock();
    }
    // As much of the key as differs from the one before.
    let length = 0;
    while (length < key.length && key[length] === this.#lastKey[length]) length += 1;
    this.#addFence(key.subarray(0, length + 1));
  }

  #addFence(fence: Buffer): void {
    const end = this.#fenceBytes + fence.length;
    if (end > this.#fences.length) {
      this.#fences = Buffer.concat([this.#fences, Buffer.alloc(this.#fences.length + end)]);
    }
    this.#fences.set(fence, this.#fenceBytes);
    this.#fenceBytes = end;
    this.#fenceEnds.push(end);
  }

  #finishBlock(): void {
    const id = this.#firstId + this.#fenceEnds.length - 1;
    this.#rows.writeBlock(id, this.#writer.finish(id));
  }

  #note(key: Buffer, valueBytes: number, isDeleted: boolean): void {
    const number = key[0]!;
    this.#entries += 1;
    this.#lastKey = key;
    let counts = this.#columns.get(number);
    if (counts === undefined) {
      counts = { puts: 0, deletes: 0, bytes: 0 };
      this.#columns.set(number, counts);
    }
    if (isDeleted) counts.deletes += 1;
    else counts.puts += 1;
    counts.bytes += key.length + valueBytes;
    if (number === STATE.number) {
      const version = versionOf(key);
      this.#lowestVersion = Math.min(this.#lowestVersion, version);
      this.#highestVersion = Math.max(this.#highestVersion, version);
    }
    if (this.#filter.length === 0) return;
    const hash = hashOf(key, partitionBytesOf(key));
    if (hash !== this.#lastHash) addToFilter(this.#filter, hash);
    this.#lastHash = hash;
  }
}
