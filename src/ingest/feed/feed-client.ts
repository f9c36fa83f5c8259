/**
 * The feed of one node: pages of transactions in BCS, and the state of its ledger (docs/spec/ledger.md §3.1,
 * docs/spec/http.md §1.3, §3.1). Nothing of it is verified here.
 */
import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import { type Answer, type ExchangeLimits, exchange } from './exchange.ts';
import { FeedError, type FeedErrorCode } from './feed-error.ts';

/**
 * Maximum size of a page in bytes: a genesis with its writes twice has about 3 MB, the largest block less than this.
 */
export const MAX_PAGE_BYTES = 64 * 1024 * 1024;
/** Maximum size of other responses, in bytes. */
const MAX_INFO_BYTES = 64 * 1024;
/** Characters of an error's body that a message shows. */
const MAX_SHOWN = 300;

const BCS = 'application/x-bcs';
const JSON_TYPE = 'application/json';

/** Bounds of requests in time. */
export type FeedTimeouts = Omit<ExchangeLimits, 'maxBytes'>;

/** The state of an upstream's ledger, as far as its headers tell. */
export interface UpstreamState {
  readonly chainId: number | undefined;
  readonly ledgerVersion: bigint | undefined;
  readonly oldestVersion: bigint | undefined;
}

export interface RawPage extends UpstreamState {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * The wait that a `Retry-After` header asks for, in milliseconds: seconds, or a date (RFC 9110 §10.2.3); `undefined`
 * for anything else.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  // Only dates with month names are accepted: Date.parse takes numbers and much else for dates too.
  if (!/^[A-Z][a-z]{2,8}, /.test(text)) return undefined;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

/** Requests pages from one node. */
export class FeedClient {
  readonly #base: URL;
  readonly #timeouts: FeedTimeouts;
  readonly #agent: http.Agent;

  /** @param base of the interface, see `interfaceBase` of interface-url.ts */
  constructor(base: URL, timeouts: FeedTimeouts, maxConnections: number) {
    this.#base = base;
    this.#timeouts = timeouts;
    const { Agent } = base.protocol === 'https:' ? https : http;
    this.#agent = new Agent({ keepAlive: true, maxSockets: maxConnections });
  }

  /**
   * A page of transactions.
   * @throws FeedError; `page_too_large` above `maxBytes`, `upstream_pruned` when the upstream has pruned `start`
   */
  async page(
    start: bigint,
    limit: number,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<RawPage> {
    const url = this.#url('/transactions');
    url.searchParams.set('start', String(start));
    url.searchParams.set('limit', String(limit));
    const answer = await this.#get(url, BCS, maxBytes, signal);
    const state = upstreamState(answer.headers);
    if (answer.status !== 200) throw statusError(url, answer, start, state);
    const contentType = answer.headers['content-type'] ?? 'nothing';
    if (!contentType.startsWith(BCS)) {
      const message = `${url.href} answers with ${contentType} instead of ${BCS}: it is not a feed`;
      throw new FeedError('upstream_not_a_feed', message);
    }
    return { ...state, bytes: answer.body };
  }

  /** The state of the upstream's ledger. @throws FeedError */
  async state(signal: AbortSignal): Promise<UpstreamState> {
    const url = this.#url('');
    const answer = await this.#get(url, JSON_TYPE, MAX_INFO_BYTES, signal);
    const state = upstreamState(answer.headers);
    if (answer.status !== 200) throw statusError(url, answer, undefined, state);
    if (state.ledgerVersion === undefined) {
      const message = `${url.href} has no ledger headers: it is not the API of a node`;
      throw new FeedError('upstream_not_a_feed', message);
    }
    return state;
  }

  close(): void {
    this.#agent.destroy();
  }

  #url(path: string): URL {
    const url = new URL(this.#base);
    url.pathname += path;
    return url;
  }

  #get(url: URL, accept: string, maxBytes: number, signal: AbortSignal): Promise<Answer> {
    const headers = { accept, 'accept-encoding': 'identity' };
    const limits = { maxBytes, ...this.#timeouts };
    return exchange(url, this.#agent, { method: 'GET', headers }, limits, signal);
  }
}

/** Reads the ledger headers, whatever their prefix (docs/spec/http.md §3.1). */
export function upstreamState(headers: IncomingHttpHeaders): UpstreamState {
  const end = '-chain-id';
  const prefix = Object.keys(headers)
    .find((name) => name.startsWith('x-') && name.endsWith(end))
    ?.slice(0, -end.length);
  const number = (name: string): bigint | undefined => {
    const value = headers[`${prefix}-${name}`];
    return typeof value === 'string' && /^\d{1,20}$/.test(value) ? BigInt(value) : undefined;
  };
  const chainId = number('chain-id');
  return {
    chainId: chainId === undefined ? undefined : Number(chainId),
    ledgerVersion: number('ledger-version'),
    oldestVersion: number('ledger-oldest-version'),
  };
}

/** The error for an answer that is not 200. @param start the version that was asked for */
export function statusError(
  url: URL,
  answer: Answer,
  start?: bigint,
  { ledgerVersion, oldestVersion } = upstreamState(answer.headers),
): FeedError {
  const { status, headers, body } = answer;
  // Below its oldest version the reference answers 500 where others answer 410 (docs/spec/ledger.md §3.1).
  const isPruned = start !== undefined && oldestVersion !== undefined && start < oldestVersion;
  if (start !== undefined && (status === 410 || (status >= 400 && isPruned))) {
    const first = oldestVersion === undefined ? '' : `, its first version is ${oldestVersion}`;
    return new FeedError(
      'upstream_pruned',
      `${url.host} no longer has version ${start}${first}: follow a node that has pruned less`,
    );
  }
  const isBehind = start !== undefined && ledgerVersion !== undefined && ledgerVersion < start;
  const text = shownText(body);
  const message = `${url.href} answers ${status}${text === '' ? '' : `: ${text}`}`;
  const retryAfterMs = parseRetryAfter(headers['retry-after'], Date.now());
  return new FeedError(statusCode(status, isBehind), message, { retryAfterMs });
}

function statusCode(status: number, isBehind: boolean): FeedErrorCode {
  if (status === 429 || status === 503) return 'upstream_busy';
  if (status >= 500 || status === 408 || status === 425) return 'upstream_failed';
  // It was higher a moment ago: it was restarted, or several nodes answer behind one name.
  if (status === 400 && isBehind) return 'upstream_behind';
  return status === 404 ? 'upstream_not_a_feed' : 'upstream_refused';
}

/** The beginning of a body as one line of plain text. */
function shownText(body: Uint8Array): string {
  const text = Buffer.from(body.subarray(0, MAX_SHOWN)).toString('utf8');
  return text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
}
