/** `daybook copy` from and to PostgreSQL: identical rows of one moment; interrupted and resumed. */
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { NO_POSTGRES } from '../postgres/cluster.ts';
import { newPostgresLocation } from '../postgres/shared.ts';
import { someOf } from '../random.ts';
import { namesIn, STORE_FILES } from '../store/store-files.ts';
import {
  endOf,
  expectFailure,
  killLeftNodes,
  runCommand,
  runWhenUnlocked,
  ServedNode,
  startCommand,
  temporaryFolder,
} from './command.ts';
import { makeSample } from './ledger-contents.ts';

/** Creating a sample takes some seconds, and many times that on a busy machine. */
const HOOK_TIMEOUT_MS = 600_000;

type Facts = Record<string, unknown>;

const folder = temporaryFolder();
const source = join(folder, 'source');

async function done(...args: readonly string[]): Promise<Facts> {
  const { code, stdout, stderr } = await runCommand([...args, '--json']);
  expect([code, stderr]).toEqual([0, expect.anything()]);
  return JSON.parse(stdout) as Facts;
}

async function columnsOf(data: string): Promise<unknown> {
  return (await done('verify', '--data', data))['columns'];
}

/**
 * For the unfinished copy at a location: the transaction that last wrote a row of a column, and the column's number of
 * rows.
 */
async function lastWrite(location: string, table: string) {
  const url = new URL(location);
  const target = url.searchParams.get('schema');
  url.search = '';
  const client = new pg.Client(url.href);
  await client.connect();
  try {
    const unfinished = await client.query<{ nspname: string }>(
      'select nspname from pg_namespace where starts_with(nspname, $1)',
      [`${target}_new_`],
    );
    const { rows } = await client.query<{ last: string | null; rows: string }>(
      `select max(xmin::text::int8)::text as last, count(*)::text as rows from ${unfinished.rows[0]?.nspname}.${table}`,
    );
    return { last: rows[0]!.last, rows: Number(rows[0]!.rows) };
  } catch {
    return { last: null, rows: 0 };
  } finally {
    await client.end();
  }
}

/** Kills a copy once `isBegun` is true. */
async function cutOff(from: string, to: string, isBegun: () => Promise<boolean>): Promise<void> {
  for (let isCut = false; !isCut; ) {
    const child = startCommand(['copy', '--data', from, '--to', to, '--json']);
    const ended = endOf(child);
    while (child.exitCode === null && !(await isBegun())) await sleep(1);
    child.kill('SIGKILL');
    const { signal, stdout } = await ended;
    isCut = signal === 'SIGKILL';
    // It takes the server some time to notice that the previous process is gone.
    if (!isCut) expect(stdout).toContain('"store_locked"');
  }
  const status = await runCommand(['status', '--data', to]);
  expect(expectFailure(status, 1)).toContain('a command that was to make one was cut off');
}

async function resumed(from: string, to: string): Promise<Facts> {
  const { code, stdout } = await runWhenUnlocked(['copy', '--data', from, '--to', to]);
  expect([code, code === 0 ? '' : stdout]).toEqual([0, '']);
  return JSON.parse(stdout) as Facts;
}

describe.skipIf(NO_POSTGRES !== '')(`${NO_POSTGRES}copies from and to PostgreSQL`, () => {
  beforeAll(() => makeSample(source, 1_000), HOOK_TIMEOUT_MS);
  afterEach(killLeftNodes);

  it('equal their source, row for row: folder, PostgreSQL, PostgreSQL, folder', async () => {
    const expected = await columnsOf(source);
    let from = source;
    const locations = [await newPostgresLocation(), await newPostgresLocation()];
    for (const to of [...locations, join(folder, 'back')]) {
      const facts = await done('copy', '--data', from, '--to', to);
      expect(facts['columns']).toEqual(expected);
      expect(facts['copy_bytes']).toBeGreaterThan(1_000_000);
      expect(facts['source_bytes']).toBeGreaterThan(1_000_000);
      from = to;
    }
    expect(await columnsOf(from)).toEqual(expected);
    expect(namesIn(from)).toEqual(STORE_FILES);
    const again = await runCommand(['copy', '--data', source, '--to', locations[0]!]);
    expect(expectFailure(again, 1)).toContain('holds a ledger already');
    const none = await newPostgresLocation();
    const refused = await runCommand(['copy', '--data', none, '--to', join(folder, 'of-none')]);
    expect(expectFailure(refused, 1)).toContain('there is no ledger in postgres://');
    expect(existsSync(join(folder, 'of-none'))).toBe(false);
  });

  it('cut off: go on, and are right when the source has changed since', async () => {
    const moving = join(folder, 'moving');
    cpSync(source, moving, { recursive: true });
    const to = await newPostgresLocation();
    const [state, infos] = ['c03_state', 'c10_transaction_infos'];
    await cutOff(moving, to, async () => (await lastWrite(to, infos!)).rows > 0);
    const before = await lastWrite(to, state!);
    expect(before.rows).toBeGreaterThan(0);
    // Once more: existing rows are not written a second time.
    await cutOff(moving, to, async () => {
      return (await lastWrite(to, 'c14_version_writes')).rows > 0;
    });
    expect(await lastWrite(to, state!)).toEqual(before);
    await done('prune', '--data', moving, '--keep', '300', '--grace-seconds', '0');
    const expected = await columnsOf(moving);
    expect((await resumed(moving, to))['columns']).toEqual(expected);
    expect(await columnsOf(to)).toEqual(expected);

    const back = join(folder, 'cut-off');
    await cutOff(to, back, async () => namesIn(back).some((name) => name.endsWith('.new')));
    expect((await resumed(to, back))['columns']).toEqual(expected);
    expect(namesIn(back)).toEqual(STORE_FILES);
  });

  it('are of one moment while a node produces and prunes', { timeout: 600_000 }, async () => {
    const growing = join(folder, 'growing');
    cpSync(source, growing, { recursive: true });
    const inPostgres = await newPostgresLocation();
    await done('copy', '--data', source, '--to', inPostgres);
    const pairs = [
      [growing, await newPostgresLocation()],
      [inPostgres, join(folder, 'of-growing')],
    ] as const;
    for (const [from, to] of someOf(pairs, 1)) {
      const keep = ['--keep', '300', '--prune-grace-seconds', '1'];
      const node = await ServedNode.start(from, ['--produce', '100', ...keep]);
      const oldest = async () =>
        Number((await node.get('/')).headers.get('x-node-ledger-oldest-version'));
      await expect.poll(oldest, { timeout: 60_000 }).toBeGreaterThan(0);
      const facts = await done('copy', '--data', from, '--to', to);
      expect(Number(facts['oldest_ledger_version'])).toBeGreaterThan(0);
      expect((await node.stop()).code).toBe(0);
      const verified = await done('verify', '--data', to);
      expect(verified).toMatchObject({ holds: true, ledger_version: facts['ledger_version'] });
      expect(verified['columns']).toEqual(facts['columns']);
    }
  });
});
