/** The servers of fail-over tests behave as those tests require: nothing acknowledged is lost with the primary. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../process/command.ts';
import { until } from '../process/worker-processes.ts';
import { IS_LONG } from '../random.ts';
import { NO_POSTGRES } from './cluster.ts';
import { ReplicatedPostgres } from './replicated.ts';

const ROUNDS = 2;

// In CI, the tests that rely on this suffice.
describe.skipIf(NO_POSTGRES !== '' || !IS_LONG)(`${NO_POSTGRES}a primary and two standbys`, () => {
  let cluster: ReplicatedPostgres;

  beforeAll(async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o711);
    cluster = await ReplicatedPostgres.create(join(folder, 'servers'));
    await cluster.primary.query('create table seen (number bigint primary key)');
  });
  afterAll(() => cluster.stop());

  it('are synchronous', async () => {
    const rows = await cluster.primary.query('select sync_state from pg_stat_replication');
    expect(rows).toEqual([['quorum'], ['quorum']]);
    for (const standby of cluster.standbys) {
      expect(await standby.query('select pg_is_in_recovery()')).toEqual([['true']]);
    }
  });

  it('lose nothing acknowledged when the primary is killed', async () => {
    const acknowledged: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const writing = writeUntilItFails(cluster.primary.url(), acknowledged);
      const before = acknowledged.length;
      await until('there are commits', () => acknowledged.length > before + 100);
      await cluster.primary.stop('SIGKILL');
      await writing;
      const former = await cluster.failOver();
      const rows = await cluster.primary.query('select number from seen');
      const found = new Set(rows.map(([number]) => Number(number)));
      expect(acknowledged.filter((number) => !found.has(number))).toEqual([]);
      await cluster.rejoin(former);
      expect(cluster.standbys).toHaveLength(2);
    }
  });

  it('go on when one standby hangs', async () => {
    const [first] = cluster.standbys;
    first!.signalAll('SIGSTOP');
    await cluster.primary.query('insert into seen values (-1)');
    first!.signalAll('SIGCONT');
    await until('it has the row too', async () => {
      const rows = await first!.query('select number from seen where number = -1');
      return rows.length === 1;
    });
  });

  it('are one location that does not change', async () => {
    const before = cluster.url();
    await cluster.primary.stop('SIGKILL');
    await cluster.rejoin(await cluster.failOver());
    expect(cluster.url()).toBe(before);
  });
});

/** Commits one row after another until the server is gone. */
async function writeUntilItFails(url: string, acknowledged: number[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    for (let number = (acknowledged.at(-1) ?? 0) + 1_000; ; number += 1) {
      await client.query('insert into seen values ($1)', [number]);
      acknowledged.push(number);
    }
  } catch {
    await client.end().catch(() => undefined);
  }
}
