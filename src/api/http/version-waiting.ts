/**
 * Waiting reads, an extension (docs/extensions.md): a request names the version it must see, and waits a bounded time
 * for a node that is behind. It waits after its route is known, before its body is received and before a view is
 * opened, so that a waiting request costs a connection and little else; how many may wait is bounded.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { LedgerReader } from '../../ledger/open.ts';
import { MoveError } from '../../move/errors.ts';
import { U64 } from '../endpoints/parameters.ts';
import type { ApiSettings } from '../settings.ts';
import { ApiError, frameworkError } from './error-table.ts';

/** The header's name after the prefix. */
export const MIN_VERSION_SUFFIX = 'MIN-LEDGER-VERSION';
/** How often the ledger is looked at while requests wait, in milliseconds. */
const POLL_INTERVAL_MS = 10;
/** After how many seconds a client may ask again. */
const RETRY_AFTER_SECS = 1;

/** The requests of one process that wait for versions. */
export class VersionWaiting {
  readonly #ledger: LedgerReader;
  readonly #settings: ApiSettings;
  readonly #headerName: string;
  #waiters = 0;
  /** The newest version at the next look; shared by all who wait. */
  #nextLook: Promise<bigint> | undefined;

  constructor(ledger: LedgerReader, settings: ApiSettings) {
    this.#ledger = ledger;
    this.#settings = settings;
    this.#headerName = `${settings.headerPrefix}-${MIN_VERSION_SUFFIX}`.toLowerCase();
  }

  /** The version that a request must see, as it is written; `undefined` for most requests. */
  minVersionOf(headers: IncomingHttpHeaders): string | undefined {
    return headers[this.#headerName] as string | undefined;
  }

  /**
   * Resolves when the ledger shows a version, or when the client has gone.
   * @throws ApiError 400 for a text that is not a version; 503 `version_not_found` when it has not come in time, or
   *   when too many wait already; what the ledger throws
   */
  async waitFor(text: string, response: ServerResponse): Promise<void> {
    const version = this.#parse(text);
    let newest = await this.#newestVersion();
    if (newest >= version) return;
    const { minVersionWaitMs, maxVersionWaiters } = this.#settings;
    const tooSlow = (): ApiError =>
      notReached(version, `: the latest is ${newest}; try again later`);
    if (minVersionWaitMs === 0) throw tooSlow();
    if (this.#waiters >= maxVersionWaiters)
      throw notReached(version, ', and too many requests wait for versions');
    const deadlineMs = performance.now() + minVersionWaitMs;
    this.#waiters += 1;
    try {
      while (newest < version && !response.destroyed) {
        newest = await this.#look();
        if (newest < version && performance.now() >= deadlineMs) throw tooSlow();
      }
    } finally {
      this.#waiters -= 1;
    }
  }

  async #newestVersion(): Promise<bigint> {
    const { state } = await this.#ledger.view();
    return state.version;
  }

  #look(): Promise<bigint> {
    this.#nextLook ??= delay(POLL_INTERVAL_MS).then(() => {
      this.#nextLook = undefined;
      return this.#newestVersion();
    });
    return this.#nextLook;
  }

  #parse(text: string): bigint {
    try {
      return U64.parse(text);
    } catch (cause) {
      if (!(cause instanceof MoveError)) throw cause;
      const name = this.#headerName;
      const message =
        `failed to parse header \`${name}\`: ` + `failed to parse "${U64.name}": ${cause.message}`;
      throw frameworkError(400, message, { cause });
    }
  }
}

function notReached(version: bigint, reason: string): ApiError {
  const message = `Ledger version(${version}) has not been reached${reason}`;
  return new ApiError(503, 'version_not_found', message, { retryAfterSecs: RETRY_AFTER_SECS });
}
