/** Records that a reader remembers while it walks over several columns of the same versions, and how many. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TRANSACTION_INFOS, TRANSACTIONS } from '../../src/store/columns/columns.ts';
import { SqliteDatabase } from '../../src/store/sqlite/sqlite-database.ts';
import type { Table } from '../../src/store/sqlite/stored-value.ts';
import { encodeRecord, placeOf } from '../../src/store/sqlite/version-record.ts';
import {
  lastKeyOf,
  MAX_WALKED_BYTES,
  MAX_WALKED_RECORDS,
  RecordReader,
} from '../../src/store/sqlite/version-records.ts';
import { temporaryDirectory } from './engines.ts';

const PLACES = [TRANSACTION_INFOS, TRANSACTIONS].map((column) => placeOf(column)!);

class CountingDatabase extends SqliteDatabase {
  reads = 0;

  override read(table: Table, id: number): Buffer | undefined {
    this.reads += 1;
    return super.read(table, id);
  }
}

/** How often records are read when a reader walks over both columns of some versions, each with so many bytes. */
function readsOf(versions: number, valueBytes: number): number {
  const database = new CountingDatabase(join(temporaryDirectory(), 'records.db'), {
    readOnly: false,
  });
  database.create();
  database.beginWrite();
  const [info, transaction] = [Buffer.of(1), randomBytes(valueBytes)];
  for (let version = 0; version < versions; version += 1) {
    const rows = [info, transaction].map((value, at) => ({ place: PLACES[at]!, index: 0, value }));
    database.write('versions', version, encodeRecord(rows, version));
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
  for (const versions of [MAX_WALKED_RECORDS - 1, MAX_WALKED_RECORDS]) {
    expect(readsOf(versions, 10)).toBe(versions);
  }
  expect(readsOf(MAX_WALKED_RECORDS + 1, 10)).toBeGreaterThan(MAX_WALKED_RECORDS + 1);
});

test('up to a number of bytes, each is read once', () => {
  const versions = 64;
  // Bytes that cannot be compressed are stored as they are, behind some others.
  const rows = [Buffer.of(1), randomBytes(60_000)].map((value, at) => ({
    ...{ place: PLACES[at]!, index: 0, value },
  }));
  const besides = encodeRecord(rows, 0).length - 60_000;
  const fitting = MAX_WALKED_BYTES / versions - besides;
  for (const bytes of [fitting - 1, fitting]) expect(readsOf(versions, bytes)).toBe(versions);
  expect(readsOf(versions, fitting + 1)).toBeGreaterThan(versions);
});
