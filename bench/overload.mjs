// More work than one process can do: latency of accepted requests at capacity and at four times that, with the bounds
// and without, in turns. The service of one connection next to many from another address. 1,000 busy connections with
// and without 10,000 idle ones. And the cost per request of the bounds, metrics and the access log without overload.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startChild } from './child.mjs';
import { startListeners } from './listeners.mjs';
import { load } from './load.mjs';
import { prepareLedger } from './prepare-ledger.mjs';
import { anonymousBytes, cpuMs } from './process-figures.mjs';
import { ratioSummary, shown, shownSummary, summary } from './statistics.mjs';

export const name = 'overload';
export const title = 'Overload: latency of what is let in at capacity and at four times that';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const BALANCE = '/v1/accounts/0x1/balance/0x1::aptos_coin::AptosCoin';
/**
 * A process is at capacity when a turn takes as long as its bound allows. Bounds are chosen so that a few hundred
 * connections reach it: the client needs a core too.
 */
const KINDS = [
  { kind: 'listing', path: '/v1/accounts/0x1/modules' },
  { kind: 'read', path: BALANCE },
];
const BACKLOG_MS = { listing: 50, read: 10 };
const OVERLOAD_FACTOR = 4;
const MAX_CONNECTIONS = 2_000;
/** Connections of the greedy client, next to one with a single connection. */
const MANY_CONNECTIONS = 500;
const BUSY_CONNECTIONS = 1_000;
/** The node and this process need a file descriptor for each. */
const IDLE_CONNECTIONS = 10_000;
/** Minutes of overload beside idle connections and listeners; if set, nothing else is measured. */
const MINUTES = Number(process.env.BENCH_MINUTES ?? 0);
const CAPACITY_SECONDS = 20;
const PROBE_INTERVAL_MS = 1_000;
/** Idle connections opened at a time: fewer than the accept queue holds. */
const OPENED_AT_ONCE = 250;
/** Node options whose cost is measured. */
const COSTS = {
  bare: ['--max-backlog-ms', '0'],
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

function closedLoop(node, path, connections, seconds, address = '127.0.0.1') {
  const origin = new URL(node.ready.url).origin;
  const args = [here('./closed-loop.mjs'), origin, path, String(connections), String(seconds)];
  args.push(address);
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  return new Promise((resolve) => child.on('close', () => resolve(JSON.parse(output))));
}

/** Number of connections that keep a turn as long as its bound allows. */
async function capacity(node, path, backlogMs) {
  const { acceptedPerSecond } = await closedLoop(node, path, 16, 4);
  const connections = Math.round((acceptedPerSecond * backlogMs) / 1_000);
  return Math.max(4, Math.min(connections, MAX_CONNECTIONS));
}

async function latency(dataFolder, { kind, path }, { rounds, seconds, log }) {
  const backlogMs = BACKLOG_MS[kind];
  const [bounded, unbounded] = await Promise.all(
    [backlogMs, 0].map((value) => serve(dataFolder, ['--max-backlog-ms', String(value)])),
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
    const figuresByState = Object.fromEntries(
      Object.entries(results).map(([state, runs]) => [state, figures(runs)]),
    );
    log(`${kind}, ${connections} connections at capacity (${backlogMs} ms a turn):`);
    for (const [state, { p99Ms, acceptedPerSecond, refusedPerSecond }] of Object.entries(
      figuresByState,
    )) {
      log(
        `  ${state.padEnd(11)} p99 ${shownSummary(p99Ms)} ms, ` +
          `${shownSummary(acceptedPerSecond)} let in/s, ${shownSummary(refusedPerSecond)} refused/s`,
      );
    }
    log(
      `  p99 at ${OVERLOAD_FACTOR} × against capacity: ${shownSummary(ratio)}; without bounds ${shownSummary(unboundedRatio)}`,
    );
    return { kind, connections, backlogMs, ...figuresByState, ratio, unboundedRatio };
  } finally {
    await Promise.all([bounded.stop(), unbounded.stop()]);
  }
}

/** A client with many connections and one with a single connection, from different addresses. */
async function fairness(dataFolder, { rounds, seconds, log }) {
  const { path, kind } = KINDS[0];
  const node = await serve(dataFolder, ['--max-backlog-ms', String(BACKLOG_MS[kind])]);
  const runs = { many: [], one: [] };
  try {
    for (let round = 0; round < rounds; round += 1) {
      const time = Math.max(seconds, 5);
      const [many, one] = await Promise.all([
        closedLoop(node, path, MANY_CONNECTIONS, time),
        closedLoop(node, path, 1, time, '127.0.0.2'),
      ]);
      runs.many.push(many);
      runs.one.push(one);
    }
  } finally {
    await node.stop();
  }
  const result = {};
  for (const [who, all] of Object.entries(runs)) {
    const letIn = summary(
      all.map(({ acceptedPerSecond: a, refusedPerSecond: r }) => (100 * a) / Math.max(a + r, 1e-9)),
    );
    const p99Ms = summary(all.map((one) => one.p99Ms ?? Number.NaN));
    result[who] = { letInPercent: letIn, p99Ms };
    log(
      `fairness, ${who === 'one' ? 1 : MANY_CONNECTIONS} connections: let in ${shownSummary(letIn)} % ` +
        `of the requests, p99 ${shownSummary(p99Ms)} ms`,
    );
  }
  return result;
}

async function openIdle(node, count) {
  const { hostname, port } = new URL(node.ready.url);
  const sockets = [];
  while (sockets.length < count) {
    const opened = Array.from({ length: Math.min(OPENED_AT_ONCE, count - sockets.length) }, () =>
      connect({ port: Number(port), host: hostname }),
    );
    await Promise.all(opened.map((socket) => once(socket, 'connect')));
    sockets.push(...opened);
  }
  return sockets;
}

/** Busy connections without and with idle ones, and the memory of an idle one. */
async function idleConnections(dataFolder, { rounds, seconds, log }) {
  const node = await serve(dataFolder, []);
  const runs = { alone: [], withIdle: [] };
  const kibEach = [];
  try {
    await closedLoop(node, BALANCE, BUSY_CONNECTIONS, 4);
    for (let round = 0; round < rounds; round += 1) {
      const time = Math.max(seconds, 5);
      runs.alone.push(await closedLoop(node, BALANCE, BUSY_CONNECTIONS, time));
      const before = anonymousBytes(node.pid);
      const idle = await openIdle(node, IDLE_CONNECTIONS);
      kibEach.push((anonymousBytes(node.pid) - before) / 1_024 / IDLE_CONNECTIONS);
      runs.withIdle.push(await closedLoop(node, BALANCE, BUSY_CONNECTIONS, time));
      for (const socket of idle) socket.destroy();
    }
  } finally {
    await node.stop();
  }
  const p99 = (all) => all.map(({ p99Ms }) => p99Ms);
  const rate = (all) => all.map(({ acceptedPerSecond }) => acceptedPerSecond);
  const result = {
    kibEach: summary(kibEach),
    p99Ratio: ratioSummary(p99(runs.withIdle), p99(runs.alone)),
    rateRatio: ratioSummary(rate(runs.withIdle), rate(runs.alone)),
  };
  for (const [state, all] of Object.entries(runs)) {
    result[state] = { p99Ms: summary(p99(all)), acceptedPerSecond: summary(rate(all)) };
    log(
      `${BUSY_CONNECTIONS} busy connections, ${state === 'alone' ? 0 : IDLE_CONNECTIONS} idle: p99 ` +
        `${shownSummary(result[state].p99Ms)} ms, ${shownSummary(result[state].acceptedPerSecond)} let in/s`,
    );
  }
  log(
    `  an idle connection takes ${shownSummary(result.kibEach)} KiB; rate with idle ones against without ` +
      `${shownSummary(result.rateRatio)}, p99 ${shownSummary(result.p99Ratio)}`,
  );
  return result;
}

/** Time until the first response or refusal on a new connection, each second until `isOver`. */
async function newConnections(origin, isOver) {
  const waitsMs = [];
  while (!isOver()) {
    const askedMs = performance.now();
    const response = await fetch(origin + BALANCE, { headers: { connection: 'close' } });
    await response.arrayBuffer();
    waitsMs.push(performance.now() - askedMs);
    await sleep(PROBE_INTERVAL_MS);
  }
  return waitsMs;
}

/** Overload for minutes, beside idle connections and listeners. */
async function sustained(dataFolder, { log }) {
  const { path, kind } = KINDS[1];
  const node = await serve(dataFolder, ['--max-backlog-ms', String(BACKLOG_MS[kind])]);
  try {
    const origin = new URL(node.ready.url).origin;
    const connections = await capacity(node, path, BACKLOG_MS[kind]);
    const idle = await openIdle(node, IDLE_CONNECTIONS);
    const stopListeners = await startListeners(origin);
    const atCapacity = await closedLoop(node, path, connections, CAPACITY_SECONDS);
    let isOver = false;
    const probing = newConnections(origin, () => isOver);
    const many = connections * OVERLOAD_FACTOR;
    const overloaded = await closedLoop(node, path, many, MINUTES * 60);
    isOver = true;
    const newConnectionMs = summary(await probing);
    const listeners = await stopListeners();
    for (const socket of idle) socket.destroy();
    const result = {
      ...{
        minutes: MINUTES,
        connections,
        idle: idle.length,
        atCapacity,
        overloaded,
        newConnectionMs,
      },
      endedStreams: listeners.reduce((sum, { ended }) => sum + ended, 0),
    };
    for (const [state, { p99Ms, acceptedPerSecond, refusedPerSecond, failed, wrong }] of [
      ['at capacity', atCapacity],
      [`${OVERLOAD_FACTOR} ×`, overloaded],
    ]) {
      log(
        `${MINUTES} minutes, ${state}: p99 ${shown(p99Ms)} ms, ${shown(acceptedPerSecond)} let in/s, ` +
          `${shown(refusedPerSecond)} refused/s, ${failed} connections lost, ${wrong} other answers`,
      );
    }
    log(
      `  a new connection has its answer after ${shownSummary(newConnectionMs)} ms; ` +
        `${result.endedStreams} of the listeners lost their stream`,
    );
    return result;
  } finally {
    await node.stop();
  }
}

/** Processor time per request with and without bounds, metrics and the access log. */
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
    if (MINUTES > 0) return await sustained(dataFolder, options);
    const kinds = [];
    for (const kind of KINDS) kinds.push(await latency(dataFolder, kind, options));
    const clients = await fairness(dataFolder, options);
    const idle = await idleConnections(dataFolder, options);
    return { kinds, clients, idle, costs: await costs(dataFolder, options) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
