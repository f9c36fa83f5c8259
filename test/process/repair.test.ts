/**
 * `daybook verify --repair` with the real program: killed at random moments, on a full disk, beside a node that reads
 * or writes. REPAIR_KILLS sets the number of kills, SEED repeats a run.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Batch } from '../../src/store/batch.ts';
import {
  MODULE_EVENTS,
  STATE,
  TRANSACTION_INFOS,
  TRANSACTIONS,
} from '../../src/store/columns/columns.ts';
import { encodeBucketKey } from '../../src/store/columns/order-key.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { randomSource, roundsOf, testSeed } from '../random.ts';
import { bundled } from './bundled.ts';
import {
  expectFailure,
  killLeftNodes,
  runCommand,
  ServedNode,
  temporaryFolder,
} from './command.ts';
import { digestsOf, makeSample } from './ledger-contents.ts';
import { canMount, SmallDisk } from './small-disk.ts';

const KILLS = roundsOf('REPAIR_KILLS', 2, 6);
const VERSIONS = 600;
const TIMEOUT_MS = 120_000;
/** A repair with one commit per version, which prints a line after each. */
const SCRIPT = `
  const { repairFolder } = await import(process.argv[1]);
  const say = ({ what, done }) => what === 'repaired versions' && process.stdout.write(done + '\\n');
  await repairFolder(process.argv[2], process.argv[3], say, 1);
`;
const fileOf = await bundled([
  'node/commands/repair.ts',
  'node/verification/versions-worker.ts',
  'store/sqlite/commit-worker.ts',
]);
const REPAIR = fileOf('repair');

const folder = temporaryFolder();
const sound = join(folder, 'sound');
let upstream: ServedNode;
let expected: unknown;
beforeAll(async () => {
  await makeSample(sound, VERSIONS);
  upstream = await ServedNode.start(sound);
  expected = await digestsOf(sound);
}, TIMEOUT_MS);
afterAll(() => killLeftNodes());

/** Creates a copy of the ledger in which every eighth version lacks rows. */
async function makeDamaged(data: string): Promise<void> {
  await makeSample(data, VERSIONS);
  const store = await openSqliteStore({ directory: data });
  const batch = new Batch();
  for (let version = 4n; version < VERSIONS; version += 8n) {
    const { partition, order } = encodeBucketKey(version);
    batch.delete(TRANSACTION_INFOS, partition, order);
    batch.delete(MODULE_EVENTS, partition, Buffer.concat([order, Buffer.alloc(4)]));
    batch.put(TRANSACTIONS, partition, order, Buffer.of(1, 2, 3));
  }
  const rows = await store.scan(STATE, { maxRows: 10_000, maxBytes: 1e9 });
  for (const { partition, order } of rows.filter((_, index) => index % 10 === 0)) {
    batch.delete(STATE, partition, order);
  }
  await store.commit(batch);
  await store.close();
}

function repairOf(data: string) {
  return runCommand(['verify', '--repair', '--from', upstream.ready.url, '--data', data, '--json']);
}

async function expectHealed(data: string): Promise<void> {
  const { code, stdout } = await repairOf(data);
  expect({ code, report: JSON.parse(stdout) }).toMatchObject({ code: 0, report: { holds: true } });
  expect(await digestsOf(data)).toEqual(expected);
}

/** Kills a repair some time after it has written `versions` versions. @returns whether it was still running */
async function killAfter(child: ChildProcess, versions: number, delayMs: number) {
  let lines = 0;
  const ended = once(child, 'close').then(() => 'ended');
  const written = new Promise<void>((resolve) => {
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      lines += text.split('\n').length - 1;
      if (lines >= versions) resolve();
    });
  });
  await Promise.race([ended, written.then(() => sleep(delayMs))]);
  const isRunning = child.exitCode === null;
  child.kill('SIGKILL');
  await ended;
  return isRunning;
}

describe('verify --repair', () => {
  it(`killed ${KILLS} times, then run to its end`, {
    timeout: TIMEOUT_MS + KILLS * 20_000,
  }, async () => {
    const random = randomSource(testSeed());
    const data = join(folder, 'killed');
    await makeDamaged(data);
    let killed = 0;
    for (let count = 0; count < KILLS; count += 1) {
      const args = ['--input-type=module', '-e', SCRIPT, REPAIR, data, upstream.ready.url];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const versions = Math.floor(random() * (VERSIONS / 8 / KILLS));
      if (await killAfter(child, versions, random() * 20)) killed += 1;
    }
    expect(killed).toBeGreaterThan(0);
    await expectHealed(data);
  });

  it('needs a source, and a ledger that no other process writes', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const data = join(folder, 'written');
    await makeDamaged(data);
    const half = await runCommand(['verify', '--repair', '--data', data]);
    expect(expectFailure(half, 2)).toContain('--repair and --from belong together');
    const before = await digestsOf(data);
    const holder = await openSqliteStore({ directory: data });
    const { code, stdout } = await repairOf(data);
    expect({ code, error: JSON.parse(stdout) }).toMatchObject({
      code: 1,
      error: { error: { code: 'data_not_usable' } },
    });
    await holder.close();
    expect(await digestsOf(data)).toEqual(before);
    const both = await Promise.all([repairOf(data), repairOf(data)]);
    // The second one may have started when the first was done.
    expect(both.map(({ code }) => code)).toContain(0);
    await expectHealed(data);
  });

  it('under a node that reads: what was damaged is answered', { timeout: TIMEOUT_MS }, async () => {
    const data = join(folder, 'read');
    await makeDamaged(data);
    const node = await ServedNode.start(data);
    const path = '/transactions/by_version/4';
    expect((await node.get(path)).status).toBe(500);
    await expectHealed(data);
    const [answer, due] = await Promise.all([node.get(path), upstream.get(path)]);
    expect([answer.status, await answer.text()]).toEqual([200, await due.text()]);
    expect((await node.stop()).code).toBe(0);
  });

  it.skipIf(!canMount)(
    'on a full disk (needs the right to mount a file system)',
    {
      timeout: TIMEOUT_MS,
    },
    async () => {
      const disk = new SmallDisk(join(folder, 'disk'), '200m');
      try {
        const data = join(disk.folder, 'ledger');
        await makeDamaged(data);
        const before = await digestsOf(data);
        disk.fill();
        const { code, stdout } = await repairOf(data);
        expect(code).toBe(1);
        expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'data_not_usable' } });
        expect(await digestsOf(data)).toEqual(before);
        disk.resize('200m');
        await expectHealed(data);
      } finally {
        disk.unmount();
      }
    },
  );
});
