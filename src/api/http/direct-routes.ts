/**
 * The short way to the endpoints. The framework's request and reply objects, its hooks and its router take about as
 * long as a whole read, and nearly all requests need nothing of them: a known method, a plain path, no header that
 * makes them wait. Those are matched here and go straight to `answerRequest`; all others take the way through the
 * framework, which gives the same answers (test/api/direct-routes.test.ts compares them).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnyEndpoint } from '../endpoints/endpoint.ts';
import { overloadError } from './overload.ts';
import {
  type ApiContext,
  answerRequest,
  NO_BODY,
  sendFailure,
  takeReading,
} from './registration.ts';
import { type ReceivingRoom, readBody } from './request-body.ts';
import { type RequestObserver, watchRequest } from './request-observer.ts';
import { BASE_PATH, Query } from './request-target.ts';
import type { VersionWaiting } from './version-waiting.ts';

const PREFIX = `${BASE_PATH}/`;

/** A place in the tree of paths; one level for each segment. */
interface PathNode {
  readonly literals: Map<string, PathNode>;
  parameter?: PathNode;
  endpoint?: AnyEndpoint;
  /** Of the endpoint's parameters in the path, in order. */
  names?: readonly string[];
}

/** What the short way needs of the interface. */
export interface DirectContext extends ApiContext {
  readonly waiting: VersionWaiting;
  readonly room: ReceivingRoom;
  readonly observers: readonly RequestObserver[];
}

/** An endpoint with the texts of its path's parameters. */
interface Match {
  readonly endpoint: AnyEndpoint;
  readonly path: Readonly<Record<string, string>>;
}

/** Answers plain requests. */
export class DirectRoutes {
  readonly #context: DirectContext;
  readonly #get = newNode();
  readonly #post = newNode();
  #isClosed = false;

  constructor(endpoints: readonly AnyEndpoint[], context: DirectContext) {
    this.#context = context;
    for (const endpoint of endpoints) {
      addPath(endpoint.method === 'GET' ? this.#get : this.#post, endpoint);
    }
  }

  /** From now on nothing is taken: the framework tells clients that their connection ends. */
  close(): void {
    this.#isClosed = true;
  }

  /** Takes a request on itself, or gives false and has not touched it. */
  take(request: IncomingMessage, response: ServerResponse): boolean {
    const { method } = request;
    const isGet = method === 'GET';
    if (this.#isClosed || !(isGet || method === 'POST')) return false;
    const url = request.url!;
    const mark = url.indexOf('?');
    const path = mark === -1 ? url : url.slice(0, mark);
    if (!path.startsWith(PREFIX) || url.includes('%') || url.includes('#')) return false;
    const { waiting, observers } = this.#context;
    if (waiting.askedBy(request.headers) !== undefined) return false;
    const match = findPath(isGet ? this.#get : this.#post, path);
    if (match === undefined) return false;
    if (observers.length > 0) {
      const { operationId } = match.endpoint;
      watchRequest(observers, request, response, () => operationId);
    }
    const query = new Query(mark === -1 ? '' : url.slice(mark + 1));
    if (isGet) {
      const { endpoint, path: values } = match;
      void answerRequest(endpoint, { path: values, query, body: NO_BODY, response }, this.#context);
    } else {
      this.#receive(match, query, response);
    }
    return true;
  }

  #receive({ endpoint, path }: Match, query: Query, response: ServerResponse): void {
    const { admission, responder, settings, room, ledger } = this.#context;
    if (!admission.admits('body')) {
      responder.sendRefusal(response, overloadError('body'));
      return;
    }
    readBody(response.req, settings, room).then(
      (body) => answerRequest(endpoint, { path, query, body, response }, this.#context),
      async (error) => sendFailure(response, error, await takeReading(ledger), this.#context),
    );
  }
}

function newNode(): PathNode {
  return { literals: new Map() };
}

function addPath(root: PathNode, endpoint: AnyEndpoint): void {
  const names: string[] = [];
  let node = root;
  for (const segment of endpoint.path.split('/').slice(1)) {
    if (segment.startsWith('{')) {
      names.push(segment.slice(1, -1));
      node.parameter ??= newNode();
      node = node.parameter;
    } else {
      const next = node.literals.get(segment) ?? newNode();
      node.literals.set(segment, next);
      node = next;
    }
  }
  node.endpoint = endpoint;
  node.names = names;
}

/** The endpoint for a path; undefined for an unknown one, and for one with an empty segment. */
function findPath(root: PathNode, path: string): Match | undefined {
  const texts: string[] = [];
  let node = root;
  let start = PREFIX.length;
  while (start <= path.length) {
    const slash = path.indexOf('/', start);
    const end = slash === -1 ? path.length : slash;
    if (end === start) return undefined;
    const segment = path.slice(start, end);
    let next = node.literals.get(segment);
    if (next === undefined) {
      next = node.parameter;
      if (next === undefined) return undefined;
      texts.push(segment);
    }
    node = next;
    start = end + 1;
  }
  const { endpoint, names } = node;
  if (endpoint === undefined || names === undefined) return undefined;
  const values: Record<string, string> = {};
  for (let index = 0; index < names.length; index += 1) values[names[index]!] = texts[index]!;
  return { endpoint, path: values };
}
