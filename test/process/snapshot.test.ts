/**
 * `daybook snapshot` and `init --snapshot`: from a served ledger to a new one that continues to follow; killed in the
 * middle and resumed; refused without a trace. KILLS sets how often each command is killed.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MAX_MANIFEST_BYTES } from '../../src/ingest/backup/backup-source.ts';
import { framed } from '../ingest/backup/backup-writer.ts';
import { filesOf } from '../ingest/backup/snapshots.ts';
import { MANY_VALUES, transactionOf } from '../ingest/many-values.ts';
import { Random, roundsOf, someOf, testSeed } from '../random.ts';
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

const KILLS = roundsOf('KILLS', 1, 8);

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

/**
 * Kills a command KILLS times, then lets it finish. If it finishes before a kill, its next output gets another name.
 */
async function killedOften(commandTo: (to: string) => readonly string[], name: string) {
  const startedMs = performance.now();
  await run(commandTo(join(folder, `${name}-unhurt`)));
  const mostMs = Math.ceil((performance.now() - startedMs) * 1.1);
  let to = join(folder, `${name}-0`);
  for (let kills = 0; kills < KILLS; ) {
    if (await killed(commandTo(to), mostMs)) kills += 1;
    if (existsSync(join(to, 'metadata')) || existsSync(join(to, 'ledger.db'))) {
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
    // A copy, because the other tests need the unchanged ledger.
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

  it(`killed ${KILLS} times, begins again, and makes the same files`, async () => {
    const commandTo = (to: string) =>
      ['snapshot', '--data', source, '--out', to, '--version', '0', '--with-transactions'] as const;
    const to = await killedOften(commandTo, 'made');
    expect(existsSync(`${to}.unfinished`)).toBe(false);
    expect(filesOf(to)).toEqual(filesOf(whole));
    for (const name of filesOf(to)) {
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
    [['init', '--data', data, '--snapshot', `${data}.none`], 1, 'there is no backup'],
    [['init', '--data', data, '--snapshot', source], 1, 'it has no folder metadata'],
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

type Json = Record<string, unknown>;

/** A copy of `whole` for changes. */
class ChangedSnapshot {
  readonly folder: string;

  constructor(name: string) {
    this.folder = join(folder, name);
    cpSync(whole, this.folder, { recursive: true });
  }

  /** The path of the only file whose name has this ending. */
  path(end: string): string {
    const [name, ...others] = filesOf(this.folder).filter((file) => file.endsWith(end));
    expect([name, others]).toEqual([expect.any(String), []]);
    return join(this.folder, name!);
  }

  read(end: string): Buffer {
    return gunzipSync(readFileSync(this.path(end)));
  }

  /** @returns the SHA-256 of the bytes */
  write(end: string, bytes: Buffer): string {
    const file = gzipSync(bytes, { level: 9 });
    expect(file.length).toBeLessThan(250_000);
    writeFileSync(this.path(end), file);
    return createHash('sha256').update(bytes).digest('hex');
  }

  /** Changes a JSON file. @returns the SHA-256 of its bytes */
  edit(end: string, change: (json: Json) => Json): string {
    const json = JSON.parse(this.read(end).toString()) as Json;
    return this.write(end, Buffer.from(JSON.stringify({ ...json, ...change(json) })));
  }

  /** Reduces a list of chunks to the first one, with `records` records. */
  static first(list: unknown, records: number, more: Json = {}): Json[] {
    const [chunk] = list as Json[];
    return [{ ...chunk, last_idx: records - 1, ...more }];
  }
}

async function expectRefused(name: string, change: (snapshot: ChangedSnapshot) => void) {
  const snapshot = new ChangedSnapshot(name);
  change(snapshot);
  const data = join(folder, `into-${name}`);
  const args = ['init', '--data', data, '--snapshot', snapshot.folder, '--json'];
  const environment = { NODE_OPTIONS: '--max-old-space-size=200' };
  const result = await runCommand(args, { environment });
  expect(result).toMatchObject({ code: 1, signal: null });
  expect(JSON.parse(result.stdout)).toMatchObject({
    error: { code: 'backup_refused', cause: 'backup_malformed' },
  });
  expect(namesIn(data).filter((file) => file !== 'writer.lock')).toEqual([]);
}

describe('few bytes that have millions of values are refused with little memory', () => {
  /** An empty raw key, and an empty value. */
  const value = framed([Buffer.of(2, 0, 0, 0)]);
  const VALUES = 18_000_000;
  const values = () => Buffer.alloc(VALUES * value.length, value);
  const cases: readonly (readonly [where: string, (snapshot: ChangedSnapshot) => void])[] = [
    [
      'a chunk of state',
      (snapshot) => {
        snapshot.write('/0-.chunk', values());
        snapshot.edit('state.manifest', ({ chunks }) => ({
          chunks: ChangedSnapshot.first(chunks, VALUES),
        }));
      },
    ],
    [
      'a chunk of state that is said to have one',
      (snapshot) => {
        snapshot.write('/0-.chunk', values());
        snapshot.edit('state.manifest', ({ chunks }) => ({
          chunks: ChangedSnapshot.first(chunks, 1),
        }));
      },
    ],
    [
      'a chunk of ends of streams',
      (snapshot) => {
        const end = framed([Buffer.alloc(48)]);
        const count = 1_400_000;
        const sha256 = snapshot.write('streams-0-.chunk', Buffer.alloc(count * end.length, end));
        const digest = snapshot.edit('ledger.json', ({ streams }) => ({
          streams: ChangedSnapshot.first(streams, count, { sha256 }),
        }));
        snapshot.edit('state.manifest', ({ ledger }) => ({
          ledger: { ...(ledger as Json), sha256: digest },
        }));
      },
    ],
    [
      'a chunk of transactions',
      (snapshot) => {
        snapshot.write('/1-.chunk', framed([transactionOf({ args: MANY_VALUES })]));
      },
    ],
    [
      'a manifest',
      (snapshot) => {
        const objects = `{"chunks":[${'{},'.repeat(MAX_MANIFEST_BYTES / 3 - 100)}{}]}`;
        snapshot.write('state.manifest', Buffer.from(objects));
      },
    ],
  ];
  // Each takes seconds: a gigabyte is packed and unpacked.
  it.each(someOf(cases, 2))('in %s', (where, change) =>
    expectRefused(where.replaceAll(' ', '-'), change),
  );
});
