/** Random queries of the dialect in the embedded PostgreSQL. */
import { afterAll, beforeAll, it } from 'vitest';
import type { Database } from '../../src/indexer/database/session.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import { compareRandomQueries } from './dialect/compare.ts';
import { openTables, type Rows, randomRows } from './dialect/random-rows.ts';

const QUERIES = roundsOf('GRAPHQL_QUERIES', 400, 10_000);

let database: Database;
let rows: Rows;

beforeAll(async () => {
  rows = randomRows(new Random(testSeed('rows')));
  database = await openTables(rows);
});
afterAll(() => database.close());

it(`${QUERIES} random queries`, () =>
  compareRandomQueries(database, rows, testSeed('queries'), QUERIES));
