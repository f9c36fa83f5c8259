/** Going through the entries of sorted runs in the order of their keys. */
import { compareWords, copyEntry, DELETED, firstAbove, type RunShape } from './run-shape.ts';

/** Which entries, and in which order; both bounds belong to it unless said otherwise. */
export interface EntryRange {
  readonly low: Uint32Array | undefined;
  readonly high: Uint32Array | undefined;
  readonly withoutLow: boolean;
  readonly withoutHigh: boolean;
  readonly reverse: boolean;
}

/** Where the entries of a range begin in a block; before or behind it, if not in it. */
export function startIn(
  shape: RunShape,
  words: Uint32Array,
  count: number,
  edge: Uint32Array | undefined,
  orEqual: boolean,
  reverse: boolean,
): number {
  let index = reverse ? count : 0;
  if (edge !== undefined) index = firstAbove(shape, words, count, edge, orEqual);
  return (reverse ? index - 1 : index) * shape.entryWords;
}

/** The entries of a range, of all runs in one order, but for those that are deleted. */
export class EntryWalk {
  readonly #shape: RunShape;
  readonly #range: EntryRange;
  /** The newest first. */
  readonly #cursors: Cursor[];
  #isFirst = true;
  /** The entry that `next` has gone to. */
  readonly entry: Uint32Array;

  constructor(shape: RunShape, range: EntryRange, cursors: Cursor[]) {
    this.#shape = shape;
    this.#range = range;
    this.#cursors = cursors;
    this.entry = new Uint32Array(shape.entryWords);
  }

  /** @returns whether there is one more */
  next(): boolean {
    const { entry } = this;
    const shape = this.#shape;
    const { keyWords } = shape;
    for (;;) {
      const best = this.#best();
      if (best === undefined) return false;
      const { words, at } = best;
      const isOlder = !this.#isFirst && compareWords(words, at, entry, 0, keyWords) === 0;
      this.#isFirst = false;
      if (!isOlder) {
        if (isBeyond(this.#range, words, at, keyWords)) return false;
        copyEntry(shape, words, at, entry, 0);
      }
      best.next();
      if (best.isDone) this.#cursors.splice(this.#cursors.indexOf(best), 1);
      if (!isOlder && entry[keyWords] !== DELETED) return true;
    }
  }

  /** The cursor with the first entry. Of equal keys the newest run's comes first. */
  #best(): Cursor | undefined {
    const cursors = this.#cursors;
    const { keyWords } = this.#shape;
    const direction = this.#range.reverse ? -1 : 1;
    let best = cursors[0];
    for (let index = 1; index < cursors.length; index += 1) {
      const cursor = cursors[index]!;
      const order = compareWords(cursor.words, cursor.at, best!.words, best!.at, keyWords);
      if (order * direction < 0) best = cursor;
    }
    return best;
  }
}

interface CursorPlace {
  readonly blocks: number;
  readonly block: number;
  readonly at: number;
  readonly reverse: boolean;
}

/** Where the entries of one run have been read to. */
export class Cursor {
  readonly #shape: RunShape;
  readonly #read: (block: number) => Uint32Array;
  readonly #blocks: number;
  readonly #step: number;
  #block: number;
  words: Uint32Array;
  at: number;
  isDone = false;

  /** @param words the block that it begins in */
  constructor(
    shape: RunShape,
    read: (block: number) => Uint32Array,
    { blocks, block, at, reverse }: CursorPlace,
    words: Uint32Array,
  ) {
    this.#shape = shape;
    this.#read = read;
    this.#blocks = blocks;
    this.#block = block;
    this.#step = reverse ? -shape.entryWords : shape.entryWords;
    this.words = words;
    this.at = at;
    this.#settle();
  }

  next(): void {
    this.moveTo(this.at + this.#step);
  }

  /** Goes on to an entry of the block, or to its end. */
  moveTo(at: number): void {
    this.at = at;
    if (this.at < 0 || this.at >= this.words.length) this.#settle();
  }

  /** Goes to the next block at the end of one. */
  #settle(): void {
    while (this.at < 0 || this.at >= this.words.length) {
      this.#block += Math.sign(this.#step);
      if (this.#block < 0 || this.#block >= this.#blocks) {
        this.isDone = true;
        return;
      }
      this.words = this.#read(this.#block);
      this.at = this.#step > 0 ? 0 : this.words.length - this.#shape.entryWords;
    }
  }
}

export function isBeyond(
  range: EntryRange,
  words: Uint32Array,
  at: number,
  keyWords: number,
): boolean {
  const end = range.reverse ? range.low : range.high;
  if (end === undefined) return false;
  const order = compareWords(words, at, end, 0, keyWords) * (range.reverse ? -1 : 1);
  return order > 0 || (order === 0 && (range.reverse ? range.withoutLow : range.withoutHigh));
}
