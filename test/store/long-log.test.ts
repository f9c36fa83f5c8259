/** SQLite's log while others read all the time: it is restarted, and long readers only delay a few commits. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { MAX_LOG_BYTES, SqliteDatabase } from '../../src/store/sqlite/sqlite-database.ts';
import { temporaryDirectory } from './engines.ts';

const COMMIT_BYTES = 1024 * 1024;
/** Room for a commit that finds the log a byte too short to restart it, and for SQLite's pages beside the values. */
const MARGIN_BYTES = 8 * COMMIT_BYTES;

function newDatabase(): { readonly database: SqliteDatabase; readonly path: string } {
  const path = join(temporaryDirectory(), 'log.db');
  const database = new SqliteDatabase(path, { readOnly: false });
  database.create();
  return { database, path };
}

const logBytes = (path: string) => statSync(`${path}-wal`).size;

/** @returns the maximum size of the log */
function commit(database: SqliteDatabase, path: string, bytes: number): number {
  let most = 0;
  for (let at = 0; at < bytes; at += COMMIT_BYTES) {
    database.shortenLog();
    database.beginWrite();
    database.write('blobs', (database.last('blobs') ?? 0) + 1, randomBytes(COMMIT_BYTES));
    database.commit();
    most = Math.max(most, logBytes(path));
  }
  return most;
}

/** Two connections of which one is always reading: each begins before the other ends. */
const READERS = `
const { workerData, parentPort } = require('node:worker_threads');
const { DatabaseSync } = require(workerData.sqlite);
const readers = [1, 2].map(() => new DatabaseSync(workerData.path, { readOnly: true }));
let turn = 0;
const read = () => {
  readers[turn % 2].exec('begin; select max(id) from blobs');
  if (turn > 0) readers[(turn + 1) % 2].exec('rollback');
  if (turn === 0) parentPort.postMessage('reading');
  turn += 1;
};
setInterval(read, 2);
`;

test('is not much longer than it may be where somebody always reads', async () => {
  const { database, path } = newDatabase();
  const sqlite = createRequire(import.meta.url).resolve('@photostructure/sqlite');
  const worker = new Worker(READERS, { eval: true, workerData: { sqlite, path } });
  onTestFinished(async () => {
    await worker.terminate();
    database.close();
  });
  await once(worker, 'message');
  const most = commit(database, path, 2 * MAX_LOG_BYTES);
  expect(most).toBeGreaterThan(MAX_LOG_BYTES / 2);
  expect(most).toBeLessThan(MAX_LOG_BYTES + MARGIN_BYTES);
});

test('grows while one reads for long, and is short when that is over', () => {
  const { database, path } = newDatabase();
  const reader = new SqliteDatabase(path, { readOnly: true });
  onTestFinished(() => {
    reader.close();
    database.close();
  });
  reader.begin();
  expect(reader.last('blobs')).toBeUndefined();
  const most = commit(database, path, 2 * MAX_LOG_BYTES);
  expect(most).toBeGreaterThan(2 * MAX_LOG_BYTES);
  expect(reader.last('blobs')).toBeUndefined();
  reader.rollback();
  commit(database, path, COMMIT_BYTES);
  expect(logBytes(path)).toBeLessThan(MAX_LOG_BYTES);
});
