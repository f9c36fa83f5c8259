/** A ledger in PostgreSQL whose creating command was killed: it does not exist, and the next command creates it. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { openStoreReader } from '../../src/node/open-store.ts';
import { verifyLedger } from '../../src/verify/ledger.ts';
import { NO_POSTGRES } from '../postgres/cluster.ts';
import { newPostgresLocation, sharedPostgres } from '../postgres/shared.ts';
import { roundsOf } from '../random.ts';
import { endOf, expectFailure, runCommand, runWhenUnlocked, startCommand } from './command.ts';

/** Number of kills, each a little later. */
const KILLS = roundsOf('KILLS', 2, 5);
/** Each command takes some seconds on a busy machine. */
const TIMEOUT_MS = 600_000;

async function query<T extends object>(
  text: string,
  values: readonly unknown[] = [],
): Promise<T[]> {
  const client = new pg.Client(await sharedPostgres());
  await client.connect();
  try {
    return (await client.query<T>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

function schemaOf(data: string): string {
  return new URL(data).searchParams.get('schema')!;
}

/** Schemas whose names begin with that of a location. */
async function schemasOf(data: string): Promise<readonly string[]> {
  const rows = await query<{ nspname: string }>(
    'select nspname from pg_namespace where starts_with(nspname, $1) order by 1',
    [schemaOf(data)],
  );
  return rows.map(({ nspname }) => nspname);
}

/** Number of versions in the unfinished ledger at a location; -1 if there is none. */
async function madeVersions(data: string, others: readonly string[]): Promise<number> {
  const known = [data, ...others].map(schemaOf);
  const schema = (await schemasOf(data)).find((name) => !known.includes(name));
  if (schema === undefined) return -1;
  const count = `select count(*) as n from "${schema}".c10_transaction_infos`;
  // It may have been removed meanwhile.
  const [row] = await query<{ n: string }>(count).catch(() => []);
  return Number(row?.n ?? -1);
}

async function done(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout } = await runWhenUnlocked(args);
  expect([code, code === 0 ? '' : stdout]).toEqual([0, '']);
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Verifies a ledger in this process, which saves starting a command. @returns its newest version */
async function verifiedVersion(data: string): Promise<string> {
  const store = await openStoreReader(data);
  try {
    const { damages, head } = await verifyLedger(store);
    expect(damages).toEqual([]);
    return String(head.version);
  } finally {
    await store.close();
  }
}

const sampleAt = (data: string, transactions: string) =>
  done('sample', '--data', data, '--transactions', transactions);

describe.skipIf(NO_POSTGRES !== '')(`${NO_POSTGRES}a sample in PostgreSQL`, () => {
  it.each([
    ['SIGKILL', 0],
    ['SIGINT', 3_000],
  ] as const)(
    'ended by %s at %d versions: no ledger, and the next one is whole',
    { timeout: TIMEOUT_MS },
    async (signal, versions) => {
      const data = await newPostgresLocation();
      const others = [`${data}_unfinished`, `${data}_new_0123456789abcdef`];
      for (const other of others) await sampleAt(other, '10');
      const child = startCommand(['sample', '--data', data, '--transactions', '400000']);
      const ended = endOf(child);
      while ((await madeVersions(data, others)) < versions) await sleep(5);
      const second = await runCommand(['sample', '--data', data]);
      expect(expectFailure(second, 1)).toContain('is being written by session');
      child.kill(signal);
      expect((await ended).code).not.toBe(0);
      const text = expectFailure(await runCommand(['status', '--data', data]), 1);
      expect(text).toContain('there is no ledger in postgres://');
      expect(text).toContain('a command that was to make one was cut off');
      const { ledger_version: version } = await sampleAt(data, '600');
      expect(await verifiedVersion(data)).toBe(version);
      for (const other of others) await verifiedVersion(other);
      expect(await schemasOf(data)).toEqual([data, ...others].map(schemaOf).sort());
    },
  );

  it('killed at any moment: no ledger, or the whole one', { timeout: TIMEOUT_MS }, async () => {
    const startedMs = performance.now();
    const { ledger_version: version } = await sampleAt(await newPostgresLocation(), '600');
    const wholeMs = performance.now() - startedMs;
    for (let round = 1; round <= KILLS; round += 1) {
      const data = await newPostgresLocation();
      const child = startCommand(['sample', '--data', data, '--transactions', '600']);
      const ended = endOf(child);
      // It is published near the end.
      await sleep((wholeMs * (round + KILLS)) / (2 * KILLS));
      child.kill('SIGKILL');
      await ended;
      const again = await runWhenUnlocked(['sample', '--data', data, '--transactions', '600']);
      if (again.code !== 0) expect(again.stdout).toContain('"ledger_exists"');
      expect(await verifiedVersion(data)).toBe(version);
      expect(await schemasOf(data)).toEqual([schemaOf(data)]);
    }
  });
});
