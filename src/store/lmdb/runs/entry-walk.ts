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
  const cut = (next: Uint32Array): Uint32Array => {
    const all = next.length / entryWords;
    if (reverse) {
      const from = low === undefined ? 0 : firstAbove(shape, next, all, low, !withoutLow);
      return from === 0 ? next : next.subarray(from * entryWords);
    }
    const to = high === undefined ? all : firstAbove(shape, next, all, high, withoutHigh);
    return to === all ? next : next.subarray(0, to * entryWords);
  };
  const cursor = new Cursor(shape, read, { block, lastBlock, reverse }, own, cut);
  return cursor.isDone ? undefined : cursor;
}

/** The entries of a range, of all runs in one order, but for those that are deleted. */
export class EntryWalk {
  readonly #shape: RunShape;
  readonly #direction: number;
  /** The words of keys that differ: in one partition those of the order. */
  readonly #firstWord: number;
  readonly #words: number;
  /** The newest first; they have nothing outside the range. */
  readonly #cursors: Cursor[];
  #isFirst = true;
  /** The entry that `next` has gone to. */
  readonly entry: Uint32Array;

  constructor(
    shape: RunShape,
    cursors: Cursor[],
    { reverse, isOnePartition }: { readonly reverse: boolean; readonly isOnePartition: boolean },
  ) {
    this.#shape = shape;
    this.#direction = reverse ? -1 : 1;
    this.#firstWord = isOnePartition ? shape.partitionWords : 0;
    this.#words = shape.keyWords - this.#firstWord;
    this.#cursors = cursors;
    this.entry = new Uint32Array(shape.entryWords);
  }

  /** @returns whether there is one more */
  next(): boolean {
    const { entry } = this;
    const shape = this.#shape;
    const { keyWords } = shape;
    const first = this.#firstWord;
    for (;;) {
      const best = this.#best();
      if (best === undefined) return false;
      const { words, at } = best;
      const isOlder =
        !this.#isFirst && compareWords(words, at + first, entry, first, this.#words) === 0;
      this.#isFirst = false;
      if (!isOlder) copyEntry(shape, words, at, entry, 0);
      best.next();
      if (best.isDone) this.#cursors.splice(this.#cursors.indexOf(best), 1);
      if (!isOlder && entry[keyWords] !== DELETED) return true;
    }
  }

  /** The cursor with the first entry. Of equal keys the newest run's comes first. */
  #best(): Cursor | undefined {
    const cursors = this.#cursors;
    const first = this.#firstWord;
    let best = cursors[0];
    for (let index = 1; index < cursors.length; index += 1) {
      const cursor = cursors[index]!;
      const { words, at } = best!;
      const order = compareWords(cursor.words, cursor.at + first, words, at + first, this.#words);
      if (order * this.#direction < 0) best = cursor;
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
  readonly #cut: (words: Uint32Array) => Uint32Array;
  #lastBlock: number;
  readonly #step: number;
  #block: number;
  words: Uint32Array;
  at: number;
  isDone = false;

  /**
   * @param words entries of the block that it begins in, with those at which it begins and ends
   * @param cut leaves out what is behind the last entry of a further block
   */
  constructor(
    shape: RunShape,
    read: (block: number) => Uint32Array,
    { block, lastBlock, reverse }: CursorPlace,
    words: Uint32Array,
    cut = (whole: Uint32Array): Uint32Array => whole,
  ) {
    this.#shape = shape;
    this.#cut = cut;
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
      const whole = this.#read(this.#block);
      this.words = this.#cut(whole);
      if (this.words.length < whole.length) this.#lastBlock = this.#block;
      this.at = this.#step > 0 ? 0 : this.words.length - this.#shape.entryWords;
    }
  }
}
