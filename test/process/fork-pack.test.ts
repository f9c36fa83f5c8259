/** `daybook fork pack` and `unpack`: reports, failures, and no partial results after a kill. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { startNode } from '../../src/index.ts';
import {
  endOf,
  expectFailure,
  killLeftNodes,
  runCommand,
  startCommand,
  temporaryFolder,
} from './command.ts';

const folder = temporaryFolder();
const data = join(folder, 'fork');
const file = join(folder, 'fork.pack');
afterEach(killLeftNodes);

beforeAll(async () => {
  const upstream = await startNode();
  const fork = await startNode({ data, fork: upstream.url });
  for (const path of ['/accounts/0x1/modules?limit=20', '/transactions?limit=25']) {
    expect((await fetch(fork.url + path)).status).toBe(200);
  }
  await fork.stop();
  await upstream.stop();
});

it('reports what it packed and unpacked', async () => {
  const packed = await runCommand(['fork', 'pack', file, '--data', data, '--json']);
  expect([packed.code, packed.stderr]).toEqual([0, '']);
  const facts = JSON.parse(packed.stdout) as { pack_bytes: number; sha256: string };
  const bytes = readFileSync(file);
  expect(facts.pack_bytes).toBe(bytes.length);
  expect(facts.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
  const to = join(folder, 'unpacked');
  const unpacked = await runCommand(['fork', 'unpack', file, '--data', to, '--json']);
  expect(JSON.parse(unpacked.stdout)).toEqual(facts);
  const again = await runCommand(['fork', 'unpack', file, '--data', to]);
  expect(expectFailure(again, 1)).toContain(`${to} holds a ledger already`);
  const status = await runCommand(['status', '--data', to, '--json']);
  expect(status.code).toBe(0);
});

it('says what is wrong with a file or folder', async () => {
  const missing = join(folder, 'missing');
  const to = join(folder, 'never');
  const noFork = await runCommand(['fork', 'pack', join(folder, 'no.pack'), '--data', missing]);
  expect(expectFailure(noFork, 1)).toContain(missing);
  const noFile = await runCommand(['fork', 'unpack', missing, '--data', to]);
  expect(expectFailure(noFile, 1)).toContain('cannot read packed fork');
  const other = join(folder, 'other');
  writeFileSync(other, 'not a pack');
  const foreign = await runCommand(['fork', 'unpack', other, '--data', to]);
  expect(expectFailure(foreign, 1)).toContain('is not a packed fork, or it is damaged');
  expectFailure(await runCommand(['fork', 'pack', '--data', data]), 2);
  for (const command of ['pack', 'unpack']) {
    const database = ['fork', command, file, '--data', 'postgres://localhost/x'];
    expect(expectFailure(await runCommand(database), 2)).toContain('cannot be in PostgreSQL');
  }
  expect(existsSync(to)).toBe(false);
  mkdirSync(join(folder, 'taken.pack'));
  const taken = await runCommand(['fork', 'pack', join(folder, 'taken.pack'), '--data', data]);
  expect(expectFailure(taken, 1)).toContain('cannot write');
  expect(existsSync(join(folder, 'taken.pack.unfinished'))).toBe(false);
});

it('leaves no fork when it is killed, and is done when it is run again', async () => {
  const to = join(folder, 'killed');
  for (let delayMs = 100; delayMs < 1_000 && !existsSync(join(to, 'ledger.db')); delayMs += 75) {
    const child = startCommand(['fork', 'unpack', file, '--data', to]);
    const ended = endOf(child);
    await sleep(delayMs);
    child.kill('SIGKILL');
    await ended;
    if (existsSync(join(to, 'ledger.db'))) break;
    const opened = startNode({ data: to, settings: { offline: true } });
    await expect(opened).rejects.toMatchObject({ code: 'no_ledger' });
  }
  if (!existsSync(join(to, 'ledger.db'))) {
    const again = await runCommand(['fork', 'unpack', file, '--data', to]);
    expect([again.code, again.stderr]).toEqual([0, '']);
  }
  const node = await startNode({ data: to, settings: { offline: true } });
  expect((await fetch(`${node.url}/transactions?limit=25`)).status).toBe(200);
  await node.stop();
});
