// Requests/s of view functions beside a bare node:http server, as http.mjs measures them: plain reads of the framework.
// Nothing is refused: 64 connections at once are an overload of calls that take a millisecond on a busy machine.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureAll, servingOf } from './http.mjs';
import { accountAddresses, shuffled } from './ledger-contents.mjs';
import { loadGenerator } from './load.mjs';
import { prepareLedger } from './prepare-ledger.mjs';
import { viewRequest } from './requests.mjs';
import { shownSummary } from './statistics.mjs';

export const name = 'view';
export const title = 'View functions: requests/s beside bare node:http';

/** Most accounts that are asked for. */
const MAX_KEYS = 20_000;
const COIN = '0x1::aptos_coin::AptosCoin';
const METADATA = '0x1::fungible_asset::Metadata';

async function operations(dataFolder, log) {
  const { addresses, total } = await accountAddresses(dataFolder, MAX_KEYS);
  const owners = shuffled(addresses).map((address) => `0x${address}`);
  log(`${owners.length} of ${total} accounts`);
  const views = {
    'chain_id::get': () => viewRequest('0x1::chain_id::get', [], []),
    'coin::balance': (owner) => viewRequest('0x1::coin::balance', [COIN], [owner]),
    'primary_fungible_store::balance': (owner) =>
      viewRequest('0x1::primary_fungible_store::balance', [METADATA], [owner, '0xa']),
    'account::exists_at': (owner) => viewRequest('0x1::account::exists_at', [], [owner]),
    'coin::supply': () => viewRequest('0x1::coin::supply', [COIN], []),
  };
  return Object.entries(views).map(([operation, requestOf]) => ({
    operation,
    form: 'json',
    requests: owners.map(requestOf),
  }));
}

/** @param {{rounds: number, seconds: number, log: (line: string) => void}} options */
export async function run(options) {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  try {
    const dataFolder = await prepareLedger(folder, 'devnet');
    const asked = await operations(dataFolder, options.log);
    const serving = [...servingOf(dataFolder), '--max-body-backlog-ms', '0'];
    const results = await measureAll(folder, serving, asked, options);
    const slowest = results.reduce((a, b) => (a.ratio.median < b.ratio.median ? a : b));
    options.log(`slowest: ${slowest.operation}, ratio ${shownSummary(slowest.ratio)}`);
    return { loadGenerator, results };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
