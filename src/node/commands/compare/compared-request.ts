/** Requests that two nodes are asked: from a file of lines of JSON, or drawn from a ledger. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { AnyEndpoint } from '../../../api/endpoints/endpoint.ts';
import {
  ENDPOINTS,
  ENDPOINTS_BY_ID,
  hasVersionParameter,
  targetAt,
} from '../../../api/http/endpoint-list.ts';
import { RouteTable } from '../../../api/http/routes.ts';
import { BASE_PATH } from '../../../api/request-target.ts';
import { NodeError, reasonOf } from '../../node-error.ts';

export interface ComparedRequest {
  readonly method: 'GET' | 'POST';
  /** With its query, from the version of the interface on: `/v1/accounts/0x1`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** A request with the operation that answers it; absent if no operation matches. */
export interface RoutedRequest extends ComparedRequest {
  readonly endpoint: AnyEndpoint | undefined;
}

/** Their answers never change: the path names a version or a hash. */
const FIXED: readonly string[] = [
  ...['get_transaction_by_version', 'get_transaction_by_hash', 'wait_transaction_by_hash'],
  ...['get_block_by_height', 'get_block_by_version', 'get_transactions_auxiliary_info'],
];
const OWN_HEADERS: readonly string[] = [
  ...['accept-encoding', 'connection', 'content-length', 'host', 'transfer-encoding'],
];

const NO_ROUTE = { operationId: '', work: 'none', answer: () => undefined } as const;
const routes = new RouteTable(
  ENDPOINTS.flatMap(({ method, path, operationId }) => {
    const paths = path === '/' ? [BASE_PATH, `${BASE_PATH}/`] : [BASE_PATH + path];
    return paths.map((one) => ({ method, path: one, route: { ...NO_ROUTE, operationId } }));
  }),
  NO_ROUTE,
);

/** Finds the operation, and names a version where the operation takes one and the path has none. */
export function routed(request: ComparedRequest, version: bigint): RoutedRequest {
  const { method, path } = request;
  const { route, query } = routes.match(method, path);
  const endpoint = ENDPOINTS_BY_ID.get(route.operationId);
  if (endpoint === undefined) return { ...request, endpoint };
  return { ...request, endpoint, path: targetAt(version, endpoint, path, query) };
}

export function readsNewestVersion({ endpoint }: RoutedRequest): boolean {
  if (endpoint === undefined) return false;
  return !hasVersionParameter(endpoint) && !FIXED.includes(endpoint.operationId);
}

/** Whether a request has to be left out because it would execute something. */
export function isExecution({ endpoint }: RoutedRequest): boolean {
  return endpoint?.isForwarded === true && endpoint.operationId !== 'view';
}

/** The requests of a file, one a line. @throws NodeError `file_not_readable`, `bad_input` */
export async function* requestsOf(file: string): AsyncGenerator<ComparedRequest> {
  const input = createReadStream(file);
  // Also when no read of a line is pending.
  const failed = new Promise<never>((_, reject) => {
    input.once('error', (cause) => {
      const message = `cannot read ${file}: ${reasonOf(cause)}`;
      reject(new NodeError('file_not_readable', message, { cause, exitCode: 2 }));
    });
  });
  failed.catch(() => undefined);
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[
    Symbol.asyncIterator
  ]();
  for (let number = 1; ; number += 1) {
    const { value: line, done } = await Promise.race([lines.next(), failed]);
    if (done === true) return;
    if (line.trim() !== '') yield requestOf(line, `${file}, line ${number}`);
  }
}

function requestOf(line: string, place: string): ComparedRequest {
  const bad = (why: string): NodeError =>
    new NodeError('bad_input', `${place}: ${why}`, { exitCode: 2 });
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw bad(reasonOf(cause));
  }
  if (typeof value !== 'object' || value === null) throw bad('not an object');
  const { path, method, headers = {}, body, body_hex: hex } = value as Record<string, unknown>;
  if (typeof path !== 'string' || !/^\/v1(?:[/?][!"$-~]*)?$/.test(path)) {
    throw bad('path must be a text that begins with /v1, of visible ASCII characters');
  }
  if (method !== undefined && method !== 'GET' && method !== 'POST') {
    throw bad('method must be GET or POST');
  }
  if (!isTexts(headers)) throw bad('headers must be an object of texts');
  if (body !== undefined && typeof body !== 'string') throw bad('body must be a text');
  if (hex !== undefined && (typeof hex !== 'string' || !/^(?:[0-9a-f]{2})*$/i.test(hex))) {
    throw bad('body_hex must be hex');
  }
  const bytes = hex === undefined ? body && Buffer.from(body) : Buffer.from(hex, 'hex');
  const sent = Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text] as const);
  return {
    method: method ?? (bytes === undefined ? 'GET' : 'POST'),
    path,
    headers: Object.fromEntries(sent.filter(([name]) => !OWN_HEADERS.includes(name))),
    ...(bytes !== undefined && bytes !== '' && { body: bytes }),
  };
}

function isTexts(value: unknown): value is Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((text) => typeof text === 'string' && /^[\t -~]*$/.test(text));
}
