/**
 * One server for all tests of a run that are not about servers. The first test that needs it starts it, and the end of
 * the run stops it (test/postgres/run.ts). Nothing in it survives a crash.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { inject } from 'vitest';
import { CitusCluster } from '../citus/cluster.ts';
import { CITUS_FOLDER, PostgresServer } from './cluster.ts';

const SETTINGS = [
  'fsync=off',
  'full_page_writes=off',
  'synchronous_commit=off',
  'max_wal_size=4GB',
];

/** A new location that no other test uses; it has no ledger yet. */
export async function newPostgresLocation(): Promise<string> {
  return `${await sharedPostgres()}?schema=t${randomBytes(8).toString('hex')}`;
}

/** Ends the session of the process that writes to a ledger. */
export async function endWriter(client: pg.Client, schema: string): Promise<void> {
  await client.query(
    'select pg_terminate_backend(a.pid, 5000) from pg_locks l join pg_stat_activity a on a.pid = l.pid ' +
      "where l.locktype = 'advisory' and (l.classid::int8 << 32) | l.objid::int8 = " +
      "hashtextextended('daybook writer of ' || $1, 0)",
    [schema],
  );
}

/** The location of the server, whichever process of the run has started it. */
export async function sharedPostgres(): Promise<string> {
  const folder = inject('postgresFolder');
  const urlFile = join(folder, 'url');
  if (existsSync(urlFile)) return readFileSync(urlFile, 'utf8');
  try {
    mkdirSync(join(folder, 'starting'));
  } catch {
    while (!existsSync(urlFile)) await sleep(50);
    return readFileSync(urlFile, 'utf8');
  }
  const server =
    CITUS_FOLDER === undefined
      ? await PostgresServer.create(join(folder, 'data'), SETTINGS)
      : (await CitusCluster.create(folder)).coordinator;
  writeFileSync(`${urlFile}.new`, server.url());
  renameSync(`${urlFile}.new`, urlFile);
  return server.url();
}
