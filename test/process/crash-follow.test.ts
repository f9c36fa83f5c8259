/**
 * kill −9 of a node that follows and prunes, at random moments, while the workers of this node and of a second one are
 * sent requests of all four operations. After each kill the ledger verifies, nothing that was answered is lost, and
 * every response is the upstream's. CRASH_RUNS sets the number of kills, SEED repeats the choices of a run.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { readPruneProgress } from '../../src/store/columns/pruning-column.ts';
import { openSqliteReader } from '../../src/store/sqlite/sqlite-store.ts';
import { IS_LONG, randomSource, roundsOf, testSeed } from '../random.ts';
import {
  endOf,
  killLeftNodes,
  runCommand,
  ServedNode,
  startCommand,
  temporaryFolder,
} from './command.ts';
import { FollowWitness, type Life, type WitnessSubjects } from './follow-witness.ts';
import { addressesOf, digestsOf, expectSound, makeSample, streamsOf } from './ledger-contents.ts';
import { childrenOf, until } from './worker-processes.ts';

const CRASH_RUNS = roundsOf('CRASH_RUNS', 3, 12);
/**
 * Transactions per second of the upstream: few enough for pruning to keep up in such short lives, since every start
 * gives readers their grace period again.
 */
const PRODUCED = '40';
const KEEP = '300';
/** Maximum life of a node after it answers, and of one that is killed during its start. */
const MOST_LIFE_MS = 2_600;
const MOST_START_MS = 900;

/** The progress of a follower, as far as a kill may interrupt it. */
interface Stand {
  readonly version: bigint;
  readonly oldest: bigint;
  readonly clearedBelow: bigint;
}

async function standOf(data: string, atLeast: bigint): Promise<Stand> {
  const { version, oldestVersion: oldest } = await expectSound(data, atLeast);
  const store = openSqliteReader({ directory: data });
  const { clearedBelow } = await readPruneProgress(store);
  await store.close();
  return { version, oldest, clearedBelow };
}

/** On a busy machine requests would be refused as overload, but every response is compared here. */
const NO_LOAD_BOUNDS = ['--max-backlog-ms', '0'];

// In CI, crash.test.ts kills a writing node, and follow.test.ts a following command.
describe.runIf(IS_LONG)('crashes of a follower', () => {
  afterEach(() => killLeftNodes());

  it(`kill −9 while following and pruning, readers running, ${CRASH_RUNS} times`, async () => {
    const random = randomSource(testSeed());
    const folder = temporaryFolder();
    const source = join(folder, 'source');
    const data = join(folder, 'copy');
    await makeSample(source, 1_200);
    const subjects = await subjectsOf(source);
    let upstream = await ServedNode.start(source, ['--produce', PRODUCED, ...NO_LOAD_BOUNDS]);
    const witness = new FollowWitness(upstream, subjects, random);
    const args = ['--follow', upstream.ready.url, '--keep', KEEP, '--prune-grace-seconds', '1'];
    args.push('--keep-account', `0x${subjects.kept}`, '--workers', '2', ...NO_LOAD_BOUNDS);
    await firstKeptAccounts(data, args);
    const reader = await ServedNode.start(data, ['--workers', '2', ...NO_LOAD_BOUNDS]);
    const readerLife: Life = { over: false, killed: false };
    const reading = witness.watch(reader, readerLife);
    const crashes = new Crashes(data, args, witness, random);
    await Promise.race([crashes.run(CRASH_RUNS), reading]);
    readerLife.over = true;
    await reading;
    expect(reader.complaints).toEqual([]);
    expect((await reader.stop()).code).toBe(0);
    expect((await upstream.stop()).code).toBe(0);
    upstream = await ServedNode.start(source, NO_LOAD_BOUNDS);
    await expectSameLedger(upstream, data, source, subjects.kept);
    console.info({ kills: CRASH_RUNS, ...crashes.counts, answers: witness.answers });
  });
});

async function subjectsOf(source: string): Promise<WitnessSubjects> {
  const streams = await streamsOf(source);
  const addresses = await addressesOf(source);
  const long = streams.filter(({ versions }) => versions.length >= 5);
  expect(long.length).toBeGreaterThan(5);
  // An account with events of its own, and so with a history.
  const kept = long.find(({ address }) => BigInt(`0x${address}`) > 0xffffn)!.address;
  return { streams: long, addresses: addresses.filter((address) => address !== kept), kept };
}

/** Runs a node until the pinned account is recorded: nothing is pruned before that. */
async function firstKeptAccounts(data: string, args: readonly string[]): Promise<void> {
  const node = await ServedNode.start(data, args);
  await until('the account is on record', () =>
    node.log.some(({ msg }) => msg === 'the history of accounts is kept'),
  );
  node.process.kill('SIGKILL');
  await node.end();
}

/** Starts a node and kills it, again and again. */
class Crashes {
  readonly counts = { starting: 0, moved: 0, pruned: 0, cutWhileClearing: 0 };
  readonly #data: string;
  readonly #args: readonly string[];
  readonly #witness: FollowWitness;
  readonly #random: () => number;

  constructor(data: string, args: readonly string[], witness: FollowWitness, random: () => number) {
    this.#data = data;
    this.#args = args;
    this.#witness = witness;
    this.#random = random;
  }

  async run(times: number): Promise<void> {
    let before = await standOf(this.#data, 0n);
    for (let run = 0; run < times; run += 1) {
      const after = await this.#kill(run).catch((cause: unknown) => {
        throw new Error(`kill ${run} of ${times}`, { cause });
      });
      expect(after.oldest).toBeGreaterThanOrEqual(before.oldest);
      expect(after.clearedBelow).toBeGreaterThanOrEqual(before.clearedBelow);
      if (after.version > before.version) this.counts.moved += 1;
      if (after.clearedBelow > before.clearedBelow) this.counts.pruned += 1;
      if (after.clearedBelow < after.oldest) this.counts.cutWhileClearing += 1;
      before = after;
      if (run % 20 === 19) console.info(`${run + 1} kills, version ${after.version}`);
    }
    expect(this.counts.moved).toBeGreaterThan(0);
  }

  /** Kills every fifth node during its start. @returns the state that is left */
  async #kill(run: number): Promise<Stand> {
    if (run % 5 === 4) await this.#killWhileStarting();
    else await this.#killWhileAnswering(run % 2 === 0);
    return standOf(this.#data, this.#witness.seen);
  }

  async #killWhileStarting(): Promise<void> {
    this.counts.starting += 1;
    const args = ['serve', '--data', this.#data, '--listen', '127.0.0.1:0', ...this.#args];
    const child = startCommand(args);
    const ended = endOf(child);
    await sleep(this.#random() * MOST_START_MS);
    child.kill('SIGKILL');
    await ended;
  }

  /**
   * @param untilFollowed not killed before it has followed something, since on a busy machine none would live so long
   */
  async #killWhileAnswering(untilFollowed: boolean): Promise<void> {
    const witness = this.#witness;
    const acknowledged = witness.seen;
    const node = await ServedNode.start(this.#data, this.#args);
    const found = BigInt(node.ready.ledger_version);
    expect(found).toBeGreaterThanOrEqual(acknowledged);
    const workers = childrenOf(node.ready.pid);
    expect(workers.length).toBe(2);
    const life: Life = { over: false, killed: false };
    const watching = witness.watch(node, life);
    if (untilFollowed) {
      const followed = until('it has followed', () => witness.seen > found);
      await Promise.race([followed, watching]);
    }
    await Promise.race([sleep(this.#random() * MOST_LIFE_MS), watching]);
    expect(node.complaints).toEqual([]);
    life.killed = true;
    node.process.kill('SIGKILL');
    // Its workers end by themselves, and its output ends with the last of them.
    await node.end();
    life.over = true;
    await watching;
  }
}

/** Followed to its end and pruned like the source, the ledger equals the source, row for row. */
async function expectSameLedger(
  upstream: ServedNode,
  data: string,
  source: string,
  kept: string,
): Promise<void> {
  const newest = upstream.ready.ledger_version;
  const follow = ['follow', '--data', data, '--from', upstream.ready.url, '--until', newest];
  expect((await runCommand(follow)).code).toBe(0);
  await upstream.stop();
  for (const folder of [data, source]) {
    const prune = ['prune', '--data', folder, '--keep', KEEP, '--grace-seconds', '0'];
    // Long work prints its progress on stderr.
    expect((await runCommand([...prune, '--keep-account', `0x${kept}`])).code).toBe(0);
  }
  expect(await digestsOf(data)).toEqual(await digestsOf(source));
}
