/**
 * kill −9 in the middle of writing and pruning, with readers running: after each kill the ledger verifies, nothing that
 * was seen is lost, and nothing pinned is ever answered in two ways. CRASH_RUNS sets the number of kills, SEED repeats
 * a run. crash-follow.test.ts tests a following node.
 */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { IS_LONG, randomSource, roundsOf, testSeed } from '../random.ts';
import {
  endOf,
  killLeftNodes,
  runCommand,
  ServedNode,
  startCommand,
  temporaryFolder,
} from './command.ts';
import { addressesOf, digestsOf, expectSound, makeSample } from './ledger-contents.ts';

const CRASH_RUNS = roundsOf('CRASH_RUNS', 2, 12);
const APT = '0x1::aptos_coin::AptosCoin';
const RUN_TIMEOUT_MS = 40_000;
/** Also on a slow machine. */
const ANSWERS_BEFORE_KILL = 10;
const PRUNING = ['--keep', '300', '--prune-grace-seconds', '1'];

/** Sends requests to nodes again and again, and remembers what must never change. */
class Witness {
  /** The highest version in any response. */
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

  /** One request to a node that may be killed meanwhile. */
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
    await makeSample(data, 1_200);
    const witness = new Witness(await addressesOf(data), random);
    const reader = await ServedNode.start(data, ['--workers', '1']);
    for (let run = 0; run < CRASH_RUNS; run += 1) {
      const args = ['--workers', '1', '--produce', '600', ...PRUNING];
      const writer = await ServedNode.start(data, args);
      // The ready line shows the state on disk, which includes everything seen.
      expect(BigInt(writer.ready.ledger_version)).toBeGreaterThanOrEqual(witness.seen);
      const endMs = performance.now() + 200 + random() * 2_800;
      const enough = witness.answers + ANSWERS_BEFORE_KILL;
      while (performance.now() < endMs || witness.answers < enough) {
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
    expect(reader.complaints).toEqual([]);
    await reader.stop();
    console.info(`${witness.answers} answers, ${witness.gone} of them 410`);
  });

  // In CI, the node above is killed while it prunes.
  it.runIf(IS_LONG)(
    `kill −9 of daybook prune, ${CRASH_RUNS} times`,
    {
      timeout: 60_000 + CRASH_RUNS * RUN_TIMEOUT_MS,
    },
    async () => {
      const random = randomSource(testSeed());
      const folder = temporaryFolder();
      const whole = join(folder, 'whole');
      await makeSample(whole, 1_200);
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
      expect(await runCommand(['verify', '--data', straight])).toMatchObject({
        code: 0,
        stderr: '',
      });
      const expected = await digestsOf(straight);
      for (let run = 0; run < CRASH_RUNS; run += 1) {
        const data = join(folder, 'cut');
        cpSync(whole, data, { recursive: true });
        const child = startCommand(prune(data));
        const ended = endOf(child);
        await sleep(150 + random() * 900);
        child.kill('SIGKILL');
        await ended;
        await expectSound(data, 1_200n);
        expect(await runCommand(prune(data))).toMatchObject({ code: 0, stderr: '' });
        // Equals the verified ledger, row for row.
        expect(await digestsOf(data)).toEqual(expected);
        rmSync(data, { recursive: true });
      }
    },
  );
});
