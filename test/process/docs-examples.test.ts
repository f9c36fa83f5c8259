/**
 * Runs every `console` block of README and docs with the small sample ledger and compares the output. In an expected
 * output `…` stands for any text.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startNode } from '../../src/index.ts';
import { ROOT } from '../repo/source-tree.ts';

const run = promisify(execFile);
const SHOWN_ORIGIN = 'http://127.0.0.1:8080';
const SHOWN_DATA = './daybook-data';
/** A fork of the sample ledger, its pack and the unpacked fork, and a copy of the ledger. */
const SHOWN_PLACES = ['./fork.pack', './fork', './unpacked', './copy'];

interface Example {
  readonly file: string;
  readonly command: string;
  /** Variables set by earlier examples of the file: assignments, each with `;`. */
  readonly variables: string;
  readonly expected: string;
}

function examplesOf(file: string): Example[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const blocks = [...text.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map((match) => match[1]!);
  const parts = blocks.flatMap((block) => block.split(/^\$ /m).slice(1));
  let variables = '';
  return parts.map((part) => {
    const [command, ...lines] = part.trimEnd().split('\n');
    const example = { file, command: command!, variables, expected: lines.join('\n') };
    if (/^\w+=\S+$/.test(command!)) variables += `${command}; `;
    return example;
  });
}

function pattern(expected: string): RegExp {
  const parts = expected.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[\\s\\S]*')}$`);
}

const files = [
  'README.md',
  ...(existsSync(join(ROOT, 'docs')) ? readdirSync(join(ROOT, 'docs')) : [])
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const examples = files.flatMap(examplesOf);

describe('examples of README and docs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-docs-'));
  const data = join(folder, 'data');
  let origin = '';
  let server: ReturnType<typeof spawn>;

  beforeAll(async () => {
    const flags = ['--listen', '127.0.0.1:0', '--log-level', 'warn'];
    const args = ['serve', '--data', data, '--sample', ...flags];
    server = spawn(join(ROOT, 'bin/daybook'), args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: server.stdout! });
    const line = await new Promise<string>((resolve) => lines.once('line', resolve));
    origin = new URL((JSON.parse(line) as { url: string }).url).origin;
    const fork = await startNode({ data: join(folder, 'fork'), fork: `${origin}/v1` });
    await fork.stop();
  }, 180_000);

  afterAll(async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true });
  });

  it('are there', () => {
    expect(examples.filter(({ file }) => file === 'README.md').length).toBeGreaterThanOrEqual(4);
  });

  it.each(examples)('$file: $command', async ({ command, variables, expected }) => {
    let real = `${variables}${command}`
      .replaceAll(SHOWN_ORIGIN, origin)
      .replaceAll(SHOWN_DATA, data);
    for (const name of SHOWN_PLACES) real = real.replaceAll(` ${name}`, ` ${join(folder, name)}`);
    const { stdout } = await run('sh', ['-c', real], { cwd: ROOT });
    const shown = stdout.replaceAll('\r', '').trimEnd().replaceAll(origin, SHOWN_ORIGIN);
    expect(shown).toMatch(pattern(expected));
  });
});
