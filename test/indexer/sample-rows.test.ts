/** The rows of a sample ledger, with little in memory, compared with the supplies that its code returns. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readViewRequest } from '../../src/execution/view-request.ts';
import type { Database } from '../../src/indexer/database/session.ts';
import { Indexer, type IndexerOptions } from '../../src/indexer/indexer.ts';
import { APT_COIN } from '../../src/indexer/processors/coin-pairs.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { parseJson } from '../../src/move/json/json-text.ts';
import { SampleChain } from '../../src/sample/sample-chain.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { LedgerWriter } from '../../src/store/write/writer.ts';
import { openTestedReader } from '../api/tested-ledger.ts';
import { allRows, openTestedTables } from './tables.ts';

const TRANSACTIONS = 900;
const folder = mkdtempSync(join(tmpdir(), 'daybook-indexed-sample-'));
let store: StoreReader;

beforeAll(async () => {
  const made = await openSqliteStore({ directory: folder });
  const writer = await LedgerWriter.open(made);
  await (await SampleChain.begin(writer, { seed: 5n, accounts: 40 })).growTo(TRANSACTIONS);
  await made.close();
  store = await openTestedReader({ directory: folder });
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

async function indexed<T>(
  use: (database: Database) => Promise<T>,
  options: Partial<IndexerOptions> = {},
): Promise<T> {
  const { database, close } = await openTestedTables();
  try {
    await new Indexer({ ledger: openLedger(store), database, ...options }).reachHead();
    return await use(database);
  } finally {
    await close();
  }
}

/** The result of a view function. */
async function answerOf(
  name: string,
  types: readonly string[],
  args: readonly string[],
): Promise<readonly unknown[]> {
  const view = await openLedger(store).view();
  const call = { function: name, type_arguments: types, arguments: args };
  const request = readViewRequest(parseJson(Buffer.from(JSON.stringify(call))));
  const answer = await view.callView(request, view.state.version);
  return JSON.parse(String(await answer.json())) as readonly unknown[];
}

async function supplyOf(asset: string): Promise<bigint> {
  const [supply] = asset.includes('::')
    ? await answerOf('0x1::coin::supply', [asset], [])
    : await answerOf('0x1::fungible_asset::supply', ['0x1::fungible_asset::Metadata'], [asset]);
  return BigInt((supply as { readonly vec: readonly [string] }).vec[0]);
}

/** Coins in stake pools, which are in no store. */
async function stakedCoins(database: Database): Promise<bigint> {
  const { rows } = await database.query(
    'SELECT staking_pool_address AS pool FROM current_staking_pool_voter',
  );
  expect(rows.length).toBeGreaterThan(0);
  const stakes = await Promise.all(
    rows.map(({ pool }) => answerOf('0x1::stake::get_stake', [], [pool!])),
  );
  return stakes.flat().reduce((sum: bigint, coins) => sum + BigInt(coins as string), 0n);
}

describe('the tables of a sample ledger', () => {
  it('have balances that are the supply of each asset, as the code of the ledger says', async () => {
    await indexed(async (database) => {
      const { rows } = await database.query(
        `SELECT asset_type_v1 AS asset, sum(amount) AS total
          FROM current_fungible_asset_balances WHERE asset_type_v1 IS NOT NULL GROUP BY 1
        UNION ALL SELECT asset_type_v2, sum(amount_v2)
          FROM current_fungible_asset_balances WHERE asset_type_v2 IS NOT NULL GROUP BY 1`,
      );
      expect(rows.length).toBeGreaterThan(3);
      const staked = await stakedCoins(database);
      for (const { asset, total } of rows) {
        const elsewhere = asset === APT_COIN ? staked : 0n;
        expect([asset, BigInt(total!) + elsewhere]).toEqual([asset, await supplyOf(asset!)]);
      }
    });
  });

  it('are the same where few tables of the chain are in memory', async () => {
    const rows = await indexed(allRows);
    expect(rows.get('table_metadatas')!.length).toBeGreaterThan(20);
    for (const maxTables of [1, 20]) expect(await indexed(allRows, { maxTables })).toEqual(rows);
  });
});
