import { GraphqlFailure } from './failure.ts';

/** Limits of one request (docs/indexer.md, Limits). All are checked before its statement is run. */
export interface QueryLimits {
  /** Length of the text of a document, in UTF-16 code units. */
  readonly documentLength: number;
  /** Tokens of a document: names, numbers, strings, punctuation. */
  readonly tokens: number;
  /** Nested brackets in a document, and nested lists and objects in a variable. */
  readonly nesting: number;
  /** Nested fields that have a selection. The public indexer has the same limit. */
  readonly depth: number;
  /** Fields of an operation with its fragments spread. `__schema` and `__type` have a limit of their own. */
  readonly fields: number;
  /** Comparisons, relations and items of `order_by`, of all fields. */
  readonly conditions: number;
  /** Rows that one field shows. The public indexer has the same limit. A greater `limit` is reduced to it. */
  readonly rows: number;
  /** Rows of all fields, if every field had as many as its limit allows. */
  readonly totalRows: number;
  /** Values of all fields, if every field had as many rows as its limit allows. A JSON value counts as several. */
  readonly cells: number;
  /** Characters of a pattern. */
  readonly patternLength: number;
  /** Patterns of `_regex`, `_similar` and the like: PostgreSQL compiles each again for nearly every row. */
  readonly regularExpressions: number;
  /** Fields in the response to `__schema` and `__type`. */
  readonly introspectedFields: number;
  /**
   * PostgreSQL's estimate of the statement's cost, in units of one sequential page read. It is only checked if the
   * database cannot stop slow queries.
   */
  readonly cost: number;
}

export const QUERY_LIMITS: QueryLimits = {
  documentLength: 64 * 1024,
  tokens: 10_000,
  nesting: 64,
  depth: 5,
  fields: 1_000,
  conditions: 1_000,
  rows: 100,
  totalRows: 100_000,
  cells: 500_000,
  patternLength: 1_000,
  regularExpressions: 16,
  introspectedFields: 50_000,
  cost: 1_000_000,
};

/** The used part of one limit. `add` throws a GraphqlFailure if the limit is exceeded. */
export class Allowance {
  readonly #limit: number;
  readonly #what: string;
  #used = 0;

  /** @param what name of the counted items, in the plural */
  constructor(limit: number, what: string) {
    this.#limit = limit;
    this.#what = what;
  }

  add(count: number, path: string): void {
    this.#used += count;
    if (this.#used > this.#limit) {
      const message = `the query exceeds the limit of ${this.#limit} ${this.#what}`;
      throw new GraphqlFailure('limit-exceeded', message, path);
    }
  }
}

export function checkLimit(used: number, limit: number, what: string, path = '$'): void {
  new Allowance(limit, what).add(used, path);
}
