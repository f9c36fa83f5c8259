/**
 * The route table: every path of the interface with its handler, and refusals for requests that have no route.
 * Paths are matched as they were sent, segment by segment (docs/spec/http.md §1.7).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MaybePromise } from '../../maybe-promise.ts';
import { ApiError, frameworkError } from '../error-table.ts';
import type { WorkKind } from '../load/admission.ts';
import { prefersEvents } from '../negotiation.ts';
import { isWellEncoded, Query, splitTarget } from '../request-target.ts';

export interface Route {
  /** For metrics; empty if no operation of the interface answers. */
  readonly operationId: string;
  /** The kind of work that its requests count as under load; `none` is never refused. */
  readonly work: WorkKind | 'none';
  /** Whether it answers without waiting for the version that a request requires. */
  readonly ignoresVersion?: boolean;
  readonly refusal?: ApiError;
  /** Answers requests for server-sent events instead. */
  readonly stream?: Route | undefined;
  /** Writes the response. An error that it throws becomes the response. */
  answer(exchange: Exchange, body: Buffer): MaybePromise<void>;
}

interface Match {
  readonly route: Route;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Query;
}

export interface Exchange extends Match {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface RouteRow {
  /** Below the root, parameters in braces: `/v1/accounts/{address}`. Only a parameter in the middle may be empty. */
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly route: Route;
  /** The methods that get 405 here; other unknown ones get 404. Absent: all unknown methods get 405. */
  readonly refusedMethods?: readonly string[];
}

export function notFound(): ApiError {
  return frameworkError(404, 'not found');
}

function refuse(refusal: ApiError, facts: Pick<Route, 'work' | 'ignoresVersion'>): Route {
  const answer = (): never => {
    throw refusal;
  };
  return { operationId: '', answer, refusal, ...facts };
}

const IMMEDIATE = { work: 'read', ignoresVersion: true } as const;
const NOT_FOUND = refuse(notFound(), IMMEDIATE);
const BAD_ENCODING = refuse(frameworkError(400, 'invalid path params'), {
  ...IMMEDIATE,
  work: 'none',
});

/** Unlike the reference's refusal, this one names the allowed methods (RFC 9110 §15.5.6). */
function methodNotAllowed(rows: readonly RouteRow[]): Route {
  const methods = rows.map(({ method }) => (method === 'GET' ? 'GET, HEAD' : method));
  const allowedMethods = methods.sort().join(', ');
  const message = 'method not allowed';
  return refuse(new ApiError(405, 'web_framework_error', message, { allowedMethods }), IMMEDIATE);
}

function routeOf(method: string, path: string, rows: readonly RouteRow[]): Route {
  if (!isWellEncoded(path)) return BAD_ENCODING;
  for (const row of rows) {
    if (row.method === (method === 'HEAD' ? 'GET' : method)) return row.route;
  }
  const isRefused = rows.some((row) => row.refusedMethods?.includes(method) ?? true);
  return isRefused ? methodNotAllowed(rows) : NOT_FOUND;
}

/** A segment of a path, with the segments that may follow it. */
class Segment {
  readonly literals = new Map<string, Segment>();
  parameter: Segment | undefined;
  readonly rows: RouteRow[] = [];
  names: readonly string[] = [];
}

export class RouteTable {
  readonly #root = new Segment();
  readonly #preflight: Route;

  /** @param preflight answers an OPTIONS request with an origin, whatever its path */
  constructor(rows: readonly RouteRow[], preflight: Route) {
    this.#preflight = preflight;
    for (const row of rows) this.#add(row);
  }

  /** Finds the route of a request; the route is a refusal if there is none. */
  find(request: IncomingMessage, response: ServerResponse): Exchange {
    const { method, url, headers } = request;
    const found = this.match(method!, url!);
    const isPreflight = method === 'OPTIONS' && headers.origin !== undefined;
    const isStreamRequest = found.route.stream !== undefined && prefersEvents(headers.accept);
    const route = isStreamRequest ? found.route.stream! : found.route;
    const { path, query } = found;
    return { request, response, route: isPreflight ? this.#preflight : route, path, query };
  }

  /** Finds the route of a request target; the route is a refusal if there is none. */
  match(method: string, target: string): Match {
    const { path, query } = splitTarget(target);
    const texts: string[] = [];
    const end = findEnd(this.#root, path, texts);
    const route = routeOf(method, path, end?.rows ?? []);
    const names = end?.names ?? [];
    const parameters: Record<string, string> = {};
    for (let index = 0; index < names.length; index += 1) parameters[names[index]!] = texts[index]!;
    return { route, path: parameters, query: new Query(query) };
  }

  #add(row: RouteRow): void {
    const names: string[] = [];
    let segment = this.#root;
    for (const text of row.path.split('/').slice(1)) {
      if (text.startsWith('{')) {
        names.push(text.slice(1, -1));
        segment.parameter ??= new Segment();
        segment = segment.parameter;
      } else {
        const next = segment.literals.get(text) ?? new Segment();
        segment.literals.set(text, next);
        segment = next;
      }
    }
    segment.rows.push(row);
    segment.names = names;
  }
}

/**
 * The last segment of a path; `undefined` for an unknown path. A literal takes precedence over a parameter; the
 * interface's paths need no backtracking. Only a parameter in the middle may be empty.
 * @param texts collects the parameters
 */
function findEnd(root: Segment, path: string, texts: string[]): Segment | undefined {
  let segment = root;
  for (let start = 1; ; ) {
    const slash = path.indexOf('/', start);
    const piece = slash === -1 ? path.slice(start) : path.slice(start, slash);
    const literal = segment.literals.get(piece);
    if (literal === undefined) {
      if (segment.parameter === undefined) return undefined;
      if (piece === '' && slash === -1) return undefined;
      texts.push(piece);
    }
    segment = literal ?? segment.parameter!;
    if (slash === -1) return segment;
    start = slash + 1;
  }
}
