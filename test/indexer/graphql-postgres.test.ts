/** Random queries of the dialect over a server's PostgreSQL, and what ends a slow one there. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/indexer/database/database.ts';
import type { Database } from '../../src/indexer/database/session.ts';
import { findPostgres, NO_POSTGRES } from '../postgres/cluster.ts';
import { sharedPostgres } from '../postgres/shared.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import { ask } from './dialect/ask.ts';
import { compareRandomQueries } from './dialect/compare.ts';
import { openTables, type Rows, randomRows } from './dialect/random-rows.ts';

const QUERIES = roundsOf('GRAPHQL_QUERIES', 100, 2_000);

describe.skipIf(findPostgres() === undefined)(`${NO_POSTGRES}over a server`, () => {
  let url: string;
  let database: Database;
  let rows: Rows;

  beforeAll(async () => {
    const server = await sharedPostgres();
    const name = `indexer${Date.now()}`;
    const client = new pg.Client(server);
    await client.connect();
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    url = server.replace(/\/postgres$/, `/${name}`);
    rows = randomRows(new Random(testSeed('rows')));
    database = await openTables(rows, url);
  });
  afterAll(() => database.close());

  it(`${QUERIES} random queries`, () =>
    compareRandomQueries(database, rows, testSeed('queries'), QUERIES));

  it('a slow query is ended', async () => {
    const many = `SELECT '0x' || number FROM generate_series(1, 5000) AS number`;
    await database.transaction([
      {
        text: `DELETE FROM current_staking_pool_voter;
          INSERT INTO current_staking_pool_voter
            (last_transaction_version, operator_address, staking_pool_address, voter_address)
            SELECT 1, address, address, address FROM (${many}) AS given (address);
          INSERT INTO current_aptos_names (registered_address) ${many}`,
        parameters: [],
      },
    ]);
    const impatient = await openDatabase(`${url}?options=-c%20statement_timeout%3D50`);
    try {
      const where = '{operator_aptos_name_aggregate: {count: {predicate: {_gt: 5}}}}';
      const slow = `{current_staking_pool_voter(where: ${where}) {voter_address}}`;
      expect(await ask(impatient, slow)).toEqual({
        errors: [
          {
            message: 'operation exceeded time limit',
            extensions: { path: '$', code: 'limit-exceeded' },
          },
        ],
      });
      const { data } = await ask(impatient, '{ledger_infos{chain_id}}');
      expect(data.ledger_infos.length).toBeGreaterThan(0);
    } finally {
      await impatient.close();
    }
  });
});
