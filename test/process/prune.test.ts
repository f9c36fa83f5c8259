/**
 * `daybook prune` and pruning beside a serving node, with the real program: a pruned ledger is compared with the same
 * ledger unpruned, request by request, at the boundary and beyond it. SEED repeats a run.
 */
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Address } from '../../src/move/types/address.ts';
import { randomSource, roundsOf, testSeed } from '../random.ts';
import {
  expectFailure,
  killLeftNodes,
  runCommand,
  ServedNode,
  temporaryFolder,
} from './command.ts';
import { addressesOf, type Stream, streamsOf } from './ledger-contents.ts';

const APT = '0x1::aptos_coin::AptosCoin';
const NATIVE = '0xa';
const KEEP = 1_000;
const ASKED = 32;
const PRODUCED_MS = roundsOf('PRODUCED_MS', 1_000, 60_000);

interface Answer {
  readonly status: number;
  readonly body: string;
}

interface PrunedFacts {
  readonly ledger_version: string;
  readonly oldest_ledger_version: string;
  readonly oldest_block_height: string;
  readonly pruned_versions: string;
  readonly kept_accounts: number;
}

/** One process, because the crash tests cover several. */
function serve(data: string, args: readonly string[] = []): Promise<ServedNode> {
  return ServedNode.start(data, ['--workers', '1', ...args]);
}

async function ask(node: ServedNode, path: string, accept = 'application/json'): Promise<Answer> {
  const response = await node.get(path, { accept });
  const body = Buffer.from(await response.arrayBuffer()).toString('latin1');
  return { status: response.status, body };
}

function pruned(version: bigint): Answer {
  const message = `Ledger version(${version}) has been pruned`;
  const body = JSON.stringify({ message, error_code: 'version_pruned', vm_error_code: null });
  return { status: 410, body };
}

describe('prune', () => {
  const random = randomSource(testSeed());
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const folder = temporaryFolder();
  const whole = join(folder, 'whole');
  const data = join(folder, 'pruned');
  let kept: Address[];
  let addresses: Address[];
  let streams: Stream[];
  let facts: PrunedFacts;
  let oldest: bigint;
  let latest: bigint;
  let original: ServedNode;
  let node: ServedNode;

  beforeAll(async () => {
    const args = ['--transactions', '3000', '--accounts', '150', '--seed', '5'];
    expect((await runCommand(['sample', '--data', whole, ...args])).code).toBe(0);
    addresses = await addressesOf(whole);
    streams = await streamsOf(whole);
    original = await serve(whole);
    kept = await chooseKept();
    cpSync(whole, data, { recursive: true });
    const file = join(folder, 'accounts.txt');
    writeFileSync(file, `# kept\n0x${kept[0]}\n\n  0x${kept[1]} # and this\n0x1\n`);
    const keeping = kept.slice(2).flatMap((account) => ['--keep-account', `0x${account}`]);
    const more = ['--keep-accounts-file', file, '--grace-seconds', '0', '--json'];
    const result = await runCommand([
      ...['prune', '--data', data, '--keep', String(KEEP)],
      ...keeping,
      ...more,
    ]);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    facts = JSON.parse(result.stdout) as PrunedFacts;
    oldest = BigInt(facts.oldest_ledger_version);
    latest = BigInt(facts.ledger_version);
    node = await serve(data);
  });
  afterAll(() => killLeftNodes());

  /** Accounts with some of the native asset in a primary store, some with streams, some random ones. */
  async function chooseKept(): Promise<Address[]> {
    const chosen = new Set<Address>();
    for (const address of addresses) {
      if (chosen.size === 3) break;
      const { body } = await ask(original, `/accounts/0x${address}/balance/${NATIVE}`);
      if (body !== '0') chosen.add(address);
    }
    expect(chosen.size).toBe(3);
    const long = streams.filter(
      ({ address, versions }) => versions.length > 5 && BigInt(`0x${address}`) !== 1n,
    );
    for (let more = 0; more < 3; more += 1) chosen.add(pick(long).address);
    return [...chosen];
  }

  function asLong(version: bigint, count: number): bigint {
    return version + BigInt(Math.floor(random() * count));
  }

  const others = () => addresses.filter((one) => !kept.includes(one) && BigInt(`0x${one}`) > 1n);

  it('says what it did, and the oldest version begins a block', async () => {
    expect(facts).toMatchObject({
      pruned_versions: String(oldest),
      kept_accounts: kept.length + 1,
    });
    const bound = latest - BigInt(KEEP) + 1n;
    expect(oldest).toBeLessThanOrEqual(bound);
    const block = JSON.parse((await ask(original, `/blocks/by_version/${oldest}`)).body);
    expect(block).toMatchObject({
      first_version: String(oldest),
      block_height: facts.oldest_block_height,
    });
    expect(BigInt(block.last_version)).toBeGreaterThanOrEqual(bound);
    const { headers } = await node.get('/');
    expect(headers.get('x-node-ledger-oldest-version')).toBe(String(oldest));
    expect(headers.get('x-node-oldest-block-height')).toBe(facts.oldest_block_height);
  });

  it('verifies, and the columns are smaller', async () => {
    const { code, stdout } = await runCommand(['verify', '--data', data, '--json']);
    expect({ code, report: JSON.parse(stdout) }).toMatchObject({
      code: 0,
      report: { holds: true },
    });
    const { columns: verified } = JSON.parse(stdout);
    const sizes = async (folderOf: string) =>
      JSON.parse((await runCommand(['status', '--data', folderOf, '--json'])).stdout).columns;
    const [before, after] = [await sizes(whole), await sizes(data)];
    for (const name of ['transactions', 'transaction_infos', 'version_writes']) {
      expect(after[name].rows, name).toBeLessThan(before[name].rows / 2);
      expect(after[name].bytes, name).toBeLessThan(before[name].bytes);
    }
    for (const name of Object.keys(after)) {
      const { rows, rows_estimated: isEstimated } = after[name];
      const { rows: exact } = verified[name];
      if (isEstimated) expect(Math.abs(rows - exact), name).toBeLessThan(exact / 4);
      else expect(rows, name).toBe(exact);
    }
    expect(after.event_types.rows_estimated).toBe(false);
    // A page of rows, before and after.
    expect(after.blocks_by_height.rows).toBeLessThan(before.blocks_by_height.rows / 2);
  });

  it('answers balances and modules at the edge: 410 below, the same from there on', async () => {
    const paths = [
      ...Array.from({ length: ASKED / 4 }, () => `/accounts/0x${pick(others())}/balance/${APT}`),
      ...Array.from({ length: ASKED / 4 }, () => `/accounts/0x${pick(others())}/balance/${NATIVE}`),
      '/accounts/0x4/module/token',
      '/accounts/0x3/module/token',
      '/accounts/0x3/module/no_such_module',
      `/accounts/0x${pick(others())}`,
      `/accounts/0x${pick(others())}/modules`,
      `/accounts/0x${pick(others())}/resources`,
    ];
    for (const path of paths) {
      for (const version of [oldest - 1n, 0n, asLong(0n, Number(oldest))]) {
        expect(await ask(node, `${path}?ledger_version=${version}`)).toEqual(pruned(version));
      }
      for (const version of [oldest, oldest + 1n, latest, asLong(oldest, KEEP)]) {
        if (version > latest) continue;
        const asked = `${path}?ledger_version=${version}`;
        expect(await ask(node, asked), asked).toEqual(await ask(original, asked));
      }
      expect(await ask(node, path)).toEqual(await ask(original, path));
    }
  });

  it('answers events at the edge: 410 when the first one asked for is gone', async () => {
    const crossing = streams.filter(
      ({ address, versions }) =>
        !kept.includes(address) &&
        BigInt(`0x${address}`) !== 1n &&
        versions[0]! < oldest &&
        versions.length > 2,
    );
    expect(crossing.length).toBeGreaterThan(5);
    for (let asked = 0; asked < ASKED; asked += 1) {
      const { path, versions } = pick(crossing);
      const firstKept = versions.filter((version) => version < oldest).length;
      const gone = [firstKept - 1, 0].map((start) => `${path}?start=${start}&limit=3`);
      for (const one of gone) {
        const { status, body } = await ask(node, one);
        expect(status, one).toBe(410);
        expect(JSON.parse(body)).toMatchObject({
          error_code: 'version_pruned',
          message: expect.stringMatching(
            new RegExp(`^Event \\d+ of stream .*; the first kept one is ${firstKept}$`),
          ),
        });
      }
      for (const start of [firstKept, firstKept + 1, versions.length, versions.length + 1]) {
        const one = `${path}?start=${start}&limit=3`;
        expect(await ask(node, one), one).toEqual(await ask(original, one));
      }
    }
  });

  it('answers blocks and the feed at the edge', async () => {
    const height = BigInt(facts.oldest_block_height);
    const gone = await ask(node, `/blocks/by_height/${height - 1n}`);
    expect(gone.status).toBe(410);
    expect(JSON.parse(gone.body)).toMatchObject({ error_code: 'block_pruned' });
    expect(await ask(node, `/blocks/by_version/${oldest - 1n}`)).toEqual(pruned(oldest - 1n));
    const bcs = 'application/x-bcs';
    for (const path of ['by_version/', '?limit=3&start=']) {
      const feed = `/transactions${path.startsWith('?') ? '' : '/'}${path}`;
      expect((await ask(node, `${feed}${oldest - 1n}`, bcs)).status).toBe(410);
      for (const version of [oldest, oldest + 1n, latest]) {
        const one = `${feed}${version}`;
        expect(await ask(node, one, bcs), one).toEqual(await ask(original, one, bcs));
      }
    }
    for (const path of [
      ...[height, height + 1n].map((at) => `/blocks/by_height/${at}`),
      ...[oldest, oldest + 1n].map((at) => `/blocks/by_version/${at}`),
    ]) {
      expect(await ask(node, path), path).toEqual(await ask(original, path));
    }
  });

  it('keeps the whole history of chosen accounts', async () => {
    for (let asked = 0; asked < ASKED; asked += 1) {
      const account = pick(kept);
      const version = asLong(0n, Number(latest) + 1);
      for (const asset of [APT, NATIVE]) {
        const path = `/accounts/0x${account}/balance/${asset}?ledger_version=${version}`;
        expect(await ask(node, path), path).toEqual(await ask(original, path));
      }
      for (const what of ['resources', 'modules']) {
        const path = `/accounts/0x${account}/${what}?ledger_version=${version}`;
        expect(await ask(node, path, 'application/x-bcs'), path).toEqual(
          await ask(original, path, 'application/x-bcs'),
        );
        // In JSON it needs the modules of the types, which may belong to others.
        const json = await ask(node, path);
        if (json.status !== 410) expect(json, path).toEqual(await ask(original, path));
      }
    }
    for (const { path, address, versions } of streams) {
      if (!kept.includes(address)) continue;
      for (const start of [0, Math.floor(versions.length / 2)]) {
        const one = `${path}?start=${start}&limit=100`;
        expect(await ask(node, one), one).toEqual(await ask(original, one));
      }
    }
    for (const name of ['coin', 'account', 'fungible_asset']) {
      const path = `/accounts/0x1/module/${name}?ledger_version=${asLong(0n, Number(oldest))}`;
      expect(await ask(node, path), path).toEqual(await ask(original, path));
    }
  });

  it('goes on keeping them without being told again, and prunes the rest', async () => {
    const again = join(folder, 'again');
    cpSync(data, again, { recursive: true });
    const args = ['prune', '--data', again, '--keep', '300', '--grace-seconds', '0', '--json'];
    const report = JSON.parse((await runCommand(args)).stdout) as PrunedFacts;
    expect(BigInt(report.oldest_ledger_version)).toBeGreaterThan(oldest);
    expect(report.kept_accounts).toBe(kept.length + 1);
    expect((await runCommand(['verify', '--data', again])).code).toBe(0);
    const later = await serve(again);
    for (const account of kept) {
      const path = `/accounts/0x${account}/balance/${NATIVE}?ledger_version=${oldest - 5n}`;
      expect(await ask(later, path)).toEqual(await ask(original, path));
    }
    const gone = `/accounts/0x${pick(others())}/balance/${APT}?ledger_version=${oldest}`;
    expect(await ask(later, gone)).toEqual(pruned(oldest));
    await later.stop();
  });

  it('keeps an account that is named later from the oldest version of that moment', async () => {
    const later = join(folder, 'later');
    cpSync(data, later, { recursive: true });
    const stream = streams.find(
      ({ address, versions }) =>
        others().includes(address) && versions[0]! < oldest && versions.at(-1)! > oldest,
    )!;
    const publisher = '0x4';
    const args = ['--keep', '300', '--grace-seconds', '0', '--keep-account', publisher];
    const account = ['--keep-account', `0x${stream.address}`];
    expect((await runCommand(['prune', '--data', later, ...args, ...account])).code).toBe(0);
    const served = await serve(later);
    for (const path of [
      `/accounts/0x${stream.address}/balance/${APT}`,
      `/accounts/0x${stream.address}/balance/${NATIVE}`,
      `/accounts/${publisher}/module/token`,
    ]) {
      const below = `${path}?ledger_version=${oldest - 1n}`;
      expect(await ask(served, below), below).toEqual(pruned(oldest - 1n));
      for (const version of [oldest, oldest + 1n]) {
        const asked = `${path}?ledger_version=${version}`;
        expect(await ask(served, asked), asked).toEqual(await ask(original, asked));
      }
    }
    const firstKept = stream.versions.filter((version) => version < oldest).length;
    const page = (start: number) => `${stream.path}?start=${start}&limit=4`;
    expect((await ask(served, page(firstKept - 1))).status).toBe(410);
    for (const start of [firstKept, firstKept + 1]) {
      expect(await ask(served, page(start))).toEqual(await ask(original, page(start)));
    }
    const forgotten = others().filter(
      (one) => one !== stream.address && BigInt(`0x${one}`) !== BigInt(publisher),
    );
    const gone = `/accounts/0x${pick(forgotten)}/balance/${APT}?ledger_version=${oldest}`;
    expect((await ask(served, gone)).status).toBe(410);
    await served.stop();
  });

  it('refuses what it cannot do in one line', async () => {
    const prune = (...args: string[]) => runCommand(['prune', ...args]);
    expect(expectFailure(await prune('--data', data), 2)).toContain('--keep VERSIONS');
    for (const keep of ['0', '-1', 'x', '1.5', '99999999999999999']) {
      expectFailure(await prune('--data', data, '--keep', keep), 2);
    }
    const nowhere = join(folder, 'nowhere');
    expect(expectFailure(await prune('--data', nowhere, '--keep', '5'), 1)).toContain('no ledger');
    expect(existsSync(nowhere)).toBe(false);
    const bad = ['--data', data, '--keep', '5', '--keep-account', '0xzz'];
    expect(expectFailure(await prune(...bad), 2)).toContain('"0xzz" is not an address');
    const noFile = ['--data', data, '--keep', '5', '--keep-accounts-file', join(folder, 'none')];
    expect(expectFailure(await prune(...noFile), 1)).toContain('file of accounts');
  });

  it('prunes beside production: answers are right or 410, and the window moves', async () => {
    const growing = join(folder, 'growing');
    cpSync(data, growing, { recursive: true });
    const writer = await serve(growing, [
      ...['--produce', '200', '--keep', '400', '--prune-grace-seconds', '2'],
    ]);
    const reader = await serve(growing);
    const locked = await runCommand(['prune', '--data', growing, '--keep', '5']);
    expect(expectFailure(locked, 1)).toMatch(/is being written by process \d+/);
    const first = BigInt((await writer.get('/')).headers.get('x-node-ledger-oldest-version')!);
    const seen = new Map<string, string>();
    let moved = 0n;
    const endMs = performance.now() + PRODUCED_MS;
    while (performance.now() < endMs || moved === 0n) {
      const state = (await reader.get('/')).headers;
      const low = BigInt(state.get('x-node-ledger-oldest-version')!);
      const high = BigInt(state.get('x-node-ledger-version')!);
      moved = low - first;
      for (let asked = 0; asked < 4; asked += 1) {
        const version = asLong(low, Number(high - low) + 1);
        const path = `/accounts/0x${pick(others())}/balance/${APT}?ledger_version=${version}`;
        for (const served of [reader, writer]) {
          const { status, body } = await ask(served, path);
          expect([200, 410], path).toContain(status);
          if (status !== 200) continue;
          expect(body).toBe(seen.get(path) ?? body);
          seen.set(path, body);
          if (version <= latest) expect(body).toBe((await ask(original, path)).body);
        }
      }
      await sleep(100);
    }
    expect(moved).toBeGreaterThan(0n);
    expect(reader.complaints).toEqual([]);
    expect(writer.complaints).toEqual([]);
    await reader.stop();
    await writer.stop();
    expect((await runCommand(['verify', '--data', growing])).code).toBe(0);
  });

  it('a node that does not write says that it does not prune', async () => {
    const idle = await serve(data, ['--keep', '5']);
    await idle.stop();
    const warnings = idle.log.filter(({ level }) => level === 40);
    expect(warnings.map(({ msg }) => msg)).toEqual([
      'nothing is pruned: this node does not write; daybook prune does',
    ]);
  });
});
