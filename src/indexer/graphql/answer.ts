/** Answers a GraphQL request with one SQL statement, which returns the text of the response. */
import {
  type JsonObject,
  JsonSyntaxError,
  type JsonValue,
  parseJson,
} from '../../move/json/json-text.ts';
import type { Database } from '../database/session.ts';
import { OperationCompiler } from './compile.ts';
import { readOperation } from './document.ts';
import { GraphqlFailure } from './failure.ts';
import { Introspection, isIntrospection } from './introspection.ts';
import { Allowance, checkLimit, QUERY_LIMITS, type QueryLimits } from './limits.ts';
import { Selector } from './selection.ts';
import { readVariables } from './variables.ts';

interface Statement {
  readonly text: string;
  readonly parameters: readonly string[];
}

/** A valid request. Its response consists of texts and of columns of the statement's only row. */
interface CompiledQuery {
  readonly statement: Statement | undefined;
  readonly members: readonly (readonly [key: string, value: string | number])[];
}

/**
 * The response body for a request body.
 * @param database waits until the tables have the newest version
 */
export async function answerBody(
  bytes: Buffer,
  database: () => Promise<Database>,
): Promise<string> {
  let body: JsonValue;
  try {
    body = parseJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return new GraphqlFailure('invalid-json', error.message).toText();
  }
  return await answerQuery(body, await database());
}

/**
 * @param body with the members `query`, `variables` and `operationName`
 * @returns the text of the JSON response, including errors that the request causes here or in PostgreSQL
 */
export async function answerQuery(
  body: JsonValue,
  database: Database,
  limits = QUERY_LIMITS,
): Promise<string> {
  try {
    const { statement, members } = compileQuery(body, limits);
    const row = statement === undefined ? {} : await runStatement(statement, database, limits);
    const texts = members.map(([key, value]) => {
      return `"${key}":${typeof value === 'number' ? row[`r${value}`] : value}`;
    });
    return `{"data":{${texts.join(',')}}}`;
  } catch (error) {
    if (error instanceof GraphqlFailure) return error.toText();
    throw error;
  }
}

/** @throws GraphqlFailure */
function compileQuery(body: JsonValue, limits = QUERY_LIMITS): CompiledQuery {
  const request = readRequest(body);
  const operation = readOperation(request.query, request.operationName, limits);
  const variables = readVariables(operation, request.variables, limits.nesting);
  const fields = new Allowance(limits.fields, 'fields');
  const selector = new Selector(operation, variables, fields);
  const introspection = new Introspection(
    new Selector(operation, variables, new Allowance(limits.introspectedFields, 'fields')),
  );
  const compiler = new OperationCompiler(selector, limits);
  const members = selector.fields([operation.definition.selectionSet], '$').map((field) => {
    if (field.name === '__typename') return [field.key, '"query_root"'] as const;
    if (isIntrospection(field)) return [field.key, introspection.rootText(field)] as const;
    return [field.key, compiler.addRootField(field)] as const;
  });
  return { statement: compiler.statement(), members };
}

interface GraphqlRequest {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: JsonObject;
}

function readRequest(body: JsonValue): GraphqlRequest {
  const members = body instanceof Map ? (body as JsonObject) : new Map<string, JsonValue>();
  const query = members.get('query');
  const operationName = members.get('operationName') ?? undefined;
  const variables = members.get('variables') ?? new Map<string, JsonValue>();
  if (typeof query !== 'string') {
    throw new GraphqlFailure('parse-failed', "the body needs a text with the key 'query'");
  }
  if (operationName !== undefined && typeof operationName !== 'string') {
    throw new GraphqlFailure('parse-failed', 'operationName is not a text', '$.operationName');
  }
  if (!(variables instanceof Map)) {
    throw new GraphqlFailure('parse-failed', 'variables is not an object', '$.variables');
  }
  return { query, operationName, variables };
}

async function runStatement(
  { text, parameters }: Statement,
  database: Database,
  limits: QueryLimits,
): Promise<Readonly<Record<string, string | null>>> {
  try {
    if (!database.stopsSlowQueries) await checkCost({ text, parameters }, database, limits);
    const { rows } = await database.query(text, parameters);
    return rows[0]!;
  } catch (error) {
    throw failureOf(error);
  }
}

/** An embedded PostgreSQL cannot stop a statement, so one that would take long is not started. */
async function checkCost(
  { text, parameters }: Statement,
  database: Database,
  limits: QueryLimits,
): Promise<void> {
  const { rows } = await database.query(`EXPLAIN (FORMAT JSON) ${text}`, parameters);
  const [{ Plan }] = JSON.parse(rows[0]!['QUERY PLAN']!) as [{ Plan: PlanNode }];
  checkLimit(costOf(Plan), limits.cost, 'units of estimated cost');
}

/** PostgreSQL's EXPLAIN output for a step and the steps below it. */
interface PlanNode {
  readonly 'Total Cost': number;
  readonly Plans?: readonly PlanNode[];
}

/** Cost of the costliest step. A `LIMIT` above it makes it seem cheap, but may never be reached. */
function costOf({ 'Total Cost': cost, Plans }: PlanNode): number {
  return Math.max(cost, ...(Plans ?? []).map(costOf));
}

/**
 * Converts errors of PostgreSQL by their class (SQLSTATE). Clients do not see errors that the request did not cause.
 */
function failureOf(error: unknown): unknown {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (error instanceof GraphqlFailure || typeof code !== 'string') return error;
  if (code.startsWith('22')) return new GraphqlFailure('data-exception', String(message));
  if (code === '57014') {
    return new GraphqlFailure('limit-exceeded', 'operation exceeded time limit');
  }
  if (code.startsWith('53') || code.startsWith('54')) {
    return new GraphqlFailure('limit-exceeded', 'operation exceeded the limits of the database');
  }
  return error;
}
