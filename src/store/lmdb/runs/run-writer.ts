/**
 * Adds entries to sorted runs, and merges runs: eight of one size become one of the next, and all become part of the
 * oldest run when they have an eighth of its entries. A merge goes on with every commit, by as much as the commit adds
 * entries; what it has written is part of the column when it is whole. Only one process writes, one commit at a time.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RowKey } from '../../columns/columns.ts';
import { isStoredDamage } from '../stored-value.ts';
import type { AddedEntries } from './added-entries.ts';
import type { DeadRun, Manifest, Run } from './run-manifest.ts';
import { encodeManifest } from './run-manifest.ts';
import { RunMerge } from './run-merge.ts';
import { RunOutput, type WrittenRow } from './run-output.ts';
import {
  BLOCK,
  FILTER,
  FIRST_KEYS,
  generationKey,
  manifestKey,
  partKey,
  partsOf,
  type RunsDatabase,
} from './run-rows.ts';
import { compareWords, copyEntry, type RunShape } from './run-shape.ts';
import type { SortedRuns } from './sorted-runs.ts';

/** Entries that the manifest has itself: more make a run. */
const MAX_INLINE_ENTRIES = 512;
/** Runs of one size that are merged. */
const MERGED_RUNS = 8;
/** The oldest run is merged with the others when these have this part of its entries, */
const OLDEST_SHARE = 8;
/** and at least so many. */
const LEAST_MERGED_ENTRIES = 8_192;
/** Entries that are merged for each that is added: more than merging needs in the long run. */
const MERGED_PER_ADDED = 16;
/** Entries that are merged between two turns of the event loop: about two milliseconds. */
const ENTRIES_PER_TURN = 10_000;
/** Blocks deleted with each commit, besides twice as many as it writes. */
const LEAST_DELETED_BLOCKS = 64;
/** Indexes of entries that fit behind 32 bits of a number. */
const MAX_SORTED_BY_NUMBER = 2 ** 21;
/** Numbers that are sorted between two turns of the event loop: about two milliseconds. */
const SORTED_PER_TURN = 32_768;

/** What a commit writes and removes. */
export interface RunChanges {
  readonly put: readonly WrittenRow[];
  readonly removed: readonly RowKey[];
}

export class RunWriter {
  readonly #runs: SortedRuns;
  /** The one with the newest runs first. */
  #merges: RunMerge[] = [];
  /** Runs that are not merged: one of them is damaged, or was merged with one that is. */
  readonly #leftAlone = new Set<number>();

  constructor(runs: SortedRuns) {
    this.#runs = runs;
  }

  /**
   * Makes the rows of a commit, when all earlier ones are stored.
   * @param rows how many more rows the column has then; absent: none of what is added is there yet
   */
  async prepare(added: AddedEntries, rows?: number): Promise<RunChanges> {
    const { shape } = this.#runs;
    const before = this.#runs.manifest();
    const dead = this.#deadOf(before);
    const put: WrittenRow[] = [];
    const runs = [...before.runs];
    // What is merged is stored already.
    let nextRun = this.#begin(runs, before.nextRun);
    let inline = await sortedEntries(added, before.inline);
    const more = rows ?? (inline.length - before.inline.length) / shape.entryWords;
    if (inline.length > MAX_INLINE_ENTRIES * shape.entryWords) {
      const output = new RunOutput(shape, nextRun, inline.length / shape.entryWords, true);
      nextRun += 1;
      await output.addAll(inline, ENTRIES_PER_TURN);
      runs.unshift(await output.finish());
      put.push(...output.takeRows());
      inline = inline.subarray(0, 0);
    }
    const finished = await this.#merge(added.count * MERGED_PER_ADDED, put, dead);
    for (const { inputs, made } of finished) {
      replace(runs, inputs, made);
      dead.push(...inputs.map((run) => deadRun(shape, run)));
    }
    const removed = removeDead(shape, dead, LEAST_DELETED_BLOCKS + 2 * put.length);
    const { generation } = before;
    const unfinished = this.#merges.map((merge) => merge.progress);
    const manifest = { nextRun, rows: before.rows + more, runs, dead, inline, unfinished };
    put.push(...manifestRows(shape, { generation, ...manifest }));
    return { put, removed };
  }

  /** The dead runs. Merges that are not as what is stored says are forgotten: a commit failed, or a process ended. */
  #deadOf({ unfinished, dead }: Manifest): DeadRun[] {
    const isSame = ({ progress }: RunMerge): boolean =>
      unfinished.some(({ id, blocks }) => id === progress.id && blocks === progress.blocks);
    if (!this.#merges.every(isSame) || this.#merges.length !== unfinished.length) this.#merges = [];
    const left = this.#merges.length === 0 ? unfinished : [];
    return [...dead, ...left];
  }

  /** Begins the merges that are due. @returns the next run's number */
  #begin(runs: readonly Run[], nextRun: number): number {
    let next = nextRun;
    for (;;) {
      const busy = new Set(this.#leftAlone);
      for (const { inputs } of this.#merges) for (const { id } of inputs) busy.add(id);
      const due = dueMerge(runs, busy);
      if (due === undefined) return next;
      const isOldest = due[due.length - 1] === runs[runs.length - 1];
      try {
        this.#merges.push(new RunMerge(this.#runs, due, next, isOldest));
      } catch (error) {
        this.#leaveAlone(due, error);
        continue;
      }
      next += 1;
      // Those of newer runs are shorter, and come first.
      this.#merges.sort((a, b) => a.entries - b.entries);
    }
  }

  /** Goes on with merges. @returns those that are done */
  async #merge(entries: number, put: WrittenRow[], dead: DeadRun[]) {
    const finished: { inputs: readonly Run[]; made: Run | undefined }[] = [];
    let left = entries;
    for (const merge of [...this.#merges]) {
      try {
        while (left > 0 && !merge.isDone) {
          left -= merge.step(Math.min(left, ENTRIES_PER_TURN));
          await nextTurn();
        }
      } catch (error) {
        this.#leaveAlone(merge.inputs, error);
        dead.push(merge.progress);
        this.#merges.splice(this.#merges.indexOf(merge), 1);
        continue;
      }
      if (merge.isDone) {
        finished.push({ inputs: merge.inputs, made: await merge.finish() });
        this.#merges.splice(this.#merges.indexOf(merge), 1);
      }
      put.push(...merge.takeRows());
    }
    return finished;
  }

  /** Reads that need what is damaged fail, and nothing else: newer runs are merged, or the list would grow for ever. */
  #leaveAlone(inputs: readonly Run[], error: unknown): void {
    if (!isStoredDamage(error)) throw error;
    for (const { id } of inputs) this.#leftAlone.add(id);
  }
}

/** Hands changes to the engine, inside its transaction. */
export function writeRuns(database: RunsDatabase, { put, removed }: RunChanges): void {
  for (const { key, value } of put) database.put(key, value);
  for (const key of removed) database.remove(key);
}

/** The rows of a manifest that comes after the one of its generation. */
export function manifestRows(shape: RunShape, manifest: Manifest): WrittenRow[] {
  const generation = manifest.generation + 1;
  return [
    { key: manifestKey(shape), value: encodeManifest(shape, { ...manifest, generation }) },
    { key: generationKey(shape), value: generationBytes(generation) },
  ];
}

/** The runs that are to be merged now, which are neighbours. */
function dueMerge(runs: readonly Run[], busy: ReadonlySet<number>): readonly Run[] | undefined {
  const isBusy = ({ id }: Run): boolean => busy.has(id);
  const firstBusy = runs.findIndex(isBusy);
  const newest = firstBusy < 0 ? runs.slice(0, -1) : runs.slice(0, firstBusy);
  const levels = newest.map(levelOf);
  for (let level = 0; level <= Math.max(0, ...levels); level += 1) {
    const end = levels.findIndex((one) => one > level);
    const upTo = levels.slice(0, end < 0 ? levels.length : end);
    if (upTo.filter((one) => one === level).length < MERGED_RUNS) continue;
    return newest.slice(upTo.indexOf(level), upTo.lastIndexOf(level) + 1);
  }
  const oldest = runs[runs.length - 1];
  if (oldest === undefined || isBusy(oldest)) return undefined;
  const others = runs.slice(runs.findLastIndex(isBusy) + 1, -1);
  const entries = others.reduce((sum, run) => sum + run.entries, 0);
  const least = Math.max(LEAST_MERGED_ENTRIES, oldest.entries / OLDEST_SHARE);
  return entries < least ? undefined : [...others, oldest];
}

/** Runs of a level have up to eight times as many entries as those of the one below. */
function levelOf({ entries }: Run): number {
  return Math.max(0, Math.floor(Math.log(entries / MAX_INLINE_ENTRIES) / Math.log(MERGED_RUNS)));
}

function replace(runs: Run[], inputs: readonly Run[], made: Run | undefined): void {
  const first = runs.findIndex(({ id }) => id === inputs[0]!.id);
  runs.splice(first, inputs.length, ...(made === undefined ? [] : [made]));
}

export function deadRun({ fenceWords }: RunShape, { id, blocks, filterWords }: Run): DeadRun {
  return { id, blocks, parts: Math.max(partsOf(blocks * fenceWords), partsOf(filterWords)) };
}

/** Takes rows of dead runs away, from their ends. @returns their keys */
function removeDead(shape: RunShape, dead: DeadRun[], most: number): RowKey[] {
  const removed: RowKey[] = [];
  while (removed.length < most && dead.length > 0) {
    const { id, blocks, parts } = dead[0]!;
    const end = Math.max(0, blocks - (most - removed.length));
    for (let block = blocks - 1; block >= end; block -= 1) {
      removed.push(partKey(shape, BLOCK, id, block));
    }
    if (end > 0) {
      dead[0] = { id, blocks: end, parts };
      break;
    }
    for (let part = 0; part < parts; part += 1) {
      removed.push(partKey(shape, FIRST_KEYS, id, part), partKey(shape, FILTER, id, part));
    }
    dead.shift();
  }
  return removed;
}

function generationBytes(generation: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64LE(BigInt(generation));
  return bytes;
}

/** Entries in their order, with older ones: of the same key the last counts. */
async function sortedEntries(added: AddedEntries, older: Uint32Array): Promise<Uint32Array> {
  const { shape, words } = added;
  const { entryWords } = shape;
  const count = older.length / entryWords + added.count;
  const all = new Uint32Array(count * entryWords);
  all.set(older);
  all.set(words, older.length);
  const indexes = await sortedIndexes(shape, all, count);
  const sorted = new Uint32Array(all.length);
  let end = 0;
  for (let place = 0; place < count; place += ENTRIES_PER_TURN) {
    if (place > 0) await nextTurn();
    end = copySorted(shape, all, indexes.subarray(place, place + ENTRIES_PER_TURN), sorted, end);
  }
  return sorted.subarray(0, end);
}

/** Copies entries in their order behind others, of the same key the last. @returns where they end */
function copySorted(
  shape: RunShape,
  all: Uint32Array,
  indexes: Uint32Array,
  sorted: Uint32Array,
  start: number,
): number {
  const { entryWords, keyWords } = shape;
  let end = start;
  for (let place = 0; place < indexes.length; place += 1) {
    const from = indexes[place]! * entryWords;
    const isReplaced = end > 0 && compareWords(sorted, end - entryWords, all, from, keyWords) === 0;
    copyEntry(shape, all, from, sorted, isReplaced ? end - entryWords : end);
    if (!isReplaced) end += entryWords;
  }
  return end;
}

/** Indexes of entries in the order of their keys; those of equal keys ascend. */
async function sortedIndexes(
  shape: RunShape,
  all: Uint32Array,
  count: number,
): Promise<Uint32Array> {
  const { entryWords, keyWords } = shape;
  if (count > MAX_SORTED_BY_NUMBER) {
    const compare = (a: number, b: number): number =>
      compareWords(all, a * entryWords, all, b * entryWords, keyWords) || a - b;
    return Uint32Array.from({ length: count }, (_, at) => at).sort(compare);
  }
  const sorted = await sortedNumbers(firstWords(shape, all, count));
  return indexesOf(shape, all, sorted);
}

/** Numbers sort several times as fast as with a comparison of our own: the first word of each entry, then its index. */
function firstWords({ entryWords }: RunShape, all: Uint32Array, count: number): Float64Array {
  const numbers = new Float64Array(count);
  for (let at = 0; at < count; at += 1) {
    numbers[at] = all[at * entryWords]! * MAX_SORTED_BY_NUMBER + at;
  }
  return numbers;
}

/** The indexes in sorted numbers, those of entries with the same first word in the order of their keys. */
function indexesOf(
  { entryWords, keyWords }: RunShape,
  all: Uint32Array,
  numbers: Float64Array,
): Uint32Array {
  const compare = (a: number, b: number): number =>
    compareWords(all, a * entryWords, all, b * entryWords, keyWords) || a - b;
  const count = numbers.length;
  const indexes = new Uint32Array(count);
  for (let at = 0; at < count; at += 1) indexes[at] = numbers[at]! % MAX_SORTED_BY_NUMBER;
  for (let from = 0; from < count; ) {
    let to = from + 1;
    let isSorted = true;
    const first = all[indexes[from]! * entryWords];
    for (; to < count && all[indexes[to]! * entryWords] === first; to += 1) {
      isSorted &&= compare(indexes[to - 1]!, indexes[to]!) < 0;
    }
    // Many writes of one key come in the order of their versions.
    if (!isSorted) indexes.subarray(from, to).sort(compare);
    from = to;
  }
  return indexes;
}

/** Sorts numbers that all differ, some between two turns of the event loop. */
async function sortedNumbers(numbers: Float64Array): Promise<Float64Array> {
  const { length } = numbers;
  for (let from = 0; from < length; from += SORTED_PER_TURN) {
    await nextTurn();
    numbers.subarray(from, from + SORTED_PER_TURN).sort();
  }
  let sorted = numbers;
  let other: Float64Array = new Float64Array(length > SORTED_PER_TURN ? length : 0);
  for (let part = SORTED_PER_TURN; part < length; part *= 2) {
    for (let from = 0; from < length; from += 2 * part) {
      await nextTurn();
      mergeNumbers(sorted, from, part, other);
    }
    [sorted, other] = [other, sorted];
  }
  return sorted;
}

/** Merges two sorted parts of so many numbers, of which the second may be shorter, to the same place elsewhere. */
function mergeNumbers(from: Float64Array, start: number, part: number, to: Float64Array): void {
  const middle = Math.min(start + part, from.length);
  const end = Math.min(middle + part, from.length);
  let [left, right] = [start, middle];
  for (let at = start; at < end; at += 1) {
    const isLeft = right === end || (left < middle && from[left]! < from[right]!);
    to[at] = from[isLeft ? left : right]!;
    if (isLeft) left += 1;
    else right += 1;
  }
}
