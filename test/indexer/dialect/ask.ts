import type { Database } from '../../../src/indexer/database/session.ts';
import { answerQuery } from '../../../src/indexer/graphql/answer.ts';
import type { QueryLimits } from '../../../src/indexer/graphql/limits.ts';
import { type JsonValue, parseJson } from '../../../src/move/json/json-text.ts';
import { formatJson } from '../../../src/move/json/json-text-print.ts';

/** A request as its client sends it. */
export function bodyOf(
  query: string,
  variables?: Readonly<Record<string, unknown>>,
  operationName?: string,
): JsonValue {
  return parseJson(Buffer.from(JSON.stringify({ query, variables, operationName })));
}

/** The answer as JSON.parse reads it. */
export async function ask(
  database: Database,
  query: string,
  variables?: Readonly<Record<string, unknown>>,
  limits?: QueryLimits,
  // biome-ignore lint/suspicious/noExplicitAny: an answer has any shape
): Promise<any> {
  return JSON.parse(await answerQuery(bodyOf(query, variables), database, limits));
}

/** The answer with its numbers as they are written. */
export async function askExactly(database: Database, body: JsonValue): Promise<JsonValue> {
  return parseJson(Buffer.from(await answerQuery(body, database)));
}

export { formatJson };
