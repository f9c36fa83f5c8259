/**
 * kill −9 in the middle of writing and pruning, with readers running: after each kill the ledger
 * verifies, nothing that was seen is lost, nothing pinned is ever answered in two ways. CRASH_RUNS
 * sets how often (default 6), SEED repeats a run. And a disk that is full (root only: it takes a
 * file system of its own).
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { verifyLedger } from '../../src/ingest/verify.ts';
import { addressFromBytes } from '../../src/move/address.ts';
import { ACCOUNT_KEYS } from '../../src/store/columns.ts';
import { openLmdbReader } from '../../src/store/lmdb-store.ts';
import { randomSource, testSeed } from '../store/engines.ts';
import {
  endOf,
  killLeftNodes,
  runCommand,
  ServedNode,
  startCommand,
  temporaryFolder,
} from './command.ts';

const CRASH_RUNS = Number(process.env['CRASH_RUNS'] ?? 6);
const APT = '0x1::aptos_coin::AptosCoin';
const RUN_TIMEOUT_MS = 20_000;
const PRUNING = ['--keep', '300', '--prune-grace-seconds', '1'];

async function sample(data: string, transactions: number): Promise<void> {
  const args = ['--transactions', String(transactions), '--accounts', '60', '--seed', '8'];
  expect((await runCommand(['sample', '--data', data, ...args])).code).toBe(0);
}

/** Examines a ledger in this process, where no command has to start. */
async function expectSound(data: string, atLeast: bigint): Promise<bigint> {
  const store = openLmdbReader({ directory: data });
  try {
    const { damages, head } = await verifyLedger(store);
    expect(damages).toEqual([]);
    expect(head.version).toBeGreaterThanOrEqual(atLeast);
    return head.version;
  } finally {
    await store.close();
  }
}

async function addressesOf(data: string): Promise<string[]> {
  const store = openLmdbReader({ directory: data });
  const rows = await store.scan(ACCOUNT_KEYS, { maxRows: 10_000, maxBytes: 1e9 });
  await store.close();
  return [...new Set(rows.map(({ partition }) => addressFromBytes(partition)))];
}

/** Asks nodes again and again, and remembers what must never change. */
class Witness {
  /** The highest version that anybody has answered with. */
  seen = 0n;
  answers = 0;
  gone = 0;
  readonly #addresses: readonly string[];
  readonly #random: () => number;
  readonly #pinned = new Map<string, string>();

  constructor(addresses: readonly string[], random: () => number) {
    this.#addresses = addresses;
    this.#random = random;
  }

  /** One question to a node that may be killed meanwhile. */
  async ask(node: ServedNode, mayBeGone: boolean): Promise<void> {
    let response: Response;
    let body: string;
    try {
      const address = this.#addresses[Math.floor(this.#random() * this.#addresses.length)];
      const back = BigInt(Math.floor(this.#random() * 500));
      const version = this.seen > back ? this.seen - back : 0n;
      const path = `/accounts/0x${address}/balance/${APT}?ledger_version=${version}`;
      response = await node.get(path);
      body = await response.text();
      this.#check(path, response.status, body);
    } catch (error) {
      if (mayBeGone && error instanceof TypeError) return;
      throw error;
    }
    this.answers += 1;
    if (response.status === 410) this.gone += 1;
    const version = BigInt(response.headers.get('x-node-ledger-version')!);
    if (version > this.seen) this.seen = version;
  }

  #check(path: string, status: number, body: string): void {
    expect([200, 404, 410], `${path}: ${status} ${body}`).toContain(status);
    if (status !== 200) return;
    expect(body, path).toBe(this.#pinned.get(path) ?? body);
    this.#pinned.set(path, body);
  }
}

describe('crashes', () => {
  afterEach(() => killLeftNodes());

  it(`kill −9 while producing and pruning, ${CRASH_RUNS} times`, {
    timeout: 60_000 + CRASH_RUNS * RUN_TIMEOUT_MS,
  }, async () => {
    const random = randomSource(testSeed());
    const data = join(temporaryFolder(), 'ledger');
    await sample(data, 1_200);
    const witness = new Witness(await addressesOf(data), random);
    const reader = await ServedNode.start(data, ['--workers', '1']);
    for (let run = 0; run < CRASH_RUNS; run += 1) {
      const args = ['--workers', '1', '--produce', '600', ...PRUNING];
      const writer = await ServedNode.start(data, args);
      // What the node says when it begins is what was there: all that was seen.
      expect(BigInt(writer.ready.ledger_version)).toBeGreaterThanOrEqual(witness.seen);
      const endMs = performance.now() + 200 + random() * 2_800;
      while (performance.now() < endMs) {
        await witness.ask(writer, false);
        await witness.ask(reader, false);
      }
      const last = Array.from({ length: 5 }, () => witness.ask(writer, true));
      writer.process.kill('SIGKILL');
      await Promise.all(last);
      await writer.end();
      await expectSound(data, witness.seen);
      await witness.ask(reader, false);
    }
    expect(witness.answers).toBeGreaterThan(CRASH_RUNS * 10);
    expect(reader.complaints).toEqual([]);
    await reader.stop();
    console.info(`${witness.answers} answers, ${witness.gone} of them 410`);
  });

  it(`kill −9 of daybook prune, ${CRASH_RUNS} times`, {
    timeout: 60_000 + CRASH_RUNS * RUN_TIMEOUT_MS,
  }, async () => {
    const random = randomSource(testSeed());
    const folder = temporaryFolder();
    const whole = join(folder, 'whole');
    await sample(whole, 2_500);
    const straight = join(folder, 'straight');
    cpSync(whole, straight, { recursive: true });
    const prune = (data: string) => [
      'prune',
      '--data',
      data,
      '--keep',
      '200',
      '--grace-seconds',
      '0',
    ];
    expect((await runCommand(prune(straight))).code).toBe(0);
    const digests = async (data: string) => {
      const { code, stdout, stderr } = await runCommand(['verify', '--data', data, '--json']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return JSON.parse(stdout).columns;
    };
    const expected = await digests(straight);
    for (let run = 0; run < CRASH_RUNS; run += 1) {
      const data = join(folder, 'cut');
      cpSync(whole, data, { recursive: true });
      const child = startCommand(prune(data));
      const ended = endOf(child);
      await sleep(150 + random() * 900);
      child.kill('SIGKILL');
      await ended;
      await expectSound(data, 2_500n);
      expect(await runCommand(prune(data))).toMatchObject({ code: 0, stderr: '' });
      expect(await digests(data)).toEqual(expected);
      rmSync(data, { recursive: true });
    }
  });
});

const canMount = process.getuid?.() === 0 && process.platform === 'linux' && mounts();

/** Whether file systems may be mounted here: not in every container. */
function mounts(): boolean {
  const at = '/tmp/daybook-mount-probe';
  try {
    mkdirSync(at, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', at], { stdio: 'ignore' });
    execFileSync('umount', [at], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(at, { recursive: true, force: true });
  }
}

describe.skipIf(!canMount)('a full disk (needs the right to mount a file system)', () => {
  afterEach(() => killLeftNodes());

  it('is said clearly, reads go on, and writing goes on when there is room', async () => {
    const disk = join(temporaryFolder(), 'disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', disk]);
    try {
      await fillAndFree(disk);
    } finally {
      killLeftNodes();
      await sleep(200);
      execFileSync('umount', ['-l', disk]);
    }
  });

  async function fillAndFree(disk: string): Promise<void> {
    const data = join(disk, 'ledger');
    await sample(data, 600);
    const filler = join(disk, 'filler');
    writeFileSync(filler, Buffer.alloc(24 * 1024 * 1024));
    const node = await ServedNode.start(data, ['--workers', '1', '--produce', '2000']);
    let stderr = '';
    node.process.stderr!.on('data', (text: string) => {
      stderr += text;
    });
    // Between the node's own lines the engine writes some of its own.
    const said = (text: string) => stderr.split('\n').find((line) => line.includes(text));
    const until = async (text: string) => {
      for (let waited = 0; said(text) === undefined; waited += 1) {
        expect(waited, stderr).toBeLessThan(400);
        await sleep(100);
      }
      return JSON.parse(said(text)!) as object;
    };
    const full = await until('producing waits: the disk is full');
    expect(full).toMatchObject({ level: 50, err: { code: 'store_full' } });
    const stuck = (await node.get('/')).headers.get('x-node-ledger-version')!;
    const read = await node.get('/accounts/0x1/module/coin');
    expect(read.status).toBe(200);
    await expectSound(data, BigInt(stuck));
    rmSync(filler);
    await until('producing goes on: there is room again');
    await sleep(1_000);
    const later = (await node.get('/')).headers.get('x-node-ledger-version')!;
    expect(BigInt(later)).toBeGreaterThan(BigInt(stuck));
    expect((await node.stop()).code).toBe(0);
    await expectSound(data, BigInt(later));
  }
});
