/** Adds entries to sorted runs, inside the transaction of a commit. One process does. */
import { decodeEntries, type Entry, emptyBlock, encodeEntries } from './block.ts';
import { encodeManifest, MAX_RUN_BLOCKS, type Manifest, type RecordRange } from './manifest.ts';
import { Run } from './run.ts';
import { type BlockWrites, RunBuilder } from './run-builder.ts';
import { RunMerge } from './run-merge.ts';
import { insert, type RunRows, SortedRuns } from './sorted-runs.ts';

/** Entries that the log may have: every process has them in memory. */
export const MAX_LOG_ENTRIES = 4_096;
/** So many neighbouring runs of about one size are merged into one. */
const RUNS_PER_SIZE = 8;
/** When all others have so much of the oldest run's entries, they are merged with it. */
const OLDEST_RATIO = 0.5;
/** Entries that each merge advances by, for each entry that a commit adds. */
const MERGE_PACE = 8;
/** Rows of runs that nothing uses any more which a commit deletes. */
const MAX_REMOVED_ROWS = 2_048;

export interface WritableRunRows extends RunRows, BlockWrites {
  writeManifest(bytes: Buffer): void;
  writeLog(id: number, bytes: Buffer): void;
  clearLog(): void;
  /** Removes blocks from one id up to, but not including, another. @returns how many */
  removeBlocks(from: number, to: number): number;
  /** The id of the first block at or above one. */
  nextBlock(from: number): number | undefined;
}

export class RunWriter {
  readonly runs: SortedRuns;
  readonly #rows: WritableRunRows;
  readonly #merges: RunMerge[] = [];
  /** Runs that nothing uses any more, by number. */
  readonly #removed: number[] = [];

  /** @throws StoredValueError */
  constructor(rows: WritableRunRows) {
    this.#rows = rows;
    this.runs = new SortedRuns(rows);
    this.runs.refresh();
    this.#findRemoved();
  }

  /** @param entries in the order of their keys, each once @throws StoredValueError */
  add(entries: readonly Entry[]): void {
    const { runs } = this;
    const { logTo } = runs.manifest;
    if (runs.recent.length + entries.length <= MAX_LOG_ENTRIES) {
      if (entries.length > 0) {
        const row = encodeEntries(entries, logTo + 1);
        this.#rows.writeLog(logTo + 1, row);
        // Those that were passed in keep the whole batch in memory.
        for (const entry of decodeEntries(row, logTo + 1)) insert(runs.recent, entry);
        this.#replace({ logTo: logTo + 1 }, runs.runs);
      }
    } else this.#addRun(merged(runs.recent, entries));
    this.#advance(entries.length * MERGE_PACE);
    this.#rows.writeManifest(encodeManifest(runs.manifest));
    this.#removeRows();
  }

  /** Notes which versions have records; the next `add` stores it. */
  noteRecords({ recordsFrom, recordsTo }: RecordRange): void {
    this.#replace({ recordsFrom, recordsTo }, this.runs.runs);
  }

  /** Gives every block that cannot be read one without entries, and makes indexes again. @returns how many */
  mend(): number {
    let mended = 0;
    // A merge may have read what is replaced.
    for (const merge of this.#merges.splice(0)) this.#removed.push(merge.outputNumber);
    const runs: Run[] = [];
    for (const run of this.runs.runs) {
      for (let at = 0; at < run.facts.blocks; at += 1) {
        if (isSound(() => run.block(at))) continue;
        this.#rows.writeBlock(run.idOf(at), emptyBlock(run.idOf(at)));
        mended += 1;
      }
      if (isSound(() => run.checkIndex())) runs.push(run);
      else {
        runs.push(this.#copyOf(run));
        mended += 1;
      }
    }
    this.#replace({}, runs);
    this.#rows.writeManifest(encodeManifest(this.runs.manifest));
    return mended;
  }

  #addRun(entries: readonly Entry[]): void {
    const { runs } = this;
    const { nextRun, logTo } = runs.manifest;
    const builder = this.#builder(nextRun, runs.runs.length === 0 ? 0 : entries.length);
    for (const entry of entries) builder.add(entry);
    const { facts, index } = builder.finish();
    this.#rows.clearLog();
    runs.recent = [];
    const next = { nextRun: nextRun + 1, logFrom: logTo + 1 };
    this.#replace(next, [new Run(facts, this.#rows, index), ...runs.runs]);
    this.#planMerges();
  }

  #builder(number: number, expected: number): RunBuilder {
    return new RunBuilder(number, number * MAX_RUN_BLOCKS, expected, this.#rows);
  }

  #planMerges(): void {
    const { runs } = this.runs;
    const busy = new Set(this.#merges.flatMap(({ inputs }) => inputs));
    const oldest = runs[runs.length - 1]!;
    const others = runs.reduce((sum, { facts }) => sum + facts.entries, -oldest.facts.entries);
    if (busy.size === 0 && runs.length > 1 && others >= oldest.facts.entries * OLDEST_RATIO) {
      if (runs.length >= RUNS_PER_SIZE) this.#merge(runs);
      return;
    }
    let group: Run[] = [];
    for (const run of runs) {
      const isNext = !busy.has(run) && (group.length === 0 || sizeOf(run) === sizeOf(group[0]!));
      if (isNext) group.push(run);
      else group = busy.has(run) ? [] : [run];
      if (group.length === RUNS_PER_SIZE) {
        this.#merge(group);
        return;
      }
    }
  }

  #merge(inputs: readonly Run[]): void {
    const { runs, manifest } = this.runs;
    const isOfOldest = inputs.includes(runs[runs.length - 1]!);
    const entries = inputs.reduce((sum, { facts }) => sum + facts.entries, 0);
    const output = this.#builder(manifest.nextRun, isOfOldest ? 0 : entries);
    this.#merges.push(new RunMerge(inputs, isOfOldest, output));
    this.#replace({ nextRun: manifest.nextRun + 1 }, runs);
  }

  #advance(entries: number): void {
    for (const merge of [...this.#merges]) {
      const done = merge.advance(entries);
      if (done === undefined) continue;
      this.#merges.splice(this.#merges.indexOf(merge), 1);
      const output = new Run(done.facts, this.#rows, done.index);
      const last = merge.inputs[merge.inputs.length - 1];
      const runs = this.runs.runs.flatMap((run) => {
        if (run === last) return done.facts.entries === 0 ? [] : [output];
        return merge.inputs.includes(run) ? [] : [run];
      });
      this.#removed.push(...merge.inputs.map(({ facts }) => facts.number));
      this.#replace({}, runs);
    }
  }

  #replace(changes: Partial<Manifest>, runs: readonly Run[]): void {
    const manifest = { ...this.runs.manifest, ...changes, runs: runs.map(({ facts }) => facts) };
    this.runs.replace(manifest, runs, this.runs.recent);
  }

  /** A run with the same entries and an index of its own. */
  #copyOf(run: Run): Run {
    const { runs, manifest } = this.runs;
    const isOldest = run === runs[runs.length - 1];
    const builder = this.#builder(manifest.nextRun, isOldest ? 0 : run.facts.entries);
    this.#replace({ nextRun: manifest.nextRun + 1 }, runs);
    for (let at = 0; at < run.facts.blocks; at += 1) {
      const block = run.block(at);
      for (let entry = 0; entry < block.count; entry += 1) builder.copy(block, entry);
    }
    const { facts, index } = builder.finish();
    this.#removed.push(run.facts.number);
    return new Run(facts, this.#rows, index);
  }

  #removeRows(): void {
    for (let left = MAX_REMOVED_ROWS; left > 0 && this.#removed.length > 0; ) {
      const number = this.#removed[0]!;
      const end = (number + 1) * MAX_RUN_BLOCKS;
      const from = this.#rows.nextBlock(number * MAX_RUN_BLOCKS);
      if (from === undefined || from >= end) {
        this.#removed.shift();
        continue;
      }
      left -= this.#rows.removeBlocks(from, Math.min(end, from + left));
    }
  }

  /** Runs of merges that were cut off, and those whose rows were not removed yet. */
  #findRemoved(): void {
    const used = new Set(this.runs.runs.map(({ facts }) => facts.number));
    for (let id = this.#rows.nextBlock(0); id !== undefined; ) {
      const number = Math.floor(id / MAX_RUN_BLOCKS);
      if (!used.has(number)) this.#removed.push(number);
      id = this.#rows.nextBlock((number + 1) * MAX_RUN_BLOCKS);
    }
  }
}

/** Runs of one size have up to eight times as many entries as the smallest. */
function sizeOf({ facts }: Run): number {
  return Math.floor(Math.log2(facts.entries / MAX_LOG_ENTRIES + 1) / Math.log2(RUNS_PER_SIZE));
}

/** Entries of two lists in the order of their keys; those of the second count where both have one. */
function merged(older: readonly Entry[], newer: readonly Entry[]): readonly Entry[] {
  if (older.length === 0) return newer;
  const all: Entry[] = [];
  let at = 0;
  for (const entry of newer) {
    let order = -1;
    while (at < older.length) {
      order = Buffer.compare(older[at]!.key, entry.key);
      if (order >= 0) break;
      all.push(older[at]!);
      at += 1;
    }
    if (at < older.length && order === 0) at += 1;
    all.push(entry);
  }
  for (; at < older.length; at += 1) all.push(older[at]!);
  return all;
}

function isSound(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
