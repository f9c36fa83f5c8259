/**
 * What a column's sorted runs are, in one row that every commit with entries writes again: runs, the newest entries,
 * and what is still to be deleted. All numbers are u32, little-endian; what needs more takes two, the low one first.
 */
import { StoredValueError } from '../stored-value.ts';
import { isSound, manifestKey, markOfPart, sealed, type VolatileWords } from './run-rows.ts';
import type { RunShape } from './run-shape.ts';

/** A sorted run: it never changes. */
export interface Run {
  readonly id: number;
  readonly entries: number;
  readonly blocks: number;
  /** Words of its filter; 0: it has none. */
  readonly filterWords: number;
  /** No entry has a higher order, in any partition. */
  readonly highestOrder: readonly number[];
}

/** Rows of a run that is not, or no longer, part of the column. */
export interface DeadRun {
  readonly id: number;
  readonly blocks: number;
  /** Rows of first keys and of the filter. */
  readonly parts: number;
}

export interface Manifest {
  /** One more with each commit. */
  readonly generation: number;
  readonly nextRun: number;
  /** Rows of the column. */
  readonly rows: number;
  /** The newest first. */
  readonly runs: readonly Run[];
  /** Runs that are being merged: not there yet, and dead if the process ends. */
  readonly unfinished: readonly DeadRun[];
  readonly dead: readonly DeadRun[];
  /** The newest entries, sorted. */
  readonly inline: Uint32Array;
}

export const EMPTY_MANIFEST: Manifest = {
  ...{ generation: 0, nextRun: 1, rows: 0, runs: [], unfinished: [], dead: [] },
  inline: new Uint32Array(0),
};

const HEAD_WORDS = 9;
const DEAD_WORDS = 3;
const TWO_32 = 0x1_0000_0000;

function orderWords({ keyWords, partitionWords }: RunShape): number {
  return keyWords - partitionWords;
}

export function encodeManifest(shape: RunShape, manifest: Manifest): Uint8Array {
  const { generation, nextRun, rows, runs, unfinished, dead, inline } = manifest;
  const words = [
    ...[generation % TWO_32, Math.floor(generation / TWO_32), nextRun],
    ...[rows % TWO_32, Math.floor(rows / TWO_32)],
    ...[runs.length, unfinished.length, dead.length, inline.length],
  ];
  for (const { id, entries, blocks, filterWords, highestOrder } of runs) {
    words.push(id, entries, blocks, filterWords, ...highestOrder);
  }
  for (const { id, blocks, parts } of [...unfinished, ...dead]) words.push(id, blocks, parts);
  const count = words.length + inline.length;
  const stored = new Uint32Array(count + 1);
  stored.set(words);
  stored.set(inline, words.length);
  return sealed(stored, count, markOfPart(manifestKey(shape)));
}

/** @throws StoredValueError for words that are no manifest */
export function decodeManifest(shape: RunShape, row: VolatileWords): Manifest {
  const mark = markOfPart(manifestKey(shape));
  if (row.count <= HEAD_WORDS || !isSound(row, row.count - 1, mark)) throw damaged();
  const words = row.words.subarray(0, row.count - 1);
  const [low, high, nextRun, rowsLow, rowsHigh, runCount, unfinishedCount, deadCount, inlineWords] =
    words;
  const runWords = 4 + orderWords(shape);
  const counts = [runCount, unfinishedCount, deadCount, inlineWords];
  if (counts.some((count) => count! > words.length)) throw damaged();
  const inlineAt = HEAD_WORDS + runCount! * runWords + (unfinishedCount! + deadCount!) * DEAD_WORDS;
  if (words.length !== inlineAt + inlineWords! || inlineWords! % shape.entryWords !== 0) {
    throw damaged();
  }
  const runs: Run[] = [];
  let at = HEAD_WORDS;
  for (; runs.length < runCount!; at += runWords) {
    const [id, entries, blocks, filterWords, ...highestOrder] = words.subarray(at, at + runWords);
    runs.push({
      ...{ id: id!, entries: entries!, blocks: blocks!, filterWords: filterWords! },
      highestOrder,
    });
  }
  const deadAt = at + unfinishedCount! * DEAD_WORDS;
  return {
    ...{
      generation: high! * TWO_32 + low!,
      nextRun: nextRun!,
      rows: rowsHigh! * TWO_32 + rowsLow!,
    },
    ...{ runs, unfinished: deadRuns(words.subarray(at, deadAt)) },
    dead: deadRuns(words.subarray(deadAt, inlineAt)),
    inline: words.slice(inlineAt),
  };
}

function deadRuns(words: Uint32Array): DeadRun[] {
  const runs: DeadRun[] = [];
  for (let at = 0; at < words.length; at += DEAD_WORDS) {
    runs.push({ id: words[at]!, blocks: words[at + 1]!, parts: words[at + 2]! });
  }
  return runs;
}

function damaged(): StoredValueError {
  return new StoredValueError('a list of sorted runs that cannot be read');
}
