/** Chunks on their way to disk: the rows of one are made while the one before is being written. */
import type { Chunk } from '../../store/chunk.ts';
import type { Head } from '../../store/head.ts';
import type { LedgerWriter } from '../../store/writer.ts';
import { ChunkTranslator } from '../translate/chunk-translator.ts';
import type { FollowCounters } from './follow-counters.ts';

/** Chunks handed to the writer before the first of them is on disk. */
const MAX_COMMITS_IN_FLIGHT = 2;

/** Commits the chunks of one session in order; after a failure it is of no more use. */
export class CommitQueue {
  readonly #writer: LedgerWriter;
  readonly #translator: ChunkTranslator;
  readonly #counters: FollowCounters;
  readonly #onCommit: (head: Head) => void;
  readonly #inFlight: Promise<void>[] = [];

  constructor(writer: LedgerWriter, counters: FollowCounters, onCommit: (head: Head) => void) {
    this.#writer = writer;
    this.#translator = new ChunkTranslator(writer.reader);
    this.#counters = counters;
    this.#onCommit = onCommit;
  }

  /**
   * Translates a chunk and hands it to the writer; waits while enough are on their way.
   * @throws what the writer throws, also for chunks handed in before
   */
  async push(chunk: Chunk): Promise<void> {
    const startedMs = performance.now();
    const translated = await this.#translator.translate(chunk);
    this.#counters.buildMs += performance.now() - startedMs;
    const committed = this.#commit(translated);
    // Awaited below or in drain; until then a failure is not "unhandled".
    committed.catch(() => undefined);
    this.#inFlight.push(committed);
    if (this.#inFlight.length > MAX_COMMITS_IN_FLIGHT) await this.#inFlight.shift();
  }

  /** Waits until everything is on disk. @throws what the writer throws */
  async drain(): Promise<void> {
    const settled = await Promise.allSettled(this.#inFlight.splice(0));
    for (const result of settled) {
      if (result.status === 'rejected') throw result.reason;
    }
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
