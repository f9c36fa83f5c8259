// Ingesting transactions: generates a sample ledger, and follows the same ledger over HTTP with a second Daybook, in
// turns; and imports a real genesis file, if there is one. Measures time, memory and bytes on disk.
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { storeFileBytes } from '../src/store/sqlite/files.ts';
import { startChild } from './child.mjs';
import { generate, PROGRAM, runCommand, TRANSACTIONS, temporaryFolder } from './ledgers.mjs';
import { GENESIS } from './prepare-ledger.mjs';
import { anonymousBytes, cpuMs } from './process-figures.mjs';
import { shown, shownSummary, summary } from './statistics.mjs';

export const name = 'ingest';
/** Size of the sample ledger. */
const SAMPLE_TRANSACTIONS = 2_000;

export const title = `Ingest: a sample, follow and import, ${TRANSACTIONS} transactions`;

/** Where the follower spends its time, as `follow --json` reports it. */
const SPLIT = ['network_ms', 'decode_ms', 'hash_ms', 'build_ms', 'commit_ms'];
const WATCH_INTERVAL_MS = 100;

/** Follows a ledger that another process serves. */
export async function follow(upstreamData, data) {
  const upstream = await startChild([
    ...[PROGRAM, 'serve', '--data', upstreamData, '--listen', '127.0.0.1:0'],
    ...['--workers', '1', '--log-level', 'warn'],
  ]);
  let peakBytes = 0;
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, anonymousBytes(upstream.pid));
  }, WATCH_INTERVAL_MS);
  try {
    const beforeMs = cpuMs(upstream.pid);
    const followed = await runCommand([
      ...['follow', '--data', data, '--from', upstream.ready.url],
      ...['--until', upstream.ready.ledger_version, '--log-level', 'warn', '--json'],
    ]);
    if (followed.report.ledger_version !== upstream.ready.ledger_version) {
      throw new Error(`followed to ${followed.report.ledger_version} only`);
    }
    return {
      ...followed,
      upstreamProcessorSeconds: (cpuMs(upstream.pid) - beforeMs) / 1_000,
      upstreamPeakAnonymousBytes: peakBytes,
    };
  } finally {
    clearInterval(watch);
    await upstream.stop();
  }
}

/** Bytes on disk per transaction: in total, and of every non-empty column. */
async function sizes(data) {
  const { report } = await runCommand(['status', '--data', data, '--json']);
  const transactions = Number(report.ledger_version) + 1;
  const columns = Object.fromEntries(
    Object.entries(report.columns)
      .filter(([, { bytes }]) => bytes > 0)
      .map(([column, { rows, bytes }]) => [
        column,
        { rows, bytes, bytesPerTransaction: bytes / transactions },
      ]),
  );
  const fileBytes = storeFileBytes(data);
  return { transactions, fileBytes, fileBytesPerTransaction: fileBytes / transactions, columns };
}

/** Executes the transactions of a sample ledger. */
async function sample(data) {
  const size = ['--transactions', String(SAMPLE_TRANSACTIONS)];
  const run = await runCommand(['sample', '--data', data, '--json', ...size]);
  rmSync(data, { recursive: true });
  return run;
}

async function importGenesis(folder, rounds) {
  if (!existsSync(GENESIS)) return undefined;
  const runs = [];
  for (let round = 0; round < rounds; round += 1) {
    const data = join(folder, 'import');
    runs.push(await runCommand(['init', '--data', data, '--genesis', GENESIS]));
    rmSync(data, { recursive: true });
  }
  return { genesisBytes: statSync(GENESIS).size, ...figures(runs) };
}

function figures(runs) {
  return {
    seconds: summary(runs.map(({ seconds }) => seconds)),
    processorSeconds: summary(runs.map(({ processorSeconds }) => processorSeconds)),
    peakAnonymousBytes: summary(runs.map(({ peakAnonymousBytes }) => peakAnonymousBytes)),
  };
}

function rates(runs) {
  return {
    ...figures(runs),
    transactionsPerSecond: summary(runs.map(({ report }) => report.transactions_per_second)),
  };
}

function logRates(log, what, { transactionsPerSecond, seconds, processorSeconds, ...rest }) {
  log(
    `${what.padEnd(10)} ${shownSummary(transactionsPerSecond)} transactions/s, ${shownSummary(seconds)} s, ` +
      `${shownSummary(processorSeconds)} s of processor time, ${megabytes(rest.peakAnonymousBytes)} MB at most`,
  );
}

function megabytes({ min, median, max }) {
  return shownSummary({ min: min / 1e6, median: median / 1e6, max: max / 1e6 });
}

/** @param {{rounds: number, log: (line: string) => void}} options */
export async function run({ rounds, log }) {
  const folder = temporaryFolder();
  const runs = { sample: [], follow: [] };
  let size;
  for (let round = 0; round < rounds; round += 1) {
    const [upstream, copy] = ['upstream', 'copy'].map((made) => join(folder, made));
    await generate(upstream);
    runs.sample.push(await sample(join(folder, 'sample')));
    runs.follow.push(await follow(upstream, copy));
    size ??= await sizes(copy);
    for (const data of [upstream, copy]) rmSync(data, { recursive: true });
  }
  const split = Object.fromEntries(
    SPLIT.map((part) => [part, summary(runs.follow.map(({ report }) => report[part]))]),
  );
  const of = (what) => summary(runs.follow.map((run) => run[what]));
  const followed = {
    ...rates(runs.follow),
    split,
    upstreamProcessorSeconds: of('upstreamProcessorSeconds'),
    upstreamPeakAnonymousBytes: of('upstreamPeakAnonymousBytes'),
  };
  const sampled = rates(runs.sample);
  const imported = await importGenesis(folder, rounds);
  logRates(log, 'sample', sampled);
  logRates(log, 'follow', followed);
  for (const part of SPLIT) log(`  ${part.padEnd(12)} ${shownSummary(split[part])}`);
  log(`  upstream     ${shownSummary(followed.upstreamProcessorSeconds)} s of processor time`);
  log(`disk         ${shown(size.fileBytesPerTransaction)} bytes a transaction`);
  for (const [column, { bytesPerTransaction }] of Object.entries(size.columns)) {
    log(`  ${column.padEnd(18)} ${shown(bytesPerTransaction)}`);
  }
  log(
    imported === undefined
      ? 'import       left out: no genesis file beside the repository'
      : `import       ${shown(imported.genesisBytes)} bytes of genesis in ${shownSummary(imported.seconds)} s, ` +
          `${megabytes(imported.peakAnonymousBytes)} MB at most`,
  );
  return { sample: sampled, follow: followed, size, import: imported };
}
