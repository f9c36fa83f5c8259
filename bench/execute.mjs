// The cost of executing a recorded chain of the reference again: all 1,236 user transactions, in a process that has
// just started; and a coin transfer, in a warm program. Everything counts: signatures, prologue, function, epilogue,
// writes and hashes.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';
import { BcsReader } from '../src/move/bcs/bcs-reader.ts';
import { readOnChainData } from '../src/move/transactions/transaction.ts';
import { openHead } from '../src/store/columns/head.ts';
import { openView } from '../src/store/read/view.ts';
import { openSqliteReader } from '../src/store/sqlite/sqlite-store.ts';
import { Replay } from '../src/verify/execution/replay.ts';
import { runCommand } from './ledgers.mjs';
import { shownSummary, summary } from './statistics.mjs';

export const name = 'execute';
export const title = 'Execution: a recorded chain run again, and a transfer of coins';

const NEWEST = 1_532;
const PAGE = 100;
const BUNDLE = new URL('../test/reference/chain.br', import.meta.url);
const THIS_FILE = fileURLToPath(import.meta.url);
/** Transfers that run before the measurement: V8 needs some thousands until everything is compiled. */
const WARM_TRANSFERS = 5_000;
const TRANSFERS = 1_000;

function bundledFiles() {
  const bundle = brotliDecompressSync(readFileSync(BUNDLE));
  let at = bundle.indexOf('\n') + 1;
  return new Map(
    JSON.parse(bundle.subarray(0, at).toString()).map(([file, bytes]) => {
      at += bytes;
      return [file, bundle.subarray(at - bytes, at)];
    }),
  );
}

/** A node that serves the recorded chain to a follower. */
function startFeed(files) {
  const offsets = JSON.parse(files.get('offsets.json').toString());
  const item = (version) => {
    const start = version - (version % PAGE);
    const page = files.get(`pages/${String(start).padStart(6, '0')}.bcs`);
    return page.subarray(offsets[start][version - start], offsets[start][version - start + 1]);
  };
  const headers = {
    ...{ 'content-type': 'application/x-bcs', 'x-aptos-chain-id': 4, 'x-aptos-epoch': 5 },
    ...{ 'x-aptos-ledger-version': NEWEST, 'x-aptos-ledger-oldest-version': 0 },
    ...{ 'x-aptos-ledger-timestampusec': '1771249440000000', 'x-aptos-block-height': 150 },
    'x-aptos-oldest-block-height': 0,
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://feed');
    const start = Number(url.searchParams.get('start') ?? 0);
    const wanted = Math.min(PAGE, Number(url.searchParams.get('limit') ?? 25));
    const count = Math.max(0, Math.min(wanted, NEWEST + 1 - start));
    const isFeed = url.pathname === '/v1/transactions';
    const items = Array.from({ length: count }, (_, place) => item(start + place));
    response.writeHead(200, headers);
    response.end(isFeed ? Buffer.concat([Buffer.of(count), ...items]) : '{}');
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

/** Imports the recorded chain into a folder. @returns its data folder */
async function makeChain(folder) {
  const files = bundledFiles();
  const genesis = join(folder, 'genesis.blob');
  writeFileSync(genesis, files.get('genesis.blob'));
  const data = join(folder, 'ledger');
  const waypoint = files.get('waypoint.txt').toString().trim();
  const PROGRAM_ARGS = ['--data', data];
  await runCommand([
    'init',
    ...PROGRAM_ARGS,
    '--genesis',
    genesis,
    '--waypoint',
    waypoint,
    '--json',
  ]);
  const feed = await startFeed(files);
  const url = `http://127.0.0.1:${feed.address().port}`;
  const until = ['--until', String(NEWEST), '--log-level', 'warn', '--json'];
  await runCommand(['follow', ...PROGRAM_ARGS, '--from', url, ...until]);
  feed.close();
  feed.closeAllConnections();
  return data;
}

const cpuMs = (since) => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
};

async function openReplay(data) {
  const store = openSqliteReader({ directory: data });
  return { store, replay: await Replay.open(store, await openHead(store)) };
}

async function runOne(replay, version) {
  const difference = await replay.run(version);
  if (difference !== undefined) throw new Error(`version ${version}: ${difference.detail}`);
}

/** The transactions that a predicate selects. */
async function itemsOf(store, isWanted) {
  const view = await openView(store);
  const found = [];
  for (let version = 1n; version <= BigInt(NEWEST); version += 1n) {
    const item = readOnChainData(new BcsReader(await view.transaction(version)));
    if (isWanted(item.data)) found.push(item);
  }
  return found;
}

const isUser = ({ transaction }) => transaction.kind === 'user';
const isTransfer = ({ transaction, info }) => {
  if (transaction.kind !== 'user' || info.status.kind !== 'success') return false;
  const { payload } = transaction.transaction.raw;
  return (
    payload.kind === 'entryFunction' &&
    payload.function === 'transfer' &&
    payload.module.name === 'coin'
  );
};

/** Reads the clock once per run of consecutive user transactions, because reading it takes time too. */
async function usersMsOf(replay, users) {
  let usersMs = 0;
  let before;
  for (let version = 0n; version <= BigInt(NEWEST); version += 1n) {
    if (users.has(version)) before ??= process.cpuUsage();
    else if (before !== undefined) {
      usersMs += cpuMs(before);
      before = undefined;
    }
    await runOne(replay, version);
  }
  return before === undefined ? usersMs : usersMs + cpuMs(before);
}

/** Runs in a process of its own, so that the measured code is not compiled yet. */
async function measure(data) {
  const { store, replay } = await openReplay(data);
  const users = new Set((await itemsOf(store, isUser)).map(({ data }) => data.version));
  const usersMs = await usersMsOf(replay, users);
  const item = (await itemsOf(store, isTransfer)).at(-1);
  for (let count = 0; count < WARM_TRANSFERS; count += 1) await replay.differenceOf(item);
  const before = process.cpuUsage();
  for (let count = 0; count < TRANSFERS; count += 1) await replay.differenceOf(item);
  const transferMs = cpuMs(before) / TRANSFERS;
  await store.close();
  return { transactions: users.size, usersMs, transferMs };
}

/** @param {{rounds: number, log: (line: string) => void}} options */
export async function run({ rounds, log }) {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  try {
    const data = await makeChain(folder);
    const measured = [];
    for (let round = 0; round < rounds; round += 1) {
      const { stdout } = await promisify(execFile)(process.execPath, [
        // Includes the options that let Node run TypeScript.
        ...process.execArgv,
        ...[THIS_FILE, '--measure', data],
      ]);
      measured.push(JSON.parse(stdout));
    }
    const { transactions } = measured[0];
    const usersMs = summary(measured.map((one) => one.usersMs));
    const transferMs = summary(measured.map((one) => one.transferMs));
    log(`${transactions} transactions of users: ${shownSummary(usersMs)} ms of processor time`);
    log(`a transfer of coins: ${shownSummary(transferMs)} ms of processor time`);
    return { transactions, usersMs, transferMs };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[1] === THIS_FILE) {
  const { values } = parseArgs({ options: { measure: { type: 'string' } } });
  console.log(JSON.stringify(await measure(values.measure)));
}
