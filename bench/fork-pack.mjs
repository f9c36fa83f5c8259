// A packed fork of a test with 50 reads: its size, and how long `startNode` takes to open it, in a process that has just
// loaded the package; from the call to its return, and to the first answer.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startNode } from 'daybook';
import { runCommand, temporaryFolder } from './sample-ledger.mjs';
import { shownSummary, summary } from './statistics.mjs';

export const name = 'fork-pack';
export const title = 'A packed fork of 50 reads: size, and start in startNode';

const MIN_STARTS = 7;
const READS = 50;

/** Resources with their modules, balances, events and transactions of as many accounts. */
async function paths(url) {
  const answer = await fetch(`${url}/transactions?start=100&limit=100`);
  const senders = (await answer.json()).flatMap(({ sender }) => sender ?? []);
  const accounts = [...new Set(senders)].slice(0, READS / 5);
  return accounts.flatMap((account, index) => [
    `/accounts/${account}/balance/0x1::aptos_coin::AptosCoin`,
    `/accounts/${account}/resource/0x1::account::Account`,
    `/accounts/${account}/events/2?limit=5`,
    `/accounts/${account}/resources`,
    `/transactions/by_version/${100 + index}`,
  ]);
}

async function record(folder) {
  const upstream = await startNode();
  const fork = await startNode({ data: folder, fork: upstream.url });
  const asked = await paths(fork.url);
  for (const path of asked) {
    const answer = await fetch(fork.url + path);
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  }
  await fork.stop();
  await upstream.stop();
  return asked;
}

async function startOnce(pack, path) {
  const text = `
    import { startNode } from 'daybook';
    const beganMs = performance.now();
    const before = process.cpuUsage();
    const node = await startNode({ fork: { pack: ${JSON.stringify(pack)} } });
    const startMs = performance.now() - beganMs;
    const { user, system } = process.cpuUsage(before);
    const startCpuMs = (user + system) / 1_000;
    const answer = await fetch(node.url + ${JSON.stringify(path)});
    await answer.arrayBuffer();
    const firstAnswerMs = performance.now() - beganMs;
    await node.stop();
    console.log(JSON.stringify({ startMs, startCpuMs, firstAnswerMs, status: answer.status }));`;
  const args = ['--input-type=module', '--eval', text];
  // Here the package finds itself by its name.
  const cwd = import.meta.dirname;
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
  const { status, ...times } = JSON.parse(stdout);
  if (status !== 200) throw new Error(`the first answer is ${status}`);
  return times;
}

/** @param {{rounds: number, log: (line: string) => void}} options */
export async function run({ rounds, log }) {
  const folder = join(temporaryFolder(), 'fork');
  const asked = await record(folder);
  const pack = join(temporaryFolder(), 'fork.pack');
  const { report } = await runCommand(['fork', 'pack', pack, '--data', folder, '--json']);
  const { pack_bytes: packBytes } = report;
  const starts = [];
  for (let start = 0; start < Math.max(rounds, MIN_STARTS); start += 1) {
    starts.push(await startOnce(pack, asked[0]));
  }
  const startMs = summary(starts.map((one) => one.startMs));
  const firstAnswerMs = summary(starts.map((one) => one.firstAnswerMs));
  const startCpuMs = summary(starts.map((one) => one.startCpuMs));
  log(
    `${asked.length} reads, ${packBytes} bytes: startNode ${shownSummary(startMs)} ms ` +
      `(${shownSummary(startCpuMs)} of processor time), ` +
      `first answer ${shownSummary(firstAnswerMs)} ms`,
  );
  return {
    reads: asked.length,
    packBytes,
    starts: starts.length,
    startMs,
    startCpuMs,
    firstAnswerMs,
  };
}
