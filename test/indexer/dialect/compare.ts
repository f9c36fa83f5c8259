/** Random queries, compiled and executed, compared with a naive evaluation in memory. */
import { expect } from 'vitest';
import { CATALOGUE } from '../../../src/indexer/catalogue/index.ts';
import type { Database } from '../../../src/indexer/database/session.ts';
import { JsonNumber, type JsonValue, parseJson } from '../../../src/move/json/json-text.ts';
import { Random } from '../../random.ts';
import { askExactly } from './ask.ts';
import { AnyOrder, type Expected, Naive, Near } from './naive.ts';
import { isSameJson } from './naive-values.ts';
import { QueryWriter } from './query-text.ts';
import { RandomQuery } from './random-query.ts';
import type { Row, Rows } from './random-rows.ts';

/** Adds the rows of views, read from the database, because the views' own queries are not under test. */
async function withViews(database: Database, tables: Rows): Promise<Rows> {
  const all = new Map(tables);
  for (const { name, view } of CATALOGUE) {
    if (view !== undefined) {
      all.set(name, (await database.query(`SELECT * FROM ${name}`)).rows as Row[]);
    }
  }
  return all;
}

/** @param rows of the tables in the database */
export async function compareRandomQueries(
  database: Database,
  tables: Rows,
  seed: number,
  count: number,
): Promise<void> {
  const rows = await withViews(database, tables);
  let shownRows = 0;
  for (let round = 0; round < count; round += 1) {
    shownRows += await compareQuery(database, rows, new Random(seed + round));
  }
  // Conditions that match nothing would prove little.
  expect(shownRows).toBeGreaterThan(count);
}

/** @returns the number of rows in the query's lists */
async function compareQuery(database: Database, rows: Rows, random: Random): Promise<number> {
  const roots = new RandomQuery(random, rows).roots();
  const { query, variables } = new QueryWriter(random).write(roots);
  const text = `{"query":${JSON.stringify(query)},"variables":${variables}}`;
  const answer = (await askExactly(database, parseJson(Buffer.from(text)))) as JsonMembers;
  const data = answer.get('data') as JsonMembers | undefined;
  const naive = new Naive(rows);
  let shownRows = 0;
  for (const root of roots) {
    const [actual, expected] = [data?.get(root.key), naive.shown(root)];
    if (!isAsExpected(actual, expected)) {
      const show = (value: unknown): string => JSON.stringify(value, asPlain);
      const message = `seed ${random.seed}, ${root.key} of ${query}\n${variables}`;
      expect(show(actual ?? answer), message).toBe(show(expected));
      expect.fail(message);
    }
    const items = expected instanceof AnyOrder ? expected.items : expected;
    if (Array.isArray(items)) shownRows += items.length;
  }
  return shownRows;
}

type JsonMembers = ReadonlyMap<string, JsonValue>;

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

function asPlain(_: string, value: unknown): unknown {
  if (value instanceof JsonNumber) return value.text;
  return value instanceof Map ? Object.fromEntries(value) : value;
}
