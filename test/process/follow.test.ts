/** `daybook follow` as users run it: from a serving Daybook, killed again and again, and stopped in order. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readHead } from '../../src/store/columns/head.ts';
import { openView } from '../../src/store/read/view.ts';
import { openSqliteReader } from '../../src/store/sqlite/sqlite-store.ts';
import { roundsOf } from '../random.ts';
import {
  endOf,
  expectFailure,
  killLeftNodes,
  runCommand,
  ServedNode,
  startCommand,
  temporaryFolder,
} from './command.ts';
import { digestsOf, makeSample } from './ledger-contents.ts';

const TRANSACTIONS = 1_500;
const KILLS = roundsOf('KILLS', 3, 15);
/** Latest time of a kill after the process has begun to follow, in milliseconds: few reach the newest version. */
const MOST_LIFE_MS = 150;

let folder = '';
let source = '';
let node: ServedNode;
let digests: Record<string, string>;

/** Follows the serving node to its end. */
async function follow(data: string, ...more: string[]) {
  const args = [
    'follow',
    '--data',
    data,
    '--from',
    node.ready.url,
    '--json',
    '--log-level',
    'silent',
  ];
  const result = await runCommand([...args, ...more]);
  expect(result).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(result.stdout) as Record<string, unknown>;
}

beforeAll(async () => {
  source = join(folder, 'source');
  await makeSample(source, TRANSACTIONS);
  node = await ServedNode.start(source);
  digests = await digestsOf(source);
});
folder = temporaryFolder();
afterAll(async () => {
  await node?.stop();
  killLeftNodes();
});

describe('daybook follow', () => {
  it('makes the same ledger, with the second thread', async () => {
    const copy = join(folder, 'copy');
    const until = node.ready.ledger_version;
    const report = await follow(copy, '--until', until);
    expect(report).toMatchObject({ chain_id: 4, ledger_version: until, faults: 0 });
    expect(report['transactions']).toBe(Number(until) + 1);
    expect(await digestsOf(copy)).toEqual(digests);
    // The second time there is nothing to do.
    expect(await follow(copy, '--until', until)).toMatchObject({ transactions: 0 });
  });

  it(`continues after ${KILLS} kills at any moment`, {
    timeout: 180_000 + KILLS * 10_000,
  }, async () => {
    const copy = join(folder, 'killed');
    const until = node.ready.ledger_version;
    const whole = openSqliteReader({ directory: source });
    const view = await openView(whole);
    let reached = -1n;
    let killsInVain = 0;
    for (let kill = 0; kill < KILLS || reached <= 0n; kill += 1) {
      const args = ['follow', '--data', copy, '--from', node.ready.url, '--until', until];
      const child = startCommand([...args, '--page-transactions', '50']);
      const ended = endOf(child);
      // The first log line shows that it has begun.
      await once(child.stderr!, 'data');
      await Promise.race([sleep(randomInt(MOST_LIFE_MS * 2 ** killsInVain)), ended]);
      child.kill('SIGKILL');
      await ended;
      const version = await checkedHead(copy);
      expect(version).toBeGreaterThanOrEqual(reached);
      // On a busy machine a process takes longer to make progress.
      killsInVain = version === reached ? killsInVain + 1 : 0;
      reached = version;
    }
    console.info(`killed ${KILLS} times up to version ${reached} of ${until}`);
    expect(reached).toBeGreaterThan(0n);
    await follow(copy, '--until', until);
    expect(await digestsOf(copy)).toEqual(digests);
    await whole.close();

    /** The head of the copy, whose contents must equal the source's at that version. */
    async function checkedHead(data: string): Promise<bigint> {
      let store: ReturnType<typeof openSqliteReader>;
      try {
        store = openSqliteReader({ directory: data });
      } catch {
        // Killed before there was a store.
        return -1n;
      }
      try {
        const head = await readHead(store);
        if (head === undefined) return -1n;
        const { version } = head;
        const here = (await openView(store)).transactionInfo(version);
        expect(await here).toEqual(await view.transactionInfo(version));
        expect(await (await openView(store)).transactions(version, 2)).toHaveLength(1);
        return version;
      } finally {
        await store.close();
      }
    }
  });

  it('ends in order on request, and continues later', async () => {
    const copy = join(folder, 'stopped');
    const child = startCommand(['follow', '--data', copy, '--from', node.ready.url]);
    const ended = endOf(child);
    // The first log line shows that it has begun.
    await once(child.stderr!, 'data');
    await sleep(700);
    child.kill('SIGTERM');
    const { code, stdout, stderr } = await ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ledger version +\d+$/m);
    for (const line of stderr.trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
    expect(stderr).toContain('the genesis waypoint was not compared with anything');
    expect(await follow(copy, '--until', '1200')).toMatchObject({ faults: 0 });
  });

  it('with --standby waits while another process writes the folder, and takes over', async () => {
    const copy = join(folder, 'standby');
    const following = ['--follow', node.ready.url, '--workers', '1'];
    const first = await ServedNode.start(copy, following);
    const args = ['follow', '--data', copy, '--from', node.ready.url];
    const refused = await runCommand(args);
    expect(expectFailure(refused, 1)).toContain(`is being written by process ${first.ready.pid}`);
    const until = node.ready.ledger_version;
    const second = startCommand([...args, '--standby', '--json', '--until', until]);
    const ended = endOf(second);
    const [line] = await once(second.stderr!, 'data');
    expect(JSON.parse(String(line).split('\n')[0]!)).toMatchObject({
      msg: 'standing by: another process writes the ledger',
      reason: expect.stringContaining(`is being written by process ${first.ready.pid}`),
    });
    await first.stop('SIGKILL');
    const { code, stdout } = await ended;
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { ledger_version: until }]);
    expect(await digestsOf(copy)).toEqual(digests);
  });

  it('compares the genesis waypoint, and logs which one it found', async () => {
    const copy = join(folder, 'waypoint');
    const waypoint = `0:${'00'.repeat(32)}`;
    const args = ['follow', '--data', copy, '--from', node.ready.url, '--log-level', 'silent'];
    const result = await runCommand([...args, '--until', '5', '--waypoint', waypoint]);
    const line = expectFailure(result, 1);
    const found = /has waypoint (0:[0-9a-f]{64})/.exec(line)![1]!;
    expect(await follow(copy, '--until', '5', '--waypoint', found)).toMatchObject({
      ledger_version: '5',
    });
  });

  it('a node that cannot begin says why in its last line', async () => {
    const args = ['serve', '--follow', node.ready.url, '--data', join(folder, 'refused')];
    const flags = ['--waypoint', `0:${'00'.repeat(32)}`, '--log-level', 'silent'];
    const result = await runCommand([...args, ...flags, '--listen', '127.0.0.1:0']);
    expect(expectFailure(result, 1)).toMatch(
      /^cannot follow: version 0, .*genesis has waypoint 0:/,
    );
  });

  it('a node with a ledger serves it while its upstream is away', async () => {
    const copy = join(folder, 'left');
    await follow(copy, '--until', '500');
    const left = await ServedNode.start(copy, ['--follow', 'http://127.0.0.1:9']);
    expect(left.ready.ledger_version).toBe('500');
    await left.stop();
    expect(left.complaints).toEqual([]);
  });

  it.each([
    ['--from', 'node.example', /^--from: .*must begin with http/],
    ['--trust', '12', /^--trust: not a waypoint|^--trust: /],
    ['--until', 'soon', /expected a version/],
    ['--page-transactions', '0', /expected 1 to/],
  ])('%s %s is wrong usage', async (flag, value, message) => {
    const args = ['follow', '--data', join(folder, 'none'), '--from', 'http://127.0.0.1:9'];
    expect(expectFailure(await runCommand([...args, flag, value]), 2)).toMatch(message);
  });

  it('logs what is wrong, with its cause', async () => {
    const args = ['follow', '--data', join(folder, 'unreached'), '--from', 'http://127.0.0.1:9'];
    const child = startCommand([...args, '--log-level', 'warn']);
    const ended = endOf(child);
    await once(child.stderr!, 'data');
    child.kill('SIGTERM');
    const { code, stderr } = await ended;
    expect(code).toBe(0);
    expect(JSON.parse(stderr.split('\n')[0]!)).toMatchObject({
      level: 40,
      msg: 'following continues after a fault',
      err: {
        code: 'upstream_unreachable',
        message: 'cannot reach 127.0.0.1:9: connect ECONNREFUSED 127.0.0.1:9',
        cause: { code: 'ECONNREFUSED' },
      },
    });
  });

  it('explains in one line when it was given no node', async () => {
    const url = node.ready.url.replace('/v1', '/elsewhere');
    const args = ['follow', '--data', join(folder, 'none'), '--from', url, '--log-level', 'silent'];
    expect(expectFailure(await runCommand(args), 1)).toMatch(/^cannot follow: .*404/);
  });
});
