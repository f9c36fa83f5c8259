/** Builds the requests of this page, each in one place (docs/spec/http.md §1), and shows them as shell commands. */
import { chosenVersion, type Parameters, pathSegment } from '../route.ts';

/** A request, as the page sends it and as curl repeats it. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query, percent-encoded. */
  readonly path: string;
  /** JSON text; only with POST. */
  readonly body?: string;
  /** The response is binary and is shown as hex. */
  readonly isRaw?: boolean;
  /** The response is a stream of events. */
  readonly isStream?: boolean;
}

/** `path` with the query fields that have a value. */
export function withQuery(path: string, query: Parameters): string {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') fields.set(name, String(value));
  }
  return fields.size === 0 ? path : `${path}?${fields}`;
}

function get(path: string, query: Parameters = {}): ApiRequest {
  return { method: 'GET', path: withQuery(`/v1${path}`, query) };
}

function post(path: string, body: string, query: Parameters = {}): ApiRequest {
  return { method: 'POST', path: withQuery(`/v1${path}`, query), body };
}

/** A path below an account, at the time machine's version unless `query` has another one. */
function ofAccount(account: string, rest: string, query: Parameters = {}): ApiRequest {
  const path = `/accounts/${pathSegment(account)}${rest}`;
  return get(path, { ledger_version: chosenVersion(), ...query });
}

const CHANGES_AT_ONCE = 25;

export const NATIVE_COIN = '0x1::aptos_coin::AptosCoin';

export const HEADS_REQUEST: ApiRequest = { method: 'GET', path: '/v1/-/heads', isStream: true };

export const GAS_PRICE_REQUEST = get('/estimate_gas_price');

export function balanceRequest(account: string, asset: string, version = chosenVersion()) {
  const path = `/v1/accounts/${pathSegment(account)}/balance/${pathSegment(asset)}`;
  return { method: 'GET', path: withQuery(path, { ledger_version: version }) } as const;
}

/** A page of the changes of a balance, newest first. */
export function balanceHistoryRequest(account: string, asset: string, page: Parameters) {
  const path = `/accounts/${pathSegment(account)}/balance/${pathSegment(asset)}/history`;
  return get(path, { order: 'desc', limit: CHANGES_AT_ONCE, ...page });
}

/** A page of an event stream; the newest one without `start`. */
export function eventsRequest(account: string, stream: string, page: Parameters): ApiRequest {
  return get(`/accounts/${pathSegment(account)}/events/${pathSegment(stream)}`, page);
}

/** A page of module events of a type, from the oldest version without `start`. */
export function typedEventsRequest(type: string, start: string): ApiRequest {
  const page = { start, ledger_version: chosenVersion() };
  return get(`/events/by_type/${pathSegment(type)}`, page);
}

export function moduleRequest(account: string, name: string): ApiRequest {
  return ofAccount(account, `/module/${pathSegment(name)}`);
}

/** One resource; `''` is the latest version. */
export function resourceRequest(account: string, type: string, version = chosenVersion()) {
  return ofAccount(account, `/resource/${pathSegment(type)}`, { ledger_version: version });
}

/** Sequence number and authentication key. */
export function accountRequest(account: string): ApiRequest {
  return ofAccount(account, '');
}

/** A page of an account's resources, modules or balances. */
export function listingRequest(
  account: string,
  kind: 'resources' | 'modules' | 'balances',
  page: Parameters,
): ApiRequest {
  return ofAccount(account, `/${kind}`, page);
}

/** The newest transactions that an account has sent. */
export function summariesRequest(account: string, limit: number, end = chosenVersion()) {
  const path = `/accounts/${pathSegment(account)}/transaction_summaries`;
  return get(path, { end_version: end, limit });
}

/** Transactions in ascending order; the newest ones without `start`. */
export function transactionsRequest(page: Parameters): ApiRequest {
  return get('/transactions', page);
}

/** A transaction by its version (digits) or its hash. */
export function transactionRequest(id: string): ApiRequest {
  return get(`/transactions/${/^\d+$/.test(id) ? 'by_version' : 'by_hash'}/${pathSegment(id)}`);
}

/** The last version at a time in microseconds since 1970. */
export function versionAtRequest(usecs: bigint): ApiRequest {
  return get(`/versions/by_timestamp/${usecs}`);
}

/** Many reads in one request; an extension of this node (docs/extensions.md). */
export function batchRequest(reads: readonly ApiRequest[]): ApiRequest {
  return post('/batch', JSON.stringify({ requests: reads.map(({ path }) => ({ path })) }));
}

/** The call trace of a transaction (docs/traces.md). */
export function traceRequest(id: string): ApiRequest {
  return get(`/-/transactions/${pathSegment(id)}/trace`);
}

/** A block by its height, or the one that contains a version. */
export function blockRequest(
  number: string,
  by: 'height' | 'version' = 'height',
  query: Parameters = {},
): ApiRequest {
  return get(`/blocks/by_${by}/${pathSegment(number)}`, query);
}

/** The signing message of the request in `body` (JSON text, sent unchanged). */
export function encodeRequest(body: string): ApiRequest {
  return post('/transactions/encode_submission', body);
}

/** The request that a signing message encodes; an extension of this node (docs/extensions.md). */
export function decodeRequest(hex: string): ApiRequest {
  return post('/transactions/decode_submission', JSON.stringify(hex));
}

export function viewRequest(body: string, version = chosenVersion()): ApiRequest {
  return post('/view', body, { ledger_version: version });
}

/** The raw bytes of a table item, by the raw bytes of its key. */
export function rawItemRequest(handle: string, key: string, version: string): ApiRequest {
  const path = `/tables/${pathSegment(handle)}/raw_item`;
  return { ...post(path, JSON.stringify({ key }), { ledger_version: version }), isRaw: true };
}

/** A table item, by its key and types. */
export function itemRequest(handle: string, body: string, version: string): ApiRequest {
  return post(`/tables/${pathSegment(handle)}/item`, body, { ledger_version: version });
}

/** Control of a local network (docs/localnet.md). */
export function controlRequest(name: string, body: object = {}): ApiRequest {
  return post(`/-/${name}`, JSON.stringify(body));
}

/** A signed transaction. */
export function submitRequest(body: string): ApiRequest {
  return post('/transactions', body);
}

/** Responds when the transaction is committed, or after a timeout. */
export function waitRequest(hash: string): ApiRequest {
  return get(`/transactions/wait_by_hash/${pathSegment(hash)}`);
}

/** Quotes any text without NUL as one word for a POSIX shell. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * A `curl` command that sends the request to `origin`. `--globoff` stops curl from reading brackets in the URL as
 * patterns; `--data-raw` stops it from reading a body that begins with `@` as a file name.
 */
export function curlCommand({ path, body, isStream }: ApiRequest, origin: string): string {
  const words = ['curl', '--silent', '--show-error', '--globoff'];
  if (isStream) words.push('--no-buffer', '--header', shellWord('Accept: text/event-stream'));
  if (body !== undefined) {
    words.push('--header', shellWord('Content-Type: application/json'));
    words.push('--data-raw', shellWord(body));
  }
  const url = path.startsWith('/') ? origin + path : path;
  return [...words, shellWord(url)].join(' ');
}
