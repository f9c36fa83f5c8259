// The same node over each store: a folder (SQLite) and PostgreSQL on this machine, in turns. Following a sample ledger,
// and requests/s of one process, with the processor time that the node and the servers of the database spend.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { startChild } from './child.mjs';
import { operations } from './http.mjs';
import { follow } from './ingest.mjs';
import { load, loadGenerator } from './load.mjs';
import { findPostgres, startPostgres } from './postgres-server.mjs';
import { cpuMsOfAll } from './process-figures.mjs';
import {
  generate,
  PROGRAM,
  runCommand,
  TRANSACTIONS,
  temporaryFolder,
  UNBOUNDED,
} from './sample-ledger.mjs';
import { ratioSummary, shown, shownSummary, summary } from './statistics.mjs';

export const name = 'engines';
export const title = `PostgreSQL in place of a folder, ${TRANSACTIONS} transactions`;

const SIDES = ['folder', 'postgres'];
const MEASURED = ['balance', 'module', 'events', 'encode', 'by_version'];

/** Follows into both in turns. @returns rates, and what each follower and the database spent */
async function measureIngest(upstream, places, database, rounds) {
  const runs = { folder: [], postgres: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const side of SIDES) {
      const before = database.cpuMs();
      const { report, processorSeconds } = await follow(upstream, places[side](round));
      const databaseSeconds = (database.cpuMs() - before) / 1_000;
      runs[side].push({ ...report, processorSeconds, databaseSeconds });
    }
  }
  const rates = (side) => runs[side].map(({ transactions_per_second: rate }) => rate);
  const of = (side, what) => summary(runs[side].map((run) => run[what]));
  const figures = Object.fromEntries(
    SIDES.map((side) => [
      side,
      {
        transactionsPerSecond: summary(rates(side)),
        ...Object.fromEntries(
          ['processorSeconds', 'databaseSeconds', 'build_ms', 'commit_ms', 'hash_ms'].map(
            (what) => [what, of(side, what)],
          ),
        ),
      },
    ]),
  );
  return { ...figures, ratio: ratioSummary(rates('postgres'), rates('folder')) };
}

async function measureReads({ operation, requests }, nodes, database, { rounds, seconds }) {
  const runs = { folder: [], postgres: [] };
  for (let round = -1; round < rounds; round += 1) {
    for (const side of SIDES) {
      const { origin, pid } = nodes[side];
      const before = [cpuMsOfAll([pid]), database.cpuMs()];
      const result = await load(origin, requests, round < 0 ? 2 : seconds);
      if (result.errors > 0) throw new Error(`${operation}: ${result.errors} failed requests`);
      const count = result.requestsPerSecond * seconds;
      const [nodeUs, databaseUs] = [cpuMsOfAll([pid]), database.cpuMs()].map(
        (ms, index) => ((ms - before[index]) * 1_000) / count,
      );
      // The first round warms up.
      if (round >= 0) runs[side].push({ ...result, nodeUs, databaseUs });
    }
  }
  const of = (side, what) => runs[side].map((run) => run[what]);
  const figures = (side) =>
    Object.fromEntries(
      ['requestsPerSecond', 'p99Ms', 'nodeUs', 'databaseUs'].map((what) => [
        what,
        summary(of(side, what)),
      ]),
    );
  return {
    operation,
    folder: figures('folder'),
    postgres: figures('postgres'),
    ratio: ratioSummary(of('postgres', 'requestsPerSecond'), of('folder', 'requestsPerSecond')),
  };
}

/** Balances from PostgreSQL by one process and by two at once, in turns; each has its own load. */
async function measureTwo(requests, places, { rounds, seconds }) {
  const nodes = [await serve(places.postgres(0)), await serve(places.postgres(0))];
  const rates = { one: [], two: [] };
  try {
    for (let round = -1; round < rounds; round += 1) {
      for (const [side, asked] of [
        ['one', nodes.slice(0, 1)],
        ['two', nodes],
      ]) {
        const results = await Promise.all(
          asked.map(({ origin }) => load(origin, requests, round < 0 ? 2 : seconds)),
        );
        if (results.some(({ errors }) => errors > 0)) throw new Error('failed requests');
        // The first round warms up.
        if (round < 0) continue;
        rates[side].push(results.reduce((sum, each) => sum + each.requestsPerSecond, 0));
      }
    }
  } finally {
    for (const node of nodes) await node.stop();
  }
  return {
    one: summary(rates.one),
    two: summary(rates.two),
    ratio: ratioSummary(rates.two, rates.one),
  };
}

async function sizes(data) {
  const { report } = await runCommand(['status', '--data', data, '--json']);
  const bytes = Object.values(report.columns).reduce((sum, column) => sum + column.bytes, 0);
  return bytes / (Number(report.ledger_version) + 1);
}

async function serve(data) {
  const args = ['serve', '--data', data, '--listen', '127.0.0.1:0', '--workers', '1'];
  const node = await startChild([PROGRAM, ...args, ...UNBOUNDED, '--log-level', 'warn']);
  return { ...node, origin: new URL(node.ready.url).origin };
}

/** @param {{rounds: number, seconds: number, log: (line: string) => void}} options */
export async function run(options) {
  const { log, rounds } = options;
  const { bin, missing } = findPostgres();
  if (missing !== undefined) {
    log(`left out: ${missing}`);
    return { skipped: missing };
  }
  const folder = temporaryFolder();
  const upstream = join(folder, 'upstream');
  await generate(upstream);
  const database = await startPostgres(bin, folder);
  const places = {
    folder: (round) => join(folder, `copy${round}`),
    postgres: (round) =>
      `postgres://${database.user}@/postgres?host=${encodeURIComponent(database.socketFolder)}&schema=copy${round}`,
  };
  const nodes = {};
  try {
    const ingest = await measureIngest(upstream, places, database, rounds);
    for (const side of SIDES) {
      const { transactionsPerSecond, processorSeconds, databaseSeconds } = ingest[side];
      log(
        `follow ${side.padEnd(9)} ${shownSummary(transactionsPerSecond)} transactions/s, processor time: node ` +
          `${shownSummary(processorSeconds)} s, database ${shownSummary(databaseSeconds)} s`,
      );
    }
    log(`follow PostgreSQL against the folder ${shownSummary(ingest.ratio)}`);
    const bytes = {
      folder: await sizes(places.folder(0)),
      postgres: await sizes(places.postgres(0)),
    };
    log(`bytes a transaction: folder ${shown(bytes.folder)}, PostgreSQL ${shown(bytes.postgres)}`);
    for (const side of SIDES) nodes[side] = await serve(places[side](0));
    const all = await operations(places.folder(0), log);
    const asked = all.filter(
      ({ operation, form }) => form === 'json' && MEASURED.includes(operation),
    );
    const reads = [];
    for (const operation of asked) {
      const result = await measureReads(operation, nodes, database, options);
      reads.push(result);
      for (const side of SIDES) {
        const { requestsPerSecond, p99Ms, nodeUs, databaseUs } = result[side];
        log(
          `${result.operation.padEnd(10)} ${side.padEnd(9)} ${shownSummary(requestsPerSecond)} req/s, p99 ` +
            `${shownSummary(p99Ms)} ms, processor time: node ${shownSummary(nodeUs)} µs, database ${shownSummary(databaseUs)} µs`,
        );
      }
      log(`${result.operation.padEnd(10)} ratio     ${shownSummary(result.ratio)}`);
    }
    const balances = asked.find(({ operation }) => operation === 'balance');
    const processes = await measureTwo(balances.requests, places, options);
    log(
      `balance by one process on PostgreSQL ${shownSummary(processes.one)} req/s, by two ` +
        `${shownSummary(processes.two)} req/s, ratio ${shownSummary(processes.ratio)}`,
    );
    return { loadGenerator, ingest, bytes, reads, processes };
  } finally {
    for (const node of Object.values(nodes)) await node.stop();
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
