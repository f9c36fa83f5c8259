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

const get = (path: string, query: Parameters<typeof withQuery>[1] = {}): ApiRequest => ({
  method: 'GET',
  path: withQuery(path, query),
});

/** Transactions in ascending order; without `start` the newest. */
export function transactionsRequest(page: { start?: bigint; limit: number }): ApiRequest {
  return get('/v1/transactions', page);
}

/** A transaction by its version (digits) or its hash. */
export function transactionRequest(id: string): ApiRequest {
  const kind = /^\d+$/.test(id) ? 'by_version' : 'by_hash';
  return get(`/v1/transactions/${kind}/${pathSegment(id)}`);
}

/** A block by its height. */
export function blockRequest(height: string, withTransactions = false): ApiRequest {
  const path = `/v1/blocks/by_height/${pathSegment(height)}`;
  return get(path, { with_transactions: withTransactions ? 'true' : undefined });
}

/** The block that contains a version. */
export function blockOfRequest(version: string): ApiRequest {
  return get(`/v1/blocks/by_version/${pathSegment(version)}`);
}

/** Sequence number and authentication key. */
export function accountRequest(account: string, version?: string): ApiRequest {
  return get(`/v1/accounts/${pathSegment(account)}`, { ledger_version: version });
}

/** A page of an account's resources or modules. */
export function listingRequest(
  account: string,
  kind: 'resources' | 'modules',
  page: { start?: string | undefined; limit: number; version: string | undefined },
): ApiRequest {
  const { start, limit, version } = page;
  const path = `/v1/accounts/${pathSegment(account)}/${kind}`;
  return get(path, { start, limit, ledger_version: version });
}

/** The newest of what an account has sent, up to a version. */
export function summariesRequest(account: string, limit: number, version?: string): ApiRequest {
  const path = `/v1/accounts/${pathSegment(account)}/transaction_summaries`;
  return get(path, { end_version: version, limit });
}

/** Calls a view function. */
export function viewRequest(body: string, version?: string): ApiRequest {
  return { method: 'POST', path: withQuery('/v1/view', { ledger_version: version }), body };
}
