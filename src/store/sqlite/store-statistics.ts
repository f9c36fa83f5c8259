/** How many rows the columns of a store have, and how many bytes they take. */
import { type Column, STATE } from '../columns/columns.ts';
import type { ColumnStatistics } from '../store.ts';
import { hashOf } from './runs/run-filter.ts';
import type { SortedRuns } from './runs/sorted-runs.ts';
import { isStoredDamage, type SqliteDatabase } from './sqlite-database.ts';
import { checkValue, markOf } from './stored-value.ts';
import { rowsOfRecord, STATE_PLACE } from './version-record.ts';
import { placeOf } from './version-records.ts';

/** Records that tell how many rows the columns by version have, where there are more. */
const SAMPLE_RECORDS = 1_000;

/** @throws StoredValueError for a damaged index */
export function columnStatistics(
  database: SqliteDatabase,
  runs: SortedRuns,
  columns: readonly Column[],
): readonly ColumnStatistics[] {
  const records = recordStatistics(database);
  return columns.map((column) => {
    const place = placeOf(column);
    if (place !== undefined) return { column, ...records.of(place) };
    const indexed = indexedRows(runs, column);
    const bytes = column === STATE ? indexed.bytes + records.of(STATE_PLACE).bytes : indexed.bytes;
    return { column, rows: indexed.rows, bytes };
  });
}

/** A row that was put again counts more than once until runs are merged. */
function indexedRows(runs: SortedRuns, { number, partitionBytes }: Column) {
  let rows = 0;
  let bytes = 0;
  for (const run of runs.runs) {
    const counts = run.index.columns.get(number);
    if (counts === undefined) continue;
    rows += counts.puts - counts.deletes;
    bytes += counts.bytes;
  }
  for (const { key, value } of runs.recent) {
    if (key[0] !== number) continue;
    const length = 1 + partitionBytes;
    const sought = { key, partitionBytes: length, hash: hashOf(key, length) };
    const isThere = runs.getInRuns(sought)?.value !== undefined;
    rows += Number(value !== undefined) - Number(isThere);
    bytes += key.length + (value?.length ?? 0);
  }
  return { rows: Math.max(0, rows), bytes };
}

/** Of all versions, by the records of some that are equally far from one another. */
function recordStatistics(database: SqliteDatabase) {
  const [lowest, highest] = database.recordBounds() ?? [0, -1];
  const versions = highest - lowest + 1;
  const samples = Math.min(versions, SAMPLE_RECORDS);
  const rows = new Map<number, { rows: number; bytes: number }>();
  let storedBytes = 0;
  let allBytes = 0;
  for (let sample = 0; sample < samples; sample += 1) {
    const version = lowest + Math.floor((sample * versions) / samples);
    const record = database.readRecord(version);
    if (record === undefined) continue;
    storedBytes += record.length;
    try {
      checkValue(record, markOf(version));
    } catch (error) {
      if (!isStoredDamage(error)) throw error;
      continue;
    }
    for (const { place, from, to } of rowsOfRecord(record)) {
      const counted = rows.get(place) ?? { rows: 0, bytes: 0 };
      rows.set(place, { rows: counted.rows + 1, bytes: counted.bytes + to - from });
      allBytes += to - from;
    }
  }
  const factor = samples === 0 ? 0 : versions / samples;
  const share = allBytes === 0 ? 0 : storedBytes / allBytes;
  return {
    of: (place: number) => {
      const counted = rows.get(place) ?? { rows: 0, bytes: 0 };
      return {
        rows: Math.round(counted.rows * factor),
        bytes: Math.round(counted.bytes * factor * share),
      };
    },
  };
}
