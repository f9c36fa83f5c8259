/** Merges neighbouring sorted runs into one, in steps. */
import type { DeadRun, Run } from './run-manifest.ts';
import { RunOutput, type WrittenRow } from './run-output.ts';
import { compareWords, DELETED, type RunShape } from './run-shape.ts';
import { Cursor, type SortedRuns } from './sorted-runs.ts';

export class RunMerge {
  readonly inputs: readonly Run[];
  /** Entries of all inputs. */
  readonly entries: number;
  readonly #shape: RunShape;
  readonly #cursors: Cursor[];
  readonly #output: RunOutput;
  readonly #isOldest: boolean;
  readonly #last: Uint32Array;
  #hasLast = false;
  #added = 0;

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
    this.#last = new Uint32Array(shape.keyWords);
    this.#output = new RunOutput(shape, id, this.entries, !isOldest);
    this.#cursors = inputs.map((run) => {
      const read = (block: number): Uint32Array => runs.block(run, block);
      return new Cursor(shape, read, run.blocks, 0, undefined, false, false);
    });
  }

  get isDone(): boolean {
    return this.#cursors.length === 0;
  }

  get progress(): DeadRun {
    return this.#output.progress;
  }

  /** Merges up to so many entries. @returns how many it has read */
  step(most: number): number {
    const { keyWords } = this.#shape;
    const cursors = this.#cursors;
    let count = 0;
    for (; count < most && cursors.length > 0; count += 1) {
      let best = cursors[0]!;
      for (let index = 1; index < cursors.length; index += 1) {
        const cursor = cursors[index]!;
        // Of equal keys the newest run's comes first.
        if (compareWords(cursor.words, cursor.at, best.words, best.at, keyWords) < 0) best = cursor;
      }
      this.#take(best);
      best.next();
      if (best.isDone) cursors.splice(cursors.indexOf(best), 1);
    }
    return count;
  }

  #take({ words, at }: Cursor): void {
    const { keyWords } = this.#shape;
    const last = this.#last;
    const isOlder = this.#hasLast && compareWords(words, at, last, 0, keyWords) === 0;
    if (isOlder) return;
    this.#hasLast = true;
    for (let word = 0; word < keyWords; word += 1) last[word] = words[at + word]!;
    if (this.#isOldest && words[at + keyWords] === DELETED) return;
    this.#output.add(words, at);
    this.#added += 1;
  }

  /** The run that has been made; `undefined` if nothing is left. */
  finish(): Run | undefined {
    return this.#added === 0 ? undefined : this.#output.finish();
  }

  takeRows(): readonly WrittenRow[] {
    return this.#output.takeRows();
  }
}
