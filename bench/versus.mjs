// Compares this build with another build of the program, on the same ledger, in turns: processor time of each operation
// over HTTP, of generating and following a ledger, and of a start. BENCH_OTHER names the other build's folder,
// BENCH_OTHER_DATA the same ledger in the other build's store format.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { startChild } from './child.mjs';
import { operations } from './http.mjs';
import { bulkLedger, PROGRAM, runCommand, temporaryFolder } from './ledgers.mjs';
import { load } from './load.mjs';
import { cpuMs, cpuMsOfAll, withChildren } from './process-figures.mjs';
import { ratioSummary, shownSummary, summary } from './statistics.mjs';

export const name = 'versus';
export const title = 'This build against another: processor time, in turns';

/** Minimum number of starts of each build, even with fewer rounds. */
const MIN_STARTS = 7;
const WARM_UP_SECONDS = 5;

// Disables overload protection: the machine may be busy.
process.env.DAYBOOK_MAX_BACKLOG_MS = '0';

function serve(program, data) {
  return startChild([
    ...[program, 'serve', '--data', data, '--listen', '127.0.0.1:0'],
    ...['--workers', '1', '--log-level', 'warn'],
  ]);
}

/** Processor time of a server per request of an operation, in microseconds. */
export async function microsPerRequest(node, { operation, requests }, seconds) {
  const before = cpuMs(node.pid);
  const result = await load(new URL(node.ready.url).origin, requests, seconds);
  if (result.errors > 0) throw new Error(`${operation}: ${result.errors} failed requests`);
  return ((cpuMs(node.pid) - before) * 1_000) / (result.requestsPerSecond * seconds);
}

/**
 * A row of the table: the same measurement of both builds, round by round. Above 1 the ratio means that this build is
 * cheaper.
 */
export async function compare(what, unit, [ours, other], rounds, log) {
  const runs = { ours: [], other: [] };
  for (let round = 0; round < rounds; round += 1) {
    // The order alternates, because the first build leaves the machine's caches in a different state for the second.
    const turns = round % 2 === 0 ? ['ours', 'other'] : ['other', 'ours'];
    for (const turn of turns) runs[turn].push(await (turn === 'ours' ? ours : other)());
  }
  const row = {
    ...{ what, unit },
    ours: summary(runs.ours),
    other: summary(runs.other),
    ratio: ratioSummary(runs.other, runs.ours),
  };
  log(
    `${what.padEnd(14)} ${shownSummary(row.ours)} ${unit}, other ${shownSummary(row.other)}, ` +
      `other / this ${shownSummary(row.ratio)}`,
  );
  return row;
}

async function compareHttp([data, otherData], [program, other], { rounds, seconds, log }) {
  const rows = [];
  const nodes = [];
  try {
    nodes.push(await serve(program, data), await serve(other, otherData));
    for (const asked of await operations(data, log)) {
      if (asked.requests.length === 0) continue;
      for (const { ready } of nodes) {
        await load(new URL(ready.url).origin, asked.requests, WARM_UP_SECONDS);
      }
      const measure = nodes.map((node) => () => microsPerRequest(node, asked, seconds));
      rows.push(await compare(`${asked.operation} ${asked.form}`, 'µs', measure, rounds, log));
    }
  } finally {
    for (const node of nodes) await node.stop();
  }
  return rows;
}

async function compareIngest(data, programs, { rounds, log }) {
  const folder = temporaryFolder();
  const upstream = await serve(PROGRAM, data);
  const copy = join(folder, 'copy');
  const secondsOf = async (program, args) => {
    const { processorSeconds } = await runCommand([...args, '--data', copy], program);
    rmSync(copy, { recursive: true });
    return processorSeconds;
  };
  const follow = ['follow', '--from', upstream.ready.url, '--until', upstream.ready.ledger_version];
  try {
    return [
      await compare(
        'follow',
        's',
        programs.map((p) => () => secondsOf(p, follow)),
        rounds,
        log,
      ),
    ];
  } finally {
    await upstream.stop();
  }
}

async function compareStart(folders, programs, { rounds, log }) {
  const start = (program, index) => async () => {
    const node = await serve(program, folders[index]);
    try {
      await (await fetch(node.ready.url)).arrayBuffer();
      return cpuMsOfAll(withChildren(node.pid));
    } finally {
      await node.stop();
    }
  };
  return [await compare('start', 'ms', programs.map(start), Math.max(rounds, MIN_STARTS), log)];
}

/** @param {{rounds: number, seconds: number, log: (line: string) => void}} options */
export async function run(options) {
  const other = process.env.BENCH_OTHER;
  if (other === undefined) {
    options.log('left out: set BENCH_OTHER to the folder of another build');
    return { rows: [] };
  }
  const data = await bulkLedger();
  const folders = [data, process.env.BENCH_OTHER_DATA ?? data];
  const programs = [PROGRAM, join(other, 'bin/daybook')];
  const rows = [
    ...(await compareHttp(folders, programs, options)),
    ...(await compareIngest(data, programs, options)),
    ...(await compareStart(folders, programs, options)),
  ];
  return { rows };
}
