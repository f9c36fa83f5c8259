/**
 * A quota of requests for each client and window of time, off by default, and the headers that tell clients what is
 * left of it: `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers-10. Each process counts for
 * itself.
 */
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../http/error-table.ts';
import type { ApiSettings } from '../settings.ts';
import { Clients } from './request-client.ts';

/** A window begins with a client's first request. In seconds. */
export const QUOTA_WINDOW_SECS = 10;
/** Clients that are remembered. Beyond them, the one that has not asked for longest is forgotten with its count. */
export const MAX_COUNTED_CLIENTS = 10_000;
/** Headers of its own, and the one of refusals: browsers may read them. */
export const QUOTA_HEADER_NAMES = ['ratelimit-policy', 'ratelimit', 'retry-after'];

const MS_PER_SEC = 1_000;

/** What one client has asked for in its window. */
interface Usage {
  requests: number;
  readonly endMs: number;
}

export class ClientQuota {
  readonly #maxRequests: number;
  readonly #clients: Clients;
  readonly #clock: () => number;
  /** In the order of their last requests. */
  readonly #usages = new Map<string, Usage>();

  /** @param clock milliseconds that only grow */
  constructor(
    settings: Pick<ApiSettings, 'maxClientRequests' | 'trustedProxies'>,
    clock: () => number = () => performance.now(),
  ) {
    this.#maxRequests = settings.maxClientRequests;
    this.#clients = new Clients(settings.trustedProxies);
    this.#clock = clock;
  }

  /** Counts a request, or a read of a batch. @throws ApiError 429 when the client has had its quota */
  count(request: IncomingMessage): void {
    const client = this.#clients.of(request);
    const nowMs = this.#clock();
    const known = this.#current(client, nowMs);
    const usage = known ?? { requests: 0, endMs: nowMs + QUOTA_WINDOW_SECS * MS_PER_SEC };
    this.#usages.delete(client);
    this.#usages.set(client, usage);
    if (this.#usages.size > MAX_COUNTED_CLIENTS) {
      const [longestAgo] = this.#usages.keys();
      this.#usages.delete(longestAgo!);
    }
    if (usage.requests >= this.#maxRequests) throw this.#refusal(usage, nowMs);
    usage.requests += 1;
  }

  /** Names and values in turn. */
  headers(request: IncomingMessage): string[] {
    const nowMs = this.#clock();
    const usage = this.#current(this.#clients.of(request), nowMs);
    const left = this.#maxRequests - (usage?.requests ?? 0);
    const secs = usage === undefined ? QUOTA_WINDOW_SECS : secondsUntil(usage.endMs, nowMs);
    const policy = `"client";q=${this.#maxRequests};w=${QUOTA_WINDOW_SECS}`;
    return ['ratelimit-policy', policy, 'ratelimit', `"client";r=${left};t=${secs}`];
  }

  #current(client: string, nowMs: number): Usage | undefined {
    const usage = this.#usages.get(client);
    return usage !== undefined && nowMs < usage.endMs ? usage : undefined;
  }

  #refusal({ endMs }: Usage, nowMs: number): ApiError {
    const message = `A client may make ${this.#maxRequests} requests in ${QUOTA_WINDOW_SECS} seconds`;
    // Not before the time in the header RateLimit.
    const retryAfterSecs = secondsUntil(endMs, nowMs);
    return new ApiError(429, 'rate_limited', message, { retryAfterSecs });
  }
}

function secondsUntil(endMs: number, nowMs: number): number {
  return Math.ceil((endMs - nowMs) / MS_PER_SEC);
}
