// Memory of a node on PostgreSQL: a process that writes and two that answer, over time, and the slope of each.
// BENCH_MINUTES makes it longer.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startChild } from './child.mjs';
import { load, loadGenerator } from './load.mjs';
import { MINUTES, mixedRequests } from './memory.mjs';
import { addMemorySample, logMemory, memoryOf } from './memory-figures.mjs';
import { findPostgres, startPostgres } from './postgres-server.mjs';
import { generate, PROGRAM, runCommand, temporaryFolder } from './sample-ledger.mjs';
import { shown } from './statistics.mjs';

export const name = 'engine-memory';
export const title = 'Memory on PostgreSQL under load, while the ledger grows';

const PRODUCED_PER_SECOND = 50;
const SAMPLE_INTERVAL_MS = 1_000;
const PIECE_SECONDS = 10;

function serve(data, ...options) {
  const args = ['serve', '--data', data, '--listen', '127.0.0.1:0', '--workers', '1'];
  return startChild([PROGRAM, ...args, '--log-level', 'warn', ...options]);
}

/** @param {{log: (line: string) => void}} options */
export async function run({ log }) {
  const { bin, missing } = findPostgres();
  if (missing !== undefined) {
    log(`left out: ${missing}`);
    return { skipped: missing };
  }
  const folder = temporaryFolder();
  const sample = join(folder, 'sample');
  await generate(sample);
  const database = await startPostgres(bin, folder);
  const data = `postgres://${database.user}@/postgres?host=${encodeURIComponent(database.socketFolder)}`;
  const nodes = [];
  try {
    await runCommand(['copy', '--data', sample, '--to', data, '--json']);
    const requests = await mixedRequests(sample);
    nodes.push(await serve(data, '--produce', String(PRODUCED_PER_SECOND)));
    for (let reader = 0; reader < 2; reader += 1) nodes.push(await serve(data));
    const samples = nodes.map(() => []);
    const startedMs = performance.now();
    const watching = setInterval(() => {
      const minutes = (performance.now() - startedMs) / 60_000;
      for (const [index, { pid }] of nodes.entries()) addMemorySample(samples[index], pid, minutes);
    }, SAMPLE_INTERVAL_MS);
    let [asked, errors] = [0, 0];
    while (performance.now() - startedMs < MINUTES * 60_000) {
      const origins = nodes.slice(1).map(({ ready }) => new URL(ready.url).origin);
      const pieces = origins.map((origin) => load(origin, requests, PIECE_SECONDS));
      for (const piece of await Promise.all(pieces)) {
        asked += piece.requestsPerSecond * PIECE_SECONDS;
        errors += piece.errors;
      }
      await sleep(SAMPLE_INTERVAL_MS);
    }
    clearInterval(watching);
    const processes = nodes.map(({ pid }, index) =>
      memoryOf(pid, index === 0 ? 'writes' : 'answers', samples[index]),
    );
    log(`${shown(MINUTES)} minutes, ${shown(asked)} requests, ${errors} failed`);
    logMemory(log, processes);
    return { loadGenerator, minutes: MINUTES, requests: Math.round(asked), errors, processes };
  } finally {
    for (const node of nodes) await node.stop();
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
