/**
 * The feed of one node: pages of transactions in BCS and where its ledger stands (docs/spec/ledger.md §3.1,
 * docs/spec/http.md
 * §1.3, §3.1). Says nothing about whether what comes is true.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { FeedError, UpstreamStatusError } from './feed-error.ts';
import { type Answer, type GetLimits, HttpGetter } from './http-get.ts';
import { parseRetryAfter } from './retry-delay.ts';

/** Largest page taken, in bytes: a genesis with its writes twice is some 3 MB, a block's worst is less than this. */
export const MAX_PAGE_BYTES = 64 * 1024 * 1024;
/** Largest answer that is no page, in bytes. */
const MAX_INFO_BYTES = 64 * 1024;
/** Characters of an error's body that a message shows. */
const MAX_SHOWN = 300;

const BCS = 'application/x-bcs';
const JSON_TYPE = 'application/json';

/** Bounds of requests in time. */
export interface FeedTimeouts {
  /** Longest silence of the upstream, in milliseconds. */
  readonly silenceTimeoutMs: number;
  /** Longest time for a whole page, in milliseconds. */
  readonly totalTimeoutMs: number;
}

/** Where an upstream's ledger stands, as far as it says. */
export interface UpstreamState {
  readonly chainId: number | undefined;
  readonly ledgerVersion: bigint | undefined;
  readonly oldestVersion: bigint | undefined;
}

/** One page as it came. */
export interface RawPage extends UpstreamState {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Asks one node. */
export class FeedClient {
  readonly #base: URL;
  readonly #timeouts: FeedTimeouts;
  readonly #getter: HttpGetter;

  /**
   * @param base of the interface, see `interfaceBase`
   * @param maxConnections at once
   */
  constructor(base: URL, timeouts: FeedTimeouts, maxConnections: number) {
    this.#base = base;
    this.#timeouts = timeouts;
    this.#getter = new HttpGetter(maxConnections);
  }

  /**
   * A page of transactions.
   * @throws FeedError; `page_too_large` above `maxBytes`, `upstream_pruned` when the upstream does not keep `start`
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
      const message = `${url.href} answers with ${contentType} instead of ${BCS}: it is no feed`;
      throw new FeedError('upstream_not_a_feed', message);
    }
    return { ...state, bytes: answer.body };
  }

  /** Where the upstream's ledger stands. @throws FeedError */
  async state(signal: AbortSignal): Promise<Required<UpstreamState>> {
    const url = this.#url('');
    const answer = await this.#get(url, JSON_TYPE, MAX_INFO_BYTES, signal);
    const state = upstreamState(answer.headers);
    if (answer.status !== 200) throw statusError(url, answer, undefined, state);
    if (state.ledgerVersion === undefined) {
      const message = `${url.href} says nothing of a ledger: it is no interface of a node`;
      throw new FeedError('upstream_not_a_feed', message);
    }
    return state;
  }

  /** Cuts all connections. */
  close(): void {
    this.#getter.close();
  }

  #url(path: string): URL {
    const url = new URL(this.#base);
    url.pathname += path;
    return url;
  }

  #get(url: URL, accept: string, maxBytes: number, signal: AbortSignal): Promise<Answer> {
    const limits: GetLimits = { maxBytes, ...this.#timeouts };
    return this.#getter.get(url, accept, limits, signal);
  }
}

/** The ledger headers under whatever prefix the node has (docs/spec/http.md §3.1). */
function upstreamState(headers: IncomingHttpHeaders): UpstreamState {
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

function statusError(
  url: URL,
  answer: Answer,
  start: bigint | undefined,
  { ledgerVersion, oldestVersion }: UpstreamState,
): FeedError {
  const { status, headers, body } = answer;
  const facts = { url: url.href, status, says: shownText(body) };
  // Below its oldest version the reference answers 500 where others answer 410 (docs/spec/ledger.md §3.1).
  const isPruned = start !== undefined && oldestVersion !== undefined && start < oldestVersion;
  if (status === 410 || (status >= 400 && isPruned)) {
    const first = oldestVersion === undefined ? '' : `, its first version is ${oldestVersion}`;
    return new FeedError(
      'upstream_pruned',
      `${url.host} no longer keeps version ${start}${first}: follow a node that keeps more`,
    );
  }
  const retryAfterMs = parseRetryAfter(headers['retry-after'], Date.now());
  if (status === 429 || status === 503) {
    return new UpstreamStatusError('upstream_busy', facts, retryAfterMs);
  }
  if (status >= 500 || status === 408 || status === 425) {
    return new UpstreamStatusError('upstream_failed', facts, retryAfterMs);
  }
  // It stood higher a moment ago: it was restarted, or others answer behind the same name.
  const isBehind = start !== undefined && ledgerVersion !== undefined && ledgerVersion < start;
  if (status === 400 && isBehind) return new UpstreamStatusError('upstream_behind', facts);
  if (status === 404) return new UpstreamStatusError('upstream_not_a_feed', facts);
  return new UpstreamStatusError('upstream_refused', facts);
}

/** The beginning of a body as one line of plain text. */
function shownText(body: Uint8Array): string {
  const text = Buffer.from(body.subarray(0, MAX_SHOWN)).toString('utf8');
  return text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
}
