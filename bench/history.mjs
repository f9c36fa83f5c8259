// Processor time of the history of a balance: pages of 1,000 changes, none of them answered before. BENCH_LOCATION
// names a ledger in PostgreSQL instead of the sample that is made, which has few accounts with many transactions.
import { join } from 'node:path';
import { startChild } from './child.mjs';
import { pacedLoad } from './paced-load.mjs';
import { cpuMs } from './process-figures.mjs';
import { PROGRAM, runCommand, temporaryFolder } from './sample-ledger.mjs';
import { shownSummary, summary } from './statistics.mjs';

export const name = 'history';
export const title = 'Histories of balances, 1,000 changes a request';

const CHANGES = 1_000;
const LEDGER = ['--transactions', '40000', '--accounts', '12'];
/** Requests of a turn; each ends at another version. */
const REQUESTS = 200;

async function getJson(origin, path) {
  const answer = await fetch(origin + path);
  if (answer.status !== 200) throw new Error(`${path}: ${await answer.text()}`);
  return await answer.json();
}

/** Balances with enough changes: one in a coin store, one in a primary store. */
async function subjectsOf(origin) {
  const found = new Map();
  const transactions = await getJson(origin, '/v1/transactions?limit=100');
  const senders = new Set(transactions.flatMap(({ sender }) => sender ?? []));
  for (const account of senders) {
    const held = await getJson(origin, `/v1/accounts/${account}/balances`);
    for (const { asset_type: asset, metadata } of held) {
      const pathOf = (type) =>
        `/v1/accounts/${account}/balance/${encodeURIComponent(type)}/history?order=desc&limit=${CHANGES}`;
      const changes = await getJson(origin, pathOf(asset));
      if (changes.length < CHANGES) continue;
      const isPrimary = (await getJson(origin, pathOf(metadata))).length === CHANGES;
      const kind = isPrimary ? 'primary store' : 'coin store';
      const times = new Set(changes.map(({ timestamp }) => timestamp)).size;
      if (!found.has(kind)) found.set(kind, { kind, path: pathOf(asset), times });
    }
  }
  return [...found.values()];
}

/** @param {{rounds: number, log: (line: string) => void}} options */
export async function run({ rounds, log }) {
  let location = process.env.BENCH_LOCATION;
  if (location === undefined) {
    location = join(temporaryFolder(), 'ledger');
    await runCommand(['sample', '--data', location, ...LEDGER, '--json']);
  }
  const server = await startChild([
    ...[PROGRAM, 'serve', '--data', location, '--listen', '127.0.0.1:0'],
    ...['--log-level', 'warn', '--workers', '1'],
  ]);
  try {
    const { origin } = new URL(server.ready.url);
    const newest = Number(server.ready.ledger_version);
    const results = [];
    for (const { kind, path, times } of await subjectsOf(origin)) {
      for (const accept of ['application/json', 'application/x-bcs']) {
        const cpu = [];
        let next = newest;
        for (let round = 0; round <= rounds; round += 1) {
          const requests = Array.from({ length: REQUESTS }, () => {
            next -= 1;
            return { method: 'GET', path: `${path}&to_version=${next}`, headers: { accept } };
          });
          const before = cpuMs(server.pid);
          await pacedLoad({ origin, requests, connections: 1, ratePerSecond: 0, total: REQUESTS });
          // The first round warms up.
          if (round > 0) cpu.push((cpuMs(server.pid) - before) / REQUESTS);
        }
        const result = { kind, accept, blocks: times, cpuMsPerRequest: summary(cpu) };
        results.push(result);
        log(
          `${kind}, ${accept}, in ${times} blocks: ${shownSummary(result.cpuMsPerRequest)} ms of processor time a request`,
        );
      }
    }
    return { results };
  } finally {
    await server.stop();
  }
}
