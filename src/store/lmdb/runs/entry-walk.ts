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

/**
 * A cursor on the entries of a range that one run has.
 * @param words the block in which the range begins, valid until the next read, and more
 * @param count entries of the block
 * @returns `undefined` if there are none
 */
export function cursorIn(
  shape: RunShape,
  { low, high, withoutLow, withoutHigh, reverse }: EntryRange,
  read: (block: number) => Uint32Array,
  words: Uint32Array,
  { count, block, blocks }: { readonly count: number; readonly block: number; blocks: number },
): Cursor | undefined {
  const { entryWords } = shape;
  const first = low === undefined ? 0 : firstAbove(shape, words, count, low, !withoutLow);
  const end = high === undefined ? count : firstAbove(shape, words, count, high, withoutHigh);
  const endsHere = reverse ? first > 0 : end < count;
  if (endsHere && first >= end) return undefined;
  const lastBlock = endsHere ? block : reverse ? 0 : blocks - 1;
  // A copy of some entries costs far less than one of the whole block.
  const own = words.slice(first * entryWords, Math.max(first, end) * entryWords);
  const cursor = new Cursor(shape, read, { block, lastBlock, reverse }, own);
  return cursor.isDone ? undefined : cursor;
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
  readonly block: number;
  readonly lastBlock: number;
  readonly reverse: boolean;
}

/** Where the entries of one run have been read to. */
export class Cursor {
  readonly #shape: RunShape;
  readonly #read: (block: number) => Uint32Array;
  readonly #lastBlock: number;
  readonly #step: number;
  #block: number;
  words: Uint32Array;
  at: number;
  isDone = false;

  /** @param words entries of the block that it begins in, with those at which it begins and ends */
  constructor(
    shape: RunShape,
    read: (block: number) => Uint32Array,
    { block, lastBlock, reverse }: CursorPlace,
    words: Uint32Array,
  ) {
    this.#shape = shape;
    this.#read = read;
    this.#lastBlock = lastBlock;
    this.#block = block;
    this.#step = reverse ? -shape.entryWords : shape.entryWords;
    this.words = words;
    this.at = reverse ? words.length - shape.entryWords : 0;
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
      if (this.#block === this.#lastBlock) {
        this.isDone = true;
        return;
      }
      this.#block += Math.sign(this.#step);
      this.words = this.#read(this.#block);
      this.at = this.#step > 0 ? 0 : this.words.length - this.#shape.entryWords;
    }
  }
}

function isBeyond(range: EntryRange, words: Uint32Array, at: number, keyWords: number): boolean {
  const end = range.reverse ? range.low : range.high;
  if (end === undefined) return false;
  const order = compareWords(words, at, end, 0, keyWords) * (range.reverse ? -1 : 1);
  return order > 0 || (order === 0 && (range.reverse ? range.withoutLow : range.withoutHigh));
}
