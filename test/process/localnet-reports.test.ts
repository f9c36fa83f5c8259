/** `daybook localnet --gas-report`, `--gas-snapshot` and `--coverage`: what they print and write at the end. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { DEFAULT_SEED } from '../../src/chain/genesis/genesis-keys.ts';
import { firstAccounts } from '../../src/node/localnet/branch.ts';
import { killLeftNodes, runCommand, temporaryFolder } from './command.ts';

afterAll(killLeftNodes);
const folder = temporaryFolder();
const PORTS = ['listen', 'faucet-listen'].flatMap((name) => [`--${name}`, '127.0.0.1:0']);
const NOT_STARTED = ['--indexer-listen', '', '--ready-listen', ''];

/** Sends coins from an account that needs no signature. */
const SCRIPT = `
const url = process.env.APTOS_NODE_URL;
const post = async (path, body) => (await fetch(url + path, {
  method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
})).json();
await post('/-/impersonate', {});
const { hash } = await post('/transactions', {
  sender: process.argv[2], sequence_number: '0', max_gas_amount: '200000', gas_unit_price: '100',
  expiration_timestamp_secs: String(Math.floor(Date.now() / 1000) + 60),
  payload: { type: 'entry_function_payload', function: '0x1::aptos_account::transfer',
    type_arguments: [], arguments: ['0xbeef', '1'] },
  signature: { type: 'no_account_signature' },
});
await (await fetch(url + '/transactions/wait_by_hash/' + hash)).json();
`;

it('tells at the end what transactions have cost', async () => {
  const [account] = firstAccounts(DEFAULT_SEED, 1);
  const script = join(folder, 'send.mjs');
  const snapshot = join(folder, 'gas.txt');
  const coverage = join(folder, 'coverage');
  writeFileSync(script, SCRIPT);
  const exec = `"${process.execPath}" "${script}" 0x${account!.address}`;
  const reports = ['--gas-report', '--gas-snapshot', snapshot, '--coverage', coverage];
  const args = ['localnet', '--accounts', '1', ...PORTS, ...NOT_STARTED];
  const run = await runCommand([...args, '--exec', exec, ...reports]);
  expect(run.code).toBe(0);
  const [head, row, ...rest] = run.stdout.split('\n');
  expect(head).toMatch(/^function +calls +min +median +max +average +failed$/);
  expect(row).toMatch(/^0x1::aptos_account::transfer +1 +(\d+) +\1 +\1 +\1 +0$/);
  expect(rest).toEqual(['']);
  expect(readFileSync(snapshot, 'utf8')).toBe(run.stdout);
  expect(run.stderr).toBe('all modules  instructions 0/0 100.0 %  branches 0/0 100.0 %\n');
  expect(readFileSync(join(coverage, 'coverage.txt'), 'utf8')).toBe(run.stderr);
  expect(readFileSync(join(coverage, 'lcov.info'), 'utf8')).toBe('');
});

it.each([
  [3, 3],
  [0, 1],
])(
  'a report that cannot be written, after a command with exit code %i, gives %i',
  async (own, code) => {
    const snapshot = join(folder, 'none', 'gas.txt');
    const args = ['localnet', '--accounts', '0', ...PORTS, ...NOT_STARTED];
    const run = await runCommand([...args, '--exec', `exit ${own}`, '--gas-snapshot', snapshot]);
    expect(run.code).toBe(code);
    expect(run.stderr).toContain('ENOENT');
  },
);
