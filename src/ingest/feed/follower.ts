/**
 * Follows a node: fetches its transactions page by page, verifies each page, commits whole blocks, and continues after
 * the last committed version whatever happens to the upstream. docs/follow.md describes what is verified.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { formatWaypoint, type Waypoint } from '../../move/transactions/waypoint.ts';
import type { LedgerState } from '../../remote/answer.ts';
import { RemoteError } from '../../remote/remote-error.ts';
import type { Timeouts } from '../../remote/remote-server.ts';
import { retryDelayMs } from '../../remote/retry.ts';
import type { Head } from '../../store/columns/head.ts';
import { isTransient, StoreError } from '../../store/store-error.ts';
import type { Chunk } from '../../store/write/chunk.ts';
import type { LedgerWriter } from '../../store/write/writer.ts';
import { ChunkDataError } from '../chunk-builder.ts';
import { type Commit, Committer } from '../committer.ts';
import { ChunkAssembler } from './chunk-assembler.ts';
import { FeedClient } from './feed-client.ts';
import { checkChain, checkHistory, checkStoredRoots } from './known-history.ts';
import { PageError } from './page-error.ts';
import { MAX_PAGES_IN_FLIGHT, PageSource, type SourceEvent } from './page-source.ts';
import type { TrustedRoot } from './page-verifier.ts';
import type { VerifiedPage } from './verified-page.ts';
import type { Verifier } from './verifier.ts';

/** The follower gives up after this many wrong pages in a row without a commit. */
export const MAX_PAGE_ATTEMPTS = 3;
/**
 * While more versions are available, a chunk is committed when it has this many. Twice as many would take less than
 * twice the time on disk, but twice the memory for changed pages: 100 MB in a large ledger.
 */
export const CHUNK_TRANSACTIONS = 2_500;
const CHUNK_BYTES = 16 * 1024 * 1024;
/** Maximum time that whole blocks wait for more blocks, in milliseconds. */
const MAX_COMMIT_DELAY_MS = 1_000;
/** Maximum number of pages handed to the verifier before the first of them is verified. */
const MAX_PAGES_VERIFYING = 4;

/** Maximum wait for the store, in milliseconds: another server takes over soon. */
const MAX_STORE_BACKOFF_MS = 1_000;

export interface FollowOptions {
  readonly upstream: URL;
  /** The last version to replicate. If absent, there is no end. */
  readonly until: bigint | undefined;
  readonly trustedRoots: readonly TrustedRoot[];
  /** The required genesis. If absent, any is accepted. */
  readonly waypoint: Waypoint | undefined;
  /** For a new ledger: whether it stores whole transactions, so that other nodes can replicate it. */
  readonly keepsTransactions: boolean;
  readonly pageTransactions: number;
  readonly pollIntervalMs: number;
  readonly timeouts?: Timeouts;
  /** Checks verified versions before they are committed. Its errors end the follower. */
  readonly check?: ((chunk: Chunk) => Promise<void>) | undefined;
}

export interface FollowObserver {
  /** Called after every commit, and whenever the upstream states its version. */
  progress(head: Head | undefined, upstreamVersion: bigint | undefined): void;
  retrying(error: Error, delayMs: number): void;
  /** Called for a trusted root that cannot be compared: its version is stored, but not its transaction. */
  incomparable(root: TrustedRoot): void;
}

/** Totals of a follower since its start, and how it spent its time. Times are in milliseconds, and overlap. */
export class FollowCounters {
  pages = 0;
  pageBytes = 0;
  transactions = 0;
  commits = 0;
  /** How often the upstream, the network or the store made the follower wait and try again. */
  faults = 0;
  /** From request to last byte, summed over pages that are in flight at the same time. */
  networkMs = 0;
  decodeMs = 0;
  /** Recomputing and comparing hashes, in the verifying thread. */
  hashMs = 0;
  /** Making chunks from pages and translating events. */
  buildMs = 0;
  /**
   * From handing a chunk to the writer until it is on disk, summed over the two that are in flight at the same time.
   */
  commitMs = 0;
}

export class Follower {
  readonly counters: FollowCounters;
  readonly #writer: LedgerWriter;
  readonly #verifier: Verifier;
  readonly #options: FollowOptions;
  readonly #observer: FollowObserver;
  readonly #client: FeedClient;
  #upstreamVersion: bigint | undefined;
  #faults = 0;
  /** Wrong pages, or failed comparisons with stored history, since the last commit. */
  #pageFaults = 0;
  /** Number of pages requested at once. It is halved when the upstream is busy, and grows by one with each commit. */
  #pagesInFlight = MAX_PAGES_IN_FLIGHT;
  #hasAnswered = false;

  constructor(
    writer: LedgerWriter,
    verifier: Verifier,
    options: FollowOptions,
    observer: FollowObserver,
    counters = new FollowCounters(),
  ) {
    this.#writer = writer;
    this.#verifier = verifier;
    this.#options = options;
    this.#observer = observer;
    this.counters = counters;
    this.#client = new FeedClient(options.upstream, MAX_PAGES_IN_FLIGHT, options.timeouts);
  }

  /**
   * Follows until `until` is durable or the signal is aborted. Then everything handed to the writer is on disk.
   * @throws RemoteError whose remedy is `stop`, or a page that stays wrong; ChunkDataError; StoreError; what `check`
   *   throws
   */
  async run(signal: AbortSignal): Promise<Head | undefined> {
    try {
      await this.#checkTrustedRoots();
      while (!signal.aborted && !this.#isDone()) {
        try {
          await this.#session(signal);
        } catch (error) {
          const isAbort =
            error === signal.reason || (error instanceof Error && error.name === 'AbortError');
          if (signal.aborted && isAbort) break;
          const isStoreFault = error instanceof StoreError && isTransient(error);
          if (!(error instanceof RemoteError || isStoreFault)) throw error;
          await this.#waitAfter(error, signal);
        }
      }
      return this.#writer.head;
    } finally {
      this.#client.close();
    }
  }

  #isDone(): boolean {
    const { until } = this.#options;
    const { head } = this.#writer;
    return until !== undefined && head !== undefined && head.version >= until;
  }

  async #checkTrustedRoots(): Promise<void> {
    const { head, identity, reader } = this.#writer;
    if (head === undefined || identity === undefined) return;
    const { trustedRoots, waypoint } = this.#options;
    const hash = identity.genesisWaypointHash;
    if (waypoint !== undefined && !(waypoint.version === 0n && waypoint.hash.equals(hash))) {
      const found = formatWaypoint({ version: 0n, hash });
      const detail = `the ledger here has waypoint ${found}, not ${formatWaypoint(waypoint)}`;
      throw new PageError({ code: 'waypoint_mismatch', version: 0n, field: 'transaction', detail });
    }
    for (const root of await checkStoredRoots(reader, head, trustedRoots)) {
      this.#observer.incomparable(root);
    }
  }

  /** Waits as long as a fault requires, or until the signal aborts. @throws the error if waiting cannot help */
  async #waitAfter(error: RemoteError | StoreError, signal: AbortSignal): Promise<void> {
    this.#faults += 1;
    this.counters.faults += 1;
    if (error instanceof RemoteError) this.#throwIfFatal(error);
    if (error.code === 'upstream_busy') {
      this.#pagesInFlight = Math.max(1, Math.floor(this.#pagesInFlight / 2));
    }
    const retryAfterMs = error instanceof RemoteError ? error.retryAfterMs : undefined;
    const wholeDelayMs = retryDelayMs(this.#faults, retryAfterMs);
    const delayMs = isTransient(error)
      ? Math.min(wholeDelayMs, MAX_STORE_BACKOFF_MS)
      : wholeDelayMs;
    this.#observer.retrying(error, delayMs);
    await sleep(delayMs, undefined, { signal }).catch(() => undefined);
  }

  #throwIfFatal(error: RemoteError): void {
    if (error.remedy === 'stop') throw error;
    // At first contact a wrong address is likelier than a node that is starting.
    if (error.code === 'upstream_not_a_feed' && !this.#hasAnswered) throw error;
    if (error.remedy !== 'refetch') return;
    this.#pageFaults += 1;
    if (this.#pageFaults >= MAX_PAGE_ATTEMPTS) throw error;
  }

  /** Follows from the head to the end or the first fault. Pages verified before a fault are committed. */
  async #session(signal: AbortSignal): Promise<void> {
    const head = await this.#writer.refresh();
    const { identity } = this.#writer;
    const state = await this.#client.state(signal);
    this.#hasAnswered = true;
    this.#onUpstreamState(state);
    await this.#checkHistory(state, signal);
    const start = head === undefined ? 0n : head.version + 1n;
    const { trustedRoots, waypoint, until, pageTransactions, pollIntervalMs } = this.#options;
    const frozenRoots = head?.frozenRoots ?? [];
    this.#verifier.start({ nextVersion: start, frozenRoots, trustedRoots, waypoint });
    const source = new PageSource(this.#client, state, {
      ...{ start, until, pageTransactions, pollIntervalMs },
      pagesInFlight: () => this.#pagesInFlight,
      onState: (newState) => this.#onUpstreamState(newState),
      // The upstream may lag behind, or may have gone back and begun a different history.
      onBehind: (behind) => this.#checkHistory(behind, signal),
    });
    const keepsTransactions = identity?.keepsTransactions ?? this.#options.keepsTransactions;
    const committer = new Committer(this.#writer, {
      onCommit: (commit) => this.#count(commit),
      onTransientError: async (error) => {
        await this.#waitAfter(error, signal);
        signal.throwIfAborted();
      },
    });
    const ended = new AbortController();
    const onAbort = (): void => ended.abort(signal.reason);
    signal.addEventListener('abort', onAbort);
    const pages = this.#verified(source.events(ended.signal));
    const chunks = this.#chunks(pages, new ChunkAssembler(start, keepsTransactions));
    try {
      signal.throwIfAborted();
      await this.#commitAll(chunks, committer);
    } finally {
      signal.removeEventListener('abort', onAbort);
      // Ends the work that was started ahead.
      ended.abort();
      await chunks.return(undefined).catch(() => undefined);
      await committer.drain();
    }
  }

  /** Commits chunks. The next one is built while one waits for its turn. */
  async #commitAll(chunks: AsyncGenerator<Chunk | 'idle'>, committer: Committer): Promise<void> {
    for (let next = chunks.next(); ; ) {
      const { done, value: chunk } = await next;
      if (done === true) return;
      // No page is expected soon, and the source reads committed data.
      if (chunk === 'idle') await committer.drain();
      next = chunks.next();
      // Awaited in its turn; until then a failure is not "unhandled".
      next.catch(() => undefined);
      if (chunk === 'idle') continue;
      await this.#options.check?.(chunk);
      await committer.push(chunk);
    }
  }

  async #checkHistory(state: LedgerState, signal: AbortSignal): Promise<void> {
    const { head, reader } = this.#writer;
    if (head !== undefined) await checkHistory(this.#client, reader, head, state, signal);
  }

  /** Verifies pages, some of them ahead. After a fault of the source it yields what came before, then throws. */
  async *#verified(events: AsyncIterable<SourceEvent>): AsyncGenerator<NextPage | 'idle'> {
    const { counters } = this;
    const ahead: { readonly isNewest: boolean; readonly verifying: Promise<VerifiedPage> }[] = [];
    const next = async (): Promise<NextPage> => {
      const { isNewest, verifying } = ahead.shift()!;
      return { isNewest, page: await verifying };
    };
    try {
      for await (const event of endingWithFault(events)) {
        if (event.kind === 'page') {
          counters.pages += 1;
          counters.pageBytes += event.bytes.length;
          counters.networkMs += event.requestMs;
          const verifying = this.#verifier.verify(event.bytes);
          // Awaited in its turn; until then a failure is not "unhandled".
          verifying.catch(() => undefined);
          ahead.push({ isNewest: event.isNewest, verifying });
          if (ahead.length > MAX_PAGES_VERIFYING) yield await next();
          continue;
        }
        while (ahead.length > 0) yield await next();
        if (event.kind === 'fault') throw event.error;
        yield 'idle';
      }
      while (ahead.length > 0) yield await next();
    } finally {
      // The verifier answers in order: it must have answered everything before it starts again.
      await Promise.allSettled(ahead.map(({ verifying }) => verifying));
    }
  }

  /** Builds chunks of whole blocks from pages. After a fault it yields what came before, then throws. */
  async *#chunks(
    pages: AsyncIterable<NextPage | 'idle'>,
    assembler: ChunkAssembler,
  ): AsyncGenerator<Chunk | 'idle'> {
    let lastChunkMs = performance.now();
    let hasYieldedChunk = false;
    const take = (): Chunk[] => {
      lastChunkMs = performance.now();
      const chunk = assembler.takeChunk();
      if (chunk === undefined) return [];
      hasYieldedChunk = true;
      return [chunk];
    };
    let fault: { readonly error: unknown } | undefined;
    try {
      for await (const next of pages) {
        if (next !== 'idle') this.#assemble(next, assembler);
        const isDue =
          next === 'idle' ||
          assembler.completeTransactions >= CHUNK_TRANSACTIONS ||
          assembler.completeBytes >= CHUNK_BYTES ||
          performance.now() - lastChunkMs >= MAX_COMMIT_DELAY_MS;
        if (isDue) yield* take();
        if (next === 'idle') yield next;
      }
    } catch (error) {
      // The error leaves a part of a page in the assembler.
      if (error instanceof ChunkDataError) throw error;
      fault = { error };
      // Otherwise a long block would never be committed if the upstream breaks off again and again.
      const canSplitBlock = error instanceof RemoteError && error.remedy === 'retry';
      if (canSplitBlock && !hasYieldedChunk) assembler.flushPartialBlock();
    }
    yield* take();
    if (fault !== undefined) throw fault.error;
  }

  #assemble({ page, isNewest }: NextPage, assembler: ChunkAssembler): void {
    const { counters } = this;
    counters.decodeMs += page.decodeMs;
    counters.hashMs += page.hashMs;
    const startedMs = performance.now();
    const lastVersion = page.firstVersion + BigInt(page.count) - 1n;
    assembler.add(page, isNewest || lastVersion === this.#options.until);
    counters.buildMs += performance.now() - startedMs;
  }

  #count({ head, transactions, translateMs, commitMs }: Commit): void {
    const { counters } = this;
    counters.buildMs += translateMs;
    counters.commitMs += commitMs;
    counters.commits += 1;
    counters.transactions += transactions;
    this.#faults = 0;
    this.#pageFaults = 0;
    this.#pagesInFlight = Math.min(this.#pagesInFlight + 1, MAX_PAGES_IN_FLIGHT);
    this.#observer.progress(head, this.#upstreamVersion);
  }

  #onUpstreamState(state: LedgerState): void {
    const { head, identity } = this.#writer;
    if (identity !== undefined) checkChain(identity, state);
    this.#upstreamVersion = state.ledgerVersion ?? this.#upstreamVersion;
    this.#observer.progress(head, this.#upstreamVersion);
  }
}

interface NextPage {
  readonly page: VerifiedPage;
  readonly isNewest: boolean;
}

/** Yields a fault as the last event, so that it is not confused with a fault of a later stage. */
async function* endingWithFault(
  events: AsyncIterable<SourceEvent>,
): AsyncGenerator<SourceEvent | { readonly kind: 'fault'; readonly error: unknown }> {
  try {
    yield* events;
  } catch (error) {
    yield { kind: 'fault', error };
  }
}
