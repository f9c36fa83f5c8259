// Does a request cost more on a larger ledger? Processor time of each operation on a small ledger and on a large one, in
// turns, with random keys of each. The ledgers are given: making a large one takes most of an hour.
import { EVENTS } from '../dist/store/columns/columns.js';
import { openHead } from '../dist/store/columns/head.js';
import { openSqliteReader } from '../dist/store/sqlite/sqlite-store.js';
import { startChild } from './child.mjs';
import { load, loadGenerator } from './load.mjs';
import { cpuMs } from './process-figures.mjs';
import { randomAccounts, randomSource, randomStreams } from './random-keys.mjs';
import {
  asBcs,
  balanceRequest,
  encodeRequest,
  eventsRequest,
  MODULE_REQUEST,
  PAGE_EVENTS,
} from './requests.mjs';
import { PROGRAM } from './sample-ledger.mjs';
import { ratioSummary, shownSummary, summary } from './statistics.mjs';

export const name = 'growth';
export const title = 'Growth: processor time of a request on a small ledger and on a large one';

const LEDGERS = ['BENCH_SMALL', 'BENCH_LARGE'];
const MAX_REQUESTS = 20_000;
const MAX_ENCODINGS = 1_000;

/** Streams that fill a page: pages of several lengths would compare lengths, not ledgers. */
async function fullStreams(store) {
  const streams = [];
  for (const stream of await randomStreams(store, MAX_REQUESTS)) {
    const page = await store.range(EVENTS, stream.partition, { limit: PAGE_EVENTS });
    if (page.length === PAGE_EVENTS) streams.push(stream);
  }
  if (streams.length === 0) throw new Error(`no stream has ${PAGE_EVENTS} events`);
  return streams;
}

/** What to ask of a ledger: the same kinds of requests for every ledger, its own keys. */
async function requestsOf(dataFolder) {
  const store = openSqliteReader({ directory: dataFolder });
  try {
    const { version } = await openHead(store);
    const holders = await randomAccounts(store, MAX_REQUESTS);
    const streams = await fullStreams(store);
    const random = randomSource(3);
    const somewhere = () => BigInt(Math.floor((random() / 2 ** 32) * Number(version)));
    const past = Array.from({ length: MAX_REQUESTS }, (_, index) =>
      balanceRequest(holders[index % holders.length], somewhere()),
    );
    const balances = holders.map((address) => balanceRequest(address));
    const pages = streams.map(eventsRequest);
    const operations = {
      balance: balances,
      'balance, bcs': asBcs(balances),
      'balance at any version': past,
      events: pages,
      'events, bcs': asBcs(pages),
      module: [MODULE_REQUEST],
      'module, bcs': asBcs([MODULE_REQUEST]),
      encode: holders.slice(0, MAX_ENCODINGS).map(encodeRequest),
    };
    return { version, holders: holders.length, streams: streams.length, operations };
  } finally {
    await store.close();
  }
}

async function measured(node, requests, seconds) {
  const before = cpuMs(node.pid);
  const result = await load(new URL(node.ready.url).origin, requests, seconds);
  if (result.errors > 0) throw new Error(`${requests[0].path}: ${result.errors} failed requests`);
  const { requestsPerSecond } = result;
  const processorUs = ((cpuMs(node.pid) - before) * 1_000) / (requestsPerSecond * seconds);
  return { requestsPerSecond, processorUs };
}

async function measure(operation, ledgers, { rounds, seconds, log }) {
  const runs = ledgers.map(() => []);
  for (let round = -1; round < rounds; round += 1) {
    for (const [index, { node, asked }] of ledgers.entries()) {
      const run = await measured(node, asked.operations[operation], seconds);
      // The first round warms up.
      if (round >= 0) runs[index].push(run);
    }
  }
  const of = (index, what) => runs[index].map((run) => run[what]);
  const result = {
    operation,
    processorUs: { small: summary(of(0, 'processorUs')), large: summary(of(1, 'processorUs')) },
    requestsPerSecond: {
      small: summary(of(0, 'requestsPerSecond')),
      large: summary(of(1, 'requestsPerSecond')),
    },
    /** Speed on the large ledger against the small one. */
    ratioByProcessor: ratioSummary(of(0, 'processorUs'), of(1, 'processorUs')),
    ratioByRequests: ratioSummary(of(1, 'requestsPerSecond'), of(0, 'requestsPerSecond')),
  };
  log(
    `${operation.padEnd(24)} ${shownSummary(result.processorUs.small)} µs, large ${shownSummary(result.processorUs.large)} µs; ` +
      `large against small ${shownSummary(result.ratioByProcessor)}, by requests/s ${shownSummary(result.ratioByRequests)}`,
  );
  return result;
}

/** @param {{rounds: number, seconds: number, log: (line: string) => void}} options */
export async function run(options) {
  const folders = LEDGERS.map((variable) => process.env[variable]);
  if (folders.includes(undefined)) {
    options.log(`left out: set ${LEDGERS.join(' and ')} to the data folders of two ledgers`);
    return { skipped: `${LEDGERS.join(', ')} not set` };
  }
  const ledgers = [];
  try {
    for (const folder of folders) {
      const asked = await requestsOf(folder);
      options.log(
        `version ${asked.version}: ${asked.holders} balances, ${asked.streams} streams asked for`,
      );
      const node = await startChild([
        ...[PROGRAM, 'serve', '--data', folder, '--listen', '127.0.0.1:0'],
        ...['--workers', '1', '--log-level', 'warn'],
      ]);
      ledgers.push({ node, asked });
    }
    const results = [];
    for (const operation of Object.keys(ledgers[0].asked.operations)) {
      results.push(await measure(operation, ledgers, options));
    }
    const versions = ledgers.map(({ asked }) => String(asked.version));
    return { loadGenerator, versions, results };
  } finally {
    await Promise.all(ledgers.map(({ node }) => node.stop()));
  }
}
