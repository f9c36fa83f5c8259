/** The indexer's GraphQL (docs/indexer.md), where the node has one; what it does not answer, the page does without. */

import { JsonNumber } from '../../../src/move/json/json-text.ts';
import { ApiFailure, send } from './api-client.ts';
import { type Asked, useAnswer } from './ask.tsx';
import { parseJson } from './exact-json.ts';
import type { ApiRequest } from './requests.ts';

const PORT = document.querySelector<HTMLMetaElement>('meta[name="indexer-port"]')?.content;

export const hasIndexer = PORT !== undefined;

/** Addresses in its tables have all digits. */
export function fullAddress(address: string): string {
  const [first = '', ...rest] = address.split('::');
  return [`0x${first.replace(/^0x/, '').padStart(64, '0')}`, ...rest].join('::');
}

/** The digits of a number, which the indexer writes with all of them. */
export function digitsOf(value: unknown): string {
  return value instanceof JsonNumber ? value.text : String(value);
}

/** Microseconds since 1970 of a time, which is UTC without a zone. */
export function usecsOf(timestamp: string): string {
  const [whole = '', fraction = ''] = timestamp.split('.');
  return String(BigInt(Date.parse(`${whole}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0')));
}

type Variables = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** A query; undefined where there is no indexer. */
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

/** What a query found. @throws ApiFailure, also for what the indexer refuses */
export async function readGraph<T>(request: ApiRequest, signal: AbortSignal): Promise<T> {
  const { data, errors } = parseJson<GraphAnswer<T>>((await send(request, signal)).text);
  if (data !== undefined) return data;
  const message = errors?.[0]?.message ?? 'the answer has no data';
  throw new ApiFailure(request, { status: 200, code: 'indexer_refused', message });
}

/** The same in a component; `isMissing` where the page has to do without it. */
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
