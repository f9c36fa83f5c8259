/**
 * Two writers of one ledger, started at once: one writes, the other stands by. The one that writes is killed, or
 * stopped in the middle of a commit, and the other goes on. Whatever happens, the ledger is the upstream's.
 * TAKE_OVER_ROUNDS sets how often (default 10), SEED repeats the choices of a run.
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
import { randomSource, testSeed } from '../random.ts';
import { NO_POSTGRES, PostgresServer } from './cluster.ts';

const ROUNDS = Number(process.env['TAKE_OVER_ROUNDS'] ?? 10);
const ROUND_TIMEOUT_MS = 60_000;
const MOST_LIFE_MS = 1_000;
/** The session of the writer is in the middle of a transaction. */
const IN_COMMIT =
  "select 1 from pg_locks l join pg_stat_activity a on a.pid = l.pid where l.locktype = 'advisory' " +
  "and l.granted and a.state = 'idle in transaction'";

/** A command that follows and stands by. */
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

describe.skipIf(NO_POSTGRES !== '')(`${NO_POSTGRES}two writers`, () => {
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

  /** Two of them. @returns the one that writes, and the other */
  async function startTwo(): Promise<[Writer, Writer]> {
    const both = [0, 1].map(() => new Writer(server.url(), upstream.ready.url));
    await until('one writes', () => both.some(({ isWriting }) => isWriting));
    const [a, b] = both as [Writer, Writer];
    expect(a.isWriting && b.isWriting).toBe(false);
    return a.isWriting ? [a, b] : [b, a];
  }

  /** Stops a process where it is, when its commit has begun and has not ended. */
  async function stopInCommit(writer: Writer): Promise<void> {
    await until('it is stopped in a commit', async () => {
      writer.signal('SIGSTOP');
      // What was sent arrives.
      await sleep(5);
      if ((await server.query(IN_COMMIT)).length > 0) return true;
      writer.signal('SIGCONT');
      await sleep(random() * 40);
      return false;
    });
  }

  test(`${ROUNDS} times`, { timeout: 60_000 + ROUNDS * ROUND_TIMEOUT_MS }, async () => {
    const taken: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const [first, second] = await startTwo();
      await sleep(random() * MOST_LIFE_MS);
      const isStopped = round % 2 === 1;
      const beganMs = performance.now();
      if (isStopped) await stopInCommit(first);
      else first.signal('SIGKILL');
      await until('the other writes', () => second.isWriting).catch((cause: unknown) => {
        throw new Error(`round ${round}: ${second.log}`, { cause });
      });
      taken.push(Math.round(performance.now() - beganMs));
      if (isStopped) {
        await sleep(random() * MOST_LIFE_MS);
        first.signal('SIGCONT');
        expect(await first.ended).toBe(1);
        expect(first.log).toContain('another process has taken over');
      }
      await sleep(random() * MOST_LIFE_MS);
      second.signal('SIGTERM');
      expect(await second.ended, second.log).toBe(0);
    }
    expect((await upstream.stop()).code).toBe(0);
    upstream = await ServedNode.start(source);
    const { url, ledger_version: newest } = upstream.ready;
    const follow = ['follow', '--data', server.url(), '--from', url, '--until', newest];
    expect((await runCommand(follow)).code).toBe(0);
    await upstream.stop();
    const reader = await openPostgresReader(parsePostgresUrl(server.url()));
    expect(await digestsOfStore(reader)).toEqual(await digestsOf(source));
    console.info({ rounds: ROUNDS, longest_take_over_ms: Math.max(...taken) });
  });
});
