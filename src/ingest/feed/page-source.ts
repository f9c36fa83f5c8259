/**
 * Pages of an upstream in order, some of them requested ahead. Requests in flight are bounded in number and in bytes.
 * The next page may be large. A large page that was requested ahead is requested again in its turn.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { BcsError, BcsReader } from '../../move/bcs/bcs-reader.ts';
import type { LedgerState } from '../../remote/answer.ts';
import { RemoteError } from '../../remote/remote-error.ts';
import { type FeedClient, MAX_PAGE_BYTES, type RawPage } from './feed-client.ts';
import { PageError } from './page-error.ts';

/** Transactions per request. A node returns fewer if its own limit is lower: 1,000 here, 100 in the reference. */
export const DEFAULT_PAGE_TRANSACTIONS = 1_000;
export const MAX_PAGES_IN_FLIGHT = 8;
/** Maximum size of the next page needed, and of prefetched ones. */
const PAGE_LIMITS = { maxBytes: MAX_PAGE_BYTES, maxAheadBytes: 8 * 1024 * 1024 };
/** Requests are sized so that pages have about this many bytes at most. */
const TARGET_PAGE_BYTES = 4 * 1024 * 1024;

export interface PageSourceOptions {
  readonly start: bigint;
  /** The last version to replicate. If absent, there is no end. */
  readonly until: bigint | undefined;
  readonly pageTransactions: number;
  readonly pollIntervalMs: number;
  /** Maximum number of pages that are requested but not yet used, 1 to MAX_PAGES_IN_FLIGHT. */
  readonly pagesInFlight: () => number;
  /** Called with the state in each response; throws to end the source. */
  readonly onState: (state: LedgerState) => void;
  /** Called when all pages are used and the upstream's newest state lacks some of them; rejects to end the source. */
  readonly onBehind: (state: LedgerState) => Promise<void>;
}

/** A page, or `idle` when the upstream has no more for now. */
export type SourceEvent =
  | {
      readonly kind: 'page';
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly isNewest: boolean;
      readonly requestMs: number;
    }
  | { readonly kind: 'idle' };

interface PageRequest {
  readonly start: bigint;
  readonly limit: number;
  readonly maxBytes: number;
  readonly answer: Promise<{ readonly page: RawPage; readonly requestMs: number }>;
}

export class PageSource {
  readonly #client: FeedClient;
  readonly #options: PageSourceOptions;
  #maxPageTransactions: number;
  /** Transactions per request: fewer if they are large. */
  #limit: number;
  readonly #limits: typeof PAGE_LIMITS;
  #available: bigint;
  #next: bigint;
  #inFlight: PageRequest[] = [];
  #abort = new AbortController();
  /** Set until a page has shown how many transactions the upstream returns, and after a page that was too large. */
  #isSequential = true;

  constructor(
    client: FeedClient,
    state: LedgerState,
    options: PageSourceOptions,
    limits = PAGE_LIMITS,
  ) {
    this.#client = client;
    this.#options = options;
    this.#maxPageTransactions = options.pageTransactions;
    this.#limit = options.pageTransactions;
    this.#limits = limits;
    this.#next = options.start;
    this.#available = state.ledgerVersion ?? -1n;
  }

  /** Pages from the start up to `until`, or until the signal. @throws RemoteError of the page whose turn it is */
  async *events(signal: AbortSignal): AsyncGenerator<SourceEvent, void, undefined> {
    const { until } = this.#options;
    // One listener for all requests. The signal lives as long as the follower and would accumulate one per request.
    const onAbort = (): void => this.#abort.abort(signal.reason);
    signal.addEventListener('abort', onAbort);
    try {
      for (;;) {
        signal.throwIfAborted();
        this.#requestAhead();
        const request = this.#inFlight.shift();
        if (request !== undefined) {
          const event = await this.#take(request);
          if (event !== undefined) yield event;
        } else if (until !== undefined && this.#next > until) {
          return;
        } else {
          yield { kind: 'idle' };
          await this.#poll(signal);
        }
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#drop();
    }
  }

  #requestAhead(): void {
    const { until, pagesInFlight } = this.#options;
    const last = until !== undefined && until < this.#available ? until : this.#available;
    const maxInFlight = this.#isSequential ? 1 : pagesInFlight();
    while (this.#inFlight.length < maxInFlight && this.#next <= last) {
      const start = this.#next;
      const left = last - start + 1n;
      const limit = left < BigInt(this.#limit) ? Number(left) : this.#limit;
      const isNext = this.#inFlight.length === 0;
      const maxBytes = isNext ? this.#limits.maxBytes : this.#limits.maxAheadBytes;
      const answer = this.#request(start, limit, maxBytes);
      // Awaited when it is its turn; until then a failure is not "unhandled".
      answer.catch(() => undefined);
      this.#inFlight.push({ start, limit, maxBytes, answer });
      this.#next = start + BigInt(limit);
    }
  }

  async #request(start: bigint, limit: number, maxBytes: number) {
    const startedMs = performance.now();
    const page = await this.#client.page(start, limit, maxBytes, this.#abort.signal);
    return { page, requestMs: performance.now() - startedMs };
  }

  async #take(request: PageRequest): Promise<SourceEvent | undefined> {
    let answer: Awaited<PageRequest['answer']>;
    try {
      answer = await request.answer;
    } catch (error) {
      if (!(error instanceof RemoteError) || error.code !== 'page_too_large') throw error;
      this.#shrink(request, error);
      return undefined;
    }
    const { page, requestMs } = answer;
    this.#options.onState(page);
    if (page.ledgerVersion !== undefined) this.#available = page.ledgerVersion;
    const count = itemCount(page, request);
    const end = request.start + BigInt(count);
    this.#adapt(request, page, count, end);
    return { kind: 'page', bytes: page.bytes, isNewest: end > this.#available, requestMs };
  }

  /** After a page that is too large: requests half as many transactions, one page at a time. */
  #shrink(request: PageRequest, error: RemoteError): void {
    const isHopeless = request.limit === 1 && request.maxBytes === this.#limits.maxBytes;
    if (isHopeless) throw error;
    this.#restart(request.start);
    this.#limit = Math.max(1, Math.floor(request.limit / 2));
    this.#isSequential = true;
  }

  #adapt(request: PageRequest, page: RawPage, count: number, end: bigint): void {
    this.#isSequential = false;
    if (count < request.limit) {
      // The pages requested after this one start at the wrong version.
      this.#restart(end);
      if (end <= this.#available) this.#maxPageTransactions = count;
    }
    const fittingCount = Math.floor((count * TARGET_PAGE_BYTES) / page.bytes.length);
    this.#limit = Math.max(1, Math.min(fittingCount, 2 * this.#limit, this.#maxPageTransactions));
  }

  #restart(next: bigint): void {
    this.#drop();
    this.#next = next;
  }

  #drop(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#inFlight = [];
  }

  async #poll(signal: AbortSignal): Promise<void> {
    await sleep(this.#options.pollIntervalMs, undefined, { signal });
    const state = await this.#client.state(signal);
    this.#options.onState(state);
    this.#available = state.ledgerVersion ?? this.#available;
    if (this.#available + 1n < this.#next) await this.#options.onBehind(state);
  }
}

/** The number of items that a page declares: 1 or more, at most as many as requested. @throws PageError */
function itemCount(page: RawPage, { start, limit }: PageRequest): number {
  let count = 0;
  try {
    count = new BcsReader(page.bytes).uleb32();
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
  }
  if (count >= 1 && count <= limit) return count;
  const detail = `a page of ${count} items where 1 to ${limit} were asked for`;
  throw new PageError({ code: 'page_malformed', version: start, field: 'page', detail });
}
