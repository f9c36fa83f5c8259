import { GraphqlFailure } from './failure.ts';

/** What one request may ask for (docs/indexer.md, Limits). All are checked before a database is asked. */
export interface QueryLimits {
  /** Length of the text of a document, in UTF-16 code units. */
  readonly documentLength: number;
  /** Tokens of a document: names, numbers, strings, punctuation. */
  readonly tokens: number;
  /** Brackets within brackets in a document, and lists and objects within a variable. */
  readonly nesting: number;
  /** Fields within fields that have a selection; the public indexer has the same limit. */
  readonly depth: number;
  /** Fields of an operation, fragments spread; `__schema` and `__type` have a limit of their own. */
  readonly fields: number;
  /** Comparisons, relations and places in an order, of all fields. */
  readonly conditions: number;
  /** Rows that one field shows; the public indexer has the same limit. A greater `limit` means this one. */
  readonly rows: number;
  /** Rows of all fields, if every field had as many as its limit allows. */
  readonly totalRows: number;
  /** Values of all fields, if every field had as many rows as its limit allows; one of JSON counts as several. */
  readonly cells: number;
  /** Characters of a pattern. */
  readonly patternLength: number;
  /** Patterns of `_regex`, `_similar` and the like: PostgreSQL compiles each again for nearly every row. */
  readonly regularExpressions: number;
  /** Fields in the answer to `__schema` and `__type`. */
  readonly introspectedFields: number;
  /** What PostgreSQL estimates that the statement costs, in its unit: reading one page in sequence. */
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

/** What is used of one limit; `add` throws a GraphqlFailure when it is exceeded. */
export class Allowance {
  readonly #limit: number;
  readonly #what: string;
  #used = 0;

  /** @param what the plural of what is counted */
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
