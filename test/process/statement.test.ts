/** `daybook statement`: the holdings of many accounts, compared with a node's responses. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CAFE_HEX } from '../../src/sample/publishers.ts';
import {
  expectFailure,
  killLeftNodes,
  reportOf,
  runCommand,
  ServedNode,
  temporaryFolder,
} from './command.ts';
import { makeSample } from './ledger-contents.ts';

const folder = temporaryFolder();
const data = join(folder, 'ledger');
const accounts = join(folder, 'accounts.txt');
const CAFE = `0x${CAFE_HEX.replace(/^0x/, '')}`;
const NOBODY = `0x${'9'.repeat(64)}`;
let node: ServedNode;

beforeAll(async () => {
  await makeSample(data, 600);
  node = await ServedNode.start(data);
  writeFileSync(accounts, `# customers\n${CAFE}\n\n${NOBODY} # holds nothing\n0x1\n${CAFE}\n`);
});
afterAll(killLeftNodes);

const statement = (...args: string[]) => ['statement', '--data', data, ...args];

async function answered(account: string, version: bigint): Promise<object[]> {
  const answer = await node.get(`/accounts/${account}/balances?ledger_version=${version}`);
  const balances = (await answer.json()) as Record<string, unknown>[];
  return balances.map(({ asset_type, amount, symbol, decimals }) => ({
    ...{ account, asset_type, amount, symbol, decimals },
  }));
}

it.each([0n, 60n, 300n])('is what a node answers at version %d', async (version) => {
  const args = statement('--accounts', accounts, '--version', String(version));
  const { report } = await reportOf(args);
  expect(report['ledger_version']).toBe(String(version));
  const one = `0x${'1'.padStart(64, '0')}`;
  const expected = await Promise.all([CAFE, one].map((account) => answered(account, version)));
  expect(report['balances']).toEqual(expected.flat());
});

it('takes a time, and prints CSV that no spreadsheet computes', async () => {
  const newest = (await (await node.get('')).json()) as Record<string, string>;
  const time = new Date(Number(BigInt(newest['ledger_timestamp']!) / 1_000n) + 1).toISOString();
  const { stdout } = await runCommand(statement('--accounts', accounts, '--at', time));
  const [head, ...rows] = stdout.split('\r\n');
  expect(head).toBe('account,asset_type,amount,symbol,decimals');
  expect(rows[0]).toMatch(new RegExp(`^${CAFE},0x1::aptos_coin::AptosCoin,\\d+,APT,8$`));
  expect(rows.at(-1)).toBe('');
  const { report } = await reportOf(statement('--accounts', accounts, '--at', time));
  expect(report['ledger_version']).toBe(newest['ledger_version']);
  expect(rows.length).toBe((report['balances'] as unknown[]).length + 1);
});

it('refuses what it cannot answer', async () => {
  const wrong: [string[], 1 | 2, string][] = [
    [[], 2, 'say whose: --accounts FILE'],
    [['--accounts', accounts, '--at', 'yesterday'], 2, 'expected 2026-01-01T00:00:00Z'],
    [['--accounts', accounts, '--at', '2026-01-01T00:00:00Z', '--version', '1'], 2, '--at or'],
    [['--accounts', join(folder, 'none')], 1, 'cannot read file of accounts'],
    [['--accounts', accounts, '--version', '99999'], 1, 'not found'],
  ];
  for (const [args, code, text] of wrong) {
    expect(expectFailure(await runCommand(statement(...args)), code)).toContain(text);
  }
  writeFileSync(join(folder, 'bad.txt'), '0x1\nme\n');
  const failed = await runCommand(statement('--accounts', join(folder, 'bad.txt')));
  expect(expectFailure(failed, 1)).toContain('bad.txt, line 2: "me" is not an address');
});
