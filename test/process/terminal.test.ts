/**
 * Output on stderr, on a terminal and elsewhere: logs for people or as JSON, and the progress of long work. Without
 * `script` (util-linux) the tests on a terminal are skipped.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { killLeftNodes, PROGRAM, ServedNode, startCommand, temporaryFolder } from './command.ts';
import { makeSample } from './ledger-contents.ts';
import { until } from './worker-processes.ts';

const hasTerminal = spawnSync('script', ['--version']).status === 0;
const folder = temporaryFolder();
const data = join(folder, 'ledger');

beforeAll(() => makeSample(data, 300));
afterAll(killLeftNodes);

/** A command whose stdout and stderr are a terminal. */
class OnTerminal {
  readonly process: ChildProcess;
  /** The terminal's output so far. */
  shown = '';

  constructor(args: readonly string[], environment: Record<string, string> = {}) {
    const command = [process.execPath, PROGRAM, ...args].map((part) => `'${part}'`).join(' ');
    this.process = spawn('script', ['-qefc', `exec ${command}`, '/dev/null'], {
      env: { PATH: process.env['PATH'], TERM: 'xterm', ...environment },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.process.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.shown += text;
    });
  }

  async end(): Promise<void> {
    if (this.process.exitCode === null) await once(this.process, 'close');
  }
}

/** One request with a user agent of any bytes. */
async function request(url: string, userAgent: Buffer): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write('GET /v1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nUser-Agent: ');
  socket.write(Buffer.concat([userAgent, Buffer.from('\r\n\r\n')]));
  socket.resume();
  await once(socket, 'close');
}

describe.skipIf(!hasTerminal)('on a terminal (needs script of util-linux)', () => {
  it('logs are for people, those of workers too, and no text of a client controls it', async () => {
    const args = ['serve', '--data', data, '--listen', '127.0.0.1:0', '--workers', '2'];
    const node = new OnTerminal([...args, '--access-log', 'all']);
    const ready = () => /^\{"event":"ready".*\}/m.exec(node.shown)?.[0];
    await until('it answers', () => ready() !== undefined);
    const { url, pid } = JSON.parse(ready()!) as { url: string; pid: number };
    await request(url, Buffer.from([0x68, 0x69, 0x9b, 0x32, 0x4a]));
    await until('the request is logged', () => node.shown.includes('operation'));
    process.kill(pid, 'SIGTERM');
    await node.end();
    const lines = node.shown.split('\r\n').filter((line) => line !== '' && !line.startsWith('{'));
    const time = String.raw`\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\]`;
    for (const line of lines) {
      expect(line).toMatch(new RegExp(String.raw`^${time} \x1b\[32mINFO\x1b\[39m \(\d+\): `));
    }
    expect(lines[0]).not.toContain('"pid"');
    const logged = lines.find((line) => line.includes('"operation":"get_ledger_info"'))!;
    expect(logged).not.toContain(`(${pid})`);
    expect(logged).toContain(String.raw`"user_agent":"hi\u009b2J"`);
    expect(lines.map((line) => /\x1b\[36m(\w+)/.exec(line)?.[1])).toEqual([
      'answering',
      'request',
      'stopping',
    ]);
  });

  it('logs have no colours where the terminal shall have none', async () => {
    const args = ['follow', '--data', join(folder, 'x'), '--from', 'http://127.0.0.1:1'];
    const follow = new OnTerminal(args, { NO_COLOR: '1' });
    await until('it has tried', () => follow.shown.includes('WARN'));
    follow.process.kill();
    await follow.end();
    expect(follow.shown).toMatch(/\] WARN \(\d+\): following continues after a fault/);
    expect(follow.shown).toContain('upstream_unreachable: cannot reach 127.0.0.1:1: connect');
    expect(follow.shown).not.toMatch(/^ +at /m);
  });

  it('a line shows how far work is, and is gone at the end', async () => {
    const made = join(folder, 'made');
    const sample = new OnTerminal(['sample', '--data', made, '--transactions', '1500']);
    await sample.end();
    const drawn = sample.shown.split('\r\x1b[K');
    expect(drawn.slice(1, -1).length).toBeGreaterThan(0);
    for (const line of drawn.slice(1, -1)) {
      expect(line).toMatch(/^[█░]{24} \d+% [\d,]+ transactions, [\d,]+\/s(?:, .* left)?$/);
    }
    expect(drawn.at(-1)).toMatch(/^chain id +4\r\n/);
  });
});

describe('elsewhere', () => {
  it('logs are JSON, and colour variables change nothing', async () => {
    const environment = { FORCE_COLOR: '1', CLICOLOR_FORCE: '1' };
    const node = await ServedNode.start(data, ['--workers', '2'], { environment });
    await node.stop();
    expect(node.log.map(({ msg }) => msg)).toEqual(['answering', 'stopping']);
  });

  it('a line every few seconds shows how far work is, also while it reports nothing', async () => {
    const waiting = join(folder, 'waiting');
    cpSync(data, waiting, { recursive: true });
    const prune = ['prune', '--data', waiting, '--keep', '10', '--grace-seconds', '60'];
    const sample = ['sample', '--data', join(folder, 'large'), '--transactions', '10000000'];
    const lineOf = async (args: readonly string[]) => {
      const child = startCommand(args);
      const [line] = await once(child.stderr!.setEncoding('utf8'), 'data');
      child.kill('SIGKILL');
      return line as string;
    };
    const [ofPrune, ofSample] = await Promise.all([lineOf(prune), lineOf(sample)]);
    expect(ofPrune).toBe('requests in flight get 60 s to finish\n');
    expect(ofSample).toMatch(/^[█░]{24} \d+% [\d,]+ transactions, [\d,]+\/s, .* left\n$/);
  });
});
