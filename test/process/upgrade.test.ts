/**
 * `daybook upgrade` with the real program: a store of the program before, and a larger one that is killed on the way.
 * UPGRADE_TRANSACTIONS=100000 UPGRADE_KILLS=20 for the long run; SEED repeats a run.
 */
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { NO_POSTGRES } from '../postgres/cluster.ts';
import { newPostgresLocation, sharedPostgres } from '../postgres/shared.ts';
import { randomSource, testSeed } from '../random.ts';
import { downgrade, unpackOldStore } from '../store/old-formats.ts';
import {
  expectFailure,
  killLeftNodes,
  runCommand,
  runWhenUnlocked,
  ServedNode,
  startCommand,
  temporaryFolder,
} from './command.ts';
import { until } from './worker-processes.ts';

const TRANSACTIONS = process.env['UPGRADE_TRANSACTIONS'] ?? '1000';
const KILLS = Number(process.env['UPGRADE_KILLS'] ?? 4);
/** Longest time that an upgrade gets after its first write, before it is killed: some end, some have hardly begun. */
const LONGEST_LIFE_MS = 200;

afterAll(killLeftNodes);

async function verified(data: string): Promise<unknown> {
  const { code, stdout } = await runCommand(['verify', '--data', data, '--json']);
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

it.each([3, 4, 5, 6] as const)(
  'a store of format %i is refused, upgraded, and served',
  async (format) => {
    const data = join(temporaryFolder(), 'old');
    unpackOldStore(format, data);
    const way = `${data} holds store format ${format}, this program reads format 7: run daybook upgrade --data ${data}`;
    for (const command of ['status', 'verify', 'serve', 'prune']) {
      const more = command === 'prune' ? ['--keep', '10'] : [];
      expect(expectFailure(await runCommand([command, '--data', data, ...more]), 1)).toBe(way);
    }
    const { code, stdout } = await runCommand(['upgrade', '--data', data, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ from_format: format, to_format: 7 });
    expect(await verified(data)).toMatchObject({ holds: true });
    const node = await ServedNode.start(data, ['--workers', '1']);
    expect((await node.get('/transactions/by_version/3')).status).toBe(200);
    const used = await runCommand(['upgrade', '--data', data]);
    expect(expectFailure(used, 1)).toContain(`${data} is being read by process`);
    await node.stop();
    const again = await runCommand(['upgrade', '--data', data, '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ from_format: 7, to_format: 7 });
    const absent = join(data, 'none');
    const none = expectFailure(await runCommand(['upgrade', '--data', absent]), 1);
    expect(none).toContain('there is no ledger in');
  },
);

interface Place {
  readonly data: string;
  /** Changes when a process begins to write. */
  readonly trace: () => Promise<string>;
}

async function folderPlace(): Promise<Place> {
  const data = join(temporaryFolder(), 'ledger');
  const file = join(data, 'data.mdb');
  return { data, trace: async () => String(statSync(file, { bigint: true }).mtimeNs) };
}

async function postgresPlace(): Promise<Place> {
  const data = await newPostgresLocation();
  const client = new pg.Client({ connectionString: await sharedPostgres() });
  await client.connect();
  onTestFinished(() => client.end());
  const writer = `"${new URL(data).searchParams.get('schema')}".writer`;
  return {
    data,
    trace: async () => (await client.query(`select term from ${writer}`)).rows[0].term,
  };
}

const PLACES = [
  ['a folder', folderPlace],
  ...(NO_POSTGRES === '' ? [['PostgreSQL', postgresPlace] as const] : []),
] as const;

describe.each(PLACES)('in %s', (_, newPlace) => {
  it('killed at any point, it goes on', async () => {
    const random = randomSource(testSeed());
    const { data, trace } = await newPlace();
    const sample = ['sample', '--data', data, '--transactions', TRANSACTIONS, '--accounts', '200'];
    expect((await runCommand(sample)).code).toBe(0);
    const before = await verified(data);
    await downgrade(data, 3);
    for (let kill = 0; kill < KILLS; kill += 1) {
      const unwritten = await trace();
      const upgrade = startCommand(['upgrade', '--data', data]);
      const hasEnded = once(upgrade, 'exit');
      await until(
        'it writes',
        async () => upgrade.exitCode !== null || (await trace()) !== unwritten,
      );
      await sleep(random() * LONGEST_LIFE_MS);
      upgrade.kill('SIGKILL');
      await hasEnded;
    }
    expect((await runWhenUnlocked(['upgrade', '--data', data])).code).toBe(0);
    expect(await verified(data)).toEqual(before);
  });
});
