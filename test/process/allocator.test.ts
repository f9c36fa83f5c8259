/** bin/daybook is a shell script and a module in one file, so that Node starts with a setting for the allocator. */
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  endOf,
  killLeftNodes,
  PROGRAM,
  runCommand,
  ServedNode,
  temporaryFolder,
} from './command.ts';
import { makeSample } from './ledger-contents.ts';
import { childrenOf } from './worker-processes.ts';

const folder = temporaryFolder();
const data = join(folder, 'ledger');
const PRODUCE = ['--produce', '5', '--log-level', 'info'];
const GROWS = 'memory grows while this process writes: MALLOC_ARENA_MAX is not set';

beforeAll(() => makeSample(data, 300));
afterEach(killLeftNodes);

/** The allocator setting in a process's environment. */
function arenasOf(pid: number): string | undefined {
  const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  return /=(.*)/.exec(variables.find((one) => one.startsWith('MALLOC_ARENA_MAX=')) ?? '')?.[1];
}

describe.runIf(process.platform === 'linux')('a node', () => {
  it('and its workers have one arena of memory, in the process that was started', async () => {
    const node = await ServedNode.start(data, [...PRODUCE, '--workers', '2']);
    expect(node.ready.pid).toBe(node.process.pid);
    const pids = [node.ready.pid, ...childrenOf(node.ready.pid)];
    expect(pids.map(arenasOf)).toEqual(['1', '1', '1']);
    expect(node.log.map(({ msg }) => msg)).not.toContain(GROWS);
    expect(await node.stop()).toMatchObject({ code: 0, signal: null });
  });

  it('has what its environment says', async () => {
    const node = await ServedNode.start(data, [], { environment: { MALLOC_ARENA_MAX: '3' } });
    expect(arenasOf(node.ready.pid)).toBe('3');
  });

  it('that writes without the setting says so', async () => {
    const args = [PROGRAM, 'serve', '--data', data, '--listen', '127.0.0.1:0', ...PRODUCE];
    const env: NodeJS.ProcessEnv = { ...process.env, DAYBOOK_WORKERS: '1' };
    delete env['MALLOC_ARENA_MAX'];
    const node = await ServedNode.of(
      spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] }),
    );
    expect(arenasOf(node.ready.pid)).toBeUndefined();
    expect(node.log.map(({ msg }) => msg)).toContain(GROWS);
  });
});

describe('the program', () => {
  it('starts through a link in a folder with spaces, and passes arguments on as they are', async () => {
    const bin = join(folder, 'a folder', '.bin');
    mkdirSync(bin, { recursive: true });
    symlinkSync(PROGRAM, join(bin, 'daybook'));
    const path = [bin, dirname(process.execPath), process.env['PATH']].join(':');
    const args = ['status', '--data', './no "such" $HOME `x` folder'];
    const child = spawn('daybook', args, {
      cwd: folder,
      env: { PATH: path },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { code, stderr } = await endOf(child);
    expect(stderr).toMatch(/^daybook: there is no ledger in \.\/no "such" \$HOME `x` folder; /);
    expect(code).toBe(1);
  });

  it('has the exit code and the output of Node', async () => {
    expect(await runCommand(['--version'])).toMatchObject({ code: 0, stderr: '' });
    expect(await runCommand(['nonsense'])).toMatchObject({ code: 2, stdout: '' });
  });

  it('says what to do when it is not built', async () => {
    const bin = join(folder, 'unbuilt', 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(folder, 'unbuilt', 'package.json'), '{"type":"module"}');
    copyFileSync(PROGRAM, join(bin, 'daybook'));
    const child = spawn(join(bin, 'daybook'), [], { stdio: ['ignore', 'pipe', 'pipe'] });
    expect(await endOf(child)).toMatchObject({
      code: 1,
      stderr: 'daybook: not built yet; run "npm run build" first\n',
    });
  });
});
