/**
 * One sorted run: blocks of entries in key order, which never change. Its index (run-index.ts) is kept in memory.
 * Blocks are read when needed.
 */
import { type StoredRows, StoredValueError, type WritableRows } from '../stored-value.ts';
import { Block, type BlockCache, BlockWriter, compareBytes, type Entry } from './block.ts';
import { MAX_RUN_BLOCKS, type RunFacts } from './manifest.ts';
import {
  decodeIndex,
  encodeIndex,
  mayContain,
  type RunIndex,
  RunIndexBuilder,
} from './run-index.ts';

export class Run {
  readonly facts: RunFacts;
  readonly #rows: StoredRows;
  readonly #cache: BlockCache | undefined;
  #index: RunIndex | undefined;

  constructor(facts: RunFacts, rows: StoredRows, index?: RunIndex, cache?: BlockCache) {
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

  #readIndex(): RunIndex {
    try {
      return this.storedIndex();
    } catch (error) {
      if (!(error instanceof StoredValueError)) throw error;
      return this.indexOfBlocks();
    }
  }

  /** @throws StoredValueError */
  storedIndex(): RunIndex {
    const id = this.idOf(this.facts.blocks);
    const row = this.#rows.read('blocks', id);
    if (row === undefined) throw new StoredValueError('an index is missing');
    return decodeIndex(row, id, this.facts.blocks);
  }

  /** Rebuilds the index from the blocks, some of which may have lost their entries. @throws StoredValueError */
  indexOfBlocks(): RunIndex {
    const builder = new RunIndexBuilder(this.facts.entries);
    let emptyBlocks = 0;
    for (let at = 0; at < this.facts.blocks; at += 1) {
      const block = this.block(at);
      emptyBlocks += 1;
      if (block.count === 0) continue;
      // An empty block gets the first key of the next one, so no key is looked up in it.
      const { key } = block.entryAt(0);
      for (; emptyBlocks > 0; emptyBlocks -= 1) builder.addBlock(key);
      for (let entry = 0; entry < block.count; entry += 1) builder.addEntry(block.entryAt(entry));
    }
    for (; emptyBlocks > 0; emptyBlocks -= 1) builder.addBlock(Buffer.of(0xff));
    return builder.finish();
  }

  mayContainPartition(hash: number): boolean {
    const { filter } = this.index;
    return filter.length === 0 || mayContain(filter, hash);
  }

  /** The number of the block that has a key or would have it; -1 if the key is before the first block. */
  blockOf(key: Uint8Array): number {
    const { fences, fenceEnds } = this.index;
    let low = 0;
    let high = fenceEnds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const start = middle === 0 ? 0 : fenceEnds[middle - 1]!;
      if (compareBytes(fences, start, fenceEnds[middle]!, key, 0, key.length) > 0) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }

  /** @throws StoredValueError */
  block(at: number): Block {
    const id = this.idOf(at);
    const cached = this.#cache?.get(id);
    if (cached !== undefined) return cached;
    try {
      const bytes = this.#rows.read('blocks', id);
      if (bytes === undefined) throw new StoredValueError('its block is missing');
      const block = new Block(bytes, id);
      this.#cache?.add(id, block);
      return block;
    } catch (error) {
      if (error instanceof StoredValueError) error.fence = this.#fenceAfter(at);
      throw error;
    }
  }

  idOf(block: number): number {
    return this.facts.number * MAX_RUN_BLOCKS + block;
  }

  /** All keys of a block are below this; `undefined` for the last block, and while the index is not loaded. */
  #fenceAfter(block: number): Buffer | undefined {
    if (this.#index === undefined) return undefined;
    const { fences, fenceEnds } = this.#index;
    return block + 1 < fenceEnds.length
      ? fences.subarray(fenceEnds[block], fenceEnds[block + 1])
      : undefined;
  }
}

export class RunBuilder {
  readonly number: number;
  readonly #rows: WritableRows;
  readonly #writer = new BlockWriter();
  readonly #index: RunIndexBuilder;

  /** @param expected upper bound of the number of entries; 0 for a run whose index has no filter */
  constructor(number: number, expected: number, rows: WritableRows) {
    this.number = number;
    this.#rows = rows;
    this.#index = new RunIndexBuilder(expected);
  }

  add(entry: Entry): void {
    const isFull = this.#writer.count > 0 && !this.#writer.hasRoomFor(entry.end - entry.at);
    if (isFull) this.#finishBlock();
    if (this.#writer.count === 0) this.#index.addBlock(entry.key);
    this.#writer.add(entry);
    this.#index.addEntry(entry);
  }

  finish(): Run {
    if (this.#writer.count > 0) this.#finishBlock();
    const { blocks, entries, lowestVersion, highestVersion } = this.#index;
    const index = this.#index.finish();
    const id = this.number * MAX_RUN_BLOCKS + blocks;
    this.#rows.write('blocks', id, encodeIndex(index, id));
    const facts = { number: this.number, blocks, entries, lowestVersion, highestVersion };
    return new Run(facts, this.#rows, index);
  }

  #finishBlock(): void {
    const id = this.number * MAX_RUN_BLOCKS + this.#index.blocks - 1;
    this.#rows.write('blocks', id, this.#writer.finish(id));
  }
}
