/**
 * Waiting reads, an extension (docs/extensions.md). A request names the version it must see, and waits a bounded time
 * for a node that is behind. It waits after its route is known, before its body is received and before a view is
 * opened, so a waiting request costs a connection and little else. The number of waiting requests is bounded.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { LedgerReader } from '../../ledger/open.ts';
import { parseHeader, U64 } from '../endpoints/parameters.ts';
import { ApiError } from '../error-table.ts';
import { hasDisconnected } from '../load/request-client.ts';
import type { HeadWatch } from '../push/head-watch.ts';
import type { ApiSettings } from '../settings.ts';

export const MIN_VERSION_SUFFIX = 'MIN-LEDGER-VERSION';
/** When a client may retry, in seconds. */
const RETRY_AFTER_SECS = 1;

export class VersionWaiting {
  readonly #ledger: LedgerReader;
  readonly #heads: HeadWatch;
  readonly #settings: ApiSettings;
  readonly #headerName: string;
  #waiters = 0;

  constructor(ledger: LedgerReader, heads: HeadWatch, settings: ApiSettings) {
    this.#ledger = ledger;
    this.#heads = heads;
    this.#settings = settings;
    this.#headerName = `${settings.headerPrefix}-${MIN_VERSION_SUFFIX}`.toLowerCase();
  }

  /** The version that a request must see, as sent; `undefined` for most requests. */
  minVersionOf(headers: IncomingHttpHeaders): string | undefined {
    return headers[this.#headerName] as string | undefined;
  }

  /**
   * Resolves when the ledger has reached a version, or when the client has gone.
   * @throws ApiError 400 for a text that is not a version; 503 `version_not_found` if it is not reached in time, or
   *   if too many requests wait already; what the ledger throws
   */
  async waitFor(text: string, response: ServerResponse): Promise<void> {
    const version = parseHeader(this.#headerName, U64, text);
    let newest = (await this.#ledger.view()).state.version;
    if (newest >= version) return;
    const { minVersionWaitMs, maxVersionWaiters } = this.#settings;
    const timedOut = (): ApiError =>
      versionNotReached(version, `: the latest is ${newest}; try again later`);
    if (minVersionWaitMs === 0) throw timedOut();
    if (this.#waiters >= maxVersionWaiters)
      throw versionNotReached(version, ', and too many requests wait for versions');
    const deadlineMs = performance.now() + minVersionWaitMs;
    this.#waiters += 1;
    try {
      while (newest < version && !hasDisconnected(response.req)) {
        newest = (await this.#heads.next()).state.version;
        if (newest < version && performance.now() >= deadlineMs) throw timedOut();
      }
    } finally {
      this.#waiters -= 1;
    }
  }
}

function versionNotReached(version: bigint, reason: string): ApiError {
  const message = `Ledger version(${version}) has not been reached${reason}`;
  return new ApiError(503, 'version_not_found', message, { retryAfterSecs: RETRY_AFTER_SECS });
}
