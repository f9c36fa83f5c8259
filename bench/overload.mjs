// More work than one process can do: latency of what is let in at capacity and at four times that, with the bounds and
// without, in turns. And what the bounds, metrics and the access log cost a request when there is no overload.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild } from './child.mjs';
import { load } from './load.mjs';
import { prepareLedger } from './prepare-ledger.mjs';
import { cpuMs } from './process-figures.mjs';
import { ratioSummary, shownSummary, summary } from './statistics.mjs';

export const name = 'overload';
export const title = 'Overload: latency of what is let in at capacity and at four times that';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const BALANCE = '/v1/accounts/0x1/balance/0x1::aptos_coin::AptosCoin';
/**
 * Capacity is where a turn takes what one may take. Bounds are chosen so that a few hundred connections reach it: the
 * client, too, needs a core.
 */
const KINDS = [
  { kind: 'listing', path: '/v1/accounts/0x1/modules', bound: '--max-listing-backlog-ms' },
  { kind: 'read', path: BALANCE, bound: '--max-read-backlog-ms' },
];
const BACKLOG_MS = { listing: 50, read: 10 };
const OVERLOAD_FACTOR = 4;
const MAX_CONNECTIONS = 2_000;
/** What a node is started with to see what it costs. */
const COSTS = {
  bare: ['--max-read-backlog-ms', '0'],
  bounded: [],
  metered: ['--metrics-listen', '127.0.0.1:0'],
  logged: ['--access-log', 'sampled'],
};

function serve(dataFolder, flags) {
  return startChild([
    ...[here('../bin/daybook'), 'serve', '--data', dataFolder, '--listen', '127.0.0.1:0'],
    ...['--workers', '1', '--log-level', 'error', ...flags],
  ]);
}

function closedLoop(node, path, connections, seconds) {
  const origin = new URL(node.ready.url).origin;
  const args = [here('./closed-loop.mjs'), origin, path, String(connections), String(seconds)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  return new Promise((resolve) => child.on('close', () => resolve(JSON.parse(output))));
}

/** How many connections keep a process as busy in a turn as its bound allows. */
async function capacity(node, path, backlogMs) {
  const { acceptedPerSecond } = await closedLoop(node, path, 16, 4);
  const connections = Math.round((acceptedPerSecond * backlogMs) / 1_000);
  return Math.max(4, Math.min(connections, MAX_CONNECTIONS));
}

async function latency(dataFolder, { kind, path, bound }, { rounds, seconds, log }) {
  const backlogMs = BACKLOG_MS[kind];
  const [bounded, unbounded] = await Promise.all(
    [backlogMs, 0].map((value) => serve(dataFolder, [bound, String(value)])),
  );
  try {
    const connections = await capacity(unbounded, path, backlogMs);
    const results = { atCapacity: [], overloaded: [], unbounded: [] };
    for (let round = 0; round < rounds; round += 1) {
      const many = connections * OVERLOAD_FACTOR;
      const time = Math.max(seconds, 4);
      results.atCapacity.push(await closedLoop(bounded, path, connections, time));
      results.overloaded.push(await closedLoop(bounded, path, many, time));
      results.unbounded.push(await closedLoop(unbounded, path, many, time));
    }
    const p99 = (runs) => runs.map(({ p99Ms }) => p99Ms);
    const ratio = ratioSummary(p99(results.overloaded), p99(results.atCapacity));
    const unboundedRatio = ratioSummary(p99(results.unbounded), p99(results.atCapacity));
    const figures = (runs) => ({
      p50Ms: summary(runs.map(({ p50Ms }) => p50Ms)),
      p99Ms: summary(p99(runs)),
      acceptedPerSecond: summary(runs.map(({ acceptedPerSecond }) => acceptedPerSecond)),
      refusedPerSecond: summary(runs.map(({ refusedPerSecond }) => refusedPerSecond)),
    });
    const shown = Object.fromEntries(
      Object.entries(results).map(([state, runs]) => [state, figures(runs)]),
    );
    log(`${kind}, ${connections} connections at capacity (${backlogMs} ms a turn):`);
    for (const [state, { p99Ms, acceptedPerSecond, refusedPerSecond }] of Object.entries(shown)) {
      log(
        `  ${state.padEnd(11)} p99 ${shownSummary(p99Ms)} ms, ` +
          `${shownSummary(acceptedPerSecond)} let in/s, ${shownSummary(refusedPerSecond)} refused/s`,
      );
    }
    log(
      `  p99 at ${OVERLOAD_FACTOR} × against capacity: ${shownSummary(ratio)}; without bounds ${shownSummary(unboundedRatio)}`,
    );
    return { kind, connections, backlogMs, ...shown, ratio, unboundedRatio };
  } finally {
    await Promise.all([bounded.stop(), unbounded.stop()]);
  }
}

/** Processor time of a request with and without what watches requests. */
async function costs(dataFolder, { rounds, seconds, log }) {
  const nodes = {};
  const spentUs = {};
  for (const [way, flags] of Object.entries(COSTS)) {
    nodes[way] = await serve(dataFolder, flags);
    spentUs[way] = [];
  }
  try {
    for (let round = -1; round < rounds; round += 1) {
      for (const [way, node] of Object.entries(nodes)) {
        const before = cpuMs(node.pid);
        const origin = new URL(node.ready.url).origin;
        const { requestsPerSecond } = await load(origin, [{ path: BALANCE }], seconds);
        const us = ((cpuMs(node.pid) - before) * 1_000) / (requestsPerSecond * seconds);
        if (round >= 0) spentUs[way].push(us);
      }
    }
  } finally {
    await Promise.all(Object.values(nodes).map((node) => node.stop()));
  }
  const result = {};
  for (const way of Object.keys(COSTS)) {
    const ratio = ratioSummary(spentUs[way], spentUs.bare);
    result[way] = { processorUsPerRequest: summary(spentUs[way]), ratio };
    log(
      `cost, ${way.padEnd(8)} ${shownSummary(summary(spentUs[way]))} µs of processor time a request, ` +
        `against none of it ${shownSummary(ratio)}`,
    );
  }
  return result;
}

/** @param {{rounds: number, seconds: number, log: (line: string) => void}} options */
export async function run(options) {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  try {
    const dataFolder = await prepareLedger(folder);
    const kinds = [];
    for (const kind of KINDS) kinds.push(await latency(dataFolder, kind, options));
    return { kinds, costs: await costs(dataFolder, options) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
