/** The requests this page makes, each built in one place (docs/spec/http.md §1). */
import { type ApiRequest, pathSegment, withQuery } from './api-request.ts';

/** GET /v1: the ledger's state. */
export const LEDGER_STATE_REQUEST: ApiRequest = { method: 'GET', path: '/v1' };

/** The balance of an account, at the latest version when none is given. */
export function balanceRequest(account: string, asset: string, version?: string): ApiRequest {
  const path = `/v1/accounts/${pathSegment(account)}/balance/${pathSegment(asset)}`;
  return { method: 'GET', path: withQuery(path, { ledger_version: version }) };
}

/** A page of an event stream; without `start` the newest. */
export function eventsRequest(
  account: string,
  creationNumber: string,
  page: { readonly start?: bigint; readonly limit: number },
): ApiRequest {
  const path = `/v1/accounts/${pathSegment(account)}/events/${pathSegment(creationNumber)}`;
  return { method: 'GET', path: withQuery(path, { start: page.start, limit: page.limit }) };
}

/** A module with its ABI, at the latest version when none is given. */
export function moduleRequest(account: string, name: string, version?: string): ApiRequest {
  const path = `/v1/accounts/${pathSegment(account)}/module/${pathSegment(name)}`;
  return { method: 'GET', path: withQuery(path, { ledger_version: version }) };
}

/** The bytes to sign for the request in `body` (JSON text, sent as it is). */
export function encodeRequest(body: string): ApiRequest {
  return { method: 'POST', path: '/v1/transactions/encode_submission', body };
}

/** The request that a signing message encodes; an extension of this node (docs/extensions.md). */
export function decodeRequest(hex: string): ApiRequest {
  return {
    method: 'POST',
    path: '/v1/transactions/decode_submission',
    body: JSON.stringify(hex),
  };
}

/** One resource. */
export function resourceRequest(account: string, type: string, version?: string): ApiRequest {
  const path = `/v1/accounts/${pathSegment(account)}/resource/${pathSegment(type)}`;
  return { method: 'GET', path: withQuery(path, { ledger_version: version }) };
}
