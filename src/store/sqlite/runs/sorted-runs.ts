/**
 * Rows in sorted runs, as readers see them. A commit adds its entries to the log; when the log has many, they become a
 * run, and runs are merged into larger ones (run-writer.ts). Of entries with the same key the newest counts. So a
 * commit writes a few pages one after the other, where a B-tree would change a page for nearly every key.
 */
import { StoredValueError } from '../stored-value.ts';
import { type Block, compareKeys, decodeEntries, type Entry, versionOf } from './block.ts';
import type { BlockCache } from './block-cache.ts';
import { decodeManifest, EMPTY_MANIFEST, type Manifest } from './manifest.ts';
import { type BlockRows, Run } from './run.ts';

export interface RunRows extends BlockRows {
  readManifest(): Buffer | undefined;
  /** A row of the log. */
  readLog(id: number): Buffer | undefined;
}

/** Keys between two bounds, both included. */
interface KeyRange {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  readonly reverse: boolean;
  /** That of the partition, if all keys are in one. */
  readonly hash?: number | undefined;
}

/** A key to look for: the column's number, partition and order. */
export interface SoughtKey {
  readonly key: Buffer;
  /** Bytes of column and partition. */
  readonly partitionBytes: number;
  readonly hash: number;
}

export class SortedRuns {
  readonly rows: RunRows;
  /** The newest first. */
  runs: readonly Run[] = [];
  /** Entries of the log, in the order of their keys. */
  recent: Entry[] = [];
  manifest: Manifest = EMPTY_MANIFEST;
  readonly #cache: BlockCache | undefined;
  /** For each run, the highest version that it or an older one has in keys of state. */
  #highestVersions: readonly number[] = [];

  constructor(rows: RunRows, cache?: BlockCache) {
    this.rows = rows;
    this.#cache = cache;
  }

  /** Sees what was committed since. @throws StoredValueError */
  refresh(): void {
    const bytes = this.rows.readManifest();
    const manifest = bytes === undefined ? EMPTY_MANIFEST : decodeManifest(bytes);
    const isSameLog = manifest.logFrom === this.manifest.logFrom;
    const recent = isSameLog ? this.recent : [];
    for (
      let id = isSameLog ? this.manifest.logTo + 1 : manifest.logFrom;
      id <= manifest.logTo;
      id += 1
    ) {
      const row = this.rows.readLog(id);
      if (row === undefined) throw new StoredValueError('a row of the log is missing');
      for (const entry of decodeEntries(row, id)) insert(recent, entry);
    }
    const known = new Map(this.runs.map((run) => [run.facts.number, run]));
    this.replace(
      manifest,
      manifest.runs.map(
        (facts) => known.get(facts.number) ?? new Run(facts, this.rows, undefined, this.#cache),
      ),
      recent,
    );
  }

  /** Forgets everything that was read. */
  reset(): void {
    this.replace(EMPTY_MANIFEST, [], []);
  }

  replace(manifest: Manifest, runs: readonly Run[], recent: Entry[]): void {
    this.manifest = manifest;
    this.runs = runs;
    this.recent = recent;
    let highest = -1;
    this.#highestVersions = runs
      .toReversed()
      .map(({ facts }) => {
        highest = Math.max(highest, facts.highestVersion);
        return highest;
      })
      .reverse();
  }

  /** The entry of a key, which may say that it was deleted. @throws StoredValueError */
  get(sought: SoughtKey): Entry | undefined {
    const recent = this.recent[firstAtOrAbove(this.recent, sought.key)];
    return recent?.key.equals(sought.key) === true ? recent : this.getInRuns(sought);
  }

  /** The entry of a key without the log. @throws StoredValueError */
  getInRuns({ key, hash }: SoughtKey): Entry | undefined {
    for (const run of this.runs) {
      if (!run.mayHavePartition(hash)) continue;
      const blockAt = run.blockOf(key);
      if (blockAt < 0) continue;
      const block = run.block(blockAt);
      const found = block.firstAtOrAbove(key);
      if (found < block.count && block.compareAt(found, key) === 0) {
        return { key, value: block.valueAt(found) };
      }
    }
    return undefined;
  }

  /**
   * The last entry of a partition at or below a key.
   * @param version of a key of state: then runs that cannot have a later one are not read
   * @throws StoredValueError
   */
  seekLast({ key, partitionBytes, hash }: SoughtKey, version?: number): Entry | undefined {
    let best = this.#lastRecent(key, partitionBytes);
    for (const [at, run] of this.runs.entries()) {
      if (version !== undefined) {
        if (run.facts.lowestVersion > version) continue;
        if (best !== undefined && versionOf(best.key) >= this.#highestVersions[at]!) break;
      }
      if (!run.mayHavePartition(hash)) continue;
      const found = lastInRun(run, key, partitionBytes);
      if (found !== undefined && (best === undefined || compareKeys(found.key, best.key) > 0)) {
        best = found;
      }
    }
    if (best === undefined || best.value !== undefined) return best;
    const from = key.subarray(0, partitionBytes);
    for (const entry of this.walk({ from, to: key, reverse: true, hash })) return entry;
    return undefined;
  }

  /** The entries of a range that are not deleted. @throws StoredValueError */
  *walk(range: KeyRange): Generator<Entry> {
    const cursors: Cursor[] = [new RecentCursor(this.recent, range)];
    for (const run of this.runs) {
      if (range.hash === undefined || run.mayHavePartition(range.hash)) {
        cursors.push(new RunCursor(run, range));
      }
    }
    const sign = range.reverse ? -1 : 1;
    const end = range.reverse ? range.from : range.to;
    for (;;) {
      let best: Cursor | undefined;
      for (const cursor of cursors) {
        if (cursor.key === undefined) continue;
        const order = best === undefined ? -1 : sign * compareKeys(cursor.key, best.key!);
        if (order < 0) best = cursor;
        // The entry of an older run does not count.
        else if (order === 0) cursor.next();
      }
      if (best === undefined || sign * compareKeys(best.key!, end) > 0) return;
      const entry = { key: best.key!, value: best.value() };
      best.next();
      if (entry.value !== undefined) yield entry;
    }
  }

  #lastRecent(key: Buffer, partitionBytes: number): Entry | undefined {
    const at = firstAtOrAbove(this.recent, key);
    const same = this.recent[at];
    if (same?.key.equals(key) === true) return same;
    const before = this.recent[at - 1];
    return before !== undefined && hasPartition(before.key, key, partitionBytes)
      ? before
      : undefined;
  }
}

/** Puts an entry in its place, instead of one with the same key. */
export function insert(entries: Entry[], entry: Entry): void {
  const at = firstAtOrAbove(entries, entry.key);
  const isThere = entries[at]?.key.equals(entry.key) === true;
  entries.splice(at, isThere ? 1 : 0, entry);
}

function firstAtOrAbove(entries: readonly Entry[], key: Uint8Array): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(entries[middle]!.key, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function hasPartition(key: Uint8Array, sought: Uint8Array, partitionBytes: number): boolean {
  for (let at = partitionBytes - 1; at >= 0; at -= 1) if (key[at] !== sought[at]) return false;
  return true;
}

function lastInRun(run: Run, key: Buffer, partitionBytes: number): Entry | undefined {
  for (let blockAt = run.blockOf(key); blockAt >= 0; blockAt -= 1) {
    const block = run.block(blockAt);
    const above = block.firstAtOrAbove(key);
    const isThere = above < block.count && block.compareAt(above, key) === 0;
    const at = isThere ? above : above - 1;
    if (at < 0) continue;
    const found = block.keyAt(at);
    if (!hasPartition(found, key, partitionBytes)) return undefined;
    return { key: found, value: block.valueAt(at) };
  }
  return undefined;
}

/** Where a walk is in one source. */
interface Cursor {
  /** The key that it is at; `undefined` behind the last. */
  readonly key: Buffer | undefined;
  value(): Buffer | undefined;
  next(): void;
}

class RecentCursor implements Cursor {
  readonly #entries: readonly Entry[];
  readonly #step: number;
  #at: number;

  constructor(entries: readonly Entry[], { from, to, reverse }: KeyRange) {
    this.#entries = entries;
    this.#step = reverse ? -1 : 1;
    this.#at = firstAtOrAbove(entries, reverse ? to : from);
    if (reverse && entries[this.#at]?.key.equals(to) !== true) this.#at -= 1;
  }

  get key(): Buffer | undefined {
    return this.#entries[this.#at]?.key;
  }

  value(): Buffer | undefined {
    return this.#entries[this.#at]!.value;
  }

  next(): void {
    this.#at += this.#step;
  }
}

class RunCursor implements Cursor {
  readonly #run: Run;
  readonly #step: number;
  #blockAt: number;
  #block: Block | undefined;
  #at = 0;
  key: Buffer | undefined;

  constructor(run: Run, { from, to, reverse }: KeyRange) {
    this.#run = run;
    this.#step = reverse ? -1 : 1;
    const start = reverse ? to : from;
    this.#blockAt = run.blockOf(start);
    if (this.#blockAt < 0 && !reverse) this.#blockAt = 0;
    this.#block = this.#readBlock();
    if (this.#block === undefined) return;
    this.#at = this.#block.firstAtOrAbove(start);
    const isThere = this.#at < this.#block.count && this.#block.compareAt(this.#at, start) === 0;
    if (reverse && !isThere) this.#at -= 1;
    this.#settle();
  }

  value(): Buffer | undefined {
    return this.#block!.valueAt(this.#at);
  }

  next(): void {
    this.#at += this.#step;
    this.#settle();
  }

  /** Goes on to the next block at the end of one. */
  #settle(): void {
    while (this.#block !== undefined && (this.#at < 0 || this.#at >= this.#block.count)) {
      this.#blockAt += this.#step;
      this.#block = this.#readBlock();
      this.#at = this.#step > 0 || this.#block === undefined ? 0 : this.#block.count - 1;
    }
    this.key = this.#block?.keyAt(this.#at);
  }

  #readBlock(): Block | undefined {
    const isThere = this.#blockAt >= 0 && this.#blockAt < this.#run.facts.blocks;
    return isThere ? this.#run.block(this.#blockAt) : undefined;
  }
}
