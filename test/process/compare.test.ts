/** `daybook compare` as a command: its report and its exit codes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import {
  expectFailure,
  killLeftNodes,
  runCommand,
  ServedNode,
  temporaryFolder,
} from './command.ts';
import { makeSample } from './ledger-contents.ts';

const folder = temporaryFolder();
const data = join(folder, 'ledger');
const requests = join(folder, 'requests.jsonl');
let node: ServedNode;

beforeAll(async () => {
  await makeSample(data, 300);
  node = await ServedNode.start(data, ['--max-page-size', '1']);
});
afterAll(killLeftNodes);

const compare = (lines: readonly object[], url = node.ready.url, ...args: string[]) => {
  writeFileSync(requests, lines.map((line) => JSON.stringify(line)).join('\n'));
  return runCommand(['compare', url, '--data', data, '--requests', requests, ...args]);
};

const EVENTS = { path: `/v1/accounts/${CAFE_HEX}/events/2?start=0&limit=2` };
const BALANCE = { path: '/v1/accounts/0x1/balance/0xa' };

it('says that everything is equal: exit code 0', async () => {
  const { code, stdout, stderr } = await compare([
    BALANCE,
    { path: '/v1/transactions', method: 'POST', body: '{}' },
  ]);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(
    /^requests +2\nequal +1\ndifferent +0\nknown differences +0\nleft out +1\n/m,
  );
});

it('shows what differs: exit code 1', async () => {
  const { code, stdout, stderr } = await compare([
    BALANCE,
    EVENTS,
    { ...EVENTS, headers: { accept: 'application/x-bcs' } },
  ]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^daybook: 2 of 3 requests are answered differently by http/m);
  expect(stdout).toContain(`different: GET ${EVENTS.path}\n  body $[1]\n    here   {"version":`);
  expect(stdout).toContain('    there  nothing\n');
  expect(stdout).toMatch(/\(application\/x-bcs\)\n {2}body byte 0 of \d+ and \d+\n {4}here {3}02/);
});

it('cannot compare: exit code 2', async () => {
  expectFailure(await compare([BALANCE], 'http://127.0.0.1:1'), 2);
  expectFailure(await compare([{ path: 'x' }]), 2);
  const none = await runCommand(['compare', node.ready.url, '--data', join(folder, 'none')]);
  expectFailure(none, 2);
  const unnamed = await runCommand(['compare', '--data', data]);
  expectFailure(unnamed, 2);
});
