/** Random queries of the dialect in a PostgreSQL server, and the timeout of slow ones there. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresDatabase } from '../../src/indexer/database/postgres-database.ts';
import type { Database } from '../../src/indexer/database/session.ts';
import { makeTables, readProgress, removeTables } from '../../src/indexer/progress.ts';
import { ANALYZING } from '../../src/indexer/schema.ts';
import { MAX_SCHEMA_CHARACTERS } from '../../src/store/postgres/location.ts';
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

  const makeIn = async (location: string): Promise<Database> => {
    const opened = await PostgresDatabase.open(location);
    await makeTables(opened, 4, 0n).catch(async (error: unknown) => {
      await opened.close();
      throw error;
    });
    return opened;
  };

  it('ledgers of one database have tables of their own', async () => {
    const all = await Promise.all(['a', 'b'].map((name) => makeIn(`${url}?schema=${name}`)));
    try {
      expect(all.map(({ schema }) => schema)).toEqual(['a_indexer', 'b_indexer']);
      await removeTables(all[0]!);
      const found = await Promise.all(all.map((each) => readProgress(each, false)));
      expect(found.map((progress) => progress?.chainId)).toEqual([undefined, 4]);
      await makeTables(all[1]!, 5, 0n);
      expect((await readProgress(all[1]!, false))!.chainId).toBe(5);
    } finally {
      await Promise.all(all.map((one) => one.close()));
    }
    const most = MAX_SCHEMA_CHARACTERS - '_indexer'.length;
    for (const characters of [most - 1, most]) {
      const opened = await PostgresDatabase.open(`${url}?schema=${'c'.repeat(characters)}`);
      await opened.close();
      expect(opened.schema).toHaveLength(characters + '_indexer'.length);
    }
    await expect(
      PostgresDatabase.open(`${url}?schema=${'c'.repeat(most + 1)}`),
    ).rejects.toMatchObject({ code: 'store_location_invalid' });
  });

  it('what somebody else has in the schema stays', async () => {
    const client = new pg.Client(url);
    await client.connect();
    try {
      await client.query(
        'CREATE SCHEMA d_indexer; CREATE TABLE d_indexer.mine AS SELECT 1 AS number',
      );
      const foreign = { code: 'store_foreign' };
      await expect(makeIn(`${url}?schema=d`)).rejects.toMatchObject(foreign);
      const opened = await PostgresDatabase.open(`${url}?schema=d`);
      await expect(removeTables(opened).finally(() => opened.close())).rejects.toMatchObject(
        foreign,
      );
      expect((await client.query('SELECT number FROM d_indexer.mine')).rows).toEqual([
        { number: 1 },
      ]);
    } finally {
      await client.end();
    }
  });

  it('a URL replaces no setting', async () => {
    const options = '-c search_path=public -c default_transaction_read_only=off';
    const opened = await makeIn(
      `${url}?schema=e&options=${encodeURIComponent(`${options} -c geqo=off`)}&statement_timeout=60000`,
    );
    try {
      const names = ['search_path', 'default_transaction_read_only', 'statement_timeout', 'geqo'];
      const shown = names.map((name) => `current_setting('${name}') AS ${name}`).join(', ');
      expect((await opened.query(`SELECT ${shown}`)).rows).toEqual([
        {
          search_path: 'e_indexer',
          default_transaction_read_only: 'on',
          statement_timeout: '10s',
          geqo: 'off',
        },
      ]);
      expect((await readProgress(opened, false))!.chainId).toBe(4);
    } finally {
      await opened.close();
    }
  });

  it('statistics are those of the tables alone', async () => {
    const making = 'CREATE TABLE public.mine AS SELECT 1 AS number';
    await database.transaction([
      { text: making, parameters: [] },
      { text: ANALYZING, parameters: [] },
    ]);
    const { rows: analyzed } = await database.query(
      "SELECT schemaname FROM pg_stats WHERE schemaname IN ($1, 'public') GROUP BY schemaname",
      [database.schema],
    );
    expect(analyzed).toEqual([{ schemaname: database.schema }]);
  });

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
    const impatient = await PostgresDatabase.open(url, 50);
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
