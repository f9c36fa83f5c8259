/**
 * Two writers of one ledger, started at once: one writes, the other waits. The writing one is stopped in the middle of
 * a commit, or anywhere, or killed, and the other takes over. The stopped one is resumed a while later, and exits.
 * Whatever happens, the ledger is the upstream's. TAKE_OVER_ROUNDS sets the number of rounds, STOP_SECONDS how long a
 * writer is stopped (default 10, at least 6), SEED repeats the choices of a run.
 */
import type { ChildProcess } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parsePostgresUrl } from '../../src/store/postgres/location.ts';
import { openPostgresReader } from '../../src/store/postgres/postgres-store.ts';
import {
  killLeftNodes,
  runCommand,
  ServedNode,
  startCommand,
  temporaryFolder,
} from '../process/command.ts';
import { digestsOf, digestsOfStore, makeSample } from '../process/ledger-contents.ts';
import { until } from '../process/worker-processes.ts';
import { IS_LONG, randomSource, roundsOf, testSeed } from '../random.ts';
import { NO_POSTGRES, PostgresServer } from './cluster.ts';

const ROUNDS = roundsOf('TAKE_OVER_ROUNDS', 3, 30);
const STOP_SECONDS = Number(process.env['STOP_SECONDS'] ?? 10);
const ROUND_TIMEOUT_MS = 60_000;
const MOST_LIFE_MS = 1_000;
/** The fate of the writing process, round after round. */
const ENDS = ['commit', 'stop', 'kill'] as const;
/** Matches a writer's session in the middle of a transaction. */
const IN_COMMIT =
  "select 1 from pg_locks l join pg_stat_activity a on a.pid = l.pid where l.locktype = 'advisory' " +
  "and l.granted and a.state = 'idle in transaction'";

/** A command that follows, or waits to take over. */
class Writer {
  readonly ended: Promise<number | null>;
  readonly #process: ChildProcess;
  #log = '';

  constructor(data: string, from: string) {
    const pages = ['--page-transactions', '50'];
    this.#process = startCommand(['follow', '--standby', '--data', data, '--from', from, ...pages]);
    this.#process.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#log += text;
    });
    this.ended = new Promise((resolve) => this.#process.once('close', resolve));
  }

  get isWriting(): boolean {
    return this.#log.includes('"msg":"following"');
  }

  get log(): string {
    return this.#log;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }
}

// In CI, crash-servers.long.test.ts kills a writer beside a waiting one, and hanging.long.test.ts silences one.
describe.skipIf(NO_POSTGRES !== '' || !IS_LONG)(`${NO_POSTGRES}two writers`, () => {
  const random = randomSource(testSeed());
  let server: PostgresServer;
  let upstream: ServedNode;
  let source: string;

  beforeAll(async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o711);
    source = join(folder, 'source');
    await makeSample(source, 600);
    upstream = await ServedNode.start(source, ['--produce', '100']);
    server = await PostgresServer.create(join(folder, 'server'), ['fsync=off']);
  });
  afterAll(async () => {
    killLeftNodes();
    await server.stop();
  });

  /** Starts two writers. @returns the writing one, and the other */
  async function startTwo(): Promise<[Writer, Writer]> {
    const both = [0, 1].map(() => new Writer(server.url(), upstream.ready.url));
    await until('one writes', () => both.some(({ isWriting }) => isWriting));
    const [a, b] = both as [Writer, Writer];
    expect(a.isWriting && b.isWriting).toBe(false);
    return a.isWriting ? [a, b] : [b, a];
  }

  /** Stops a process after its commit has begun and before it has ended. */
  async function stopInCommit(writer: Writer): Promise<void> {
    const isInCommit = async (): Promise<boolean> => {
      writer.signal('SIGSTOP');
      // Lets bytes in flight arrive.
      await sleep(5);
      if ((await server.query(IN_COMMIT)).length > 0) return true;
      writer.signal('SIGCONT');
      await sleep(random() * 40);
      return false;
    };
    await until('it is stopped in a commit', isInCommit, ROUND_TIMEOUT_MS * 3);
  }

  /** Resumes a stopped process after others have written. */
  async function goOn(writer: Writer, stoppedMs: number): Promise<void> {
    await sleep(STOP_SECONDS * 1_000 - (performance.now() - stoppedMs));
    writer.signal('SIGCONT');
    expect(await writer.ended).toBe(1);
    expect(writer.log).toContain('another process has taken over');
  }

  test(`${ROUNDS} times`, { timeout: 60_000 + ROUNDS * ROUND_TIMEOUT_MS }, async () => {
    const takenMs: Record<(typeof ENDS)[number], number[]> = { commit: [], stop: [], kill: [] };
    const stopped: Promise<void>[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const [first, second] = await startTwo();
      await sleep(random() * MOST_LIFE_MS);
      const end = ENDS[round % ENDS.length]!;
      if (end === 'commit') await stopInCommit(first);
      else first.signal(end === 'stop' ? 'SIGSTOP' : 'SIGKILL');
      const beganMs = performance.now();
      await until('the other writes', () => second.isWriting).catch((cause: unknown) => {
        throw new Error(`round ${round}, ${end}: ${second.log}`, { cause });
      });
      takenMs[end].push(Math.round(performance.now() - beganMs));
      if (end !== 'kill') stopped.push(goOn(first, beganMs));
      await sleep(random() * MOST_LIFE_MS);
      second.signal('SIGTERM');
      expect(await second.ended, second.log).toBe(0);
      if (round % 10 === 9) console.info({ rounds: round + 1, takenMs });
    }
    await Promise.all(stopped);
    expect((await upstream.stop()).code).toBe(0);
    upstream = await ServedNode.start(source);
    const { url, ledger_version: newest } = upstream.ready;
    const follow = ['follow', '--data', server.url(), '--from', url, '--until', newest];
    expect((await runCommand(follow)).code).toBe(0);
    await upstream.stop();
    const reader = await openPostgresReader(parsePostgresUrl(server.url()));
    expect(await digestsOfStore(reader)).toEqual(await digestsOf(source));
    const longest = Object.entries(takenMs).map(([end, ms]) => [end, Math.max(...ms)]);
    console.info({ rounds: ROUNDS, longest_take_over_ms: Object.fromEntries(longest) });
  });
});
