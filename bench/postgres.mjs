// What one would run instead: the same balances, events, modules and transactions in PostgreSQL behind fastify and pg,
// one query for each request. Ingest, disk, throughput, latency and memory, in turns with Daybook.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openHead } from '../dist/store/columns/head.js';
import { openLmdbReader } from '../dist/store/lmdb/lmdb-store.js';
import { startChild } from './child.mjs';
import { CONNECTIONS, load, loadGenerator } from './load.mjs';
import { COLUMNS_OF, grouped, readRows, SCHEMA, transactionRows } from './postgres-rows.mjs';
import { findPostgres, startPostgres } from './postgres-server.mjs';
import { anonymousBytes, cpuMsOfAll, proportionalBytes, withChildren } from './process-figures.mjs';
import { randomAccounts, randomStreams } from './random-keys.mjs';
import { balanceRequest, eventsRequest, MODULE_REQUEST } from './requests.mjs';
import { PROGRAM, sampleLedger, temporaryFolder } from './sample-ledger.mjs';
import { ratioSummary, shown, shownSummary, summary } from './statistics.mjs';
import { commitChunks } from './store.mjs';

export const name = 'postgres';
export const title = 'PostgreSQL behind fastify and pg, with the same data';

const MAX_REQUESTS = 20_000;
/** Versions in one transaction of the database; Daybook's own commits are as large when it ingests. */
const VERSIONS_AT_ONCE = 1_000;
/** Transactions that Daybook commits to compare the rate. */
const COMMITTED = 10_000;

/** Copies everything in as the ledger grew; only what the database does is timed. */
async function fill(database, store, origin) {
  const moduleAnswer = async (address, module, version) => {
    const path = `/v1/accounts/0x${address}/module/${module}?ledger_version=${version}`;
    return (await fetch(origin + path, { headers: { 'accept-encoding': 'identity' } })).text();
  };
  const { assetLines, ...tables } = await readRows(store, moduleAnswer);
  const groups = grouped(tables, VERSIONS_AT_ONCE);
  const { version: newest } = await openHead(store);
  const session = database.session();
  await session.run(`SET synchronous_commit = on; ${SCHEMA}`);
  await session.run(copy({ assets: assetLines }));
  const done = { ms: 0, rows: 0, commits: 0, transactions: 0 };
  for (let first = 0n; first <= newest; first += BigInt(VERSIONS_AT_ONCE)) {
    const last = first + BigInt(VERSIONS_AT_ONCE) - 1n;
    const end = last < newest ? last : newest;
    const group = groups.get(Number(first) / VERSIONS_AT_ONCE) ?? {};
    const rows = { ...group, transactions: await transactionRows(store, first, end) };
    const script = `BEGIN;\n${copy(rows)}\nCOMMIT;`;
    const startedMs = performance.now();
    await session.run(script);
    done.ms += performance.now() - startedMs;
    done.rows += Object.values(rows).reduce((sum, lines) => sum + lines.length, 0);
    done.transactions += rows.transactions.length;
    done.commits += 1;
  }
  await session.run('VACUUM ANALYZE;');
  await session.end();
  const perSecond = (count) => count / (done.ms / 1_000);
  return {
    transactions: done.transactions,
    rows: done.rows,
    transactionsPerSecond: perSecond(done.transactions),
    rowsPerSecond: perSecond(done.rows),
    commitsPerSecond: perSecond(done.commits),
  };
}

function copy(tables) {
  return Object.entries(tables)
    .map(
      ([table, lines]) =>
        `COPY ${table} (${COLUMNS_OF[table]}) FROM STDIN;\n${lines.join('\n')}\n\\.`,
    )
    .join('\n');
}

function databaseSizes(database) {
  const rows = database.query(
    "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
  );
  return Object.fromEntries(
    rows.map((row) => row.split('|')).map(([table, bytes]) => [table, Number(bytes)]),
  );
}

/** Both give the same bytes for every request. */
async function checkEqual(origins, requests) {
  for (const { path } of requests) {
    const [ours, theirs] = await Promise.all(
      origins.map(async (origin) => {
        const response = await fetch(origin + path, { headers: { 'accept-encoding': 'identity' } });
        if (!response.ok) throw new Error(`${origin}${path}: ${response.status}`);
        return response.text();
      }),
    );
    if (ours !== theirs) throw new Error(`${path}: other answers\n${ours}\n${theirs}`);
  }
}

const SIDES = ['daybook', 'postgres'];

async function measure(operation, requests, sides, { rounds, seconds, log }) {
  const runs = { daybook: [], postgres: [] };
  for (let round = -1; round < rounds; round += 1) {
    for (const side of SIDES) {
      const { origin, pids } = sides[side];
      const before = cpuMsOfAll(pids());
      const result = await load(origin, requests, seconds);
      if (result.errors > 0) throw new Error(`${operation}: ${result.errors} failed requests`);
      const spentUs = (cpuMsOfAll(pids()) - before) * 1_000;
      const processorUs = spentUs / (result.requestsPerSecond * seconds);
      // The first round warms up.
      if (round >= 0) runs[side].push({ ...result, processorUs });
    }
  }
  const of = (side, what) => runs[side].map((run) => run[what]);
  const shownSides = SIDES.map((side) => [
    side,
    Object.fromEntries(
      ['requestsPerSecond', 'p50Ms', 'p99Ms', 'processorUs'].map((what) => [
        what,
        summary(of(side, what)),
      ]),
    ),
  ]);
  const rates = SIDES.map((side) => of(side, 'requestsPerSecond'));
  const result = {
    operation,
    differentRequests: requests.length,
    ...Object.fromEntries(shownSides),
    ratio: ratioSummary(...rates),
  };
  for (const side of SIDES) {
    const { requestsPerSecond, p99Ms, processorUs } = result[side];
    log(
      `${operation.padEnd(8)} ${side.padEnd(9)} ${shownSummary(requestsPerSecond)} req/s, p99 ${shownSummary(p99Ms)} ms, ` +
        `${shownSummary(processorUs)} µs of processor time`,
    );
  }
  log(`${operation.padEnd(8)} Daybook against PostgreSQL ${shownSummary(result.ratio)}`);
  return result;
}

function memoryOf(pids) {
  const sum = (figure) => pids.reduce((total, pid) => total + figure(pid), 0);
  return {
    processes: pids.length,
    anonymousBytes: sum(anonymousBytes),
    proportionalBytes: sum(proportionalBytes),
  };
}

async function compare({ dataFolder, store, database, folder }, options) {
  const { log } = options;
  const node = await startChild([
    ...[PROGRAM, 'serve', '--data', dataFolder, '--listen', '127.0.0.1:0'],
    ...['--workers', '1', '--log-level', 'warn'],
  ]);
  let api;
  try {
    const origin = new URL(node.ready.url).origin;
    const ingest = await fill(database, store, origin);
    const ours = await commitChunks(join(folder, 'committed'), COMMITTED, VERSIONS_AT_ONCE);
    log(
      `commit, ${VERSIONS_AT_ONCE} versions at once: PostgreSQL ${shown(ingest.transactionsPerSecond)} transactions/s ` +
        `(${shown(ingest.rowsPerSecond)} rows/s), Daybook ${shown(ours.transactions)} (${shown(ours.rows)} rows/s)`,
    );
    const tables = databaseSizes(database);
    const disk = {
      tables,
      bytes: Object.values(tables).reduce((sum, bytes) => sum + bytes, 0),
      daybookBytes: statSync(join(dataFolder, 'data.mdb')).size,
    };
    const perTransaction = (bytes) => shown(bytes / ingest.transactions);
    log(
      `disk: PostgreSQL ${perTransaction(disk.bytes)} bytes a transaction, Daybook ${perTransaction(disk.daybookBytes)}`,
    );
    api = await startChild([
      fileURLToPath(new URL('./postgres-api.mjs', import.meta.url)),
      ...[database.socketFolder, database.user],
    ]);
    const sides = {
      daybook: { origin, pids: () => withChildren(node.pid) },
      postgres: { origin: api.ready.url, pids: () => [api.pid, ...database.pids()] },
    };
    const operations = {
      balance: (await randomAccounts(store, MAX_REQUESTS)).map((address) =>
        balanceRequest(address),
      ),
      events: (await randomStreams(store, MAX_REQUESTS)).map(eventsRequest),
      module: [MODULE_REQUEST],
    };
    const results = [];
    for (const [operation, requests] of Object.entries(operations)) {
      await checkEqual([origin, api.ready.url], requests);
      results.push(await measure(operation, requests, sides, options));
    }
    const memory = {
      daybook: memoryOf(sides.daybook.pids()),
      fastify: memoryOf([api.pid]),
      postgres: memoryOf(database.pids()),
    };
    for (const [
      part,
      { processes, anonymousBytes: anonymous, proportionalBytes: all },
    ] of Object.entries(memory)) {
      log(
        `memory of ${part.padEnd(9)} ${processes} processes, RssAnon ${shown(anonymous / 1e6)} MB, Pss ${shown(all / 1e6)} MB`,
      );
    }
    const commit = { postgres: ingest, daybook: ours };
    return { loadGenerator, connections: CONNECTIONS, commit, disk, results, memory };
  } finally {
    await api?.stop();
    await node.stop();
  }
}

/** @param {{rounds: number, seconds: number, log: (line: string) => void}} options */
export async function run(options) {
  const { bin, missing } = findPostgres();
  if (missing !== undefined) {
    options.log(`left out: ${missing}`);
    return { skipped: missing };
  }
  const folder = temporaryFolder();
  const dataFolder = await sampleLedger();
  const store = openLmdbReader({ directory: dataFolder });
  const database = await startPostgres(bin, folder);
  try {
    const [version] = database.query('SHOW server_version');
    options.log(`PostgreSQL ${version}, ${database.settings.join(', ')}`);
    return { version, ...(await compare({ dataFolder, store, database, folder }, options)) };
  } finally {
    await database.stop();
    await store.close();
  }
}
