/**
 * The indexer's GraphQL (docs/indexer.md), if the node has one. The page works without the answers that it does not
 * get.
 */

import { JsonNumber } from '../../../src/move/json/json-text.ts';
import { ApiFailure, send } from './api-client.ts';
import { type Asked, useAnswer } from './ask.tsx';
import { parseJson } from './exact-json.ts';
import type { ApiRequest } from './requests.ts';

const PORT = document.querySelector<HTMLMetaElement>('meta[name="indexer-port"]')?.content;

export const hasIndexer = PORT !== undefined;

/** Addresses in the indexer's tables have all digits. */
export function fullAddress(address: string): string {
  const [first = '', ...rest] = address.split('::');
  return [`0x${first.replace(/^0x/, '').padStart(64, '0')}`, ...rest].join('::');
}

/** The digits of a number, all of which the indexer writes. */
export function digitsOf(value: unknown): string {
  return value instanceof JsonNumber ? value.text : String(value);
}

/** Microseconds since 1970 of a timestamp, which is in UTC without a zone. */
export function usecsOf(timestamp: string): string {
  const [whole = '', fraction = ''] = timestamp.split('.');
  return String(BigInt(Date.parse(`${whole}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0')));
}

type Variables = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** A query's request; undefined without an indexer. */
export function indexerRequest(query: string, variables: Variables): ApiRequest | undefined {
  if (!hasIndexer) return undefined;
  const { protocol, hostname } = location;
  const body = JSON.stringify({ query: query.replaceAll(/\s+/g, ' '), variables });
  return { method: 'POST', path: `${protocol}//${hostname}:${PORT}/v1/graphql`, body };
}

interface GraphAnswer<T> {
  readonly data?: T;
  readonly errors?: readonly { readonly message: string }[];
}

/** The result of a query. @throws ApiFailure, also if the indexer refuses the query */
export async function readGraph<T>(request: ApiRequest, signal: AbortSignal): Promise<T> {
  const { data, errors } = parseJson<GraphAnswer<T>>((await send(request, signal)).text);
  if (data !== undefined) return data;
  const message = errors?.[0]?.message ?? 'the answer has no data';
  throw new ApiFailure(request, { status: 200, code: 'indexer_refused', message });
}

/** The same in a component. With `isMissing` the page has to do without the result. */
export function useGraph<T>(
  request: ApiRequest | undefined,
  refresh?: unknown,
): {
  readonly data?: T | undefined;
  readonly isMissing: boolean;
  readonly asked: Asked<GraphAnswer<T>>;
} {
  const asked = useAnswer<GraphAnswer<T>>(request, refresh);
  const { json, failure } = asked;
  const isRefused = json !== undefined && json.data === undefined;
  return {
    data: json?.data,
    isMissing: request === undefined || failure !== undefined || isRefused,
    asked,
  };
}
