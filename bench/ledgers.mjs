// Sample ledgers for benchmarks: BENCH_DATA, or one created here, once for all benchmarks of a run.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ALLOCATOR } from './child.mjs';
import { anonymousBytes, cpuMs } from './process-figures.mjs';

export const PROGRAM = fileURLToPath(new URL('../bin/daybook', import.meta.url));
const MAKE = fileURLToPath(new URL('bulk-ledger/make.mjs', import.meta.url));

/** Disables overload protection: the machine may be busy. */
export const UNBOUNDED = ['--max-backlog-ms', '0'];

/** Transactions in a ledger that a node can continue. */
const PRODUCIBLE = 5_000;

export const TRANSACTIONS = Number(process.env.BENCH_TRANSACTIONS ?? 100_000);
/** A fifth as many accounts as transactions, so that there are many balances, not only long histories. */
export const TRANSACTIONS_PER_ACCOUNT = 5;
/** Interval at which a running command is sampled, in milliseconds. */
const WATCH_INTERVAL_MS = 100;

/** A folder that is removed when the process exits. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Runs a command of the program that prints JSON with --json, watching its memory.
 * @param {string} program this build's, or another's
 * @returns {Promise<{report: any, seconds: number, processorSeconds: number, peakAnonymousBytes: number}>}
 */
export async function runCommand(args, program = PROGRAM) {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...ALLOCATOR, ...process.env, NODE_ENV: 'production' },
  });
  const seen = { peakAnonymousBytes: 0, spentMs: 0 };
  const watch = setInterval(() => {
    seen.peakAnonymousBytes = Math.max(seen.peakAnonymousBytes, anonymousBytes(child.pid));
    seen.spentMs = Math.max(seen.spentMs, cpuMs(child.pid));
  }, WATCH_INTERVAL_MS);
  const [output, errors] = ['', ''].map((text) => ({ text }));
  child.stdout.on('data', (chunk) => {
    output.text += chunk;
  });
  child.stderr.on('data', (chunk) => {
    errors.text += chunk;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearInterval(watch);
  if (code !== 0) throw new Error(`daybook ${args.join(' ')}: ${code}\n${errors.text}`);
  return {
    report: args.includes('--json') ? JSON.parse(output.text) : output.text,
    seconds: (performance.now() - startedMs) / 1_000,
    processorSeconds: seen.spentMs / 1_000,
    peakAnonymousBytes: seen.peakAnonymousBytes,
  };
}

/** Generates a ledger of about this many transactions, none of which was executed. */
export function generate(data, transactions = TRANSACTIONS) {
  const accounts = Math.max(500, Math.floor(transactions / TRANSACTIONS_PER_ACCOUNT));
  return runCommand([data, String(transactions), String(accounts)], MAKE);
}

/**
 * A copy of a ledger that a node can continue: its transactions were executed, so it is smaller. @returns its folder
 */
export async function smallSample() {
  const data = join(temporaryFolder(), 'ledger');
  const size = ['--transactions', String(PRODUCIBLE), '--accounts', '500'];
  await runCommand(['sample', '--data', data, ...size]);
  return data;
}

let made;

/** A ledger to read from. Callers never write to it. @returns {Promise<string>} its data folder */
export function bulkLedger() {
  made ??= makeOnce();
  return made;
}

async function makeOnce() {
  const given = process.env.BENCH_DATA;
  if (given !== undefined) return given;
  const data = join(temporaryFolder(), 'ledger');
  await generate(data);
  return data;
}
