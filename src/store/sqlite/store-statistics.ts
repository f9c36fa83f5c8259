/** Counts or estimates the rows of a store's columns, and the bytes that they take. */
import { type Column, STATE } from '../columns/columns.ts';
import type { ColumnStatistics } from '../store.ts';
import type { SortedRuns } from './runs/sorted-runs.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { isReadable } from './stored-value.ts';
import { placeOf, STATE_PLACE, VersionRecord } from './version-record.ts';

/** Up to this many records are read to count rows. If there are more, the number is an estimate. */
const MAX_SAMPLED_RECORDS = 1_000;
/** The same limit for entries of a column, which take less time. */
const MAX_COUNTED_ENTRIES = 20_000;

type Counted = Omit<ColumnStatistics, 'column'>;

/** @throws StoredValueError for a damaged index */
export function columnStatistics(
  database: SqliteDatabase,
  runs: SortedRuns,
  columns: readonly Column[],
): readonly ColumnStatistics[] {
  const recordsOf = recordStatistics(database, runs.manifest.recordsFrom);
  return columns.map((column) => {
    const place = placeOf(column.number);
    if (place !== undefined) return { column, ...recordsOf(place) };
    const indexed = indexedRows(runs, column);
    const bytes = column === STATE ? indexed.bytes + recordsOf(STATE_PLACE).bytes : indexed.bytes;
    return { column, ...indexed, bytes };
  });
}

function indexedRows(runs: SortedRuns, { number }: Column): Counted {
  let bytes = 0;
  let puts = 0;
  let deletes = 0;
  let runsWithRows = 0;
  for (const run of runs.runs) {
    const counts = run.index.columns.get(number);
    if (counts === undefined) continue;
    puts += counts.puts;
    deletes += counts.deletes;
    bytes += counts.bytes;
    runsWithRows += 1;
  }
  let rows = puts - deletes;
  for (const { key, value } of runs.recent) {
    if (key[0] !== number) continue;
    const exists = runs.getInRuns(key)?.value !== undefined;
    rows += Number(value !== undefined) - Number(exists);
    bytes += key.length + (value?.length ?? 0);
  }
  // Until runs are merged, a row that was put again counts more than once, and a deletion that found no row counts.
  if (runsWithRows <= 1 && deletes === 0) return { rows, bytes, isEstimated: false };
  const counted = puts + deletes > MAX_COUNTED_ENTRIES ? undefined : countedRows(runs, number);
  return { rows: counted ?? Math.max(0, rows), bytes, isEstimated: counted === undefined };
}

function countedRows(runs: SortedRuns, number: number): number | undefined {
  let rows = 0;
  const count = () => {
    const range = { from: Buffer.of(number), to: Buffer.of(number + 1), reverse: false };
    for (const { key } of runs.walk(range)) rows += Number(key[0] === number);
  };
  return isReadable(count) ? rows : undefined;
}

/** @param denseFrom every version from here on has a record; before it, only some that pruning retained have one */
function recordStatistics(database: SqliteDatabase, denseFrom: number) {
  const lowest = database.next('versions', 0) ?? 0;
  const highest = database.last('versions') ?? -1;
  const rows = new Map<number, { rows: number; bytes: number }>();
  let storedBytes = 0;
  let allBytes = 0;
  let isEstimated = false;
  const ranges = [
    [lowest, Math.min(denseFrom - 1, highest)],
    [Math.max(denseFrom, lowest), highest],
  ] as const;
  for (const [from, to] of ranges) {
    const sample = sampleOf(database, from, to);
    isEstimated ||= sample.weight !== 1;
    for (const version of sample.versions) {
      const record = database.read('versions', version);
      if (record === undefined) continue;
      storedBytes += record.length * sample.weight;
      isReadable(() => {
        for (const { place, value } of new VersionRecord(record, version).rows()) {
          const counted = rows.get(place) ?? { rows: 0, bytes: 0 };
          counted.rows += sample.weight;
          counted.bytes += value.length * sample.weight;
          rows.set(place, counted);
          allBytes += value.length * sample.weight;
        }
      });
    }
  }
  const share = allBytes === 0 ? 0 : storedBytes / allBytes;
  return (place: number): Counted => {
    const counted = rows.get(place) ?? { rows: 0, bytes: 0 };
    const bytes = Math.round(counted.bytes * share);
    return { rows: Math.round(counted.rows), bytes, isEstimated };
  };
}

/** All versions with records in a range, or an evenly spaced sample, and how many versions each one represents. */
function sampleOf(database: SqliteDatabase, from: number, to: number) {
  const versions: number[] = [];
  let next = database.first('versions', from, to);
  while (next !== undefined && versions.length < MAX_SAMPLED_RECORDS) {
    versions.push(next);
    next = database.first('versions', next + 1, to);
  }
  if (next === undefined) return { versions, weight: 1 };
  const weight = (to - from + 1) / MAX_SAMPLED_RECORDS;
  // Takes the middle of each stretch, because the very first record is that of genesis, which is not typical.
  return { versions: versions.map((_, at) => from + Math.floor((at + 0.5) * weight)), weight };
}
