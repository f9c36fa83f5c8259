/** Walks through the entries of several sources at once, in key order. */
import type { Block, Entry } from './block.ts';
import type { Run } from './run.ts';

export interface KeyRange {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  readonly reverse: boolean;
}

export interface Cursor {
  /** The current entry; `undefined` at the end. */
  readonly entry: Entry | undefined;
  /** The prefix of its key. */
  readonly prefix: number;
  next(): void;
}

/** The cursor at the next key. Cursors with older entries of that key are advanced. */
export function nextCursor<T extends Cursor>(
  newestFirst: readonly T[],
  reverse: boolean,
): T | undefined {
  const sign = reverse ? -1 : 1;
  let best: T | undefined;
  for (const cursor of newestFirst) {
    if (cursor.entry === undefined) continue;
    const order = best === undefined ? -1 : sign * compareCursors(cursor, best);
    if (order < 0) best = cursor;
    else if (order === 0) cursor.next();
  }
  return best;
}

function compareCursors(one: Cursor, other: Cursor): number {
  return one.prefix - other.prefix || one.entry!.compare(other.entry!);
}

export class ListCursor implements Cursor {
  readonly #entries: readonly Entry[];
  readonly #step: number;
  #at: number;
  entry: Entry | undefined;
  prefix = 0;

  constructor(entries: readonly Entry[], { from, to, reverse }: KeyRange) {
    this.#entries = entries;
    this.#step = reverse ? -1 : 1;
    this.#at = firstAtOrAbove(entries, reverse ? to : from);
    if (reverse && entries[this.#at]?.compareKey(to) !== 0) this.#at -= 1;
    this.#settle();
  }

  next(): void {
    this.#at += this.#step;
    this.#settle();
  }

  #settle(): void {
    this.entry = this.#entries[this.#at];
    this.prefix = this.entry?.prefix ?? 0;
  }
}

export function firstAtOrAbove(entries: readonly Entry[], key: Uint8Array): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (entries[middle]!.compareKey(key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A position in the blocks of a run. Some blocks may have no entries. */
export class RunCursor implements Cursor {
  readonly #run: Run;
  readonly #step: number;
  #blockAt: number;
  #block: Block | undefined;
  #at = 0;
  entry: Entry | undefined;
  prefix = 0;

  constructor(run: Run, { from, to, reverse }: KeyRange) {
    this.#run = run;
    this.#step = reverse ? -1 : 1;
    const start = reverse ? to : from;
    this.#blockAt = Math.max(run.blockOf(start), reverse ? -1 : 0);
    this.#block = this.#readBlock();
    if (this.#block !== undefined) {
      this.#at = this.#block.firstAtOrAbove(start);
      const isThere = this.#at < this.#block.count && this.#block.compareAt(this.#at, start) === 0;
      if (reverse && !isThere) this.#at -= 1;
    }
    this.#settle();
  }

  next(): void {
    this.#at += this.#step;
    this.#settle();
  }

  #settle(): void {
    while (this.#block !== undefined && (this.#at < 0 || this.#at >= this.#block.count)) {
      this.#blockAt += this.#step;
      this.#block = this.#readBlock();
      this.#at = this.#step > 0 || this.#block === undefined ? 0 : this.#block.count - 1;
    }
    this.entry = this.#block?.entryAt(this.#at);
    this.prefix = this.entry?.prefix ?? 0;
  }

  #readBlock(): Block | undefined {
    const isThere = this.#blockAt >= 0 && this.#blockAt < this.#run.facts.blocks;
    return isThere ? this.#run.block(this.#blockAt) : undefined;
  }
}
