/**
 * Dockerfile and compose.yaml without Docker, which cannot run everywhere: builds the image's files from the build
 * context, and runs its command as a user who may only write to the volume.
 */
import { execFile, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { outsideNames } from '../../../src/node/settings/setting-sources.ts';
import { NODE_SETTINGS } from '../../../src/node/settings/settings.ts';
import { ROOT } from '../../repo/source-tree.ts';
import { killLeftNodes, ServedNode, temporaryFolder } from '../command.ts';
import { install, unprivileged, unprivilegedUser } from './installed.ts';

const run = promisify(execFile);

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** The instructions of each stage. */
function stagesOf(dockerfile: string): Instruction[][] {
  const joined = dockerfile.replaceAll(/^#.*\n/gm, '').replaceAll(/\\\n\s*/g, '');
  const lines = joined.split('\n').filter((line) => line !== '');
  const instructions = lines.map((line) => {
    const [, name, text] = /^([A-Z]+) (.*)$/.exec(line)!;
    return { name: name!, text: text! };
  });
  const starts = instructions.flatMap(({ name }, index) => (name === 'FROM' ? [index] : []));
  return starts.map((start, nth) => instructions.slice(start, starts[nth + 1]));
}

const stages = stagesOf(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));
const [build, image] = stages as [Instruction[], Instruction[]];

function textsOf(stage: readonly Instruction[], name: string): string[] {
  return stage.filter((one) => one.name === name).map(({ text }) => text);
}

/** An instruction with a list of arguments. */
function argumentsOf(name: string): string[] {
  const text = textsOf(image, name)[0]!;
  return JSON.parse(text.slice(text.indexOf('['))) as string[];
}

const composeText = readFileSync(join(ROOT, 'compose.yaml'), 'utf8');

it('the build gets all that it needs, and the image what the build made', () => {
  expect(textsOf(build, 'COPY')).toEqual(['package.json package-lock.json .npmrc ./', '. .']);
  expect(textsOf(build, 'RUN')).toEqual(['npm ci --ignore-scripts', 'npm run build']);
  expect(textsOf(image, 'COPY')).toEqual([
    'package.json package-lock.json .npmrc ./',
    '--from=build /app/dist ./dist',
    'bin ./bin',
  ]);
  expect(textsOf(image, 'RUN')).toEqual([
    'npm ci --omit=dev --ignore-scripts && npm cache clean --force',
    'mkdir /data && chown node:node /data',
  ]);
});

describe('the image', () => {
  const folder = temporaryFolder();
  const app = join(folder, 'app');
  const data = join(folder, 'data');
  let node: ServedNode;

  beforeAll(async () => {
    const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
    const context = join(folder, 'context');
    for (const name of readdirSync(ROOT).filter((one) => !ignored.includes(one))) {
      cpSync(join(ROOT, name), join(context, name), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(context, 'node_modules'));
    await run('npm', ['run', 'build'], { cwd: context });
    install(['package.json', 'bin'], app);
    cpSync(join(context, 'dist'), join(app, 'dist'), { recursive: true });
    chmodSync(folder, 0o755);
    mkdirSync(data);
    const { uid, gid } = unprivilegedUser();
    chownSync(data, uid, gid);

    const command = [...argumentsOf('ENTRYPOINT'), ...argumentsOf('CMD')]
      .map((part) => (part === '/data' ? data : part))
      .map((part) => part.replace('0.0.0.0:8080', '127.0.0.1:0'));
    const [first, ...rest] = unprivileged(command);
    const variables = textsOf(image, 'ENV').flatMap((line) => line.split(' '));
    const own = Object.fromEntries(variables.map((variable) => variable.split('=')));
    // There is no folder for temporary files, because the root file system is read-only.
    const env = { PATH: process.env['PATH'], TMPDIR: join(folder, 'none'), ...own };
    node = await ServedNode.of(spawn(first, rest, { cwd: app, env }));
  }, 180_000);
  afterAll(killLeftNodes);

  it('serves a sample, and says that it is one', () => {
    expect(node.ready).toMatchObject({ sample: true, ledger_version: '1022' });
    expect(node.complaints).toEqual([]);
  });

  it('checks its health by the node’s readiness', async () => {
    const [program, ...args] = argumentsOf('HEALTHCHECK');
    const check = (port: number) =>
      run(
        program!,
        args.map((arg) => arg.replace(':8080/', `:${port}/`)),
      );
    await check(node.port);
    await expect(check(1)).rejects.toMatchObject({ code: 1 });
  });

  it('ends with 0 when it is stopped', async () => {
    expect((await node.stop()).code).toBe(0);
  });
});

describe('compose.yaml', () => {
  const { services } = parse(composeText) as { services: Record<string, Record<string, unknown>> };
  const daybook = services['daybook']!;

  it('waits for the program to stop', () => {
    const { maximum } = NODE_SETTINGS.shutdownTimeoutMs;
    expect(Number.parseInt(String(daybook['stop_grace_period']), 10)).toBeGreaterThan(
      maximum! / 1_000,
    );
  });

  it('mounts the volume of the image, and lets nothing else be written', () => {
    expect(daybook).toMatchObject({
      volumes: [`ledger:${textsOf(image, 'VOLUME')[0]}`],
      read_only: true,
      cap_drop: ['ALL'],
    });
    expect(textsOf(image, 'USER')).toEqual(['node']);
    expect(daybook['ports']).toEqual([`127.0.0.1:8080:${textsOf(image, 'EXPOSE')[0]}`]);
  });

  it('names flags that there are', () => {
    const known = Object.keys(NODE_SETTINGS).map((name) => outsideNames(name).flag);
    const { command } = parse(/command: .*/.exec(composeText)![0]) as { command: string[] };
    expect(command[0]).toBe('serve');
    expect(known).toEqual(expect.arrayContaining(command.filter((part) => part.startsWith('-'))));
  });
});
