// Keys asked for the first time beside the same keys asked again, in one server that is warm otherwise: what the
// caches of the process and of the processor are worth. The file is in the page cache in both cases.
import { startChild } from './child.mjs';
import { CONNECTIONS } from './load.mjs';
import { pacedLoad } from './paced-load.mjs';
import { cpuMs } from './process-figures.mjs';
import { ratioSummary, shownSummary, summary } from './statistics.mjs';

/** Fewer different keys than this say nothing about cold ones. */
const MIN_KEYS = 1_000;
/** Warm-up requests, on other keys: compilers and pools. */
const WARM_UP_REQUESTS = 10_000;

async function pass(node, requests, total) {
  const before = cpuMs(node.pid);
  const { origin } = new URL(node.ready.url);
  const job = { origin, requests, connections: CONNECTIONS, ratePerSecond: 0, total };
  const result = await pacedLoad(job);
  return { ...result, processorUs: ((cpuMs(node.pid) - before) * 1_000) / total };
}

/**
 * @param {() => string[]} serveArguments what a server is started with
 * @param {{operation: string, form: string, requests: object[]}[]} operations
 */
export async function coldAndWarmKeys(serveArguments, operations, { rounds, log }) {
  const results = [];
  for (const { operation, form, requests } of operations) {
    if (requests.length < 2 * MIN_KEYS) continue;
    const half = requests.length >> 1;
    const [warmUp, asked] = [requests.slice(0, half), requests.slice(half)];
    const runs = { cold: [], warm: [] };
    for (let round = 0; round < rounds; round += 1) {
      const node = await startChild(serveArguments);
      try {
        await pass(node, warmUp, Math.max(WARM_UP_REQUESTS, half));
        for (const state of ['cold', 'warm']) {
          runs[state].push(await pass(node, asked, asked.length));
        }
      } finally {
        await node.stop();
      }
    }
    const of = (state, what) => runs[state].map((run) => run[what]);
    const figures = (state) =>
      Object.fromEntries(
        ['requestsPerSecond', 'p50Ms', 'p99Ms', 'processorUs'].map((what) => [
          what,
          summary(of(state, what)),
        ]),
      );
    const ratio = ratioSummary(of('warm', 'processorUs'), of('cold', 'processorUs'));
    results.push({
      ...{ operation, form, keys: asked.length, cold: figures('cold'), warm: figures('warm') },
      coldAgainstWarmByProcessor: ratio,
    });
    log(
      `${`${operation} ${form}`.padEnd(14)} ${asked.length} keys: first time ${shownSummary(results.at(-1).cold.processorUs)} µs, ` +
        `again ${shownSummary(results.at(-1).warm.processorUs)} µs of processor time; cold against warm ${shownSummary(ratio)}`,
    );
  }
  if (results.length === 0) log(`cold and warm keys: left out, fewer than ${2 * MIN_KEYS} keys`);
  return results;
}
