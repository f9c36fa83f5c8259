// Requests/s of each operation beside a bare node:http server that sends the same bytes with the same headers, in
// turns: server, bare, server, bare, …
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuSeconds, startChild } from './child.mjs';
import {
  accountAddresses,
  eventStreams,
  randomTransactions,
  shuffled,
} from './ledger-contents.mjs';
import { CONNECTIONS, load, loadGenerator } from './load.mjs';
import { pacedLoad } from './paced-load.mjs';
import { prepareLedger } from './prepare-ledger.mjs';
import {
  allPagesRequests,
  asBcs,
  balanceRequest,
  encodeRequest,
  eventsRequest,
  MODULE_REQUEST,
  PAGE_EVENTS,
  transactionRequest,
  viewRequest,
} from './requests.mjs';
import { ratioSummary, shownSummary, summary } from './statistics.mjs';

export const name = 'http';
export const title = 'HTTP: requests/s beside bare node:http';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
/** On a quiet machine V8 keeps compiling for this long: each operation starts with code optimized for earlier ones. */
const WARM_UP_SECONDS = 5;
/** Maximum number of different requests of an operation. */
const MAX_REQUESTS = 20_000;
/** Maximum number of accounts and transactions that are requested: more than caches hold. */
const MAX_KEYS = 200_000;

/** Random streams that fill a page; all streams if none does, as in a genesis. */
function streamsToAsk(all, log) {
  const full = all.filter(({ events }) => events >= PAGE_EVENTS);
  const asked = shuffled(full.length > 0 ? full : all).slice(0, MAX_REQUESTS);
  log(
    `${all.length} event streams, ${full.length} of ${PAGE_EVENTS} events or more; asked: ${asked.length}`,
  );
  return asked;
}

export async function operations(dataFolder, log) {
  const { addresses, total } = await accountAddresses(dataFolder, MAX_KEYS);
  const holders = shuffled(addresses);
  log(`${holders.length} of ${total} accounts`);
  const allStreams = await eventStreams(dataFolder, Number.POSITIVE_INFINITY);
  const streams = streamsToAsk(allStreams, log);
  const shortStreams = allStreams.filter(({ events }) => events < PAGE_EVENTS);
  const shortPages = shuffled(shortStreams.flatMap(allPagesRequests)).slice(0, MAX_KEYS);
  log(`${shortPages.length} different pages of the ${shortStreams.length} streams with fewer`);
  const balances = holders.map((address) => balanceRequest(address));
  const pages = streams.map(eventsRequest);
  const modules = [MODULE_REQUEST];
  const transactions = await randomTransactions(dataFolder, MAX_KEYS);
  log(`${transactions.length} transactions`);
  const byVersion = transactions.map(({ version }) => transactionRequest(`by_version/${version}`));
  const byHash = transactions.map(({ hash }) => transactionRequest(`by_hash/${hash}`));
  const encodings = holders.slice(0, 1_000).map(encodeRequest);
  const coin = '0x1::aptos_coin::AptosCoin';
  const views = holders.map((holder) => viewRequest('0x1::coin::balance', [coin], [`0x${holder}`]));
  return [
    { operation: 'balance', form: 'json', requests: balances },
    { operation: 'balance', form: 'bcs', requests: asBcs(balances) },
    { operation: 'module', form: 'json', requests: modules },
    { operation: 'module', form: 'bcs', requests: asBcs(modules) },
    { operation: 'events', form: 'json', requests: pages },
    { operation: 'events', form: 'bcs', requests: asBcs(pages) },
    { operation: 'pages', form: 'json', requests: shortPages },
    { operation: 'encode', form: 'json', requests: encodings },
    { operation: 'view', form: 'json', requests: views },
    { operation: 'by_version', form: 'json', requests: byVersion },
    { operation: 'by_version', form: 'bcs', requests: asBcs(byVersion) },
    { operation: 'by_hash', form: 'json', requests: byHash },
    { operation: 'by_hash', form: 'bcs', requests: asBcs(byHash) },
  ];
}

async function isAnswered(origin, { path, ...init }) {
  const response = await fetch(origin + path, init);
  await response.arrayBuffer();
  return response.ok;
}

/** The response that `bare` sends for an operation: the one of median length in a sample of ours. */
async function typicalAnswer(origin, requests) {
  const answers = [];
  for (const request of requests.slice(0, 101)) {
    const { path, ...init } = request;
    const response = await fetch(origin + path, {
      ...init,
      headers: { ...init.headers, 'accept-encoding': 'identity' },
    });
    const body = Buffer.from(await response.arrayBuffer());
    if (!response.ok) throw new Error(`${path}: ${response.status} ${body}`);
    const headers = Object.fromEntries(response.headers);
    for (const made of ['date', 'connection', 'keep-alive', 'content-length']) delete headers[made];
    answers.push({ status: response.status, headers, body });
  }
  answers.sort((a, b) => a.body.length - b.body.length);
  return answers[answers.length >> 1];
}

async function startBare(folder, answer) {
  const file = join(folder, 'answer.json');
  writeFileSync(file, JSON.stringify({ ...answer, body: answer.body.toString('base64') }));
  return startChild([here('./bare-server.mjs'), file]);
}

/** Measures one operation `rounds` times, ours and bare in turns, each after a warm-up. */
async function measure(
  { origin, serverPid, folder },
  { operation, form, requests },
  { rounds, seconds },
) {
  const answer = await typicalAnswer(origin, requests);
  const bare = await startBare(folder, answer);
  const ours = [];
  const reference = [];
  const cpuMicros = { ours: [], bare: [] };
  /** Load for a while; also records the server process's processor time per request. */
  const measured = async (url, pid, note) => {
    const before = cpuSeconds(pid);
    const result = await load(url, requests, seconds);
    note.push(((cpuSeconds(pid) - before) * 1e6) / (result.requestsPerSecond * seconds));
    return result;
  };
  const latencies = [];
  try {
    await load(origin, requests, WARM_UP_SECONDS);
    await load(bare.ready.url, requests, 1);
    for (let round = 0; round < rounds; round += 1) {
      const result = await measured(origin, serverPid, cpuMicros.ours);
      if (result.errors > 0) throw new Error(`${operation}: ${result.errors} failed requests`);
      ours.push(result.requestsPerSecond);
      latencies.push(result);
      const bareResult = await measured(bare.ready.url, bare.pid, cpuMicros.bare);
      reference.push(bareResult.requestsPerSecond);
    }
  } finally {
    await bare.stop();
  }
  return {
    operation,
    form,
    differentRequests: requests.length,
    answerBytes: answer.body.length,
    requestsPerSecond: summary(ours),
    bareRequestsPerSecond: summary(reference),
    p99Ms: summary(latencies.map(({ p99Ms }) => p99Ms)),
    fullLoad: percentiles(latencies),
    ratio: ratioSummary(ours, reference),
    cpuMicrosPerRequest: summary(cpuMicros.ours),
    bareCpuMicrosPerRequest: summary(cpuMicros.bare),
    /** Estimates the ratio of rates if nothing else ran on the machine. */
    cpuRatio: ratioSummary(cpuMicros.bare, cpuMicros.ours),
  };
}

const PERCENTILES = ['p50Ms', 'p90Ms', 'p99Ms', 'p999Ms'];

function percentiles(runs) {
  return Object.fromEntries(
    PERCENTILES.map((percentile) => [percentile, summary(runs.map((run) => run[percentile]))]),
  );
}

/** Latency at a fixed rate: half of what was answered under full load. */
async function halfLoad(origin, { requests }, { requestsPerSecond }, { rounds, seconds }) {
  const ratePerSecond = Math.round(requestsPerSecond.median / 2);
  const total = Math.round(ratePerSecond * seconds);
  const job = { origin, requests, connections: CONNECTIONS, ratePerSecond, total };
  const runs = [];
  for (let round = 0; round < rounds; round += 1) runs.push(await pacedLoad(job));
  return { ratePerSecond, ...percentiles(runs) };
}

function logPercentiles(log, load, figures) {
  const texts = PERCENTILES.map((name) => `${name.slice(0, -2)} ${shownSummary(figures[name])}`);
  log(`  ${load}: ${texts.join(', ')} ms`);
}

/** Serves a ledger with one worker, and measures operations one after the other. */
export async function measureAll(folder, serveArguments, asked, options) {
  const results = [];
  const server = await startChild(serveArguments);
  try {
    const origin = new URL(server.ready.url).origin;
    for (const operation of asked) {
      if (operation.requests.length === 0) continue;
      // The framework of an old genesis, which is the default ledger, does not mark view functions.
      if (operation.operation === 'view' && !(await isAnswered(origin, operation.requests[0]))) {
        options.log('view: left out, the framework of this ledger has no such view function');
        continue;
      }
      const result = await measure({ origin, serverPid: server.pid, folder }, operation, options);
      results.push(result);
      options.log(
        `${`${result.operation} ${result.form}`.padEnd(14)} ${shownSummary(result.requestsPerSecond)} req/s, ` +
          `bare ${shownSummary(result.bareRequestsPerSecond)}, ratio ${shownSummary(result.ratio)}, by CPU ${shownSummary(result.cpuRatio)}`,
      );
      result.halfLoad = await halfLoad(origin, operation, result, options);
      logPercentiles(options.log, 'full load', result.fullLoad);
      logPercentiles(options.log, `${result.halfLoad.ratePerSecond}/s`, result.halfLoad);
    }
  } finally {
    await server.stop();
  }
  return results;
}

/** Arguments with which the program serves a measured ledger. */
export function servingOf(dataFolder) {
  return [
    ...[here('../bin/daybook'), 'serve', '--data', dataFolder],
    ...['--listen', '127.0.0.1:0', '--log-level', 'warn', '--workers', '1'],
  ];
}

/** @param {{rounds: number, seconds: number, log: (line: string) => void}} options */
export async function run(options) {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  try {
    const dataFolder = await prepareLedger(folder);
    const serveArguments = servingOf(dataFolder);
    const asked = await operations(dataFolder, options.log);
    return { loadGenerator, results: await measureAll(folder, serveArguments, asked, options) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
