// Two workers against one, in turns, and memory of a worker while it is under load.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild } from './child.mjs';
import { accountAddresses, eventStreams, shuffled } from './ledger-contents.mjs';
import { load, loadGenerator } from './load.mjs';
import { prepareLedger } from './prepare-ledger.mjs';
import { anonymousBytes, childrenOf, cpuMs } from './process-figures.mjs';
import { balanceRequest, encodeRequest, eventsRequest, MODULE_REQUEST } from './requests.mjs';
import { ratioSummary, shownSummary, summary } from './statistics.mjs';

export const name = 'workers';
export const title = 'Workers: two against one, memory under load';

const PROGRAM = fileURLToPath(new URL('../bin/daybook', import.meta.url));
const MAX_REQUESTS = 20_000;

function serve(dataFolder, workers, ...flags) {
  return startChild([
    ...[PROGRAM, 'serve', '--data', dataFolder, '--listen', '127.0.0.1:0'],
    ...['--workers', String(workers), '--log-level', 'warn', ...flags],
  ]);
}

/** The node's processes that answer requests. */
function answering(node, workers) {
  return workers === 1 ? [node.pid] : childrenOf(node.pid);
}

/** Requests per second of nodes with one worker and with two, in turns. */
async function throughput(dataFolder, requests, { rounds, seconds }) {
  const counts = [1, 2];
  const nodes = await Promise.all(counts.map((count) => serve(dataFolder, count)));
  const rates = counts.map(() => []);
  const costs = counts.map(() => []);
  const memory = counts.map(() => []);
  try {
    for (let round = -1; round < rounds; round += 1) {
      for (const [index, node] of nodes.entries()) {
        const pids = answering(node, counts[index]);
        const before = pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
        const { requestsPerSecond, errors } = await load(
          new URL(node.ready.url).origin,
          requests,
          seconds,
        );
        if (errors > 0) throw new Error(`${errors} failed requests`);
        // The first round warms up.
        if (round === -1) continue;
        const spentMs = pids.reduce((sum, pid) => sum + cpuMs(pid), 0) - before;
        rates[index].push(requestsPerSecond);
        costs[index].push((spentMs * 1_000) / (requestsPerSecond * seconds));
        memory[index].push(Math.max(...pids.map(anonymousBytes)));
      }
    }
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
  }
  return { rates, costs, memory };
}

/** One operation with one worker and with two. */
async function measure(dataFolder, operation, requests, options) {
  const { log } = options;
  const { rates, costs, memory } = await throughput(dataFolder, requests, options);
  const ratio = ratioSummary(rates[1], rates[0]);
  // The expected ratio if nobody else used the two cores: twice, less the extra cost of a request beside a second
  // worker.
  const byProcessor = ratioSummary(
    costs[0].map((cost) => 2 * cost),
    costs[1],
  );
  log(operation);
  for (const [index, count] of [1, 2].entries()) {
    log(
      `  ${count} worker${count === 1 ? ' ' : 's'}  ${shownSummary(summary(rates[index]))} req/s, ` +
        `${shownSummary(summary(costs[index]))} µs of processor time a request, ` +
        `RssAnon of the largest ${shownSummary(summary(memory[index]))} bytes`,
    );
  }
  log(`  two against one ${shownSummary(ratio)}, by processor time ${shownSummary(byProcessor)}`);
  return {
    operation,
    differentRequests: requests.length,
    requestsPerSecond: { one: summary(rates[0]), two: summary(rates[1]) },
    processorUsPerRequest: { one: summary(costs[0]), two: summary(costs[1]) },
    largestAnonymousBytes: { one: summary(memory[0]), two: summary(memory[1]) },
    ratio,
    byProcessor,
  };
}

/** @param {{rounds: number, seconds: number, log: (line: string) => void}} options */
export async function run(options) {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  try {
    const dataFolder = await prepareLedger(folder);
    const { addresses } = await accountAddresses(dataFolder, MAX_REQUESTS);
    const holders = shuffled(addresses);
    const streams = shuffled(await eventStreams(dataFolder, MAX_REQUESTS));
    const balances = holders.map((address) => balanceRequest(address));
    const encodings = holders.slice(0, 1_000).map(encodeRequest);
    const operations = [
      ['balance', balances],
      ['module', [MODULE_REQUEST]],
      ['events', streams.map(eventsRequest)],
      ['encode', encodings],
    ].filter(([, requests]) => requests.length > 0);
    const results = [];
    for (const [operation, requests] of operations) {
      results.push(await measure(dataFolder, operation, requests, options));
    }
    return { loadGenerator, results };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
