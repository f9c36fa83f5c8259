/** Adds entries to sorted runs, within the transaction of a commit. Only the writing process does this. */
import { isReadable, type WritableRows } from '../stored-value.ts';
import { BlockWriter, decodeEntries, type Entry, encodeEntries } from './block.ts';
import { nextCursor, RunCursor } from './cursors.ts';
import { encodeManifest, MAX_RUN_BLOCKS, type Manifest, type RecordRange } from './manifest.ts';
import { type Run, RunBuilder } from './run.ts';
import { encodeIndex } from './run-index.ts';
import { insert, SortedRuns } from './sorted-runs.ts';

/** Most entries in the log. Every process keeps them in memory. */
export const MAX_LOG_ENTRIES = 4_096;
/** This many neighbouring runs of about the same size are merged into one. */
const RUNS_PER_SIZE = 8;
/** All runs, if there are RUNS_PER_SIZE, are merged when the newer ones have this share of the oldest run's entries. */
const OLDEST_RATIO = 0.5;
/** Each merge advances by this many entries for each entry that a commit adds. */
const MERGE_PACE = 8;
/** Most rows of unused runs that a commit deletes. */
const MAX_REMOVED_ROWS = 2_048;

/** A merge of several runs into one. Each commit merges some entries. */
interface RunMerge {
  readonly inputs: readonly Run[];
  readonly cursors: readonly RunCursor[];
  readonly dropsDeleted: boolean;
  readonly output: RunBuilder;
}

const ALL_KEYS = { from: Buffer.of(0), to: Buffer.of(0xff), reverse: false };

export class RunWriter {
  readonly runs: SortedRuns;
  readonly #rows: WritableRows;
  readonly #merges: RunMerge[] = [];
  readonly #removed: number[] = [];

  /** @throws StoredValueError */
  constructor(rows: WritableRows) {
    this.#rows = rows;
    this.runs = new SortedRuns(rows);
    this.runs.refresh();
    this.#findRemoved();
  }

  /** @param entries sorted by key, each key once @throws StoredValueError */
  add(entries: readonly Entry[]): void {
    const { runs } = this;
    const { logTo } = runs.manifest;
    if (runs.recent.length + entries.length <= MAX_LOG_ENTRIES) {
      if (entries.length > 0) {
        const row = encodeEntries(entries, logTo + 1);
        this.#rows.write('log', logTo + 1, row);
        // Decodes the row, because the entries that were passed in keep the whole batch in memory.
        for (const entry of decodeEntries(row, logTo + 1)) insert(runs.recent, entry);
        this.#replace({ logTo: logTo + 1 }, runs.runs);
      }
    } else this.#addRun(merged(runs.recent, entries));
    this.#advance(entries.length * MERGE_PACE);
    this.#rows.write('manifest', 0, encodeManifest(runs.manifest));
    this.#removeRows();
  }

  /** Notes which versions have records; the next `add` stores it. */
  setRecordRange({ recordsFrom, recordsTo }: RecordRange): void {
    this.#replace({ recordsFrom, recordsTo }, this.runs.runs);
  }

  /** Replaces unreadable blocks by empty ones and rebuilds unreadable indexes. @returns how many it replaced */
  repair(): number {
    let repaired = 0;
    // Cancels the merges: they may have read blocks that are replaced.
    for (const merge of this.#merges.splice(0)) this.#removed.push(merge.output.number);
    for (const run of this.runs.runs) {
      for (let at = 0; at < run.facts.blocks; at += 1) {
        if (isReadable(() => run.block(at))) continue;
        this.#rows.write('blocks', run.idOf(at), new BlockWriter().finish(run.idOf(at)));
        repaired += 1;
      }
      if (isReadable(() => run.storedIndex())) continue;
      const id = run.idOf(run.facts.blocks);
      this.#rows.write('blocks', id, encodeIndex(run.indexOfBlocks(), id));
      repaired += 1;
    }
    return repaired;
  }

  #addRun(entries: readonly Entry[]): void {
    const { runs } = this;
    const { nextRun, logTo } = runs.manifest;
    const builder = this.#builder(nextRun, runs.runs.length === 0 ? 0 : entries.length);
    for (const entry of entries) builder.add(entry);
    const run = builder.finish();
    this.#rows.remove('log', 0, logTo + 1);
    runs.recent = [];
    const next = { nextRun: nextRun + 1, logFrom: logTo + 1 };
    this.#replace(next, [run, ...runs.runs]);
    this.#planMerges();
  }

  #builder(number: number, expected: number): RunBuilder {
    return new RunBuilder(number, expected, this.#rows);
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
    const includesOldest = inputs.includes(runs[runs.length - 1]!);
    const entries = inputs.reduce((sum, { facts }) => sum + facts.entries, 0);
    const output = this.#builder(manifest.nextRun, includesOldest ? 0 : entries);
    const cursors = inputs.map((run) => new RunCursor(run, ALL_KEYS));
    // No older run has rows that a deletion in the oldest run could hide.
    this.#merges.push({ inputs, cursors, dropsDeleted: includesOldest, output });
    this.#replace({ nextRun: manifest.nextRun + 1 }, runs);
  }

  #advance(entries: number): void {
    for (const merge of [...this.#merges]) {
      const output = advance(merge, entries);
      if (output === undefined) continue;
      this.#merges.splice(this.#merges.indexOf(merge), 1);
      const last = merge.inputs[merge.inputs.length - 1];
      const runs = this.runs.runs.flatMap((run) => {
        if (run === last) return output.facts.entries === 0 ? [] : [output];
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

  #removeRows(): void {
    for (let left = MAX_REMOVED_ROWS; left > 0 && this.#removed.length > 0; ) {
      const number = this.#removed[0]!;
      const end = (number + 1) * MAX_RUN_BLOCKS;
      const from = this.#rows.next('blocks', number * MAX_RUN_BLOCKS);
      if (from === undefined || from >= end) {
        this.#removed.shift();
        continue;
      }
      left -= this.#rows.remove('blocks', from, Math.min(end, from + left));
    }
  }

  /** Finds the outputs of interrupted merges, and runs whose rows have not been removed yet. */
  #findRemoved(): void {
    const used = new Set(this.runs.runs.map(({ facts }) => facts.number));
    for (let id = this.#rows.next('blocks', 0); id !== undefined; ) {
      const number = Math.floor(id / MAX_RUN_BLOCKS);
      if (!used.has(number)) this.#removed.push(number);
      id = this.#rows.next('blocks', (number + 1) * MAX_RUN_BLOCKS);
    }
  }
}

/** Merges up to this many entries. @returns the run once it is complete @throws StoredValueError */
function advance({ cursors, dropsDeleted, output }: RunMerge, entries: number): Run | undefined {
  for (let left = entries; left > 0; left -= 1) {
    const cursor = nextCursor(cursors, false);
    if (cursor === undefined) return output.finish();
    const entry = cursor.entry!;
    if (!(dropsDeleted && entry.isDeleted)) output.add(entry);
    cursor.next();
  }
  return undefined;
}

/** The size class of a run. Entries grow about eightfold from one class to the next. */
function sizeOf({ facts }: Run): number {
  return Math.floor(Math.log2(facts.entries / MAX_LOG_ENTRIES + 1) / Math.log2(RUNS_PER_SIZE));
}

function merged(older: readonly Entry[], newer: readonly Entry[]): readonly Entry[] {
  if (older.length === 0) return newer;
  const all: Entry[] = [];
  let at = 0;
  for (const entry of newer) {
    let order = -1;
    while (at < older.length) {
      order = older[at]!.compare(entry);
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
