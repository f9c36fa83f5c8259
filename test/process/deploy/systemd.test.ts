/** The unit and the config file of docs/deploy: systemd's verdict on them, and the command that they start. */
import { execFile, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outsideNames } from '../../../src/node/settings/setting-sources.ts';
import { NODE_SETTINGS } from '../../../src/node/settings/settings.ts';
import { ROOT } from '../../repo/source-tree.ts';
import { endOf, killLeftNodes, runCommand, ServedNode, temporaryFolder } from '../command.ts';
import { until } from '../worker-processes.ts';
import { hasProgram, install, unprivileged, unprivilegedUser } from './installed.ts';

const run = promisify(execFile);
const UNIT = readFileSync(join(ROOT, 'docs/deploy/daybook.service'), 'utf8');
const CONFIG = readFileSync(join(ROOT, 'docs/deploy/daybook.yaml'), 'utf8');
/** `systemd-analyze security` counts from 0 (confined) to 10. */
const MAX_EXPOSURE = 1.5;

/** The values of a key, in the order of the file. */
function valuesOf(key: string): string[] {
  return [...UNIT.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map((match) => match[1]!);
}

function seconds(key: string): number {
  return Number(valuesOf(key)[0]);
}

const hasSystemd = hasProgram('systemd-analyze', '--version');
const skipped = hasSystemd ? '' : ' (skipped: there is no systemd-analyze)';

describe('the unit', () => {
  const folder = temporaryFolder();
  const unit = join(folder, 'daybook.service');
  beforeAll(() => {
    // The command must exist.
    const [command] = valuesOf('ExecStart')[0]!.split(' ');
    writeFileSync(unit, UNIT.replace(command!, join(ROOT, 'bin/daybook')));
  });

  it.skipIf(!hasSystemd)(`is one that systemd takes${skipped}`, async () => {
    const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', unit]);
    expect(stdout + stderr).toBe('');
  });

  it.skipIf(!hasSystemd)(`confines the program${skipped}`, async () => {
    const args = ['security', '--offline=true', '--no-pager', `--threshold=${10 * MAX_EXPOSURE}`];
    const { stdout } = await run('systemd-analyze', [...args, unit]);
    expect(stdout).toMatch(/Overall exposure level/);
  });

  it('gives the program the time that it takes to stop', () => {
    const { default: usualMs, maximum } = NODE_SETTINGS.shutdownTimeoutMs;
    expect(seconds('TimeoutStopSec')).toBeGreaterThan(Math.max(usualMs, maximum!) / 1_000);
    expect(valuesOf('KillMode')).toEqual(['mixed']);
  });
});

describe('the config file', () => {
  it('has no setting that the program has not, not even in a comment', () => {
    const known = Object.keys(NODE_SETTINGS).map((name) => outsideNames(name).file);
    const named = [...CONFIG.matchAll(/^(?:# )?(\w+): \S+$/gm)].map((match) => match[1]!);
    expect(named.length).toBeGreaterThan(8);
    expect(known).toEqual(expect.arrayContaining(named));
  });
});

describe('what the unit starts', () => {
  const folder = temporaryFolder();
  const program = join(folder, 'program');
  const state = join(folder, 'state');
  const config = join(folder, 'daybook.yaml');
  const waypointFile = join(folder, 'waypoint.txt');
  let chain: ServedNode;

  /** Starts `ExecStart` like the unit, with other paths, as a user who owns the state folder. */
  function start() {
    const [command, ...args] = valuesOf('ExecStart')[0]!.split(' ');
    const ownPaths = args.map((arg) => (arg === '/etc/daybook/daybook.yaml' ? config : arg));
    const [first, ...rest] = unprivileged([`${program}/bin/${basename(command!)}`, ...ownPaths]);
    const variables = valuesOf('Environment').flatMap((line) => line.split(' '));
    const env = Object.fromEntries(variables.map((variable) => variable.split('=')));
    return spawn(first, rest, { cwd: state, env: { PATH: process.env['PATH'], ...env } });
  }

  function writeConfig(more: string): void {
    const own = CONFIG.replace('/var/lib/daybook', state)
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:0')
      .replace('https://node.example/v1', chain.ready.url)
      .replace('/etc/daybook/waypoint.txt', waypointFile);
    writeFileSync(config, own + more);
  }

  beforeAll(async () => {
    install(['package.json', 'bin', 'dist'], program);
    chmodSync(folder, 0o755);
    mkdirSync(state);
    const { uid, gid } = unprivilegedUser();
    chownSync(state, uid, gid);
    chain = await ServedNode.start(join(folder, 'chain'), ['--sample']);
    const args = ['--from', chain.ready.url, '--until', '0', '--waypoint', `0:${'00'.repeat(32)}`];
    const { stderr } = await runCommand(['follow', '--data', join(folder, 'refused'), ...args]);
    writeFileSync(waypointFile, /has waypoint (0:[0-9a-f]{64})/.exec(stderr)![1]!);
  });
  afterAll(async () => {
    await chain.stop();
    killLeftNodes();
  });

  it('replicates, serves, and ends with 0 on SIGTERM', async () => {
    writeConfig('');
    const node = await ServedNode.of(start());
    await until('it has replicated', async () => {
      const { headers } = await node.get('');
      return headers.get('x-aptos-ledger-version') === chain.ready.ledger_version;
    });
    expect(node.complaints).toEqual([]);
    expect((await node.stop()).code).toBe(0);
  });

  it('is not started again after a wrong setting', async () => {
    writeConfig('keep_version: 1000\n');
    const { code, stderr } = await endOf(start());
    expect(stderr).toContain('there is no setting "keep_version"');
    expect(valuesOf('RestartPreventExitStatus')).toEqual([String(code)]);
  });
});
