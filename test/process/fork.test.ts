/** `--fork` and `--offline`: the settings, other commands on a fork, and the example of docs/fork.md. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../repo/source-tree.ts';
import {
  expectFailure,
  killLeftNodes,
  runCommand,
  ServedNode,
  temporaryFolder,
} from './command.ts';
import { makeSample } from './ledger-contents.ts';

const folder = temporaryFolder();
const data = join(folder, 'sample');
const fork = join(folder, 'fork');
let upstream: ServedNode;

beforeAll(async () => {
  await makeSample(data, 300);
  upstream = await ServedNode.start(data);
  const node = await ServedNode.start(fork, ['--fork', `${upstream.ready.url}@90`]);
  expect(node.ready).toMatchObject({ chain_id: upstream.ready.chain_id, ledger_version: '90' });
  expect((await node.get('/accounts/0x1/module/coin')).status).toBe(200);
  expect((await node.stop()).code).toBe(0);
});
afterAll(killLeftNodes);

describe('a fork', () => {
  it('is opened by no command that needs a ledger', async () => {
    const commands = [
      ['serve', '--data', fork],
      ['serve', '--data', fork, '--follow', upstream.ready.url],
      ['follow', '--data', fork, '--from', upstream.ready.url],
      ['verify', '--data', fork],
      ['prune', '--data', fork, '--keep', '5'],
      ['copy', '--data', fork, '--to', join(folder, 'copy')],
      ['sample', '--data', fork],
    ];
    for (const args of commands) {
      const { code, stderr } = await runCommand(args);
      expect([args, code]).toEqual([args, 1]);
      expect([args, stderr]).toEqual([args, expect.stringContaining('is a fork')]);
    }
  });

  it('is what status says it is', async () => {
    const { stdout } = await runCommand(['status', '--data', fork, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      fork_of: upstream.ready.url,
      ledger_version: '90',
      columns: { fork_state: { rows: expect.any(Number) } },
    });
  });

  it.each([
    [['--fork', 'ftp://node.example'], 'is not the URL of a node'],
    [['--fork', 'http://me:secret@node.example/v1'], 'is not the URL of a node'],
    [['--offline', '--follow', 'http://node.example'], 'does not go together with follow'],
    [['--offline', '--upstream', 'http://node.example'], 'does not go together with upstream'],
    [['--offline', '--produce', '1'], 'does not go together with produce'],
    [['--offline', '--bootstrap'], 'does not go together with bootstrap'],
    [['--offline', '--standby'], 'does not go together with standby'],
    [['--offline', '--keep-versions', '1'], 'does not go together with keepVersions'],
    [['--offline', '--keep-seconds', '1'], 'does not go together with keepSeconds'],
    [['--fork', 'http://node.example/v1@latest'], 'there must be a version'],
    [['--fork', 'http://node.example/v1@'], 'there must be a version'],
    [['--offline', '--workers', '2'], 'one process'],
    [['--offline', '--data', 'postgres://localhost/x'], 'cannot be in PostgreSQL'],
  ])('with %j is refused', async (args, why) => {
    const line = expectFailure(await runCommand(['serve', '--data', fork, ...args]), 2);
    expect(line).toContain(why);
    expect(line).not.toContain('secret');
  });

  it('stays at its version', async () => {
    const at91 = ['serve', '--data', fork, '--fork', `${upstream.ready.url}@91`];
    expect(expectFailure(await runCommand(at91), 2)).toContain('is a fork at version 90, not 91');
    const offline = await runCommand([...at91, '--offline']);
    expect(expectFailure(offline, 2)).toContain('is a fork at version 90, not 91');
    const beyond = ['serve', '--data', join(folder, 'b'), '--fork', `${upstream.ready.url}@99999`];
    expect(expectFailure(await runCommand(beyond), 1)).toContain('upstream_behind');
    const ledger = ['serve', '--data', data, '--fork', upstream.ready.url];
    expect(expectFailure(await runCommand(ledger), 1)).toContain('is no fork');
    const none = ['serve', '--data', join(folder, 'none'), '--offline'];
    expect(expectFailure(await runCommand(none), 1)).toContain('there is no ledger');
  });

  it('is not made without its upstream, and starts without it offline', async () => {
    const gone = 'http://127.0.0.1:1/v1';
    const made = await runCommand(['serve', '--data', join(folder, 'new'), '--fork', gone]);
    expect(expectFailure(made, 1)).toContain('upstream_unreachable');
    const online = await runCommand(['serve', '--data', fork, '--fork', gone]);
    expect(expectFailure(online, 1)).toContain('--offline');
    const offline = await ServedNode.start(fork, ['--offline']);
    expect((await offline.get('/accounts/0x1/module/coin')).status).toBe(200);
    expect((await offline.get('/accounts/0x1/module/account')).status).toBe(503);
    expect((await offline.stop()).code).toBe(0);
  });

  it('is the example of docs/fork.md', async () => {
    const text = readFileSync(join(ROOT, 'docs/fork.md'), 'utf8');
    const example = /```ts\n([\s\S]*?)```/.exec(text)![1]!;
    const file = join(mkdtempSync(join(ROOT, 'test/process/.module-')), 'example.mjs');
    try {
      writeFileSync(file, example);
      const env = { ...process.env, TMPDIR: folder };
      const options = { cwd: ROOT, env };
      const { stdout } = await promisify(execFile)(process.execPath, [file], options);
      expect(stdout.trim().split('\n')).toEqual(['999999901614100', '200 503']);
    } finally {
      rmSync(join(file, '..'), { recursive: true });
    }
  });
});
