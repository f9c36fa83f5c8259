// Ten thousand listeners of the heads of one process that commits 50 transactions a second: delay from the commit to
// the last listener, memory and processor time, and the rate of other requests with and without them, in turns. Then
// the processor time of as many listeners that each have an idle stream of their own. BENCH_MINUTES makes it longer,
// BENCH_LISTENERS sets their number. The listeners are spread over several processes, because each connection takes a
// file descriptor.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openHead } from '../src/store/columns/head.ts';
import { openSqliteReader } from '../src/store/sqlite/sqlite-store.ts';
import { startChild } from './child.mjs';
import { PROGRAM, smallSample } from './ledgers.mjs';
import { load, loadGenerator } from './load.mjs';
import { anonymousBytes, cpuMs } from './process-figures.mjs';
import { randomAccounts } from './random-keys.mjs';
import { balanceRequest } from './requests.mjs';
import { ratioSummary, shown, shownSummary, summary } from './statistics.mjs';

export const name = 'listeners';
export const title = 'Event streams: many listeners of one process';

const CLIENT = fileURLToPath(new URL('./listeners-client.mjs', import.meta.url));
const MINUTES = Number(process.env.BENCH_MINUTES ?? 1);
const LISTENERS = Number(process.env.BENCH_LISTENERS ?? 10_000);
const CLIENTS = 2;
const PRODUCED_PER_SECOND = 50;
const KEYS = 1_000;
/** No ledger has accounts from this address on. */
const FIRST_ACCOUNT = 0xdead0000;
/** Interval at which the head on disk is polled, in milliseconds: the maximum delay in seeing a commit. */
const LOOK_INTERVAL_MS = 1;

/**
 * @param {number} [firstAccount] account whose stream the first one listens to; absent: all listen to heads
 * @returns {Promise<() => Promise<{ended: number, heads: object}[]>>} ends them and returns each client process's
 *   results
 */
export async function startListeners(origin, firstAccount, count = LISTENERS) {
  const each = Math.ceil(count / CLIENTS);
  const clients = Array.from({ length: CLIENTS }, (_, place) => {
    const own = firstAccount === undefined ? [] : [String(firstAccount + place * each)];
    const args = [CLIENT, origin, String(each), ...own];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
  });
  await Promise.all(clients.map(({ lines }) => lines.next()));
  return async () => {
    for (const { child } of clients) child.stdin.end();
    const results = await Promise.all(clients.map(async ({ lines }) => (await lines.next()).value));
    return results.map((line) => JSON.parse(line));
  };
}

/** Records when each head was first seen on disk, until `isOver`. */
async function watchCommits(store, isOver) {
  const commits = [];
  let version = (await openHead(store)).version;
  while (!isOver()) {
    await sleep(LOOK_INTERVAL_MS);
    const head = await openHead(store);
    if (head.version === version) continue;
    ({ version } = head);
    commits.push({ version, atMs: performance.timeOrigin + performance.now() });
  }
  return commits;
}

/** Milliseconds from each commit until every listener had a head that includes it. */
function delays(commits, results) {
  const complete = new Map();
  for (const { heads } of results) {
    for (const [id, { got, lastMs }] of Object.entries(heads)) {
      const known = complete.get(id) ?? { got: 0, lastMs: 0 };
      complete.set(id, { got: known.got + got, lastMs: Math.max(known.lastMs, lastMs) });
    }
  }
  const whole = [...complete]
    .filter(([, { got }]) => got >= LISTENERS)
    .map(([id, { lastMs }]) => ({ version: BigInt(id), lastMs }))
    .sort((a, b) => (a.version < b.version ? -1 : 1));
  const found = commits.flatMap(({ version, atMs }) => {
    const first = whole.find((head) => head.version >= version);
    return first === undefined ? [] : [first.lastMs - atMs];
  });
  return { delaysMs: found.sort((a, b) => a - b), heads: complete.size, whole: whole.length };
}

const percentile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

/** Measures listeners alone for `seconds`. */
async function listen(node, store, seconds) {
  const origin = new URL(node.ready.url).origin;
  await sleep(2_000);
  const before = { bytes: anonymousBytes(node.pid), cpuMs: cpuMs(node.pid) };
  await sleep(5_000);
  const idleCpuShare = (cpuMs(node.pid) - before.cpuMs) / 5_000;
  const stop = await startListeners(origin);
  await sleep(2_000);
  let isOver = false;
  const watching = watchCommits(store, () => isOver);
  const startedMs = cpuMs(node.pid);
  await sleep(seconds * 1_000);
  const cpuShare = (cpuMs(node.pid) - startedMs) / (seconds * 1_000);
  const bytesPerListener = (anonymousBytes(node.pid) - before.bytes) / LISTENERS;
  isOver = true;
  const commits = await watching;
  await sleep(3_000);
  const results = await stop();
  const { delaysMs, heads, whole } = delays(commits, results);
  return {
    ...{ listeners: LISTENERS, seconds, commits: commits.length, heads, headsOfAll: whole },
    endedStreams: results.reduce((sum, { ended }) => sum + ended, 0),
    delayMs: {
      p50: percentile(delaysMs, 0.5),
      p99: percentile(delaysMs, 0.99),
      max: delaysMs.at(-1),
    },
    ...{ bytesPerListener, cpuShare, idleCpuShare },
  };
}

/** Processor time with listeners that each have a stream of their own, as a share of a core. */
async function listenToOthers(node, seconds) {
  const stop = await startListeners(new URL(node.ready.url).origin, FIRST_ACCOUNT);
  await sleep(2_000);
  const startedMs = cpuMs(node.pid);
  await sleep(seconds * 1_000);
  const cpuShare = (cpuMs(node.pid) - startedMs) / (seconds * 1_000);
  const results = await stop();
  return { cpuShare, ended: results.reduce((sum, { ended }) => sum + ended, 0) };
}

/** The rate of balances with listeners and without, in turns. */
async function others(node, requests, { rounds, seconds }) {
  const origin = new URL(node.ready.url).origin;
  const rates = { without: [], withListeners: [] };
  const failed = { without: 0, withListeners: 0 };
  for (let round = -1; round < rounds; round += 1) {
    const without = await load(origin, requests, seconds);
    const stop = await startListeners(origin);
    const withListeners = await load(origin, requests, seconds);
    await stop();
    await sleep(1_000);
    // The first round warms up.
    if (round === -1) continue;
    failed.without += without.errors;
    failed.withListeners += withListeners.errors;
    rates.without.push(without.requestsPerSecond);
    rates.withListeners.push(withListeners.requestsPerSecond);
  }
  return {
    failed,
    without: summary(rates.without),
    withListeners: summary(rates.withListeners),
    ratio: ratioSummary(rates.withListeners, rates.without),
  };
}

/** @param {{log: (line: string) => void, rounds: number, seconds: number}} options */
export async function run(options) {
  const { log } = options;
  const dataFolder = await smallSample();
  const store = openSqliteReader({ directory: dataFolder });
  const requests = (await randomAccounts(store, KEYS)).map(balanceRequest);
  const node = await startChild([
    ...[PROGRAM, 'serve', '--data', dataFolder, '--listen', '127.0.0.1:0', '--log-level', 'warn'],
    ...['--workers', '1', '--produce', String(PRODUCED_PER_SECOND)],
    // Responses refused for overload would count as fast ones.
    ...['--max-backlog-ms', '0'],
  ]);
  try {
    const heard = await listen(node, store, Math.round(MINUTES * 60));
    logHeard(log, heard);
    const different = await listenToOthers(node, Math.round(MINUTES * 60));
    log(
      `as many listeners, each of a stream of its own: processor ${shown(different.cpuShare)} of a core; ` +
        `${different.ended} streams ended`,
    );
    const balances = await others(node, requests, options);
    log(
      `balances (${loadGenerator}): ${shownSummary(balances.without)} req/s without listeners, ` +
        `${shownSummary(balances.withListeners)} with; ratio ${shownSummary(balances.ratio)}; ` +
        `${balances.failed.without} and ${balances.failed.withListeners} failed or timed out`,
    );
    return { loadGenerator, ...heard, different, balances };
  } finally {
    await store.close();
    await node.stop();
  }
}

function logHeard(log, { delayMs, ...heard }) {
  log(
    `${shown(heard.listeners)} listeners, ${heard.seconds} s, ${heard.commits} commits, ${heard.heads} heads sent, ` +
      `${heard.headsOfAll} of them to all; ${heard.endedStreams} streams ended`,
  );
  log(
    `commit to last listener: p50 ${shown(delayMs.p50)} ms, p99 ${shown(delayMs.p99)} ms, max ${shown(delayMs.max)} ms`,
  );
  log(
    `${shown(heard.bytesPerListener)} bytes of memory a listener; processor ${shown(heard.cpuShare)} of a core ` +
      `(${shown(heard.idleCpuShare)} without listeners)`,
  );
}
