// The store by itself, in process: the value of a key as of a version (last key at or below) beside a plain get of the
// same rows, pages of 25 events, and durable commits in small chunks and large ones; each pair in turns.
import { join } from 'node:path';
import { sampleChunks } from '../dist/sample/sample.js';
import { EVENTS, STATE } from '../dist/store/columns/columns.js';
import { openHead } from '../dist/store/columns/head.js';
import { encodeU64Key, U64_MAX } from '../dist/store/columns/order-key.js';
import { openSqliteReader, openSqliteStore } from '../dist/store/sqlite/sqlite-store.js';
import { LedgerWriter } from '../dist/store/writer.js';
import { randomSource, randomStateRows, randomStreams } from './random-keys.mjs';
import { PAGE_EVENTS } from './requests.mjs';
import { sampleLedger, temporaryFolder } from './sample-ledger.mjs';
import { ratioSummary, shownSummary, summary } from './statistics.mjs';

export const name = 'store';
export const title = 'Store: seek, range and durable commit on SQLite';

const MAX_KEYS = 20_000;
const CHUNK_SIZES = [100, 1_000];
/** Transactions committed in each measurement, after genesis. */
const COMMITTED = Number(process.env.BENCH_COMMITS ?? 10_000);

/** Reads a second, key after key, over and over. SQLite answers at once, so nothing is awaited. */
function readRate(keys, read, seconds) {
  const start = performance.now();
  const end = start + seconds * 1_000;
  let done = 0;
  do {
    for (const key of keys) {
      if (read(key) === undefined) throw new Error('a row that was there is missing');
    }
    done += keys.length;
  } while (performance.now() < end);
  return done / ((performance.now() - start) / 1_000);
}

function inTurns(keys, reads, { rounds, seconds }) {
  const rates = reads.map(() => []);
  for (let round = -1; round < rounds; round += 1) {
    for (const [index, read] of reads.entries()) {
      const rate = readRate(keys, read, seconds / 4);
      // The first round warms up.
      if (round >= 0) rates[index].push(rate);
    }
  }
  return rates;
}

async function seeks(store, options) {
  const head = await openHead(store);
  const random = randomSource(7);
  const rows = await randomStateRows(store, MAX_KEYS);
  const keys = rows.map(({ keyHash, version }) => ({
    partition: keyHash,
    exact: encodeU64Key(version),
    asked: encodeU64Key(version + (BigInt(random()) % (head.version - version + 1n))),
  }));
  const newest = encodeU64Key(head.version);
  const [exact, atVersion, atHead] = inTurns(
    keys,
    [
      ({ partition, exact: order }) => store.get(STATE, partition, order),
      ({ partition, asked }) => store.seekLast(STATE, partition, asked),
      ({ partition }) => store.seekLast(STATE, partition, newest),
    ],
    options,
  );
  return {
    keys: keys.length,
    getPerSecond: summary(exact),
    seekAtVersionPerSecond: summary(atVersion),
    seekAtHeadPerSecond: summary(atHead),
    ratioToGet: ratioSummary(atVersion, exact),
  };
}

async function ranges(store, options) {
  const last = encodeU64Key(U64_MAX);
  const streams = [];
  for (const { partition } of await randomStreams(store, MAX_KEYS)) {
    const page = await store.range(EVENTS, partition, { limit: PAGE_EVENTS });
    if (page.length === PAGE_EVENTS) streams.push(partition);
  }
  if (streams.length === 0) return undefined;
  const [forward, backward] = inTurns(
    streams,
    [
      (partition) => store.range(EVENTS, partition, { limit: PAGE_EVENTS }),
      (partition) =>
        store.range(EVENTS, partition, { to: last, limit: PAGE_EVENTS, reverse: true }),
    ],
    options,
  );
  return {
    streams: streams.length,
    events: PAGE_EVENTS,
    firstPerSecond: summary(forward),
    newestPerSecond: summary(backward),
    ratioNewestToFirst: ratioSummary(backward, forward),
  };
}

/**
 * Commits a sample ledger to a new store, chunk by chunk, each on disk before the next; only commits are timed.
 * @returns rates per second, and `processorUs` of a transaction
 */
export async function commitChunks(directory, transactions, chunkTransactions, accounts = 2_000) {
  const store = await openSqliteStore({ directory });
  const total = { ms: 0, processorUs: 0, transactions: 0, commits: 0 };
  try {
    const writer = await LedgerWriter.open(store);
    const options = { transactions, chunkTransactions, seed: 1, accounts };
    for (const chunk of sampleChunks(options)) {
      const [startedMs, before] = [performance.now(), process.cpuUsage()];
      await writer.append(chunk);
      // Genesis is one of its kind.
      if (chunk.firstVersion === 0n) continue;
      total.ms += performance.now() - startedMs;
      const { user, system } = process.cpuUsage(before);
      total.processorUs += user + system;
      total.transactions += chunk.transactions.length;
      total.commits += 1;
    }
  } finally {
    await store.close();
  }
  const perSecond = (count) => count / (total.ms / 1_000);
  return {
    transactions: perSecond(total.transactions),
    commits: perSecond(total.commits),
    processorUs: total.processorUs / total.transactions,
  };
}

async function commits({ rounds }) {
  const folder = temporaryFolder();
  const runs = CHUNK_SIZES.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, size] of CHUNK_SIZES.entries()) {
      runs[index].push(await commitChunks(join(folder, `${size}-${round}`), COMMITTED, size));
    }
  }
  return CHUNK_SIZES.map((chunkTransactions, index) => ({
    chunkTransactions,
    ...Object.fromEntries(
      ['transactions', 'commits'].map((what) => [
        `${what}PerSecond`,
        summary(runs[index].map((run) => run[what])),
      ]),
    ),
  }));
}

/** @param {{rounds: number, seconds: number, log: (line: string) => void}} options */
export async function run(options) {
  const { log } = options;
  const store = openSqliteReader({ directory: await sampleLedger() });
  let seek;
  let range;
  try {
    seek = await seeks(store, options);
    range = await ranges(store, options);
  } finally {
    await store.close();
  }
  log(`get a row of state           ${shownSummary(seek.getPerSecond)} /s, ${seek.keys} keys`);
  log(`seek it at a random version  ${shownSummary(seek.seekAtVersionPerSecond)} /s`);
  log(`seek it at the head          ${shownSummary(seek.seekAtHeadPerSecond)} /s`);
  log(`seek against get             ${shownSummary(seek.ratioToGet)}`);
  if (range === undefined) log(`no stream has ${PAGE_EVENTS} events: range is left out`);
  else {
    log(`first 25 events of a stream  ${shownSummary(range.firstPerSecond)} /s`);
    log(`newest 25 events             ${shownSummary(range.newestPerSecond)} /s`);
  }
  const commit = await commits(options);
  for (const { chunkTransactions, ...figures } of commit) {
    log(
      `commit, ${chunkTransactions} at once: ${shownSummary(figures.commitsPerSecond)} commits/s, ` +
        `${shownSummary(figures.transactionsPerSecond)} transactions/s`,
    );
  }
  return { seek, range, commit };
}
