// A fork that has recorded everything that is asked for, offline, beside the ledger that it is of, in turns: processor
// time of each operation over HTTP. A ratio of 1: the fork costs what the ledger costs.
import { join } from 'node:path';
import { startChild } from './child.mjs';
import { operations } from './http.mjs';
import { load } from './load.mjs';
import { PROGRAM, sampleLedger, temporaryFolder, UNBOUNDED } from './sample-ledger.mjs';
import { compare, microsPerRequest } from './versus.mjs';

export const name = 'fork';
export const title = 'A fork beside its ledger: processor time, in turns';

/** Of each operation: all of them are recorded first. */
const MAX_REQUESTS = 1_000;
const WARM_UP_SECONDS = 2;
/** Requests that are sent once, at the same time. */
const SENDERS = 8;

function serve(data, ...flags) {
  return startChild([
    ...[PROGRAM, 'serve', '--data', data, '--listen', '127.0.0.1:0'],
    ...['--workers', '1', '--log-level', 'warn', ...UNBOUNDED, ...flags],
  ]);
}

/** Sends all requests once. */
async function sendAll(origin, requests) {
  let next = 0;
  const sender = async () => {
    while (next < requests.length) {
      const { path, method = 'GET', headers, body } = requests[next];
      next += 1;
      const response = await fetch(origin + path, { method, headers, body });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${path}: ${response.status}`);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
}

/** @param {{rounds: number, seconds: number, log: (line: string) => void}} options */
export async function run({ rounds, seconds, log }) {
  const data = await sampleLedger();
  const folder = join(temporaryFolder(), 'fork');
  const rows = [];
  const nodes = [await serve(data)];
  try {
    const asked = (await operations(data, log))
      .map((one) => ({ ...one, requests: one.requests.slice(0, MAX_REQUESTS) }))
      .filter(({ requests }) => requests.length > 0);
    const upstream = nodes[0].ready.url;
    const fast = ['--fork-requests-per-second', '100000'];
    const recording = await serve(folder, '--fork', upstream, ...fast);
    for (const { requests } of asked) await sendAll(new URL(recording.ready.url).origin, requests);
    await recording.stop();
    nodes.push(await serve(folder, '--offline'));
    for (const one of asked) {
      for (const { ready } of nodes) {
        const { origin } = new URL(ready.url);
        await sendAll(origin, one.requests);
        await load(origin, one.requests, WARM_UP_SECONDS);
      }
      const [ledger, fork] = nodes.map((node) => () => microsPerRequest(node, one, seconds));
      rows.push(await compare(`${one.operation} ${one.form}`, 'µs', [fork, ledger], rounds, log));
    }
  } finally {
    for (const node of nodes) await node.stop();
  }
  return { rows };
}
