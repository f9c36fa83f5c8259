/**
 * `npm run bench -- instead` compares responses of Daybook with those of fastify over databases. This test times
 * nothing.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { findPostgres, NO_POSTGRES } from '../postgres/cluster.ts';
import { temporaryFolder } from './command.ts';

const LOADER = new URL('../../scripts/run-typescript.mjs', import.meta.url).href;
const BENCH = fileURLToPath(new URL('../../bench/run.mjs', import.meta.url));
const json = join(temporaryFolder(), 'figures.json');

it.skipIf(findPostgres() === undefined)(
  `${NO_POSTGRES}the same ledger behind fastify has the same answers`,
  async () => {
    const args = ['--import', LOADER, BENCH, 'instead', '--rounds', '0', '--json', json];
    const env = { ...process.env, BENCH_TRANSACTIONS: '300', BENCH_COMMITS: '100' };
    await promisify(execFile)(process.execPath, args, { env });
    const { instead } = JSON.parse(readFileSync(json, 'utf8')).benchmarks;
    const compared = ['balance', 'balance of old', 'events', 'module', 'transaction'];
    expect(Object.keys(instead.checked)).toEqual(compared);
    for (const requests of Object.values(instead.checked)) expect(requests).toBeGreaterThan(50);
    const sides = instead.disk.map(({ side }: { side: string }) => side);
    expect(sides.slice(0, 2)).toEqual(['Daybook', 'PostgreSQL']);
  },
);
