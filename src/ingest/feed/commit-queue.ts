/** Chunks on their way to disk: the rows of one are made while the one before is being written. */
import type { Chunk } from '../../store/chunk.ts';
import type { Head } from '../../store/columns/head.ts';
import type { LedgerWriter } from '../../store/writer.ts';
import { ChunkTranslator } from '../translate/chunk-translator.ts';
import type { FollowCounters } from './follow-counters.ts';

/**
 * Chunks handed to the writer behind the one that is being written. The rows of one are made in less time than another
 * takes to be written, so that more would only take memory.
 */
const MAX_COMMITS_WAITING = 1;

/** Commits the chunks of one session in order; after a failure it is of no more use. */
export class CommitQueue {
  readonly #writer: LedgerWriter;
  readonly #translator: ChunkTranslator;
  readonly #counters: FollowCounters;
  readonly #onCommit: (head: Head) => void;
  readonly #inFlight: Promise<void>[] = [];
  /** The first failure. Chunks behind it fail too, for want of what they continue; that says nothing. */
  #failure: { readonly reason: unknown } | undefined;

  constructor(writer: LedgerWriter, counters: FollowCounters, onCommit: (head: Head) => void) {
    this.#writer = writer;
    this.#translator = new ChunkTranslator(writer.reader);
    this.#counters = counters;
    this.#onCommit = onCommit;
  }

  /**
   * Translates a chunk and hands it to the writer; waits while enough are on their way.
   * @throws what the writer throws, also for chunks handed in before: of several failures the first
   */
  async push(chunk: Chunk): Promise<void> {
    this.#throwFailure();
    const startedMs = performance.now();
    const translated = await this.#translator.translate(chunk);
    this.#counters.buildMs += performance.now() - startedMs;
    const committed = this.#commit(translated);
    // Awaited below or in drain; until then a failure is not "unhandled".
    committed.catch(() => undefined);
    this.#inFlight.push(committed);
    if (this.#inFlight.length > MAX_COMMITS_WAITING) await this.#settleFirst();
    this.#throwFailure();
  }

  /** Waits until everything is on disk or has failed. @throws the first failure of the writer */
  async drain(): Promise<void> {
    while (this.#inFlight.length > 0) await this.#settleFirst();
    this.#throwFailure();
  }

  async #settleFirst(): Promise<void> {
    try {
      await this.#inFlight.shift();
    } catch (reason) {
      this.#failure ??= { reason };
    }
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.reason;
  }

  async #commit(chunk: Chunk): Promise<void> {
    const startedMs = performance.now();
    const { head } = await this.#writer.append(chunk);
    const counters = this.#counters;
    counters.commitMs += performance.now() - startedMs;
    counters.commits += 1;
    counters.transactions += chunk.transactions.length;
    this.#translator.forget(head.version);
    this.#onCommit(head);
  }
}
