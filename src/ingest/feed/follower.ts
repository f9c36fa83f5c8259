/**
 * Follows a node: takes its transactions page by page, proves each page, commits whole blocks, and goes on after the
 * last committed version whatever happens to the upstream. What a proof covers: docs/follow.md.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { formatWaypoint, type Waypoint } from '../../move/transactions/waypoint.ts';
import type { Head } from '../../store/columns/head.ts';
import type { LedgerIdentity } from '../../store/columns/identity-column.ts';
import { StoreFullError } from '../../store/store-error.ts';
import type { LedgerWriter } from '../../store/writer.ts';
import { ChunkAssembler } from './chunk-assembler.ts';
import { CommitQueue } from './commit-queue.ts';
import { FeedClient, type FeedTimeouts, type UpstreamState } from './feed-client.ts';
import { FeedError, PageError, UpstreamStatusError } from './feed-error.ts';
import { type FollowCounters, newFollowCounters } from './follow-counters.ts';
import { checkChain, checkHistory } from './history-check.ts';
import type { TrustedRoot } from './page-prover.ts';
import { MAX_PAGES_IN_FLIGHT, PageSource, type SourceEvent } from './page-source.ts';
import type { ProvenPage } from './proven-page.ts';
import type { Prover } from './prover.ts';
import { retryDelayMs } from './retry-delay.ts';
import { checkStoredRoots } from './trusted-root.ts';

/** Times in a row that the same page may turn out wrong before the upstream is given up. */
export const MAX_PAGE_ATTEMPTS = 3;
/**
 * Versions from which a chunk is committed, when more are at hand. A commit of twice as many costs the disk less than
 * twice the time, and the memory for its changed pages twice as much: 100 MB in a large ledger.
 */
export const CHUNK_TRANSACTIONS = 2_500;
/** Bytes from which a chunk is committed. */
const CHUNK_BYTES = 16 * 1024 * 1024;
/** Whole blocks wait no longer than this for more of them, in milliseconds. */
const MAX_COMMIT_DELAY_MS = 1_000;
/** Pages handed to the prover before the first of them is proved. */
const MAX_PAGES_PROVING = 4;

/** What to follow, and how. */
export interface FollowOptions {
  /** Base of the upstream's interface, see `interfaceBase`. */
  readonly upstream: URL;
  /** The last version wanted; absent: on and on. */
  readonly until: bigint | undefined;
  readonly trustedRoots: readonly TrustedRoot[];
  /** What genesis must be; absent: whatever it is. */
  readonly waypoint: Waypoint | undefined;
  /** Of a ledger that begins here: whether it keeps whole transactions, to feed others. */
  readonly keepsTransactions: boolean;
  readonly pageTransactions: number;
  readonly pollIntervalMs: number;
  readonly timeouts: FeedTimeouts;
}

/** Told how it goes. */
export interface FollowObserver {
  /** After every commit, and whenever the upstream says where it stands. */
  progress(head: Head | undefined, upstreamVersion: bigint | undefined): void;
  /** A fault after which it goes on by itself. */
  trouble(error: Error, delayMs: number): void;
  /** A trusted root whose version has passed without a trace to compare. */
  incomparable(root: TrustedRoot): void;
}

/** Follows one upstream into one ledger. */
export class Follower {
  readonly counters: FollowCounters;
  readonly #writer: LedgerWriter;
  readonly #prover: Prover;
  readonly #options: FollowOptions;
  readonly #observer: FollowObserver;
  readonly #client: FeedClient;
  #upstreamVersion: bigint | undefined;
  /** Faults since the last commit. */
  #faults = 0;
  /** Faults of pages, or of what they are compared with, since the last commit. */
  #pageFaults = 0;
  /** Pages asked for at once: fewer when the upstream is too busy, slowly more again. */
  #pagesInFlight = MAX_PAGES_IN_FLIGHT;
  /** Whether the upstream has shown that it is a node. */
  #hasAnswered = false;

  constructor(
    writer: LedgerWriter,
    prover: Prover,
    options: FollowOptions,
    observer: FollowObserver,
    counters = newFollowCounters(),
  ) {
    this.#writer = writer;
    this.#prover = prover;
    this.#options = options;
    this.#observer = observer;
    this.counters = counters;
    this.#client = new FeedClient(options.upstream, options.timeouts, MAX_PAGES_IN_FLIGHT);
  }

  /**
   * Follows until `until` is durable or the signal is aborted; then everything handed to the writer is on disk.
   * @throws FeedError whose remedy is `stop`, or a page that stays wrong; ChunkDataError; StoreError
   */
  async run(signal: AbortSignal): Promise<Head | undefined> {
    try {
      await this.#checkTrustedRoots();
      while (!signal.aborted && !this.#isDone()) {
        try {
          await this.#session(signal);
        } catch (error) {
          if (signal.aborted && isAbort(error, signal)) break;
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
    if (waypoint !== undefined && !isGenesisWaypoint(waypoint, identity)) {
      const found = formatWaypoint({ version: 0n, hash: identity.genesisWaypointHash });
      const detail = `the ledger here has waypoint ${found}, not ${formatWaypoint(waypoint)}`;
      throw new PageError('waypoint_mismatch', 0n, 'transaction', detail);
    }
    for (const root of await checkStoredRoots(reader, head, trustedRoots)) {
      this.#observer.incomparable(root);
    }
  }

  /** Waits as long as a fault asks for. @throws the error when waiting cannot help */
  async #waitAfter(error: unknown, signal: AbortSignal): Promise<void> {
    if (!(error instanceof FeedError || error instanceof StoreFullError)) throw error;
    this.#faults += 1;
    this.counters.faults += 1;
    if (error instanceof FeedError) this.#refuseHopeless(error);
    if (error instanceof FeedError && error.code === 'upstream_busy') {
      this.#pagesInFlight = Math.max(1, Math.floor(this.#pagesInFlight / 2));
    }
    const retryAfterMs = error instanceof UpstreamStatusError ? error.retryAfterMs : undefined;
    const delayMs = retryDelayMs(this.#faults, retryAfterMs);
    this.#observer.trouble(error, delayMs);
    await sleep(delayMs, undefined, { signal }).catch(() => undefined);
  }

  #refuseHopeless(error: FeedError): void {
    if (error.remedy === 'stop') throw error;
    // At first contact a wrong address is likelier than a node that is starting.
    if (error.code === 'upstream_not_a_feed' && !this.#hasAnswered) throw error;
    if (error.remedy !== 'refetch') return;
    this.#pageFaults += 1;
    if (this.#pageFaults >= MAX_PAGE_ATTEMPTS) throw error;
  }

  /** From the head on, until the end or the first fault. What was proved before a fault is committed. */
  async #session(signal: AbortSignal): Promise<void> {
    const { head, identity, reader } = this.#writer;
    const state = await this.#client.state(signal);
    this.#hasAnswered = true;
    this.#heard(state);
    if (head !== undefined) await checkHistory(this.#client, reader, head, state, signal);
    const start = head === undefined ? 0n : head.version + 1n;
    const { trustedRoots, waypoint, keepsTransactions, until, ...asking } = this.#options;
    const frozenRoots = head?.frozenRoots ?? [];
    this.#prover.start({ nextVersion: start, frozenRoots, trustedRoots, waypoint });
    const source = new PageSource(this.#client, state, {
      start,
      until,
      pageTransactions: asking.pageTransactions,
      pollIntervalMs: asking.pollIntervalMs,
      pagesInFlight: () => this.#pagesInFlight,
      onState: (heard) => this.#heard(heard),
    });
    const commits = new CommitQueue(this.#writer, this.counters, (committed) => {
      this.#faults = 0;
      this.#pageFaults = 0;
      this.#pagesInFlight = Math.min(this.#pagesInFlight + 1, MAX_PAGES_IN_FLIGHT);
      this.#observer.progress(committed, this.#upstreamVersion);
    });
    const assembler = new ChunkAssembler(start, identity?.keepsTransactions ?? keepsTransactions);
    await new Session(this.#prover, assembler, commits, this.counters, until).run(source, signal);
  }

  #heard(state: UpstreamState): void {
    const { identity } = this.#writer;
    if (identity !== undefined) checkChain(identity, state);
    this.#upstreamVersion = state.ledgerVersion ?? this.#upstreamVersion;
    this.#observer.progress(this.#writer.head, this.#upstreamVersion);
  }
}

/** Whether a waypoint is the one that a ledger began with. */
function isGenesisWaypoint({ version, hash }: Waypoint, identity: LedgerIdentity): boolean {
  return version === 0n && hash.equals(identity.genesisWaypointHash);
}

function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError');
}

/** One run through the stages, each a little ahead of the next: pages, proofs, chunks, commits. */
class Session {
  readonly #prover: Prover;
  readonly #assembler: ChunkAssembler;
  readonly #commits: CommitQueue;
  readonly #counters: FollowCounters;
  readonly #until: bigint | undefined;
  readonly #proving: { readonly isNewest: boolean; readonly page: Promise<ProvenPage> }[] = [];
  #lastPushMs = performance.now();
  #hasPushed = false;
  /** After a page that is wrong, those behind it cannot be proved. */
  #hasWrongPage = false;

  constructor(
    prover: Prover,
    assembler: ChunkAssembler,
    commits: CommitQueue,
    counters: FollowCounters,
    until: bigint | undefined,
  ) {
    this.#prover = prover;
    this.#assembler = assembler;
    this.#commits = commits;
    this.#counters = counters;
    this.#until = until;
  }

  async run(source: PageSource, signal: AbortSignal): Promise<void> {
    let mayCutBlock = false;
    try {
      for await (const event of source.events(signal)) await this.#take(event);
    } catch (error) {
      // An upstream that breaks off again and again would otherwise never let a long block through.
      mayCutBlock = error instanceof FeedError && error.remedy === 'retry';
      throw error;
    } finally {
      await this.#finish(mayCutBlock);
    }
  }

  async #take(event: SourceEvent): Promise<void> {
    if (event.kind === 'idle') {
      await this.#finish(false);
      return;
    }
    const counters = this.#counters;
    counters.pages += 1;
    counters.pageBytes += event.bytes.length;
    counters.networkMs += event.requestMs;
    const page = this.#prover.prove(event.bytes);
    // Awaited in its turn; until then a failure is not "unhandled".
    page.catch(() => undefined);
    this.#proving.push({ isNewest: event.isNewest, page });
    if (this.#proving.length > MAX_PAGES_PROVING) await this.#assembleNext();
  }

  /**
   * Proves and commits everything at hand; a fault on the way ends it with what came before the fault.
   * @param mayCutBlock whether a part of a block is committed when nothing else was got
   */
  async #finish(mayCutBlock: boolean): Promise<void> {
    try {
      while (this.#proving.length > 0 && !this.#hasWrongPage) await this.#assembleNext();
      if (mayCutBlock && !this.#hasPushed && !this.#hasWrongPage) this.#assembler.completeAll();
    } finally {
      // The prover answers in order: what was asked after a fault must be answered before it starts again.
      await Promise.allSettled(this.#proving.splice(0).map(({ page }) => page));
      try {
        await this.#push();
      } finally {
        await this.#commits.drain();
      }
    }
  }

  async #assembleNext(): Promise<void> {
    const { isNewest, page: proving } = this.#proving.shift()!;
    const page = await proving.catch((error: unknown) => {
      this.#hasWrongPage = true;
      throw error;
    });
    const counters = this.#counters;
    counters.decodeMs += page.decodeMs;
    counters.hashMs += page.hashMs;
    const startedMs = performance.now();
    const lastVersion = page.firstVersion + BigInt(page.count) - 1n;
    this.#assembler.add(page, isNewest || lastVersion === this.#until);
    counters.buildMs += performance.now() - startedMs;
    const { completeTransactions, completeBytes } = this.#assembler;
    const isDue = performance.now() - this.#lastPushMs >= MAX_COMMIT_DELAY_MS;
    if (isDue || completeTransactions >= CHUNK_TRANSACTIONS || completeBytes >= CHUNK_BYTES) {
      await this.#push();
    }
  }

  async #push(): Promise<void> {
    this.#lastPushMs = performance.now();
    const chunk = this.#assembler.takeChunk();
    if (chunk === undefined) return;
    this.#hasPushed = true;
    await this.#commits.push(chunk);
  }
}
