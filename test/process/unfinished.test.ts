/**
 * A ledger whose creation was interrupted is never served: the folder then has no ledger, and the next command creates
 * it.
 */
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { namesIn, STORE_FILES } from '../store/store-files.ts';
import {
  endOf,
  expectFailure,
  killLeftNodes,
  runCommand,
  startCommand,
  temporaryFolder,
} from './command.ts';

/** The files of a data folder and of its folders, with their sizes. */
function filesOf(folder: string): Map<string, number> {
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true }).map(String);
  return new Map(names.map((name) => [name, statSync(join(folder, name)).size]));
}

/** Waits until a file in the folder has this many bytes. */
async function untilBytes(folder: string, bytes: number): Promise<void> {
  while (Math.max(0, ...filesOf(folder).values()) < bytes) await sleep(5);
}

afterEach(killLeftNodes);

describe('a sample that was cut off', () => {
  it.each([
    ['SIGKILL', 100_000],
    ['SIGKILL', 3_000_000],
    ['SIGINT', 2_000_000],
  ] as const)('%s at %d bytes: no ledger, and the next one is whole', async (signal, bytes) => {
    const data = join(temporaryFolder(), 'ledger');
    mkdirSync(data);
    const child = startCommand(['sample', '--data', data, '--transactions', '400000']);
    const ended = endOf(child);
    await untilBytes(data, bytes);
    child.kill(signal);
    expect((await ended).code).not.toBe(0);
    const environment = { DAYBOOK_LISTEN: '127.0.0.1:0' };
    for (const command of ['status', 'verify', 'serve']) {
      const text = expectFailure(await runCommand([command, '--data', data], { environment }), 1);
      expect(text).toContain(
        `there is no ledger in ${data}: a command that was to make one was cut off`,
      );
    }
    const made = await runCommand(['sample', '--data', data, '--transactions', '300', '--json']);
    expect(made.code).toBe(0);
    const { ledger_version: version } = JSON.parse(made.stdout) as { ledger_version: string };
    const status = await runCommand(['status', '--data', data, '--json']);
    expect(JSON.parse(status.stdout)).toMatchObject({ ledger_version: version });
    expect((await runCommand(['verify', '--data', data])).code).toBe(0);
    expect(namesIn(data)).toEqual(STORE_FILES);
  });

  it('is left to the process that is making it', async () => {
    const data = join(temporaryFolder(), 'ledger');
    const child = startCommand(['sample', '--data', data, '--transactions', '400000']);
    const ended = endOf(child);
    await untilBytes(data, 1_000_000);
    const second = await runCommand(['sample', '--data', data]);
    expect(expectFailure(second, 1)).toContain(`is being written by process ${child.pid}`);
    expect(child.exitCode).toBe(null);
    expect(namesIn(data).filter((name) => name.endsWith('.new'))).toHaveLength(1);
    child.kill('SIGKILL');
    await ended;
  });
});

it('a sample that is refused leaves nothing behind but the file of the lock', async () => {
  const data = temporaryFolder();
  const refused = await runCommand([
    'sample',
    '--data',
    data,
    '--transactions',
    '1',
    '--accounts',
    '99999999999',
  ]);
  expect(refused.code).not.toBe(0);
  expect([...filesOf(data)]).toEqual([['writer.lock', 0]]);
});
