/** Writes one sorted run, entry by entry, and what a reader has in memory of it. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RowKey } from '../../columns/columns.ts';
import { addToFilter, filterWords } from './run-filter.ts';
import type { DeadRun, Run } from './run-manifest.ts';
import {
  blockKey,
  FILTER,
  FIRST_KEYS,
  markOfPart,
  PART_WORDS,
  partKey,
  sealed,
} from './run-rows.ts';
import { compareWords, FENCE_PARTITION_WORDS, type RunShape } from './run-shape.ts';

/** A row to be put. */
export interface WrittenRow {
  readonly key: RowKey;
  readonly value: Uint8Array;
}

/** Rows of first keys or of a filter made between two turns of the event loop: about two milliseconds. */
const PARTS_PER_TURN = 32;
/** From so many words on, one copy of all takes less than copying one after the other. */
const LEAST_SET_WORDS = 128;

export class RunOutput {
  readonly #shape: RunShape;
  readonly #id: number;
  readonly #filter: Uint32Array | undefined;
  #block: Uint32Array;
  #end = 0;
  #blocks = 0;
  #entries = 0;
  #rows: WrittenRow[] = [];
  #fences: Uint32Array = new Uint32Array(PART_WORDS);
  readonly #highestOrder: Uint32Array;

  /** @param mostEntries what it has at most, for the size of a filter */
  constructor(shape: RunShape, id: number, mostEntries: number, withFilter: boolean) {
    this.#shape = shape;
    this.#id = id;
    this.#filter = withFilter ? new Uint32Array(filterWords(mostEntries)) : undefined;
    this.#block = emptyBlock(shape);
    this.#highestOrder = new Uint32Array(shape.keyWords - shape.partitionWords);
  }

  /** What would have to be deleted. */
  get progress(): DeadRun {
    return { id: this.#id, blocks: this.#blocks, parts: 0 };
  }

  get isEmpty(): boolean {
    return this.#entries === 0;
  }

  /** Says that entries may have orders up to this one. */
  raiseHighestOrder(order: Uint32Array, at = 0): void {
    const highest = this.#highestOrder;
    if (compareWords(order, at, highest, 0, highest.length) <= 0) return;
    for (let word = 0; word < highest.length; word += 1) highest[word] = order[at + word]!;
  }

  /** Adds sorted entries that come after all others. */
  add(words: Uint32Array, from: number, to: number): void {
    const { entryWords, blockEntries } = this.#shape;
    const blockWords = blockEntries * entryWords;
    const filter = this.#filter;
    if (filter !== undefined) {
      for (let at = from; at < to; at += entryWords) addToFilter(this.#shape, filter, words, at);
    }
    this.#entries += (to - from) / entryWords;
    for (let at = from; at < to; ) {
      const count = Math.min(to - at, blockWords - this.#end);
      if (count >= LEAST_SET_WORDS) this.#block.set(words.subarray(at, at + count), this.#end);
      else
        for (let word = 0; word < count; word += 1)
          this.#block[this.#end + word] = words[at + word]!;
      this.#end += count;
      at += count;
      if (this.#end === blockWords) this.#endBlock();
    }
  }

  async addAll(entries: Uint32Array, perTurn: number): Promise<void> {
    const { entryWords, partitionWords } = this.#shape;
    const words = perTurn * entryWords;
    for (let from = 0; from < entries.length; from += words) {
      const to = Math.min(from + words, entries.length);
      for (let at = from; at < to; at += entryWords) {
        this.raiseHighestOrder(entries, at + partitionWords);
      }
      this.add(entries, from, to);
      if (to < entries.length) await nextTurn();
    }
  }

  /** Rows that have become ready. */
  takeRows(): readonly WrittenRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** Ends the run: its last rows are ready. */
  async finish(): Promise<Run> {
    if (this.#end > 0) this.#endBlock();
    const fences = this.#fences.subarray(0, this.#blocks * this.#shape.fenceWords);
    this.#rows.push(...(await partRows(this.#shape, FIRST_KEYS, this.#id, fences)));
    const filter = this.#filter ?? new Uint32Array(0);
    this.#rows.push(...(await partRows(this.#shape, FILTER, this.#id, filter)));
    return {
      ...{ id: this.#id, entries: this.#entries, blocks: this.#blocks },
      filterWords: filter.length,
      highestOrder: [...this.#highestOrder],
    };
  }

  #endBlock(): void {
    const { fenceWords } = this.#shape;
    const at = this.#blocks * fenceWords;
    if (at + fenceWords > this.#fences.length) {
      const more = new Uint32Array(2 * this.#fences.length);
      more.set(this.#fences);
      this.#fences = more;
    }
    this.#fences.set(fenceOf(this.#shape, this.#block), at);
    this.#rows.push({
      key: blockKey(this.#shape, this.#id, this.#blocks),
      value: sealed(this.#block, this.#end),
    });
    this.#blocks += 1;
    // The engine has the old one until the commit is done.
    this.#block = emptyBlock(this.#shape);
    this.#end = 0;
  }
}

/** What is in memory of the first key of a block. */
export function fenceOf({ keyWords, partitionWords }: RunShape, block: Uint32Array): number[] {
  const order = block.subarray(partitionWords, keyWords);
  return [...block.subarray(0, FENCE_PARTITION_WORDS), ...order];
}

/** The rows of the first keys, or of the filter, of a run. */
export async function partRows(
  shape: RunShape,
  kind: number,
  run: number,
  words: Uint32Array,
): Promise<WrittenRow[]> {
  const rows: WrittenRow[] = [];
  for (let from = 0; from < words.length; from += PART_WORDS) {
    if (rows.length % PARTS_PER_TURN === PARTS_PER_TURN - 1) await nextTurn();
    const part = words.subarray(from, from + PART_WORDS);
    const room = new Uint32Array(part.length + 1);
    room.set(part);
    const key = partKey(shape, kind, run, from / PART_WORDS);
    rows.push({ key, value: sealed(room, part.length, markOfPart(key)) });
  }
  return rows;
}

function emptyBlock({ blockEntries, entryWords }: RunShape): Uint32Array {
  return new Uint32Array(blockEntries * entryWords + 1);
}
