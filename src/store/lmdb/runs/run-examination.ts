/**
 * Examines all rows of a column's sorted runs: every checksum, the order of entries, first keys and filters against the
 * blocks, and the number of rows. It also makes what mends them: a block that cannot be read is replaced by the entry
 * next to it, over and over, which changes nothing for readers; what it had is then missing, and can be put again.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RowKey } from '../../columns/columns.ts';
import { closing } from '../iteration.ts';
import { StoredValueError } from '../stored-value.ts';
import { addToFilter } from './run-filter.ts';
import {
  type DeadRun,
  decodeManifest,
  EMPTY_MANIFEST,
  type Manifest,
  type Run,
} from './run-manifest.ts';
import { fenceOf, partRows, type WrittenRow } from './run-output.ts';
import {
  blockKey,
  FILTER,
  FIRST_KEYS,
  GENERATION_WORDS,
  generationKey,
  generationOf,
  isSound,
  manifestKey,
  markOfPart,
  runRange,
  sealed,
} from './run-rows.ts';
import { compareWords, copyEntry, type RunShape, WORD_BYTES } from './run-shape.ts';
import { deadRun, manifestRows, type RunChanges } from './run-writer.ts';
import { hasFence, type SortedRuns } from './sorted-runs.ts';

/** Blocks read, or a thousand entries counted, between two turns of the event loop. */
const STEPS_PER_TURN = 20;
const ENTRIES_PER_STEP = 1_000;
const ALL = {
  ...{ low: undefined, high: undefined, withoutLow: false, withoutHigh: false, reverse: false },
};

export interface RunExamination {
  readonly damages: readonly string[];
  /** What mends the damages, as far as it can be done at once. */
  readonly changes: RunChanges;
}

const SOUND: RunExamination = { damages: [], changes: { put: [], removed: [] } };

/** @param onBlocks gets how many blocks have been read */
export async function examineRuns(
  runs: SortedRuns,
  onBlocks: (blocks: number) => void,
): Promise<RunExamination> {
  let manifest: Manifest;
  try {
    manifest = runs.manifest();
  } catch (error) {
    if (!(error instanceof StoredValueError)) throw error;
    return withoutManifest(runs, error.message);
  }
  const damages: string[] = [];
  const put: WrittenRow[] = [];
  const left: Run[] = [];
  const dead: DeadRun[] = [];
  let blocks = 0;
  for (const run of manifest.runs) {
    const examined = await examineRun(runs, run);
    blocks += run.blocks;
    onBlocks(blocks);
    // A run that a writer has merged meanwhile is gone.
    const isThere = () => runs.manifest().runs.some(({ id }) => id === run.id);
    if (examined.damages.length > 0 && isThere()) {
      damages.push(...examined.damages.map((detail) => `sorted run ${run.id}: ${detail}`));
      put.push(...examined.put);
    }
    if (examined.isLost) dead.push(deadRun(runs.shape, run));
    else left.push(run);
  }
  if (damages.length === 0) return examineCount(runs, manifest);
  const allDead = [...manifest.dead, ...manifest.unfinished, ...dead];
  const changed = { ...manifest, runs: left, unfinished: [], dead: allDead };
  return { damages, changes: { put: [...put, ...manifestRows(runs.shape, changed)], removed: [] } };
}

interface ExaminedRun {
  readonly damages: readonly string[];
  readonly put: readonly WrittenRow[];
  /** Whether no block can be read. */
  readonly isLost: boolean;
}

async function examineRun(runs: SortedRuns, run: Run): Promise<ExaminedRun> {
  const fences = unlessDamaged(() => runs.fences(run));
  const examined = await examineBlocks(runs, run, fences);
  // First keys that no block begins with are another run's: what is stored without a mark does not tell.
  return examined.isLost && fences ? examineBlocks(runs, run, undefined) : examined;
}

/** @param stored the first keys that blocks must have, if they are known */
async function examineBlocks(
  runs: SortedRuns,
  run: Run,
  stored: Uint32Array | undefined,
): Promise<ExaminedRun> {
  const { shape, database } = runs;
  const { entryWords, fenceWords, keyWords, blockEntries } = shape;
  const damages: string[] = [];
  const put: WrittenRow[] = [];
  const filter = new Uint32Array(run.filterWords);
  const fences = new Uint32Array(run.blocks * fenceWords);
  const last = new Uint32Array(entryWords);
  let hasLast = false;
  /** The first blocks, as long as none can be read. */
  let waiting: number[] = [];
  const entriesOf = (block: number) => Math.min(run.entries - block * blockEntries, blockEntries);
  const note = (block: number, words: Uint32Array, count: number): void => {
    fences.set(fenceOf(shape, words), block * fenceWords);
    for (let at = 0; at < count && run.filterWords > 0; at += entryWords) {
      addToFilter(shape, filter, words, at);
    }
  };
  const fill = (block: number): void => {
    const count = entriesOf(block) * entryWords;
    const words = new Uint32Array(count + 1);
    for (let at = 0; at < count; at += entryWords) copyEntry(shape, last, 0, words, at);
    put.push({ key: blockKey(shape, run.id, block), value: sealed(words, count) });
    note(block, words, entryWords);
  };
  for (let block = 0; block < run.blocks; block += 1) {
    if (block % STEPS_PER_TURN === 0) await nextTurn();
    const count = entriesOf(block) * entryWords;
    const row = unlessDamaged(() => database.get(blockKey(shape, run.id, block)));
    const words = isSound(row, count) ? row.words.slice(0, count) : undefined;
    const isAfter = words && hasLast ? compareWords(last, 0, words, 0, keyWords) <= 0 : true;
    const isOther = words && stored && !hasFence(shape, stored, block, words);
    if (words === undefined || isOther || !isAfter || !isSorted(shape, words)) {
      damages.push(`block ${block} is damaged or missing`);
      if (hasLast) fill(block);
      else waiting.push(block);
      continue;
    }
    if (!hasLast) copyEntry(shape, words, 0, last, 0);
    hasLast = true;
    for (const before of waiting) fill(before);
    waiting = [];
    note(block, words, count);
    copyEntry(shape, words, count - entryWords, last, 0);
  }
  if (!hasLast) return { damages, put: [], isLost: true };
  for (const [kind, made, what] of [
    [FIRST_KEYS, fences, 'its first keys are not those of its blocks'],
    [FILTER, filter, 'its filter is not that of its entries'],
  ] as const) {
    const rows = await partRows(shape, kind, run.id, made);
    const differ = rows.filter(({ key, value }) => {
      const count = value.length / WORD_BYTES - 1;
      const stored = unlessDamaged(() => database.get(key));
      if (!isSound(stored, count, markOfPart(key))) return true;
      const { buffer, byteOffset } = stored.words;
      const words = new Uint8Array(buffer, byteOffset, count * WORD_BYTES);
      return Buffer.compare(words, value.subarray(0, words.length)) !== 0;
    });
    if (differ.length > 0) damages.push(what);
    put.push(...differ);
  }
  return { damages, put, isLost: false };
}

/** What is stored; `undefined` where it is damaged. */
function unlessDamaged<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof StoredValueError)) throw error;
    return undefined;
  }
}

function isSorted({ entryWords, keyWords }: RunShape, words: Uint32Array): boolean {
  for (let at = entryWords; at < words.length; at += entryWords) {
    if (compareWords(words, at - entryWords, words, at, keyWords) > 0) return false;
  }
  return true;
}

/** Whether there are as many rows as the manifest says, unless somebody writes. */
async function examineCount(runs: SortedRuns, manifest: Manifest): Promise<RunExamination> {
  let rows = 0;
  try {
    const walk = runs.walk(ALL);
    while (walk.next()) {
      rows += 1;
      if (rows % (STEPS_PER_TURN * ENTRIES_PER_STEP) === 0) await nextTurn();
    }
  } catch (error) {
    if (!(error instanceof StoredValueError)) throw error;
    // Blocks of runs that were merged meanwhile are gone.
    return SOUND;
  }
  if (rows === manifest.rows || runs.manifest().generation !== manifest.generation) return SOUND;
  return {
    damages: [`sorted runs have ${rows} rows, and ${manifest.rows} are counted`],
    changes: { put: manifestRows(runs.shape, { ...manifest, rows }), removed: [] },
  };
}

/** Nothing of the runs is known without their list, unless only the number of the last commit is wrong. */
function withoutManifest({ shape, database }: SortedRuns, detail: string): RunExamination {
  const stored = unlessDamaged(() => {
    const row = database.get(manifestKey(shape));
    return row && decodeManifest(shape, row);
  });
  if (stored !== undefined) {
    return { damages: [detail], changes: { put: manifestRows(shape, stored), removed: [] } };
  }
  const removed: RowKey[] = [];
  let lastRun = 0;
  for (const key of closing(database.getKeys(runRange(shape)))) {
    lastRun = Math.max(lastRun, key.readUInt32BE(2));
    removed.push({ partition: key.subarray(0, 2), order: key.subarray(2) });
  }
  const last = unlessDamaged(() => database.get(generationKey(shape)));
  const generation = last?.count === GENERATION_WORDS ? generationOf(last) : 0;
  const known = Number.isSafeInteger(generation + 1) ? generation : 0;
  const manifest = { ...EMPTY_MANIFEST, generation: known, nextRun: lastRun + 1 };
  return { damages: [detail], changes: { put: manifestRows(shape, manifest), removed } };
}
