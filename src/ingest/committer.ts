/**
 * The commit pipeline of `init`, `follow` and of chains in this process (local networks, samples). Each chunk is
 * translated and passed to the writer, which builds its rows while the previous chunk is being written.
 */

import type { Head } from '../store/columns/head.ts';
import { isStoreError, isTransient, type StoreError } from '../store/store-error.ts';
import type { Chunk } from '../store/write/chunk.ts';
import type { LedgerWriter } from '../store/write/writer.ts';
import { ChunkTranslator } from './translate/chunk-translator.ts';

/**
 * Chunks passed to the writer after the one being written. Building rows takes less time than writing them, so more
 * chunks would only use memory.
 */
const MAX_COMMITS_WAITING = 1;

export interface Commit {
  readonly head: Head;
  readonly transactions: number;
  readonly translateMs: number;
  /** Time from passing the chunk to the writer until it is on disk. */
  readonly commitMs: number;
}

export interface CommitterOptions {
  readonly onCommit?: (commit: Commit) => void;
  /**
   * Called when the disk is full or the store cannot be reached. The same chunks are committed again when it resolves.
   * If it is absent, the error is thrown.
   */
  readonly onTransientError?: (error: StoreError) => Promise<void>;
}

interface PendingCommit {
  readonly chunk: Chunk;
  readonly translateMs: number;
  done: Promise<void>;
}

/** Commits chunks in order. Unusable after a failure. */
export class Committer {
  readonly #writer: LedgerWriter;
  readonly #options: CommitterOptions;
  readonly #translator: ChunkTranslator;
  #pending: PendingCommit[] = [];
  /** The first failure, which every later call throws too. */
  #failure: { readonly reason: unknown } | undefined;

  constructor(writer: LedgerWriter, options: CommitterOptions = {}) {
    this.#writer = writer;
    this.#options = options;
    this.#translator = new ChunkTranslator(writer);
  }

  /**
   * Translates a chunk and hands it to the writer; waits while enough chunks are pending.
   * @throws the writer's errors, also for earlier chunks: the first of several
   */
  async push(chunk: Chunk): Promise<void> {
    this.#throwFailure();
    const startedMs = performance.now();
    const translated = await this.#translate(chunk);
    const translateMs = performance.now() - startedMs;
    this.#pending.push({
      chunk: translated,
      translateMs,
      done: this.#append(translated, translateMs),
    });
    while (this.#pending.length > MAX_COMMITS_WAITING) await this.#settleFirst();
  }

  /** Resolves when everything pushed is on disk. @throws the first failure, when all pending chunks have settled */
  async drain(): Promise<void> {
    while (this.#pending.length > 0) await this.#settleFirst();
    this.#throwFailure();
  }

  /**
   * Commits all chunks. @returns the head once they are on disk
   * @throws errors of the chunks or the writer; everything reported before is on disk
   */
  async pushAll(chunks: AsyncIterable<Chunk> | Iterable<Chunk>): Promise<Head | undefined> {
    try {
      for await (const chunk of chunks) await this.push(chunk);
    } catch (reason) {
      this.#failure ??= { reason };
    }
    await this.drain();
    return this.#writer.head;
  }

  async #translate(chunk: Chunk): Promise<Chunk> {
    for (;;) {
      try {
        return await this.#translator.translate(chunk);
      } catch (error) {
        await this.#waitAfter(error);
      }
    }
  }

  #append(chunk: Chunk, translateMs: number): Promise<void> {
    const startedMs = performance.now();
    const done = this.#writer.append(chunk).then(({ head }) => {
      const commitMs = performance.now() - startedMs;
      this.#translator.onCommitted(head.version);
      const transactions = chunk.transactions.length;
      this.#options.onCommit?.({ head, transactions, translateMs, commitMs });
    });
    // Awaited by #settleFirst; until then a failure is not "unhandled".
    done.catch(() => undefined);
    return done;
  }

  async #settleFirst(): Promise<void> {
    try {
      await this.#pending[0]!.done;
      this.#pending.shift();
    } catch (error) {
      // Chunks behind it fail too, because they do not continue the ledger.
      await Promise.allSettled(this.#pending.map(({ done }) => done));
      await this.#waitAfter(error).catch((reason: unknown) => {
        this.#pending = [];
        throw reason;
      });
      for (const pending of this.#pending) {
        pending.done = this.#append(pending.chunk, pending.translateMs);
      }
    }
  }

  /** Waits for the disk or the store if the caller has `onTransientError`. @throws the failure if waiting is no help */
  async #waitAfter(error: unknown): Promise<void> {
    const { onTransientError } = this.#options;
    try {
      const isRetryable = isStoreError(error, 'store_full') || isTransient(error);
      if (this.#failure !== undefined || onTransientError === undefined || !isRetryable)
        throw error;
      await onTransientError(error as StoreError);
    } catch (reason) {
      this.#failure ??= { reason };
      throw this.#failure.reason;
    }
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.reason;
  }
}
