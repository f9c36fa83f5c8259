/** Errors of a GraphQL request, in the shape of Hasura (docs/indexer.md, Errors). */

type GraphqlFailureCode =
  | 'validation-failed'
  | 'parse-failed'
  | 'invalid-json'
  | 'data-exception'
  | 'limit-exceeded'
  | 'not-supported'
  | 'unexpected';

export class GraphqlFailure extends Error {
  readonly code: GraphqlFailureCode;
  /** Position in the document, such as `$.selectionSet.events.args.where`. */
  readonly path: string;

  constructor(code: GraphqlFailureCode, message: string, path = '$') {
    super(message);
    this.name = 'GraphqlFailure';
    this.code = code;
    this.path = path;
  }

  /** The response body. The status is 200. */
  toText(): string {
    const { message, path, code } = this;
    return JSON.stringify({ errors: [{ message, extensions: { path, code } }] });
  }
}
