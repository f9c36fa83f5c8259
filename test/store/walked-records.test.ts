/** Records that a reader caches while it walks over several columns of the same versions, and their limits. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TRANSACTION_INFOS, TRANSACTIONS } from '../../src/store/columns/columns.ts';
import { SqliteDatabase } from '../../src/store/sqlite/sqlite-database.ts';
import type { Table } from '../../src/store/sqlite/stored-value.ts';
import { encodeRecord, placeOf, VersionRecord } from '../../src/store/sqlite/version-record.ts';
import {
  lastKeyOf,
  MAX_SCANNED_BYTES,
  MAX_SCANNED_RECORDS,
  RecordReader,
} from '../../src/store/sqlite/version-records.ts';
import { temporaryDirectory } from './engines.ts';

const PLACES = [TRANSACTION_INFOS, TRANSACTIONS].map((column) => placeOf(column.number)!);

class CountingDatabase extends SqliteDatabase {
  reads = 0;

  override read(table: Table, id: number): Buffer | undefined {
    this.reads += 1;
    return super.read(table, id);
  }
}

function recordOf(value: Buffer, version: number): Buffer {
  const rows = [Buffer.of(1), value].map((bytes, at) => ({
    ...{ place: PLACES[at]!, index: 0, value: bytes },
  }));
  return encodeRecord(rows, version);
}

/** Number of record reads when a reader walks over both columns of some versions, each with this value. */
function readsOf(versions: number, value: Buffer): number {
  const database = new CountingDatabase(join(temporaryDirectory(), 'records.db'), {
    readOnly: false,
  });
  database.create();
  database.beginWrite();
  for (let version = 0; version < versions; version += 1) {
    database.write('versions', version, recordOf(value, version));
  }
  database.commit();
  const reader = new RecordReader(database);
  const known = { recordsFrom: 0, recordsTo: versions - 1 };
  for (const place of PLACES) {
    const bounds = { from: Buffer.alloc(8), to: lastKeyOf(place, versions - 1) };
    const rows = [...reader.rows(known, { place, ...bounds, reverse: false })];
    expect(rows.length).toBe(versions);
  }
  const { reads } = database;
  reader.forget();
  database.close();
  return reads;
}

test('up to a number of records, each is read once', () => {
  const value = Buffer.of(2);
  for (const versions of [MAX_SCANNED_RECORDS - 1, MAX_SCANNED_RECORDS]) {
    expect(readsOf(versions, value)).toBe(versions);
  }
  expect(readsOf(MAX_SCANNED_RECORDS + 1, value)).toBeGreaterThan(MAX_SCANNED_RECORDS + 1);
});

test.each([
  // These would be a few hundred bytes if compressed sizes counted.
  ['that are expanded', (bytes: number) => Buffer.alloc(bytes, 1)],
  ['that cannot be compressed', randomBytes],
])('up to a number of bytes %s, each is read once', (_, valueWith) => {
  const versions = 128;
  const bytesWith = (bytes: number) =>
    new VersionRecord(recordOf(valueWith(bytes), 0), 0).maxMemoryBytes;
  // The longest value with which all records fit.
  let fitting = MAX_SCANNED_BYTES / versions;
  while (bytesWith(fitting) > MAX_SCANNED_BYTES / versions) fitting -= 1;
  expect(bytesWith(fitting)).toBeGreaterThan(fitting);
  for (const bytes of [fitting - 1, fitting]) {
    expect(readsOf(versions, valueWith(bytes))).toBe(versions);
  }
  expect(readsOf(versions, valueWith(fitting + 1))).toBeGreaterThan(versions);
});
