/**
 * The entries of a column in sorted runs (docs/data-layout.md, "Sorted runs"): every commit adds its entries as a run,
 * written one block after the other, and runs are merged as they become many (run-writer.ts). Of entries with the same
 * key the newest run's counts.
 *
 * A lookup reads one block of each run that may have the partition, the newest first. Where orders are versions, it
 * usually ends with the first: they ascend from run to run.
 */
import type { RowKey } from '../../columns/columns.ts';
import { closing } from '../iteration.ts';
import { StoredValueError } from '../stored-value.ts';
import { type Cursor, cursorIn, type EntryRange, EntryWalk } from './entry-walk.ts';
import { hashOf, isSamePartition, mayHave } from './run-filter.ts';
import { decodeManifest, EMPTY_MANIFEST, type Manifest, type Run } from './run-manifest.ts';
import {
  blockKey,
  checkUnwritten,
  FILTER,
  FIRST_KEYS,
  generationKey,
  generationOf,
  isSound,
  manifestKey,
  markOfPart,
  PART_WORDS,
  partKey,
  type ReadOptions,
  type RunsDatabase,
} from './run-rows.ts';
import {
  compareWords,
  copyEntry,
  DELETED,
  FENCE_PARTITION_WORDS,
  firstAbove,
  type RunShape,
  WORD_BYTES,
} from './run-shape.ts';

/** What a process has in memory of a run. */
interface LoadedRun {
  readonly fences: Uint32Array;
  /** 1 for each block whose checksum this process has compared: blocks never change. */
  readonly checked: Uint8Array;
  readonly filter: Uint32Array | undefined;
}

interface Known {
  readonly manifest: Manifest;
  /** For each run, the highest order of it and of all older ones. */
  readonly highestFrom: readonly Uint32Array[];
}

export class SortedRuns {
  readonly shape: RunShape;
  readonly database: RunsDatabase;
  readonly #snapshot: () => number;
  #known: Known;
  /** The snapshot that it was read from. */
  #knownIn: number | undefined;
  readonly #loaded = new Map<number, LoadedRun>();
  /** The entry that was found last. */
  readonly found: Uint32Array;

  /** @param snapshot a number that is another one when reads see a newer commit */
  constructor(database: RunsDatabase, shape: RunShape, snapshot: () => number) {
    this.database = database;
    this.#snapshot = snapshot;
    this.shape = shape;
    this.#blockKey = blockKey(shape, 0, 0);
    this.#known = { manifest: EMPTY_MANIFEST, highestFrom: [] };
    this.found = new Uint32Array(shape.entryWords);
  }

  /** @throws StoredValueError for one that cannot be read */
  manifest(options?: ReadOptions): Manifest {
    return this.#current(options).manifest;
  }

  /** Pages that blocks, first keys and filters take, also those of runs that are dead or not there yet. */
  pages(): number {
    const { runs, unfinished, dead } = this.manifest();
    const { pageSize } = this.database.getStats();
    const blocks = [...runs, ...unfinished, ...dead].reduce((sum, run) => sum + run.blocks, 0);
    const words = runs.reduce((sum, run) => {
      return sum + run.blocks * this.shape.fenceWords + run.filterWords;
    }, 0);
    return blocks + Math.ceil((words * WORD_BYTES) / pageSize);
  }

  /** The highest order of all partitions. */
  highestOrder(): Uint32Array | undefined {
    const { shape } = this;
    const { manifest, highestFrom } = this.#current(undefined);
    let highest = highestFrom[0];
    const { inline } = manifest;
    for (let at = shape.partitionWords; at < inline.length; at += shape.entryWords) {
      const order = inline.subarray(at, at + shape.keyWords - shape.partitionWords);
      if (highest === undefined || compareWords(order, 0, highest, 0, order.length) > 0) {
        highest = order;
      }
    }
    return highest;
  }

  #current(options: ReadOptions | undefined): Known {
    if (options === undefined) {
      // If the next read begins a new snapshot, this says so.
      this.database.ensureReadTxn();
      if (this.#knownIn === this.#snapshot()) return this.#known;
    }
    const row = this.database.get(generationKey(this.shape), options);
    if (row === undefined) this.#checkUnwritten(options);
    const generation = row === undefined ? 0 : generationOf(row);
    if (generation !== this.#known.manifest.generation) this.#know(generation, options);
    // The read itself may have begun the snapshot.
    this.#knownIn = options === undefined ? this.#snapshot() : undefined;
    return this.#known;
  }

  #checkUnwritten(options: ReadOptions | undefined): void {
    const range = { start: generationKey(this.shape), end: undefined, limit: 1, ...options };
    const [behind] = closing(this.database.getKeys(range));
    const [before] = closing(this.database.getKeys({ ...range, reverse: true }));
    checkUnwritten(before, behind);
  }

  #know(generation: number, options: ReadOptions | undefined): void {
    const row = this.database.get(manifestKey(this.shape), options);
    const manifest =
      generation === 0 || row === undefined ? EMPTY_MANIFEST : decodeManifest(this.shape, row);
    if (manifest.generation !== generation) {
      throw new StoredValueError('a list of sorted runs of another commit');
    }
    const highestFrom: Uint32Array[] = [];
    for (const { highestOrder } of manifest.runs.toReversed()) {
      const own = Uint32Array.from(highestOrder);
      const older = highestFrom[0];
      const isHigher = older === undefined || compareWords(own, 0, older, 0, own.length) > 0;
      highestFrom.unshift(isHigher ? own : older);
    }
    this.#known = { manifest, highestFrom };
    const ids = new Set(manifest.runs.map(({ id }) => id));
    for (const id of this.#loaded.keys()) if (!ids.has(id)) this.#loaded.delete(id);
  }

  /** Finds the last entry at or below a key in its partition that is not deleted. */
  seekLast(key: Uint32Array, options?: ReadOptions): boolean {
    const { keyWords, partitionWords } = this.shape;
    const known = this.#current(options);
    const hash = hashOf(this.shape, key, 0);
    if (!this.#seekEntry(known, key, hash, options)) return false;
    if (this.found[keyWords] !== DELETED) return true;
    const low = new Uint32Array(keyWords);
    low.set(key.subarray(0, partitionWords));
    const range = { low, high: key, withoutLow: false, withoutHigh: false, reverse: true };
    const walk = this.walk(range, options);
    if (!walk.next()) return false;
    this.found.set(walk.entry);
    return true;
  }

  /** Finds the entry of a key, if it is not deleted. */
  seekExact(key: Uint32Array, options?: ReadOptions): boolean {
    const { keyWords } = this.shape;
    const known = this.#current(options);
    const hash = hashOf(this.shape, key, 0);
    const isFound = this.#seekEntry(known, key, hash, options) && this.found[keyWords] !== DELETED;
    return isFound && compareWords(this.found, 0, key, 0, keyWords) === 0;
  }

  /** The last entry at or below a key in its partition, deleted or not. */
  #seekEntry(
    { manifest, highestFrom }: Known,
    key: Uint32Array,
    hash: number,
    options: ReadOptions | undefined,
  ): boolean {
    const { shape, found } = this;
    const { entryWords, keyWords, partitionWords } = shape;
    const orderWords = keyWords - partitionWords;
    const { inline, runs } = manifest;
    const above = firstAbove(shape, inline, inline.length / entryWords, key, false);
    let isFound = above > 0 && isSamePartition(shape, inline, (above - 1) * entryWords, key, 0);
    if (isFound) copyEntry(shape, inline, (above - 1) * entryWords, found, 0);
    for (let index = 0; index < runs.length; index += 1) {
      // Older runs have no later version.
      const highest = highestFrom[index]!;
      if (isFound && compareWords(found, partitionWords, highest, 0, orderWords) >= 0) break;
      const run = runs[index]!;
      const { filter, fences } = this.#load(run, options);
      if (filter !== undefined && !mayHave(filter, hash)) continue;
      this.#blockOf(run, fences, key, false, options);
      const at = firstAbove(shape, this.#block, this.#blockEntries, key, false) - 1;
      if (at < 0) continue;
      const from = at * entryWords;
      if (!isSamePartition(shape, this.#block, from, key, 0)) continue;
      const isLater =
        !isFound ||
        compareWords(this.#block, from + partitionWords, found, partitionWords, orderWords) > 0;
      if (isLater) copyEntry(shape, this.#block, from, found, 0);
      isFound = true;
    }
    return isFound;
  }

  /** The block that was read last, valid until the next read; and its entries. */
  #block: Uint32Array = new Uint32Array(0);
  #blockEntries = 0;
  readonly #blockKey: RowKey;

  /** @throws StoredValueError for a block that is missing, or is not what was stored */
  #readBlock(
    run: Run,
    number: number,
    options: ReadOptions | undefined,
    isLoadedAgain = false,
  ): void {
    const { checked, fences } = this.#load(run, options);
    const block = this.database.get(blockKey(this.shape, run.id, number, this.#blockKey), options);
    const { blockEntries, entryWords } = this.shape;
    const before = number * blockEntries;
    const entries = Math.min(run.entries - before, blockEntries);
    const words = entries * entryWords;
    const isIntact = checked[number] === 1 ? block?.count === words + 1 : isSound(block, words);
    // One that belongs elsewhere has the right checksum, too, but another first key.
    const isOther =
      isIntact && checked[number] !== 1 && !hasFence(this.shape, fences, number, block!.words);
    if (isOther && !isLoadedAgain) {
      // A repair may have changed both.
      this.#loaded.delete(run.id);
      this.#readBlock(run, number, options, true);
      return;
    }
    if (block === undefined || !isIntact || isOther) {
      throw new StoredValueError(`block ${number} of sorted run ${run.id} is damaged or missing`);
    }
    checked[number] = 1;
    this.#block = block.words;
    this.#blockEntries = entries;
  }

  /** A block, copied. */
  block(run: Run, number: number, options?: ReadOptions): Uint32Array {
    this.#readBlock(run, number, options);
    return this.#block.slice(0, this.#blockEntries * this.shape.entryWords);
  }

  /**
   * Reads the last block whose first entry is not above a key (below it, if `orEqual`), or the first block.
   * @returns its number
   */
  #blockOf(
    run: Run,
    fences: Uint32Array,
    key: Uint32Array,
    orEqual: boolean,
    options: ReadOptions | undefined,
  ): number {
    const { keyWords, fenceWords } = this.shape;
    const most = orEqual ? -1 : 0;
    let block = Math.max(0, lastFence(this.shape, fences, key));
    this.#readBlock(run, block, options);
    // Keys that share eight bytes may lie elsewhere than what is in memory says.
    while (block > 0 && compareWords(this.#block, 0, key, 0, keyWords) > most) {
      block -= 1;
      this.#readBlock(run, block, options);
    }
    const last = (this.#blockEntries - 1) * this.shape.entryWords;
    if (compareWords(this.#block, last, key, 0, keyWords) > 0) return block;
    for (
      let next = block + 1;
      next < run.blocks && hasPrefix(fences, next * fenceWords, key);
      next += 1
    ) {
      this.#readBlock(run, next, options);
      if (compareWords(this.#block, 0, key, 0, keyWords) > most) {
        this.#readBlock(run, block, options);
        break;
      }
      block = next;
    }
    return block;
  }

  #load(run: Run, options: ReadOptions | undefined): LoadedRun {
    const known = this.#loaded.get(run.id);
    if (known !== undefined) return known;
    const fences = this.fences(run, options);
    const filter =
      run.filterWords === 0 ? undefined : this.#readParts(FILTER, run.id, run.filterWords, options);
    const loaded = { fences, filter, checked: new Uint8Array(run.blocks) };
    this.#loaded.set(run.id, loaded);
    return loaded;
  }

  /** What is stored of the first keys of a run's blocks. @throws StoredValueError */
  fences({ id, blocks }: Run, options?: ReadOptions): Uint32Array {
    return this.#readParts(FIRST_KEYS, id, blocks * this.shape.fenceWords, options);
  }

  #readParts(kind: number, id: number, words: number, options?: ReadOptions): Uint32Array {
    const all = new Uint32Array(words);
    let at = 0;
    for (let part = 0; at < words; part += 1) {
      const key = partKey(this.shape, kind, id, part);
      const read = this.database.get(key, options);
      const count = Math.min(words - at, PART_WORDS);
      if (!isSound(read, count, markOfPart(key))) {
        throw new StoredValueError(`part ${part} of sorted run ${id} is damaged or missing`);
      }
      all.set(read.words.subarray(0, count), at);
      at += count;
    }
    return all;
  }

  /** Goes through the entries of a range that are not deleted. */
  walk(range: EntryRange, options?: ReadOptions): EntryWalk {
    const { shape } = this;
    const { low, high, reverse } = range;
    const { manifest } = this.#current(options);
    const isOnePartition =
      low !== undefined && high !== undefined && isSamePartition(shape, low, 0, high, 0);
    const hash = isOnePartition ? hashOf(shape, low, 0) : undefined;
    const cursors = this.#cursors(manifest, range, hash, options);
    return new EntryWalk(shape, cursors, { reverse, isOnePartition });
  }

  /** @param hash of the one partition that a range has */
  #cursors(
    manifest: Manifest,
    range: EntryRange,
    hash: number | undefined,
    options: ReadOptions | undefined,
  ): Cursor[] {
    const { shape } = this;
    const { low, high, reverse } = range;
    const edge = reverse ? high : low;
    const orEqual = reverse ? range.withoutHigh : !range.withoutLow;
    const { inline } = manifest;
    const inlinePlace = { count: inline.length / shape.entryWords, block: 0, blocks: 1 };
    const cursors = [cursorIn(shape, range, () => inline, inline, inlinePlace)];
    for (const run of manifest.runs) {
      const { blocks } = run;
      const { filter, fences } = this.#load(run, options);
      if (hash !== undefined && filter !== undefined && !mayHave(filter, hash)) continue;
      let block = reverse ? blocks - 1 : 0;
      if (edge === undefined) this.#readBlock(run, block, options);
      else block = this.#blockOf(run, fences, edge, orEqual, options);
      const place = { count: this.#blockEntries, block, blocks };
      const read = (number: number): Uint32Array => this.block(run, number, options);
      cursors.push(cursorIn(shape, range, read, this.#block, place));
    }
    return cursors.filter((cursor) => cursor !== undefined);
  }
}

/** The last block whose first key, as far as it is in memory, is not above a key; −1: none. */
function lastFence(shape: RunShape, fences: Uint32Array, key: Uint32Array): number {
  const { fenceWords } = shape;
  const first = key[0]!;
  let [low, high] = [0, fences.length / fenceWords];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = middle * fenceWords;
    let order = fences[at]! - first;
    if (order === 0) order = compareFence(shape, fences, at, key);
    if (order <= 0) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Compares what follows the first word. */
function compareFence(
  { fenceWords, partitionWords }: RunShape,
  fences: Uint32Array,
  at: number,
  key: Uint32Array,
): number {
  const order = fences[at + 1]! - key[1]!;
  if (order !== 0) return order;
  const orderAt = at + FENCE_PARTITION_WORDS;
  return compareWords(fences, orderAt, key, partitionWords, fenceWords - FENCE_PARTITION_WORDS);
}

/** Whether a block begins with the key that its number has. */
export function hasFence(
  { fenceWords, partitionWords }: RunShape,
  fences: Uint32Array,
  number: number,
  block: Uint32Array,
): boolean {
  const at = number * fenceWords;
  const orderWords = fenceWords - FENCE_PARTITION_WORDS;
  return (
    hasPrefix(fences, at, block) &&
    compareWords(fences, at + FENCE_PARTITION_WORDS, block, partitionWords, orderWords) === 0
  );
}

function hasPrefix(fences: Uint32Array, at: number, key: Uint32Array): boolean {
  return fences[at] === key[0] && fences[at + 1] === key[1];
}
