// How long a newcomer waits: in a clean clone, from `npm ci` over `npm start` to the first answer; and with the installed
// package and no sample cached, from the start of the process to the first answer of startNode. Packages come from npm's
// cache as far as it has them.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { shownSummary, summary } from './statistics.mjs';

export const name = 'fresh';
export const title = 'Clean clone and fresh package to the first answer, in milliseconds';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const POLL_MS = 10;

const START_NODE = `
  import { startNode } from 'daybook';
  const importedMs = performance.now();
  const node = await startNode({ cacheFolder: process.argv[2] });
  const startNodeMs = performance.now() - importedMs;
  await (await fetch(node.url)).arrayBuffer();
  console.log(JSON.stringify({ startNodeMs, firstAnswerMs: performance.now() }));
  await node.stop();
`;

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function npm(cwd, ...args) {
  execFileSync('npm', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function clean(folder) {
  const clone = join(folder, 'clone');
  execFileSync('git', ['clone', '--quiet', ROOT, clone]);
  const startedMs = performance.now();
  npm(clone, 'ci');
  const installMs = performance.now() - startedMs;
  const listen = `127.0.0.1:${await freePort()}`;
  const env = { ...process.env, DAYBOOK_LISTEN: listen };
  const child = spawn('npm', ['start'], { cwd: clone, env, stdio: 'ignore', detached: true });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    for (;;) {
      const response = await fetch(`http://${listen}/v1`).catch(() => undefined);
      if (response?.status === 200) break;
      if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}`);
      await sleep(POLL_MS);
    }
    return { installMs, firstAnswerMs: performance.now() - startedMs };
  } finally {
    // npm and the node.
    process.kill(-child.pid, 'SIGTERM');
    await ended;
    rmSync(clone, { recursive: true });
  }
}

function embedded(project) {
  const cache = mkdtempSync(join(project, 'cache-'));
  const text = execFileSync(process.execPath, ['start.mjs', cache], { cwd: project });
  return JSON.parse(text);
}

/** @param {{rounds: number, log: (line: string) => void}} options */
export async function run({ rounds, log }) {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-fresh-'));
  try {
    npm(ROOT, 'pack', '--pack-destination', folder);
    writeFileSync(join(folder, 'package.json'), '{}');
    writeFileSync(join(folder, 'start.mjs'), START_NODE);
    npm(folder, 'install', '--no-audit', '--prefer-offline', './daybook-0.1.0.tgz');
    const rows = { clone: [], startNode: [] };
    for (let round = 0; round < rounds; round += 1) {
      rows.clone.push(await clean(folder));
      rows.startNode.push(embedded(folder));
    }
    const results = {};
    for (const [what, of] of Object.entries(rows)) {
      for (const figure of Object.keys(of[0])) {
        const result = summary(of.map((row) => row[figure]));
        results[`${what}.${figure}`] = result;
        log(`${what} ${figure}: ${shownSummary(result)}`);
      }
    }
    return results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
