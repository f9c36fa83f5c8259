/** The exit codes in docs/operations.md. serve.test.ts has those of a serving node that is told to stop. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  endOf,
  expectFailure,
  killLeftNodes,
  runCommand,
  ServedNode,
  startCommand,
  temporaryFolder,
} from './command.ts';
import { makeSample } from './ledger-contents.ts';

const folder = temporaryFolder();
const data = join(folder, 'ledger');

beforeAll(() => makeSample(data, 300));
afterAll(killLeftNodes);

/** Starts a command, and sends a signal once it has written to stderr. */
async function interrupted(args: readonly string[], signal: NodeJS.Signals) {
  const child = startCommand(args);
  const ended = endOf(child);
  child.stderr!.once('data', () => child.kill(signal));
  return await ended;
}

it('0: finished', async () => {
  expect(await runCommand(['status', '--data', data])).toMatchObject({ code: 0, stderr: '' });
});

it.each(['SIGINT', 'SIGTERM'] as const)('0: follow, stopped by %s', async (signal) => {
  const node = await ServedNode.start(data);
  const to = join(folder, signal);
  const result = await interrupted(
    ['follow', '--data', to, '--from', node.ready.url, '--json'],
    signal,
  );
  expect(result).toMatchObject({ code: 0, signal: null });
  expect(JSON.parse(result.stdout)).toHaveProperty('ledger_version');
});

it.each(['SIGINT', 'SIGTERM'] as const)('130, 143: another command, by %s', async (signal) => {
  // It writes after half of the grace period.
  const prune = ['prune', '--data', data, '--keep', '10', '--grace-seconds', '60'];
  expect(await interrupted(prune, signal)).toMatchObject({ code: null, signal, stdout: '' });
});

it.each([
  ['--help'],
  ['serve', '--help-all'],
  ['status', '--data', data],
  ['verify', '--data', data],
  ['verify', '--data', data, '--json'],
])('0: a reader of %s goes away before anything is printed', async (...args) => {
  const child = startCommand(args);
  child.stdout!.destroy();
  expect(await endOf(child)).toMatchObject({ code: 0, signal: null, stderr: '' });
});

it('1: failed, and the ledger is looked for before the port', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const listen = `127.0.0.1:${(other.address() as AddressInfo).port}`;
  const args = ['serve', '--data', join(folder, 'none'), '--listen', listen];
  expect(expectFailure(await runCommand(args), 1)).toContain('there is no ledger');
  other.close();

  const none = await runCommand(['status', '--data', join(folder, 'none')]);
  expect(expectFailure(none, 1)).toContain('there is no ledger');
});

describe('2: wrong usage', () => {
  const serve = ['serve', '--data', data];
  const lines: [string, readonly string[], Record<string, string>, string | undefined][] = [
    ['an unknown flag', [...serve, '--prot', '80'], {}, undefined],
    ['conflicting flags', [...serve, '--produce', '1', '--follow', 'http://x'], {}, undefined],
    ['out of range, flag', [...serve, '--workers', '257'], {}, undefined],
    ['out of range, variable', serve, { DAYBOOK_WORKERS: '257' }, undefined],
    ['out of range, file', serve, {}, 'max_page_size: 10001'],
    ['out of range, other command', ['status'], { DAYBOOK_DATA: '' }, undefined],
    ['no such level', ['follow', '--from', 'http://x', '--log-level', 'loud'], {}, undefined],
    ['no address', ['prune', '--keep', '9', '--keep-account', '0xzz'], {}, undefined],
    ['unknown name in a file', serve, {}, 'wokers: 2'],
    ['broken YAML', serve, {}, 'workers: [1'],
    ['a file that is a list', serve, {}, '- 1'],
  ];
  it.each(lines)('%s', async (_name, args, variables, content) => {
    const config = join(folder, 'config.yaml');
    if (content !== undefined) writeFileSync(config, content);
    const file = content === undefined ? {} : { DAYBOOK_CONFIG: config };
    expectFailure(await runCommand(args, { environment: { ...variables, ...file } }), 2);
  });

  it.each([
    ['sevre', 'serve'],
    ['status --dta x', '--data'],
    ['sample --transactons 5', '--transactions'],
  ])('%s: names the nearest', async (line, nearest) => {
    const failed = await runCommand(line.split(' '));
    expect(expectFailure(failed, 2)).toContain(`; did you mean ${nearest}?`);
  });
});
