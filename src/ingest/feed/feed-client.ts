/**
 * The feed of one node: pages of transactions in BCS, and the state of its ledger (docs/spec/ledger.md §3.1,
 * docs/spec/http.md §1.3, §3.1). Nothing is verified here.
 */
import {
  type Answer,
  BCS_TYPE,
  excerptOf,
  JSON_TYPE,
  type LedgerState,
  ledgerState,
} from '../../remote/answer.ts';
import { RemoteError, type RemoteErrorCode } from '../../remote/remote-error.ts';
import { RemoteServer, type Timeouts } from '../../remote/remote-server.ts';
import { parseRetryAfter } from '../../remote/retry.ts';

/**
 * Maximum bytes of a page. A genesis, which contains its writes twice, has about 3 MB; the largest block has less than
 * this limit.
 */
export const MAX_PAGE_BYTES = 64 * 1024 * 1024;
const MAX_INFO_BYTES = 64 * 1024;
const TIMEOUTS: Timeouts = { silenceTimeoutMs: 15_000, totalTimeoutMs: 120_000 };

export interface RawPage extends LedgerState {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export class FeedClient {
  readonly #server: RemoteServer;
  readonly #timeouts: Timeouts;

  /** @param base see `interfaceBase` */
  constructor(base: URL, maxConnections: number, timeouts = TIMEOUTS) {
    this.#server = new RemoteServer(base, maxConnections);
    this.#timeouts = timeouts;
  }

  /**
   * A page of transactions.
   * @throws RemoteError; `page_too_large` above `maxBytes`, `upstream_pruned` when the upstream has pruned `start`
   */
  async page(
    start: bigint,
    limit: number,
    maxBytes: number,
    signal?: AbortSignal,
  ): Promise<RawPage> {
    // Nodes other than Daybook ignore `feed` and return fewer transactions.
    const query = { start: String(start), limit: String(limit), feed: 'true' };
    const url = this.#server.url('/transactions', query);
    const headers = { accept: BCS_TYPE };
    const bounds = { maxBytes, ...this.#timeouts };
    const answer = await this.#server.send({ url, headers, signal }, bounds);
    if (answer.status !== 200) throw pageRefusal(url, answer, start);
    const contentType = answer.headers['content-type'] ?? 'nothing';
    if (!contentType.startsWith(BCS_TYPE)) {
      const message = `${url.href} answers with ${contentType} instead of ${BCS_TYPE}: it is not a feed`;
      throw new RemoteError('upstream_not_a_feed', message);
    }
    return { ...ledgerState(answer.headers), bytes: answer.body };
  }

  /** The state of the upstream's ledger. @throws RemoteError */
  async state(signal?: AbortSignal): Promise<LedgerState> {
    const url = this.#server.base;
    const headers = { accept: JSON_TYPE };
    const bounds = { maxBytes: MAX_INFO_BYTES, ...this.#timeouts };
    const answer = await this.#server.send({ url, headers, signal }, bounds);
    if (answer.status !== 200) throw refusalOf(url, answer);
    const state = ledgerState(answer.headers);
    if (state.ledgerVersion === undefined) {
      const message = `${url.href} has no ledger headers: it is not the API of a node`;
      throw new RemoteError('upstream_not_a_feed', message);
    }
    return state;
  }

  close(): void {
    this.#server.close();
  }
}

function pageRefusal(url: URL, answer: Answer, start: bigint): RemoteError {
  const { status } = answer;
  const { ledgerVersion, oldestVersion } = ledgerState(answer.headers);
  // Below its oldest version the reference returns 500 where others return 410 (docs/spec/ledger.md §3.1).
  if (status === 410 || (status >= 400 && oldestVersion !== undefined && start < oldestVersion)) {
    const first = oldestVersion === undefined ? '' : `, its first version is ${oldestVersion}`;
    const message = `${url.host} no longer has version ${start}${first}: follow a node that has pruned less`;
    return new RemoteError('upstream_pruned', message);
  }
  const refusal = refusalOf(url, answer);
  // The version was higher a moment ago: the node was restarted, or several nodes share one name.
  const isBehind = status === 400 && ledgerVersion !== undefined && ledgerVersion < start;
  return isBehind ? new RemoteError('upstream_behind', refusal.message) : refusal;
}

function refusalOf(url: URL, { status, headers, body }: Answer): RemoteError {
  const text = excerptOf(body);
  const message = `${url.href} answers ${status}${text === '' ? '' : `: ${text}`}`;
  const retryAfterMs = parseRetryAfter(headers['retry-after']);
  return new RemoteError(codeOf(status), message, { retryAfterMs });
}

function codeOf(status: number): RemoteErrorCode {
  if (status === 429 || status === 503) return 'upstream_busy';
  if (status >= 500 || status === 408 || status === 425) return 'upstream_failed';
  return status === 404 ? 'upstream_not_a_feed' : 'upstream_refused';
}
