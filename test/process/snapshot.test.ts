/**
 * `daybook snapshot` and `init --snapshot`: from a served ledger to a new one that follows on; killed in the middle
 * and continued; refused without a trace. KILLS (3) says how often each command is killed.
 */
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Zstd } from '@hpcc-js/wasm-zstd';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MAX_CHUNK_BYTES } from '../../src/ingest/snapshot/chunk-file.ts';
import {
  type ChunkEntry,
  type ChunkKind,
  encodeManifest,
  MAX_MANIFEST_BYTES,
  parseManifest,
  sha256Hex,
} from '../../src/ingest/snapshot/manifest.ts';
import { encodeBcs } from '../../src/move/bcs/bcs-writer.ts';
import { MANY_VALUES, transactionOf } from '../ingest/many-values.ts';
import { Random, testSeed } from '../random.ts';
import { namesIn, STORE_FILES } from '../store/store-files.ts';
import {
  endOf,
  expectFailure,
  killLeftNodes,
  runCommand,
  ServedNode,
  startCommand,
  temporaryFolder,
} from './command.ts';
import { digestsOf, expectSound, makeSample } from './ledger-contents.ts';

const KILLS = Number(process.env['KILLS'] ?? 3);

const folder = temporaryFolder();
const source = join(folder, 'source');
const whole = join(folder, 'whole');
const random = new Random(testSeed());

interface SnapshotFacts {
  readonly state_version: string;
  readonly newest_version: string;
  readonly state_root: string;
  readonly accumulator_root: string;
  readonly keys: number;
  readonly bytes: number;
}

async function run<T>(args: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await runCommand([...args, '--json']);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as T;
}

/** Runs a command and kills it after a random time. @returns whether it was killed */
async function killed(args: readonly string[], mostMs: number): Promise<boolean> {
  const child = startCommand(args);
  const end = endOf(child);
  await Promise.race([end, sleep(random.below(mostMs))]);
  child.kill('SIGKILL');
  return (await end).signal === 'SIGKILL';
}

/** Kills a command KILLS times, then lets it end; what it makes has another name each time that it ended before. */
async function killedOften(commandTo: (to: string) => readonly string[], name: string) {
  const startedMs = performance.now();
  await run(commandTo(join(folder, `${name}-unhurt`)));
  const mostMs = Math.ceil((performance.now() - startedMs) * 1.1);
  let to = join(folder, `${name}-0`);
  for (let kills = 0; kills < KILLS; ) {
    if (await killed(commandTo(to), mostMs)) kills += 1;
    if (existsSync(join(to, 'manifest.json')) || existsSync(join(to, 'ledger.db'))) {
      to = join(folder, `${name}-${kills}-${random.below(1e9)}`);
    }
  }
  await run(commandTo(to));
  return to;
}

beforeAll(async () => {
  await makeSample(source, 1_200);
  const args = ['--version', '0', '--with-transactions'];
  await run(['snapshot', '--data', source, '--out', whole, ...args]);
});
afterEach(killLeftNodes);

describe('daybook snapshot', () => {
  it('of a ledger in use makes a new one, which follows on', async () => {
    // A copy: the other tests need the ledger as it is.
    const used = join(folder, 'used');
    cpSync(source, used, { recursive: true });
    const node = await ServedNode.start(used, ['--produce', '50']);
    const to = join(folder, 'in-use');
    const made = await run<SnapshotFacts>(['snapshot', '--data', used, '--out', to]);
    expect(made.newest_version).toBe(made.state_version);
    const data = join(folder, 'new');
    const trust = `${made.state_version}:0x${made.accumulator_root}`;
    const init = ['init', '--data', data, '--snapshot', to, '--trust', trust];
    expect(await run(init)).toMatchObject({
      ledger_version: made.state_version,
      state_root: made.state_root,
      trust_compared: true,
      keys: made.keys,
    });
    expect(namesIn(data)).toEqual(STORE_FILES);
    const before = await ServedNode.start(data);
    const own = await before.get(`/accounts/0x1/resource/0x1::chain_id::ChainId`);
    expect(own.status).toBe(200);
    for (const path of [
      `/transactions/by_version/${made.state_version}`,
      `/blocks/by_version/${made.state_version}`,
      `/transactions?start=${made.state_version}`,
      `/accounts/0x1/resource/0x1::chain_id::ChainId?ledger_version=${BigInt(made.state_version) - 1n}`,
    ]) {
      expect((await before.get(path)).status, path).toBe(410);
    }
    expect(await (await before.get('/transactions')).json()).toEqual([]);
    await before.stop();
    const until = String(BigInt(made.state_version) + 100n);
    const follow = ['follow', '--data', data, '--from', node.ready.url, '--until', until];
    expect((await runCommand(follow)).code).toBe(0);
    await node.stop();
    await expectSound(data, BigInt(until));
  });

  it(`killed ${KILLS} times, goes on, and makes the same files`, async () => {
    const commandTo = (to: string) =>
      ['snapshot', '--data', source, '--out', to, '--version', '0', '--with-transactions'] as const;
    const to = await killedOften(commandTo, 'made');
    expect(existsSync(`${to}.unfinished`)).toBe(false);
    expect(readdirSync(to)).toEqual(readdirSync(whole));
    for (const name of readdirSync(to)) {
      expect(readFileSync(join(to, name)).equals(readFileSync(join(whole, name))), name).toBe(true);
    }
  });

  it(`loading killed ${KILLS} times goes on, and makes the same ledger`, async () => {
    const commandTo = (to: string) => ['init', '--data', to, '--snapshot', whole] as const;
    const data = await killedOften(commandTo, 'loaded');
    expect(namesIn(data)).toEqual(STORE_FILES);
    expect(await digestsOf(data)).toEqual(await digestsOf(join(folder, 'loaded-unhurt')));
    await expectSound(data, 1_200n);
  });

  it('in one file is the same', async () => {
    const file = join(folder, 'one.tar');
    const args = ['--data', source, '--version', '0', '--with-transactions'];
    await run(['snapshot', ...args, '--out', file]);
    const data = join(folder, 'of-file');
    await run(['init', '--data', data, '--snapshot', file]);
    expect(await digestsOf(data)).toEqual(await digestsOf(join(folder, 'loaded-unhurt')));
    truncateSync(file, statSync(file).size - 512);
    const refused = join(folder, 'refused');
    const result = await runCommand(['init', '--data', refused, '--snapshot', file]);
    expect(expectFailure(result, 1)).toContain('the snapshot is damaged');
    expect(existsSync(refused)).toBe(false);
  });
});

it('what is wrong is said in one line, and leaves nothing', async () => {
  const data = join(folder, 'nothing');
  const cases: [args: string[], code: 1 | 2, message: string][] = [
    [['snapshot', '--data', source, '--out', folder], 1, `${folder} exists already`],
    [
      ['snapshot', '--data', source, '--out', `${data}.s`, '--version', '99999999'],
      1,
      'is above the newest',
    ],
    [['snapshot', '--data', data, '--out', `${data}.s`], 1, 'there is no ledger'],
    [['init', '--data', data], 2, 'give one of --genesis'],
    [['init', '--data', data, '--snapshot', `${data}.none`], 1, 'there is no snapshot'],
    [['init', '--data', data, '--snapshot', source], 1, 'it has no manifest.json'],
    [['init', '--data', data, '--snapshot', whole, '--trust', '0'], 2, '--trust'],
    [
      ['init', '--data', data, '--snapshot', whole, '--trust', `0:${'00'.repeat(32)}`],
      1,
      'the trusted one is 0000',
    ],
    [['init', '--data', source, '--snapshot', whole], 1, 'holds a ledger already'],
  ];
  for (const [args, code, message] of cases) {
    expect(expectFailure(await runCommand(args), code), args.join(' ')).toContain(message);
    expect(existsSync(data) || existsSync(`${data}.s`), args.join(' ')).toBe(false);
  }
});

/** The chunks of `whole` up to one of a kind, with that one's content replaced. */
async function snapshotWith(kind: ChunkKind, content: Uint8Array, records: number) {
  const changed = join(folder, `with-${kind}-${records}`);
  cpSync(whole, changed, { recursive: true });
  const manifest = parseManifest(readFileSync(join(whole, 'manifest.json')));
  const file = (await Zstd.load()).compress(content);
  const chunks = manifest.chunks.filter((chunk) => chunk.kind !== kind);
  const entry: ChunkEntry = {
    ...{ name: `${kind}-000000.zst`, kind, records, contentBytes: content.length },
    ...{ bytes: file.length, sha256: sha256Hex(file) },
  };
  const at = ['state', 'streams', 'transactions'].indexOf(kind);
  chunks.splice(at, 0, entry);
  writeFileSync(join(changed, entry.name), file);
  writeFileSync(join(changed, 'manifest.json'), encodeManifest({ ...manifest, chunks }));
  expect(file.length).toBeLessThan(20_000);
  return changed;
}

it('a manifest of millions of objects is refused with little memory', async () => {
  const changed = join(folder, 'of-objects');
  cpSync(whole, changed, { recursive: true });
  const manifest = readFileSync(join(whole, 'manifest.json'));
  const begin = manifest.indexOf('[', manifest.indexOf('"chunks":')) + 1;
  const bytes = Buffer.alloc(MAX_MANIFEST_BYTES, '{},');
  manifest.copy(bytes, 0, 0, begin);
  writeFileSync(join(changed, 'manifest.json'), bytes);
  const data = join(folder, 'into-nothing');
  const result = await runCommand(['init', '--data', data, '--snapshot', changed, '--json'], {
    environment: { NODE_OPTIONS: '--max-old-space-size=200' },
  });
  expect(result).toMatchObject({ code: 1, signal: null });
  expect(JSON.parse(result.stdout)).toMatchObject({ error: { code: 'snapshot_refused' } });
  expect(namesIn(data)).toEqual([]);
});

describe('a small chunk of millions of values', () => {
  /** A raw key without bytes, and a value without. */
  const value = Buffer.of(2, 0, 0, 0);
  const count = Math.floor(MAX_CHUNK_BYTES / value.length);
  const streamEndBytes = 49;

  it.each<[ChunkKind, string, () => Uint8Array, number]>([
    ['state', 'values', () => Buffer.alloc(count * value.length, value), count],
    ['state', 'more values than stated', () => Buffer.alloc(count * value.length, value), 1],
    [
      ...(['streams', 'ends of streams'] as const),
      () => Buffer.alloc(streamEndBytes * 1_400_000),
      1_400_000,
    ],
    [
      ...(['transactions', 'arguments of a transaction'] as const),
      () => Buffer.concat([encodeBcs((bcs) => bcs.u64(1n)), transactionOf({ args: MANY_VALUES })]),
      1,
    ],
  ])('of %s, %s, is refused with little memory', async (kind, _, content, records) => {
    const data = join(folder, 'of-millions');
    const snapshot = await snapshotWith(kind, content(), records);
    const result = await runCommand(['init', '--data', data, '--snapshot', snapshot, '--json'], {
      environment: { NODE_OPTIONS: '--max-old-space-size=200' },
    });
    expect(result).toMatchObject({ code: 1, signal: null });
    expect(JSON.parse(result.stdout)).toMatchObject({ error: { code: 'snapshot_refused' } });
    expect(namesIn(data)).toEqual(['writer.lock']);
  });
});
