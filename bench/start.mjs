// Time of `serve` on an existing ledger, from the start of the process to its ready line, and to its first response;
// and the processor time of all its processes until then. One worker and two, in turns.
import { startChild } from './child.mjs';
import { bulkLedger, PROGRAM } from './ledgers.mjs';
import { cpuMsOfAll, withChildren } from './process-figures.mjs';
import { ratioSummary, shownSummary, summary } from './statistics.mjs';

export const name = 'start';
export const title = 'Start-up: process start to ready and to the first answer';

/** Minimum number of starts of each kind, even with fewer rounds. */
const MIN_STARTS = 7;
const WORKERS = [1, 2];

async function startOnce(dataFolder, workers) {
  const startedMs = performance.now();
  const node = await startChild([
    ...[PROGRAM, 'serve', '--data', dataFolder, '--listen', '127.0.0.1:0'],
    ...['--workers', String(workers), '--log-level', 'warn'],
  ]);
  const readyCpuMs = cpuMsOfAll(withChildren(node.pid));
  try {
    const response = await fetch(node.ready.url);
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`the first answer is ${response.status}`);
    return {
      readyMs: node.readyMs,
      firstAnswerMs: performance.now() - startedMs,
      readyCpuMs,
      firstAnswerCpuMs: cpuMsOfAll(withChildren(node.pid)),
    };
  } finally {
    await node.stop();
  }
}

/** @param {{rounds: number, log: (line: string) => void}} options */
export async function run({ rounds, log }) {
  const dataFolder = await bulkLedger();
  const starts = WORKERS.map(() => []);
  // The first start warms the page cache and this process's HTTP client; it is not counted.
  await startOnce(dataFolder, 1);
  for (let start = 0; start < Math.max(rounds, MIN_STARTS); start += 1) {
    for (const [index, workers] of WORKERS.entries()) {
      starts[index].push(await startOnce(dataFolder, workers));
    }
  }
  const of = (index, what) => starts[index].map((start) => start[what]);
  const results = WORKERS.map((workers, index) => ({
    workers,
    ...Object.fromEntries(
      Object.keys(starts[index][0]).map((what) => [what, summary(of(index, what))]),
    ),
  }));
  for (const result of results) {
    log(
      `${result.workers} worker${result.workers === 1 ? ' ' : 's'}: ready ${shownSummary(result.readyMs)} ms ` +
        `(${shownSummary(result.readyCpuMs)} of processor time), first answer ${shownSummary(result.firstAnswerMs)} ms ` +
        `(${shownSummary(result.firstAnswerCpuMs)})`,
    );
  }
  const ratio = ratioSummary(of(1, 'firstAnswerMs'), of(0, 'firstAnswerMs'));
  log(`two against one, first answer ${shownSummary(ratio)}`);
  return { starts: starts[0].length, results, ratio };
}
