import { setTimeout as sleep } from 'node:timers/promises';
import { openStoreReader } from '../src/node/open-store.ts';
import { openHead } from '../src/store/columns/head.ts';
import { openSqliteReader } from '../src/store/sqlite/sqlite-store.ts';
import { startChild } from './child.mjs';
import { gentleLoad } from './gentle-load.mjs';
import { PROGRAM, runCommand, smallSample, temporaryFolder } from './ledgers.mjs';
import { startListeners } from './listeners.mjs';
import { load, loadGenerator } from './load.mjs';
import { addMemorySample, logMemory, memoryOf } from './memory-figures.mjs';
import { findPostgres, startPostgres } from './postgres-server.mjs';
import { cpuMsOfAll, withChildren } from './process-figures.mjs';
import { randomAccounts, randomStreams } from './random-keys.mjs';
import {
  asBcs,
  balanceRequest,
  batchRequest,
  encodeRequest,
  eventsRequest,
  MODULE_REQUEST,
  viewRequest,
} from './requests.mjs';
import { shown, shownSummary, summary } from './statistics.mjs';

export const name = 'memory';
export const title = 'Memory under load, while the ledger grows';

export const MINUTES = Number(process.env.BENCH_MINUTES ?? 1);
/** Requests per second; 0: as fast as responses arrive. */
const RATE = Number(process.env.BENCH_RATE ?? 0);
/**
 * With a ledger in PostgreSQL, the workers are separate processes with their own connections, as on several machines.
 */
const IS_POSTGRES = process.env.BENCH_STORE === 'postgres';
const WORKERS = 2;
const PRODUCED_PER_SECOND = 50;
/** Less than the whole sample is retained, so that pruning starts with the node and then keeps pace with new blocks. */
const KEPT_SHARE = 0.9;
const SAMPLE_INTERVAL_MS = 1_000;
/** The load comes in pieces, so that an error can be attributed to one of them. */
const PIECE_SECONDS = 30;
const KEYS = 1_000;
/** Listeners of heads throughout the benchmark. */
const LISTENERS = 100;
/** Share of the time at the beginning with full load whatever the rate: caches fill up to their budgets. */
const FILLING_SHARE = 0.1;

/** Transactions committed while the benchmark runs, as JSON or as stored bytes. */
const NEWEST_TRANSACTIONS = { path: '/v1/transactions?limit=10' };

/** Requests of all operations in JSON and BCS, mixed evenly over many keys. */
export async function mixedRequests(dataFolder) {
  const store = openSqliteReader({ directory: dataFolder });
  try {
    const holders = await randomAccounts(store, KEYS);
    const streams = await randomStreams(store, KEYS);
    return Array.from({ length: KEYS }, (_, index) => {
      const holder = holders[index % holders.length];
      const reads = [balanceRequest(holder), eventsRequest(streams[index % streams.length])];
      const json = [
        ...reads,
        batchRequest(reads),
        MODULE_REQUEST,
        encodeRequest(holder, index),
        NEWEST_TRANSACTIONS,
        viewRequest('0x1::coin::balance', ['0x1::aptos_coin::AptosCoin'], [`0x${holder}`]),
      ];
      return [...json, ...asBcs(json)];
    }).flat();
  } finally {
    await store.close();
  }
}

/**
 * Time until a reader responds with the version that was the newest on disk at the request, and how many versions its
 * first response was behind. It opens a new connection each time, so that any worker may answer.
 */
async function lagOf(url, store) {
  const { version } = await openHead(store);
  const askedMs = performance.now();
  let behind;
  for (;;) {
    const response = await fetch(url, { headers: { connection: 'close' } });
    if (response.status === 503) continue;
    const answered = BigInt((await response.json()).ledger_version);
    behind ??= answered < version ? Number(version - answered) : 0;
    if (answered >= version) return { behind, lagMs: performance.now() - askedMs };
  }
}

async function watch(node, store, isOver) {
  const startedMs = performance.now();
  const memory = new Map(withChildren(node.pid).map((pid) => [pid, []]));
  const lags = [];
  while (!isOver()) {
    const minutes = (performance.now() - startedMs) / 60_000;
    for (const [pid, samples] of memory) addMemorySample(samples, pid, minutes);
    lags.push(await lagOf(node.ready.url, store));
    await sleep(SAMPLE_INTERVAL_MS);
  }
  return { memory, lags, pids: withChildren(node.pid) };
}

/** Puts load on a node until the time is over. */
async function loadFor(origin, requests, seconds) {
  const total = { requests: 0, errors: 0, p99Ms: [] };
  for (let left = seconds; left > 0; left -= PIECE_SECONDS) {
    const pieceSeconds = Math.min(left, PIECE_SECONDS);
    const { requestsPerSecond, errors, p99Ms } =
      RATE > 0 && seconds - left >= seconds * FILLING_SHARE
        ? await gentleLoad(origin, requests, RATE, pieceSeconds)
        : await load(origin, requests, pieceSeconds);
    total.requests += requestsPerSecond * pieceSeconds;
    total.errors += errors;
    if (p99Ms !== undefined) total.p99Ms.push(p99Ms);
  }
  return total;
}

/** Copies a ledger into a PostgreSQL server of our own. @returns its location, and a function that stops the server */
async function inPostgres(dataFolder) {
  const { bin, missing } = findPostgres();
  if (bin === undefined) throw new Error(missing);
  const postgres = await startPostgres(bin, temporaryFolder());
  const location = `postgres://${postgres.user}@localhost/postgres?host=${postgres.socketFolder}`;
  await runCommand(['copy', '--data', dataFolder, '--to', location]);
  return { location, stop: postgres.stop };
}

/** @param {{log: (line: string) => void}} options */
export async function run({ log }) {
  const dataFolder = await smallSample();
  const requests = await mixedRequests(dataFolder);
  if (!IS_POSTGRES) return measure(dataFolder, requests, log);
  const { location, stop } = await inPostgres(dataFolder);
  return measure(location, requests, log).finally(stop);
}

async function measure(data, requests, log) {
  // wrk only takes whole seconds.
  const seconds = Math.round(MINUTES * 60);
  const store = await openStoreReader(data);
  const before = await openHead(store);
  const node = await startChild([
    ...[PROGRAM, 'serve', '--data', data, '--listen', '127.0.0.1:0', '--log-level', 'warn'],
    ...['--workers', String(WORKERS), '--produce', String(PRODUCED_PER_SECOND)],
    ...['--keep-versions', String(Math.floor(Number(before.version) * KEPT_SHARE))],
  ]);
  try {
    let isOver = false;
    const watching = watch(node, store, () => isOver);
    const { origin } = new URL(node.ready.url);
    const endListeners = await startListeners(origin, undefined, LISTENERS);
    const done = await loadFor(origin, requests, seconds);
    const processorMs = cpuMsOfAll(withChildren(node.pid));
    isOver = true;
    const listened = await endListeners();
    const { memory, lags, pids } = await watching;
    const produced = Number((await openHead(store)).version - before.version);
    const processes = [...memory].map(([pid, samples]) =>
      memoryOf(pid, pid === node.pid ? 'parent: writes' : 'worker: answers', samples),
    );
    const result = {
      ...(RATE > 0 ? { ratePerSecond: RATE } : { loadGenerator, p99Ms: summary(done.p99Ms) }),
      seconds,
      requests: Math.round(done.requests),
      processorSeconds: processorMs / 1_000,
      errors: done.errors,
      endedStreams: listened.reduce((sum, { ended }) => sum + ended, 0),
      producedPerSecond: produced / seconds,
      restartedProcesses: pids.filter((pid) => !memory.has(pid)).length,
      lagMs: summary(lags.map(({ lagMs }) => lagMs)),
      versionsBehind: summary(lags.map(({ behind }) => behind)),
      processes,
    };
    logResult(log, result);
    return result;
  } finally {
    await store.close();
    await node.stop();
  }
}

function logResult(log, result) {
  log(
    `${shown(result.seconds)} s, ${shown(result.requests)} requests, ${result.errors} failed, ` +
      `${shown(result.processorSeconds)} s of processor time, ` +
      `${result.endedStreams} of ${LISTENERS} streams ended, ${result.restartedProcesses} processes restarted, ${shown(result.producedPerSecond)} transactions/s committed`,
  );
  logMemory(log, result.processes);
  log(
    `readers show what is on disk after ${shownSummary(result.lagMs)} ms, their first answer ` +
      `${shownSummary(result.versionsBehind)} versions behind`,
  );
  if (result.p99Ms !== undefined) log(`p99 ${shownSummary(result.p99Ms)} ms`);
}
