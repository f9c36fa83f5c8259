// The alternative to Daybook: the same balances, events, modules and transactions in PostgreSQL, and in SQLite if Node
// has it, behind fastify. Compares durable commits, disk, reads, memory and start, in turns. With --rounds 0 it only
// loads each once and compares the responses.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { shuffled } from '../ledger-contents.mjs';
import { TRANSACTIONS, temporaryFolder } from '../ledgers.mjs';
import { CONNECTIONS, load, loadGenerator } from '../load.mjs';
import { findPostgres } from '../postgres-server.mjs';
import { anonymousBytes, proportionalBytes } from '../process-figures.mjs';
import { randomSource } from '../random-keys.mjs';
import { balanceRequest, eventsRequest, transactionRequest } from '../requests.mjs';
import { ratioSummary, shown, shownSummary, summary } from '../statistics.mjs';
import { indexLedger } from './rows.mjs';
import { daybookSide, postgresSide, sqliteSide } from './sides.mjs';

export const name = 'instead';
export const title = `What one would run instead: fastify over a database, ${TRANSACTIONS} transactions`;

const MAX_REQUESTS = 20_000;
/** Versions per commit, and the maximum number of versions that are committed this way. */
const COMMITS = [
  { versions: 1_000 },
  { versions: 100, mostVersions: Number(process.env.BENCH_COMMITS ?? 10_000) },
];
/** Concurrent requests while responses are compared. */
const COMPARED_AT_ONCE = 16;

/** Figures of each side in each round, by name. */
function figures(runs) {
  return Object.fromEntries(
    Object.keys(runs[0]).map((what) => [what, summary(runs.map((run) => run[what]))]),
  );
}

async function measureCommits(sides, files, { rounds, log }) {
  const results = [];
  for (const { versions, mostVersions } of COMMITS) {
    const runs = sides.map(() => []);
    for (let round = 0; round < Math.max(1, rounds); round += 1) {
      for (const [index, side] of sides.entries()) {
        runs[index].push(await side.commit(files, versions, mostVersions));
      }
    }
    for (const [index, side] of sides.entries()) {
      const result = { versions, side: side.name, ...figures(runs[index]) };
      results.push(result);
      log(
        `commit of ${versions} ${side.name.padEnd(10)} ${shownSummary(result.transactionsPerSecond)} transactions/s, ` +
          `${shownSummary(result.processorUs)} µs of processor time a transaction`,
      );
    }
  }
  return results;
}

function operationsOf({ indexer, newest }) {
  const random = randomSource(3);
  const some = (items) => shuffled([...items]).slice(0, MAX_REQUESTS);
  const owners = some(indexer.owners);
  const modules = some(indexer.modules.values());
  return {
    balance: owners.map(([address]) => balanceRequest(address)),
    'balance of old': owners.map(([address, first]) =>
      balanceRequest(address, BigInt(first + (random() % (newest - first + 1)))),
    ),
    events: some(indexer.streams.values()).map(eventsRequest),
    module: modules.map(({ address, name: module }) => ({
      path: `/v1/accounts/0x${address}/module/${module}`,
    })),
    transaction: some(Array.from({ length: newest }, (_, at) => at + 1)).map((version) =>
      transactionRequest(`by_version/${version}`),
    ),
  };
}

async function answer(origin, path) {
  const response = await fetch(origin + path, { headers: { 'accept-encoding': 'identity' } });
  if (!response.ok) throw new Error(`${origin}${path}: ${response.status}`);
  return response.text();
}

/** All sides must give the same bytes for every request. */
async function checkEqual(origins, requests) {
  for (let first = 0; first < requests.length; first += COMPARED_AT_ONCE) {
    const compared = requests.slice(first, first + COMPARED_AT_ONCE).map(async ({ path }) => {
      const [ours, ...others] = await Promise.all(origins.map((origin) => answer(origin, path)));
      for (const theirs of others) {
        if (ours !== theirs) throw new Error(`${path}: other answers\n${ours}\n${theirs}`);
      }
    });
    await Promise.all(compared);
  }
}

async function measureReads(operation, requests, connections, servers, options) {
  const { rounds, seconds, log } = options;
  const runs = servers.map(() => []);
  for (let round = -1; round < rounds; round += 1) {
    for (const [index, { origin, cpuMs }] of servers.entries()) {
      const before = cpuMs();
      const result = await load(origin, requests, seconds, connections);
      if (result.errors > 0) throw new Error(`${operation}: ${result.errors} failed requests`);
      const { requestsPerSecond, p50Ms, p99Ms } = result;
      const processorUs = ((cpuMs() - before) * 1_000) / (requestsPerSecond * seconds);
      // The first round warms up.
      if (round >= 0) runs[index].push({ requestsPerSecond, p50Ms, p99Ms, processorUs });
    }
  }
  const rates = runs.map((ofSide) => ofSide.map(({ requestsPerSecond }) => requestsPerSecond));
  const times = runs.map((ofSide) => ofSide.map(({ processorUs }) => processorUs));
  return servers.map(({ name: side }, index) => {
    const result = { operation, connections, side, ...figures(runs[index]) };
    if (index > 0) {
      result.ratio = ratioSummary(rates[0], rates[index]);
      result.processorRatio = ratioSummary(times[index], times[0]);
    }
    log(
      `${operation.padEnd(14)} ${String(connections).padStart(2)} ${side.padEnd(10)} ` +
        `${shownSummary(result.requestsPerSecond)} req/s, p50 ${shownSummary(result.p50Ms)} ms, ` +
        `p99 ${shownSummary(result.p99Ms)} ms, ${shownSummary(result.processorUs)} µs of processor time` +
        (index === 0 ? '' : `, Daybook is ahead ${shownSummary(result.ratio)}`),
    );
    return result;
  });
}

async function measureStarts(sides, { path }, { rounds, log }) {
  const runs = sides.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, side] of sides.entries()) {
      const startedMs = performance.now();
      const server = await side.start();
      await answer(server.origin, path);
      const firstAnswerMs = performance.now() - startedMs;
      runs[index].push({ firstAnswerMs, processorMs: server.cpuMs() });
      await server.stop();
    }
  }
  return sides.map((side, index) => {
    const result = { side: side.name, ...figures(runs[index]) };
    log(
      `start ${side.name.padEnd(10)} first answer after ${shownSummary(result.firstAnswerMs)} ms, ` +
        `${shownSummary(result.processorMs)} ms of processor time`,
    );
    return result;
  });
}

function memoryOf(servers, log) {
  return servers.map(({ name: side, pids }) => {
    const sum = (figure) => pids().reduce((total, pid) => total + figure(pid), 0);
    const result = {
      ...{ side, processes: pids().length },
      ...{ anonymousBytes: sum(anonymousBytes), proportionalBytes: sum(proportionalBytes) },
    };
    log(
      `memory ${side.padEnd(10)} ${result.processes} processes, RssAnon ${shown(result.anonymousBytes / 1e6)} MB, ` +
        `Pss ${shown(result.proportionalBytes / 1e6)} MB`,
    );
    return result;
  });
}

async function compare(sides, ledger, options) {
  const { log, rounds } = options;
  const commits = await measureCommits(sides, ledger.files, options);
  // Reads are measured on the whole ledger.
  for (const side of sides.slice(1)) await side.commit(ledger.files, COMMITS[0].versions);
  const disk = sides.map((side) => {
    const bytes = side.bytes();
    const bytesPerTransaction = bytes.all / (ledger.newest + 1);
    log(`disk ${side.name.padEnd(10)} ${shown(bytesPerTransaction)} bytes a transaction`);
    return { side: side.name, bytesPerTransaction, ...bytes };
  });
  const operations = operationsOf(ledger);
  const servers = [];
  const [reads, checked] = [[], {}];
  let memory;
  try {
    for (const side of sides) servers.push({ name: side.name, ...(await side.start()) });
    for (const [operation, requests] of Object.entries(operations)) {
      const origins = servers.map(({ origin }) => origin);
      await checkEqual(origins, requests);
      checked[operation] = requests.length;
      log(`${operation.padEnd(14)} ${requests.length} different requests have equal answers`);
    }
    for (const [operation, requests] of rounds === 0 ? [] : Object.entries(operations)) {
      for (const connections of [CONNECTIONS, 1]) {
        reads.push(...(await measureReads(operation, requests, connections, servers, options)));
      }
    }
    memory = memoryOf(servers, log);
  } finally {
    for (const { stop } of servers) await stop();
  }
  const starts = rounds === 0 ? [] : await measureStarts(sides, operations.balance[0], options);
  return { commits, disk, checked, reads, memory, starts };
}

/** @param {{rounds: number, seconds: number, log: (line: string) => void}} options */
export async function run(options) {
  const { log } = options;
  const { bin, missing } = findPostgres();
  if (missing !== undefined) {
    log(`left out: ${missing}`);
    return { skipped: missing };
  }
  const folder = temporaryFolder();
  const below = (part) => {
    const path = join(folder, part);
    mkdirSync(path);
    return path;
  };
  const daybook = daybookSide(below('daybook'), TRANSACTIONS);
  await daybook.prepare();
  const node = await daybook.start();
  const ledger = await indexLedger(node.origin, below('rows'));
  await node.stop();
  const postgres = await postgresSide(bin, folder);
  const sqlite = await sqliteSide(below('sqlite'));
  log(`PostgreSQL ${postgres.version}, ${postgres.settings.join(', ')}`);
  if (sqlite === undefined) log(`SQLite is left out: ${process.version} has no node:sqlite`);
  const sides = [daybook, postgres, ...(sqlite === undefined ? [] : [sqlite])];
  try {
    const result = await compare(sides, ledger, options);
    return { version: postgres.version, loadGenerator, ...result };
  } finally {
    for (const side of sides) await side.close();
  }
}
