/**
 * A node follows into a primary with two synchronous standbys, and prunes. API processes read from them and are sent
 * requests of all four operations. In turn a test kills the primary (a standby takes over), a standby, the writer (the
 * waiting one takes over) and an API process; in long runs twice, and then it stops each for a while. Every response is
 * the upstream's at its version, the ledger never goes back for a client that names what it has seen, and in the end
 * the ledger equals the upstream's, row for row. CRASH_SECONDS and CRASH_ROUNDS set the minimum duration, STOP_SECONDS
 * how long something is stopped (default 3), SEED repeats the choices of a run.
 */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parsePostgresUrl } from '../../src/store/postgres/location.ts';
import { openPostgresReader } from '../../src/store/postgres/postgres-store.ts';
import {
  endOf,
  killLeftNodes,
  runCommand,
  ServedNode,
  startCommand,
  temporaryFolder,
} from '../process/command.ts';
import { FollowWitness, type Life } from '../process/follow-witness.ts';
import {
  addressesOf,
  digestsOf,
  digestsOfStore,
  makeSample,
  streamsOf,
} from '../process/ledger-contents.ts';
import { until } from '../process/worker-processes.ts';
import { randomSource, roundsOf, testSeed } from '../random.ts';
import { NO_POSTGRES } from './cluster.ts';
import { ReplicatedPostgres } from './replicated.ts';

const CRASH_SECONDS = roundsOf('CRASH_SECONDS', 1, 300);
const CRASH_ROUNDS = roundsOf('CRASH_ROUNDS', 4, 12);
const STOP_SECONDS = Number(process.env['STOP_SECONDS'] ?? 3);
const API_PROCESSES = 4;
const PRODUCED = '40';
const KEEP = '300';
const MOST_REST_MS = 1_500;
/** Maximum time until writing continues: on a busy machine a process takes half a minute to start. */
const MOST_GAP_MS = 180_000;
/** Part of each writer's log to print if it does not. */
const LOG_CHARACTERS = 4_000;
/** On a busy machine requests would be refused as overload. */
const NO_LOAD_BOUNDS = ['--max-backlog-ms', '0'];

const KINDS = ['primary', 'standby', 'writer', 'API process'] as const;
type Kind = (typeof KINDS)[number];

/** An API process that is sent requests until it is killed. */
interface Reader {
  readonly node: ServedNode;
  readonly life: Life;
  readonly watching: Promise<void>;
}

describe.skipIf(NO_POSTGRES !== '')(`${NO_POSTGRES}a ledger on several servers`, () => {
  const random = randomSource(testSeed());
  const counts = { killed: 0, stopped: 0 };
  const readers: Reader[] = [];
  const writers: ReturnType<typeof startWriter>[] = [];
  let cluster: ReplicatedPostgres;
  let upstream: ServedNode;
  let source: string;
  let kept: string;
  let witness: FollowWitness;

  beforeAll(async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o711);
    source = join(folder, 'source');
    await makeSample(source, 600);
    upstream = await ServedNode.start(source, ['--produce', PRODUCED, ...NO_LOAD_BOUNDS]);
    cluster = await ReplicatedPostgres.create(join(folder, 'servers'));
    const streams = (await streamsOf(source)).filter(({ versions }) => versions.length >= 5);
    const addresses = await addressesOf(source);
    // An account with events of its own, and so with a history.
    kept = streams.find(({ address }) => BigInt(`0x${address}`) > 0xffffn)!.address;
    const subjects = { streams, addresses: addresses.filter((address) => address !== kept), kept };
    witness = new FollowWitness(upstream, subjects, random, true);
  }, 180_000);
  afterAll(async () => {
    killLeftNodes();
    for (const { child } of writers) child.kill('SIGKILL');
    await cluster.stop();
  });

  function startWriter() {
    const follow = ['--standby', '--data', cluster.url(), '--follow', upstream.ready.url];
    const prune = ['--keep', KEEP, '--keep-account', `0x${kept}`];
    const child = startCommand(['serve', '--listen', '127.0.0.1:0', ...follow, ...prune]);
    const log: string[] = [];
    child.stderr!.on('data', (text: unknown) => log.push(String(text)));
    return { child, log, ended: endOf(child) };
  }

  /** Starts an API process; servers may be killed at this moment. */
  async function startReader(): Promise<void> {
    const data = cluster.url('?target_session_attrs=prefer-standby');
    const args = ['--min-version-wait-ms', '2000', ...NO_LOAD_BOUNDS];
    const node = await ServedNode.start(data, args);
    const life: Life = { over: false, killed: false };
    const watching = witness.watch(node, life);
    // A failure is reported at the end of the test, or when the process ends earlier.
    watching.catch(() => undefined);
    readers.push({ node, life, watching });
  }

  const kill: Record<Kind, () => Promise<void>> = {
    primary: async () => {
      await cluster.primary.stop('SIGKILL');
      await cluster.rejoin(await cluster.failOver());
    },
    standby: async () => {
      const server = cluster.standbys[Math.floor(random() * cluster.standbys.length)]!;
      await server.stop('SIGKILL');
      await sleep(random() * MOST_REST_MS);
      await cluster.rejoin(server);
    },
    writer: async () => {
      const { child, ended } = writers.shift()!;
      child.kill('SIGKILL');
      await ended;
      writers.push(startWriter());
    },
    'API process': async () => {
      const { node, life, watching } = readers.shift()!;
      life.killed = true;
      node.process.kill('SIGKILL');
      await node.end();
      life.over = true;
      await watching;
      expect(node.complaints).toEqual([]);
      await startReader();
    },
  };

  async function stopFor(kind: Kind): Promise<void> {
    const signal = signalOf(kind);
    signal('SIGSTOP');
    await sleep(STOP_SECONDS * 1_000);
    signal('SIGCONT');
  }

  function signalOf(kind: Kind): (signal: 'SIGSTOP' | 'SIGCONT') => void {
    if (kind === 'writer') return (signal) => void writers[0]!.child.kill(signal);
    if (kind === 'API process') {
      const { node } = readers[0]!;
      return (signal) => {
        node.process.kill(signal);
        // The kill's own silence does not count as a gap.
        witness.excuse(node);
      };
    }
    const server = kind === 'primary' ? cluster.primary : cluster.standbys[0]!;
    return (signal) => server.signalAll(signal);
  }

  /** A writer that lost the right to write while it was stopped has exited, and is started again. */
  async function replaceEndedWriters(): Promise<void> {
    for (const writer of [...writers]) {
      if (writer.child.exitCode === null) continue;
      expect((await writer.ended).stderr).toContain('another process has taken over');
      writers.splice(writers.indexOf(writer), 1);
      writers.push(startWriter());
    }
  }

  const timeout = 300_000 + CRASH_SECONDS * 5_000;
  test(`${CRASH_SECONDS} s of crashes`, { timeout }, async () => {
    writers.push(startWriter());
    await until('there is a ledger', async () => {
      const found = await cluster.primary.query("select to_regclass('daybook.c02_head')");
      return (
        found[0]![0] !== 'null' &&
        (await cluster.primary.query('select 1 from daybook.c02_head')).length > 0
      );
    });
    writers.push(startWriter());
    for (let nth = 0; nth < API_PROCESSES; nth += 1) await startReader();
    const gap = { writesMs: 0, sinceMs: performance.now(), seen: witness.seen };
    const looking = setInterval(() => {
      const nowMs = performance.now();
      gap.writesMs = Math.max(gap.writesMs, nowMs - gap.sinceMs);
      if (witness.seen > gap.seen) gap.sinceMs = nowMs;
      gap.seen = witness.seen;
    }, 20);
    const longestGapsMs: Record<string, { reads: number; writes: number }> = {};
    const endMs = performance.now() + CRASH_SECONDS * 1_000;
    const isOver = () => performance.now() > endMs && witness.answers.gone > 0;
    for (let round = 0; round < CRASH_ROUNDS || !isOver(); round += 1) {
      const kind = KINDS[round % KINDS.length]!;
      const isStop = Math.floor(round / KINDS.length) % 3 === 2;
      const work = isStop ? stopFor(kind) : kill[kind]();
      const what = `${isStop ? 'stop' : 'kill'} ${kind}`;
      await Promise.race([work, failureOf(readers)]).catch((cause: unknown) => {
        throw new Error(`round ${round}: ${what}`, { cause });
      });
      if (isStop) counts.stopped += 1;
      else counts.killed += 1;
      await replaceEndedWriters();
      const before = witness.seen;
      await until('writes go on', () => witness.seen > before, MOST_GAP_MS).catch((cause) => {
        const logs = writers.map(({ log }) => log.join('').slice(-LOG_CHARACTERS));
        throw new Error(`round ${round}: ${what}: ${logs.join('\n---\n')}`, { cause });
      });
      await sleep(random() * MOST_REST_MS);
      const longest = longestGapsMs[what] ?? { reads: 0, writes: 0 };
      longestGapsMs[what] = longest;
      longest.reads = Math.max(longest.reads, Math.round(witness.longestGapMs));
      longest.writes = Math.max(longest.writes, Math.round(gap.writesMs));
      witness.longestGapMs = 0;
      gap.writesMs = 0;
      if (round % 12 === 0) console.info({ ...counts, longestGapsMs });
    }
    clearInterval(looking);
    for (const { life, watching, node } of readers) {
      life.over = true;
      await watching;
      expect(node.complaints).toEqual([]);
      expect((await node.stop()).code).toBe(0);
    }
    for (const { child, ended } of writers) {
      child.kill('SIGTERM');
      await ended;
    }
    await expectSameLedger();
    const { answers, refusals } = witness;
    console.info({ ...counts, answers, refusals, longestGapsMs });
  });

  async function expectSameLedger(): Promise<void> {
    expect((await upstream.stop()).code).toBe(0);
    const still = await ServedNode.start(source);
    const { url, ledger_version: newest } = still.ready;
    const data = cluster.url();
    const followed = await runCommand(['follow', '--data', data, '--from', url, '--until', newest]);
    expect(followed.code, followed.stderr).toBe(0);
    await still.stop();
    for (const at of [cluster.url(), source]) {
      const prune = ['prune', '--data', at, '--keep', KEEP, '--grace-seconds', '0'];
      const pruned = await runCommand([...prune, '--keep-account', `0x${kept}`]);
      expect(pruned.code, pruned.stderr).toBe(0);
    }
    const reader = await openPostgresReader(parsePostgresUrl(cluster.primary.url()));
    expect(await digestsOfStore(reader)).toEqual(await digestsOf(source));
  }
});

/** Rejects when one of the readers has received a wrong response; never resolves. */
async function failureOf(readers: readonly Reader[]): Promise<never> {
  await Promise.all(readers.map(({ watching, life }) => watching.then(() => life)));
  return await new Promise<never>(() => undefined);
}
