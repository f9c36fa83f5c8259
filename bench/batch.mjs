// Balances a second in batches of 100 beside single requests, in turns: over one connection, one request after the
// other, and over many at once. BENCH_LOCATION names a ledger in PostgreSQL instead.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild } from './child.mjs';
import { accountAddresses, shuffled } from './ledger-contents.mjs';
import { CONNECTIONS } from './load.mjs';
import { pacedLoad } from './paced-load.mjs';
import { prepareLedger } from './prepare-ledger.mjs';
import { cpuMs } from './process-figures.mjs';
import { balanceRequest } from './requests.mjs';
import { ratioSummary, shownSummary, summary } from './statistics.mjs';

export const name = 'batch';
export const title = 'Batches of 100 balances beside 100 requests';

const PROGRAM = fileURLToPath(new URL('../bin/daybook', import.meta.url));
const BATCH_READS = 100;
const MAX_ACCOUNTS = 20_000;
/** Balances of a turn; single requests over one connection take longest. */
const BALANCES = { 1: 20_000, [CONNECTIONS]: 100_000 };

function batchesOf(requests) {
  const batches = [];
  for (let at = 0; at + BATCH_READS <= requests.length; at += BATCH_READS) {
    const reads = requests.slice(at, at + BATCH_READS).map(({ path }) => ({ path }));
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ requests: reads });
    batches.push({ method: 'POST', path: '/v1/batch', headers, body });
  }
  return batches;
}

async function sameAnswers(origin, batch, requests) {
  const { path, ...init } = batch;
  const { responses } = await (await fetch(origin + path, init)).json();
  for (const [index, { body }] of responses.entries()) {
    const single = await (await fetch(origin + requests[index].path)).json();
    if (single !== body) throw new Error(`${requests[index].path}: ${body} instead of ${single}`);
  }
}

/** @param {{rounds: number, log: (line: string) => void}} options */
export async function run({ rounds, log }) {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  let server;
  try {
    const data = await prepareLedger(folder);
    const { addresses } = await accountAddresses(data, MAX_ACCOUNTS);
    const requests = shuffled(addresses).map((address) => balanceRequest(address));
    const batches = batchesOf(requests);
    server = await startChild([
      ...[PROGRAM, 'serve', '--data', process.env.BENCH_LOCATION ?? data],
      ...['--listen', '127.0.0.1:0', '--log-level', 'warn', '--workers', '1'],
    ]);
    const { origin } = new URL(server.ready.url);
    await sameAnswers(origin, batches[0], requests);
    const results = [];
    for (const connections of [1, CONNECTIONS]) {
      const balances = BALANCES[connections];
      const turn = async (asked, balancesPerRequest, note) => {
        const before = cpuMs(server.pid);
        const total = balances / balancesPerRequest;
        const { requestsPerSecond } = await pacedLoad({
          ...{ origin, requests: asked, connections, ratePerSecond: 0, total },
        });
        note.rate.push(requestsPerSecond * balancesPerRequest);
        note.cpuUs.push(((cpuMs(server.pid) - before) * 1_000) / balances);
      };
      const single = { rate: [], cpuUs: [] };
      const batch = { rate: [], cpuUs: [] };
      const unused = { rate: [], cpuUs: [] };
      await turn(requests, 1, unused);
      await turn(batches, BATCH_READS, unused);
      for (let round = 0; round < rounds; round += 1) {
        await turn(requests, 1, single);
        await turn(batches, BATCH_READS, batch);
      }
      const result = {
        connections,
        accounts: requests.length,
        singlePerSecond: summary(single.rate),
        batchedPerSecond: summary(batch.rate),
        ratio: ratioSummary(batch.rate, single.rate),
        singleCpuUs: summary(single.cpuUs),
        batchedCpuUs: summary(batch.cpuUs),
        cpuRatio: ratioSummary(single.cpuUs, batch.cpuUs),
      };
      results.push(result);
      log(
        `${String(connections).padStart(3)} connections: single ${shownSummary(result.singlePerSecond)} balances/s, ` +
          `batched ${shownSummary(result.batchedPerSecond)}, ratio ${shownSummary(result.ratio)}; ` +
          `processor time ${shownSummary(result.singleCpuUs)} and ${shownSummary(result.batchedCpuUs)} µs a balance, ` +
          `ratio ${shownSummary(result.cpuRatio)}`,
      );
    }
    return { results };
  } finally {
    await server?.stop();
    rmSync(folder, { recursive: true });
  }
}
