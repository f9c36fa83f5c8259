/**
 * Rows in sorted runs, as readers see them. A commit adds its entries to the log. When the log has many, they become a
 * run, and runs are merged into larger ones (run-writer.ts). If several entries have the same key, the newest counts. A
 * commit therefore writes a few pages in sequence, where a B-tree would change a page for nearly every key.
 */
import { STATE } from '../../columns/columns.ts';
import { type StoredRows, StoredValueError } from '../stored-value.ts';
import { type BlockCache, decodeEntries, type Entry, versionOf } from './block.ts';
import {
  type Cursor,
  firstAtOrAbove,
  type KeyRange,
  ListCursor,
  nextCursor,
  RunCursor,
} from './cursors.ts';
import { decodeManifest, EMPTY_MANIFEST, type Manifest } from './manifest.ts';
import { Run } from './run.ts';
import { partitionBytesOf, partitionHash } from './run-index.ts';

/**
 * The rows of a store: a log and sorted runs (an LSM tree). A key is the column's number, the partition and the order.
 */
export class SortedRuns {
  readonly rows: StoredRows;
  runs: readonly Run[] = [];
  /** Entries of the log, sorted by key. */
  recent: Entry[] = [];
  manifest: Manifest = EMPTY_MANIFEST;
  readonly #cache: BlockCache | undefined;
  /** For each run, the highest version in state keys of that run and all older ones. */
  #highestVersions: readonly number[] = [];

  constructor(rows: StoredRows, cache?: BlockCache) {
    this.rows = rows;
    this.#cache = cache;
  }

  /** Loads what was committed since the last refresh. @throws StoredValueError */
  refresh(): void {
    const bytes = this.rows.read('manifest', 0);
    if (bytes === undefined) throw new StoredValueError('the list of runs is missing');
    const manifest = decodeManifest(bytes);
    const isSameLog = manifest.logFrom === this.manifest.logFrom;
    const recent = isSameLog ? this.recent : [];
    for (
      let id = isSameLog ? this.manifest.logTo + 1 : manifest.logFrom;
      id <= manifest.logTo;
      id += 1
    ) {
      const row = this.rows.read('log', id);
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

  /** The entry of a key, which may be a deletion. @throws StoredValueError */
  get(key: Buffer): Entry | undefined {
    const recent = this.recent[firstAtOrAbove(this.recent, key)];
    return recent?.compareKey(key) === 0 ? recent : this.getInRuns(key);
  }

  getInRuns(key: Buffer): Entry | undefined {
    const hash = partitionHash(key);
    for (const run of this.runs) {
      if (!run.mayContainPartition(hash)) continue;
      const blockAt = run.blockOf(key);
      if (blockAt < 0) continue;
      const block = run.block(blockAt);
      const found = block.firstAtOrAbove(key);
      if (found < block.count && block.compareAt(found, key) === 0) {
        return block.entryAt(found);
      }
    }
    return undefined;
  }

  /** The last entry at or below a key in its partition. @throws StoredValueError */
  seekLast(key: Buffer): Entry | undefined {
    const version = key[0] === STATE.number ? versionOf(key) : undefined;
    const hash = partitionHash(key);
    let best = this.#lastRecent(key);
    for (let at = 0; at < this.runs.length; at += 1) {
      const run = this.runs[at]!;
      // Skips runs without a better write of state: all are above the version, or none is above the best one.
      if (version !== undefined) {
        if (run.facts.lowestVersion > version) continue;
        if (best !== undefined && versionOf(best.bytes, best.keyEnd) >= this.#highestVersions[at]!)
          break;
      }
      if (!run.mayContainPartition(hash)) continue;
      const found = lastInRun(run, key);
      if (found !== undefined && (best === undefined || found.compare(best) > 0)) {
        best = found;
      }
    }
    if (best?.isDeleted !== true) return best;
    const from = key.subarray(0, partitionBytesOf(key));
    for (const entry of this.walk({ from, to: key, reverse: true })) return entry;
    return undefined;
  }

  *walk(range: KeyRange): Generator<Entry> {
    const cursors: Cursor[] = [new ListCursor(this.recent, range)];
    const isOnePartition = isOfPartition(range.to, 0, range.from);
    const hash = isOnePartition ? partitionHash(range.from) : undefined;
    for (const run of this.runs) {
      if (hash === undefined || run.mayContainPartition(hash))
        cursors.push(new RunCursor(run, range));
    }
    const [sign, end] = range.reverse ? [-1, range.from] : [1, range.to];
    for (;;) {
      const cursor = nextCursor(cursors, range.reverse);
      const entry = cursor?.entry;
      if (entry === undefined || sign * entry.compareKey(end) > 0) return;
      cursor!.next();
      if (!entry.isDeleted) yield entry;
    }
  }

  #lastRecent(key: Buffer): Entry | undefined {
    const at = firstAtOrAbove(this.recent, key);
    const same = this.recent[at];
    if (same?.compareKey(key) === 0) return same;
    const before = this.recent[at - 1];
    return before !== undefined && isInPartition(before, key) ? before : undefined;
  }
}

export function insert(entries: Entry[], entry: Entry): void {
  const at = firstAtOrAbove(entries, entry.key);
  const isThere = entries[at]?.compare(entry) === 0;
  entries.splice(at, isThere ? 1 : 0, entry);
}

/** Whether an entry is in the partition of a key. The key may be shorter than a partition. */
function isInPartition({ bytes, keyAt }: Entry, key: Uint8Array): boolean {
  return isOfPartition(bytes, keyAt, key);
}

function isOfPartition(bytes: Uint8Array, keyAt: number, other: Uint8Array): boolean {
  const length = partitionBytesOf(other);
  if (other.length < length) return false;
  for (let at = length - 1; at >= 0; at -= 1) if (bytes[keyAt + at] !== other[at]) return false;
  return true;
}

function lastInRun(run: Run, key: Buffer): Entry | undefined {
  for (let blockAt = run.blockOf(key); blockAt >= 0; blockAt -= 1) {
    const block = run.block(blockAt);
    const above = block.firstAtOrAbove(key);
    const isThere = above < block.count && block.compareAt(above, key) === 0;
    const at = isThere ? above : above - 1;
    if (at < 0) continue;
    const found = block.entryAt(at);
    return isInPartition(found, key) ? found : undefined;
  }
  return undefined;
}
