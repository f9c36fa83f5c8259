/** Merges neighbouring sorted runs into one, in steps. */
import { Cursor } from './entry-walk.ts';
import type { DeadRun, Run } from './run-manifest.ts';
import { RunOutput, type WrittenRow } from './run-output.ts';
import { compareWords, DELETED, type RunShape } from './run-shape.ts';
import type { SortedRuns } from './sorted-runs.ts';

interface Input {
  readonly cursor: Cursor;
  /** Of equal keys, the entry with the lowest counts: it is of the newest run. */
  readonly rank: number;
}

export class RunMerge {
  readonly inputs: readonly Run[];
  /** Entries of all inputs. */
  readonly entries: number;
  readonly #shape: RunShape;
  /** By their next entries, the lowest first. */
  readonly #sorted: Input[] = [];
  readonly #output: RunOutput;
  readonly #isOldest: boolean;
  /** Where the entry is that was read last. */
  #lastWords: Uint32Array | undefined;
  #lastAt = 0;

  /**
   * @param inputs the newest first
   * @param isOldest whether the oldest of all runs is among them: what is deleted need not be said any longer
   */
  constructor(runs: SortedRuns, inputs: readonly Run[], id: number, isOldest: boolean) {
    const { shape } = runs;
    this.#shape = shape;
    this.inputs = inputs;
    this.entries = inputs.reduce((sum, run) => sum + run.entries, 0);
    this.#isOldest = isOldest;
    this.#output = new RunOutput(shape, id, this.entries, !isOldest);
    for (const [rank, run] of inputs.entries()) {
      const read = (block: number): Uint32Array => runs.block(run, block);
      const place = { block: 0, lastBlock: run.blocks - 1, reverse: false };
      const cursor = new Cursor(shape, read, place, read(0));
      this.#output.raiseHighestOrder(Uint32Array.from(run.highestOrder));
      this.#sorted.unshift({ cursor, rank });
      this.#sortFirst();
    }
  }

  get isDone(): boolean {
    return this.#sorted.length === 0;
  }

  get progress(): DeadRun {
    return this.#output.progress;
  }

  /** Merges up to so many entries. @returns how many it has read */
  step(most: number): number {
    const { entryWords, keyWords } = this.#shape;
    let count = 0;
    while (count < most && this.#sorted.length > 0) {
      const { cursor } = this.#sorted[0]!;
      const { words, at } = cursor;
      const last = this.#lastWords;
      const isOlder =
        last !== undefined && compareWords(words, at, last, this.#lastAt, keyWords) === 0;
      const end = isOlder ? at + entryWords : this.#take(most - count);
      this.#lastWords = words;
      this.#lastAt = end - entryWords;
      count += (end - at) / entryWords;
      cursor.moveTo(end);
      if (cursor.isDone) this.#sorted.shift();
      else this.#sortFirst();
    }
    return count;
  }

  /** Takes the first entry, and those of its block that come before all other runs' entries. @returns where they end */
  #take(most: number): number {
    const { entryWords, keyWords } = this.#shape;
    // Taken apart as an array, they would cost an iterator for each entry or two.
    const second = this.#sorted[1];
    const { words, at } = this.#sorted[0]!.cursor;
    const limit = Math.min(words.length, at + most * entryWords);
    let end = at + entryWords;
    if (second === undefined) end = limit;
    else {
      const { words: others, at: othersAt } = second.cursor;
      const other = others[othersAt]!;
      for (; end < limit; end += entryWords) {
        const word = words[end]!;
        if (word > other) break;
        // Of equal keys both are read, and the second is dropped.
        if (word === other && compareWords(words, end, others, othersAt, keyWords) >= 0) break;
      }
    }
    let from = at;
    for (let next = at; this.#isOldest && next < end; next += entryWords) {
      if (words[next + keyWords] !== DELETED) continue;
      this.#output.add(words, from, next);
      from = next + entryWords;
    }
    this.#output.add(words, from, end);
    return end;
  }

  /** Moves the first input to where it belongs. */
  #sortFirst(): void {
    const { keyWords } = this.#shape;
    const sorted = this.#sorted;
    const moved = sorted[0]!;
    const { words, at } = moved.cursor;
    const word = words[at]!;
    let to = 0;
    for (; to + 1 < sorted.length; to += 1) {
      const { cursor, rank } = sorted[to + 1]!;
      let order = word - cursor.words[cursor.at]!;
      if (order === 0) order = compareWords(words, at, cursor.words, cursor.at, keyWords);
      if (order < 0 || (order === 0 && moved.rank < rank)) break;
      sorted[to] = sorted[to + 1]!;
    }
    sorted[to] = moved;
  }

  /** The run that has been made; `undefined` if nothing is left. */
  async finish(): Promise<Run | undefined> {
    return this.#output.isEmpty ? undefined : this.#output.finish();
  }

  takeRows(): readonly WrittenRow[] {
    return this.#output.takeRows();
  }
}
