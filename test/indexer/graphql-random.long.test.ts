/** Random queries, compiled and run, compared with what a naive evaluation in memory says. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CATALOGUE } from '../../src/indexer/catalogue/index.ts';
import type { Database } from '../../src/indexer/database/session.ts';
import { JsonNumber, type JsonValue, parseJson } from '../../src/move/json/json-text.ts';
import { Random, roundsOf, testSeed } from '../random.ts';
import { askExactly } from './dialect/ask.ts';
import { AnyOrder, type Expected, Naive, Near } from './dialect/naive.ts';
import { isSameJson } from './dialect/naive-values.ts';
import { QueryWriter } from './dialect/query-text.ts';
import { RandomQuery } from './dialect/random-query.ts';
import { openTables, type Row, type Rows, randomRows } from './dialect/random-rows.ts';

const QUERIES = roundsOf('GRAPHQL_QUERIES', 400, 10_000);

let database: Database;
let rows: Rows;

beforeAll(async () => {
  const tables = randomRows(new Random(testSeed('rows')));
  database = await openTables(tables);
  rows = await withViews(tables);
});
afterAll(() => database.close());

/** What views show is read from the database: their queries are not what is tested here. */
async function withViews(tables: Rows): Promise<Rows> {
  const all = new Map(tables);
  for (const { name, view } of CATALOGUE) {
    if (view !== undefined) {
      all.set(name, (await database.query(`SELECT * FROM ${name}`)).rows as Row[]);
    }
  }
  return all;
}

function isAsExpected(actual: JsonValue | undefined, expected: Expected): boolean {
  if (actual === undefined) return false;
  if (expected instanceof Near) {
    const { value } = expected;
    const shown = actual instanceof JsonNumber ? Number(actual.text) : Number.NaN;
    return Math.abs(shown - value) <= 1e-6 * Math.max(1, Math.abs(value), Math.abs(shown));
  }
  if (expected instanceof AnyOrder) {
    if (!Array.isArray(actual) || actual.length !== expected.items.length) return false;
    const left: JsonValue[] = [...actual];
    return expected.items.every((item) => {
      const place = left.findIndex((one) => isAsExpected(one, item));
      return place >= 0 && left.splice(place, 1).length === 1;
    });
  }
  if (expected instanceof Map) {
    const members = actual instanceof Map ? actual : new Map<string, JsonValue>();
    return (
      members.size === expected.size &&
      [...expected].every(([key, one]) => isAsExpected(members.get(key), one))
    );
  }
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((item: Expected, place) => isAsExpected(actual[place], item))
    );
  }
  if (expected instanceof JsonNumber) {
    return actual instanceof JsonNumber && actual.text === expected.text;
  }
  return isSameJson(actual, expected as JsonValue);
}

it(`${QUERIES} random queries`, async () => {
  const seed = testSeed('queries');
  let shownRows = 0;
  for (let round = 0; round < QUERIES; round += 1) {
    const random = new Random(seed + round);
    const roots = new RandomQuery(random, rows).roots();
    const { query, variables } = new QueryWriter(random).write(roots);
    const body = parseJson(
      Buffer.from(`{"query":${JSON.stringify(query)},"variables":${variables}}`),
    );
    const answer = (await askExactly(database, body)) as ReadonlyMap<string, JsonValue>;
    const data = answer.get('data') as ReadonlyMap<string, JsonValue> | undefined;
    const naive = new Naive(rows);
    for (const root of roots) {
      const expected = naive.shown(root);
      const isSame = isAsExpected(data?.get(root.key), expected);
      if (!isSame) {
        const show = (value: unknown) => JSON.stringify(value, asPlain);
        expect(show(data?.get(root.key) ?? answer), `${root.key} of ${query}\n${variables}`).toBe(
          show(expected),
        );
      }
      expect(isSame, `round ${round}`).toBe(true);
      const items = expected instanceof AnyOrder ? expected.items : expected;
      if (Array.isArray(items)) shownRows += items.length;
    }
  }
  // Conditions that nothing meets would show little.
  expect(shownRows).toBeGreaterThan(QUERIES);
});

function asPlain(_: string, value: unknown): unknown {
  if (value instanceof JsonNumber) return value.text;
  return value instanceof Map ? Object.fromEntries(value) : value;
}
