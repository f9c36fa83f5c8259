/**
 * Waiting reads, an extension (docs/extensions.md): a request names the version it must see, and
 * waits a bounded time for a node that is behind. It waits before its body is received and before
 * the ledger is read, so that a waiting request costs a connection and little else; how many may
 * wait is bounded.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { LedgerReader } from '../../ledger/api-contract.ts';
import { MoveError } from '../../move/errors.ts';
import { U64 } from '../endpoints/parameters.ts';
import type { ApiSettings } from '../settings.ts';
import { ApiError, FrameworkError } from './error-table.ts';

/** What the header's name is made of, after the prefix. */
export const MIN_VERSION_SUFFIX = 'MIN-LEDGER-VERSION';
/** How often the ledger is looked at while somebody waits, in milliseconds. */
const POLL_INTERVAL_MS = 10;
/** After how many seconds a client may ask again. */
const RETRY_AFTER_SECS = 1;

/** The bounds of waiting. */
export type WaitingSettings = Pick<
  ApiSettings,
  'headerPrefix' | 'minVersionWaitMs' | 'maxVersionWaiters'
>;

interface Waiter {
  readonly version: bigint;
  readonly deadlineMs: number;
  readonly settle: (error?: unknown) => void;
}

/** The requests of one process that wait for versions. */
export class VersionWaiting {
  readonly #ledger: LedgerReader;
  readonly #settings: WaitingSettings;
  readonly #headerName: string;
  readonly #waiters = new Set<Waiter>();
  #timer: NodeJS.Timeout | undefined;

  constructor(ledger: LedgerReader, settings: WaitingSettings) {
    this.#ledger = ledger;
    this.#settings = settings;
    this.#headerName = `${settings.headerPrefix}-${MIN_VERSION_SUFFIX}`.toLowerCase();
  }

  /** Requests that wait now. */
  get size(): number {
    return this.#waiters.size;
  }

  /** The version that a request must see, as it is written; `undefined` for most requests. */
  askedBy(headers: IncomingHttpHeaders): string | undefined {
    return headers[this.#headerName] as string | undefined;
  }

  /**
   * Resolves when the ledger shows a version, or when the client has gone.
   * @throws FrameworkError 400 for a text that is no version; ApiError 503 `version_not_found` when
   *   it has not come in time, or when too many wait already; what the ledger throws
   */
  async waitFor(text: string, response: ServerResponse): Promise<void> {
    const version = this.#parse(text);
    const { state } = await this.#ledger.view();
    if (state.version >= version) return;
    const { minVersionWaitMs, maxVersionWaiters } = this.#settings;
    if (minVersionWaitMs === 0) throw notReached(version, state.version);
    if (this.#waiters.size >= maxVersionWaiters) throw tooMany(version);
    await new Promise<void>((resolve, reject) => {
      const deadlineMs = performance.now() + minVersionWaitMs;
      const settle = (error?: unknown): void => {
        this.#waiters.delete(waiter);
        response.off('close', onClose);
        if (error === undefined) resolve();
        else reject(error);
      };
      const waiter: Waiter = { version, deadlineMs, settle };
      // Without an error: nobody is left to be told.
      const onClose = (): void => settle();
      response.once('close', onClose);
      this.#waiters.add(waiter);
      this.#pollSoon();
    });
  }

  #parse(text: string): bigint {
    try {
      return U64.parse(text);
    } catch (cause) {
      if (!(cause instanceof MoveError)) throw cause;
      const name = this.#headerName;
      const message =
        `failed to parse header \`${name}\`: ` + `failed to parse "${U64.name}": ${cause.message}`;
      throw new FrameworkError(400, message, { cause });
    }
  }

  #pollSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#poll();
    }, POLL_INTERVAL_MS);
  }

  /** One look at the ledger for all who wait. */
  async #poll(): Promise<void> {
    try {
      const { state } = await this.#ledger.view();
      const nowMs = performance.now();
      for (const waiter of this.#waiters) {
        if (state.version >= waiter.version) waiter.settle();
        else if (nowMs >= waiter.deadlineMs) {
          waiter.settle(notReached(waiter.version, state.version));
        }
      }
    } catch (error) {
      for (const waiter of this.#waiters) waiter.settle(error);
    }
    if (this.#waiters.size > 0) this.#pollSoon();
  }
}

function notReached(version: bigint, newest: bigint): ApiError {
  return refusal(
    `Ledger version(${version}) has not been reached: the latest is ${newest}; try again later`,
  );
}

function tooMany(version: bigint): ApiError {
  return refusal(
    `Ledger version(${version}) has not been reached, and too many requests wait for versions`,
  );
}

function refusal(message: string): ApiError {
  return new ApiError(503, 'version_not_found', message, { retryAfterSecs: RETRY_AFTER_SECS });
}
