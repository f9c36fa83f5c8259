// Requests/s of each operation beside a bare node:http server that sends the same bytes with the same headers, in
// turns: server, bare, server, bare, …
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuSeconds, startChild } from './child.mjs';
import { coinHolders, eventStreams, shuffled } from './ledger-contents.mjs';
import { load, loadGenerator } from './load.mjs';
import { prepareLedger } from './prepare-ledger.mjs';
import { ratioSummary, shownSummary, summary } from './statistics.mjs';

export const name = 'http';
export const title = 'HTTP: requests/s beside bare node:http';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
/** Most different requests of an operation. */
const MAX_REQUESTS = 20_000;

async function operations(dataFolder) {
  const holders = shuffled(await coinHolders(dataFolder, MAX_REQUESTS));
  const streams = shuffled(await eventStreams(dataFolder, MAX_REQUESTS));
  const balances = holders.map((address) => ({
    path: `/v1/accounts/0x${address}/balance/0x1::aptos_coin::AptosCoin`,
  }));
  const pages = streams.map(({ address, creationNumber }) => ({
    path: `/v1/accounts/0x${address}/events/${creationNumber}?limit=25`,
  }));
  const bcs = (requests) =>
    requests.map((request) => ({ ...request, headers: { accept: 'application/x-bcs' } }));
  const modules = [{ path: '/v1/accounts/0x1/module/coin' }];
  const encodings = holders.slice(0, 1_000).map((address, index) => encodeRequest(address, index));
  return [
    { operation: 'balance', form: 'json', requests: balances },
    { operation: 'balance', form: 'bcs', requests: bcs(balances) },
    { operation: 'module', form: 'json', requests: modules },
    { operation: 'module', form: 'bcs', requests: bcs(modules) },
    { operation: 'events', form: 'json', requests: pages },
    { operation: 'events', form: 'bcs', requests: bcs(pages) },
    { operation: 'encode', form: 'json', requests: encodings },
  ];
}

function encodeRequest(recipient, index) {
  const body = {
    sender: `0x${recipient}`,
    sequence_number: String(index),
    max_gas_amount: '2000',
    gas_unit_price: '100',
    expiration_timestamp_secs: '1893456000',
    payload: {
      type: 'entry_function_payload',
      function: '0x1::aptos_account::transfer',
      type_arguments: [],
      arguments: [`0x${recipient}`, String(1_000_000 + index)],
    },
  };
  return {
    method: 'POST',
    path: '/v1/transactions/encode_submission',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}

/** The answer that bare gives for an operation: one of ours, of middle length among some. */
async function typicalAnswer(origin, requests) {
  const answers = [];
  for (const request of requests.slice(0, 101)) {
    const { path, ...init } = request;
    const response = await fetch(origin + path, {
      ...init,
      headers: { ...init.headers, 'accept-encoding': 'identity' },
    });
    const body = Buffer.from(await response.arrayBuffer());
    if (!response.ok) throw new Error(`${path}: ${response.status} ${body}`);
    const headers = Object.fromEntries(response.headers);
    for (const made of ['date', 'connection', 'keep-alive', 'content-length']) delete headers[made];
    answers.push({ status: response.status, headers, body });
  }
  answers.sort((a, b) => a.body.length - b.body.length);
  return answers[answers.length >> 1];
}

async function startBare(folder, answer) {
  const file = join(folder, 'answer.json');
  writeFileSync(file, JSON.stringify({ ...answer, body: answer.body.toString('base64') }));
  return startChild([here('./bare-server.mjs'), file]);
}

/** Measures one operation: `rounds` times ours and bare, each after a warm-up. */
async function measure(
  { origin, serverPid, folder },
  { operation, form, requests },
  { rounds, seconds },
) {
  const answer = await typicalAnswer(origin, requests);
  const bare = await startBare(folder, answer);
  const ours = [];
  const reference = [];
  const cpuMicros = { ours: [], bare: [] };
  /** Load for a while; notes what the server's process used of its core for each request. */
  const measured = async (url, pid, note) => {
    const before = cpuSeconds(pid);
    const result = await load(url, requests, seconds);
    note.push(((cpuSeconds(pid) - before) * 1e6) / (result.requestsPerSecond * seconds));
    return result;
  };
  const latencies = [];
  try {
    await load(origin, requests, 2);
    await load(bare.ready.url, requests, 1);
    for (let round = 0; round < rounds; round += 1) {
      const result = await measured(origin, serverPid, cpuMicros.ours);
      if (result.errors > 0) throw new Error(`${operation}: ${result.errors} failed requests`);
      ours.push(result.requestsPerSecond);
      latencies.push(result.p99Ms);
      const bareResult = await measured(bare.ready.url, bare.pid, cpuMicros.bare);
      reference.push(bareResult.requestsPerSecond);
    }
  } finally {
    await bare.stop();
  }
  return {
    operation,
    form,
    differentRequests: requests.length,
    answerBytes: answer.body.length,
    requestsPerSecond: summary(ours),
    bareRequestsPerSecond: summary(reference),
    p99Ms: summary(latencies),
    ratio: ratioSummary(ours, reference),
    cpuMicrosPerRequest: summary(cpuMicros.ours),
    bareCpuMicrosPerRequest: summary(cpuMicros.bare),
    /** As the ratio of rates would be if nothing else ran on the machine. */
    cpuRatio: ratioSummary(cpuMicros.bare, cpuMicros.ours),
  };
}

/** @param {{rounds: number, seconds: number, log: (line: string) => void}} options */
export async function run(options) {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  const results = [];
  try {
    const dataFolder = await prepareLedger(folder);
    const server = await startChild([
      ...[here('../bin/daybook'), 'serve', '--data', dataFolder],
      ...['--listen', '127.0.0.1:0', '--log-level', 'warn', '--workers', '1'],
    ]);
    try {
      const origin = new URL(server.ready.url).origin;
      for (const operation of await operations(dataFolder)) {
        if (operation.requests.length === 0) continue;
        const result = await measure({ origin, serverPid: server.pid, folder }, operation, options);
        results.push(result);
        options.log(
          `${`${result.operation} ${result.form}`.padEnd(14)} ${shownSummary(result.requestsPerSecond)} req/s, ` +
            `bare ${shownSummary(result.bareRequestsPerSecond)}, ratio ${shownSummary(result.ratio)}, by CPU ${shownSummary(result.cpuRatio)}`,
        );
      }
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { loadGenerator, results };
}
