import type { Database } from '../../../src/indexer/database/session.ts';
import { answerQuery } from '../../../src/indexer/graphql/answer.ts';
import { QUERY_LIMITS, type QueryLimits } from '../../../src/indexer/graphql/limits.ts';
import { type JsonValue, parseJson } from '../../../src/move/json/json-text.ts';

/** A request body as its client sends it. */
export function bodyOf(
  query: string,
  variables?: Readonly<Record<string, unknown>>,
  operationName?: string,
): JsonValue {
  return parseJson(Buffer.from(JSON.stringify({ query, variables, operationName })));
}

/** The response, parsed by JSON.parse. */
export async function ask(
  database: Database,
  query: string,
  variables?: Readonly<Record<string, unknown>>,
  limits?: QueryLimits,
  // biome-ignore lint/suspicious/noExplicitAny: an answer has any shape
): Promise<any> {
  return JSON.parse(await answerQuery(bodyOf(query, variables), database, limits));
}

/**
 * Tables of the tests have no statistics, so cost estimates are wrong. One in some thousand random queries exceeds the
 * limit of regular expressions.
 */
const AT_ANY_COST = {
  ...QUERY_LIMITS,
  cost: Number.POSITIVE_INFINITY,
  regularExpressions: Number.POSITIVE_INFINITY,
};

/** The response with exact numbers. */
export async function askExactly(database: Database, body: JsonValue): Promise<JsonValue> {
  return parseJson(Buffer.from(await answerQuery(body, database, AT_ANY_COST)));
}
