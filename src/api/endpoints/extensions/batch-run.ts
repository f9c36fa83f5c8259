/**
 * Answers the reads of a batch, bounded in bytes and time. If answers come from another process or node, several reads
 * run concurrently. Other requests get their turn in between.
 */

import { andThen, type MaybePromise, together } from '../../../maybe-promise.ts';
import { nextTurn } from '../../../yield-budget.ts';
import { ApiError, errorBody, errorContentType, frameworkError } from '../../error-table.ts';
import type { MemoryHold } from '../../load/held-bytes.ts';
import { hasDisconnected } from '../../load/request-client.ts';
import type { Format } from '../../negotiation.ts';
import type { BatchAnswer, BatchRead, BatchReads, ReadCall } from '../endpoint.ts';
import { embedded } from './batch-answers.ts';

export const MAX_BATCH_BYTES = 16 * 1024 * 1024;
/** A batch that has this many bytes starts no more reads while too many bytes are unsent. */
export const LARGE_BATCH_BYTES = 64 * 1024;
/** How long a batch may take, in milliseconds: reads that have not begun by then are refused. */
export const MAX_BATCH_MS = 10_000;
/** Maximum concurrent reads of a batch. */
export const MAX_BATCH_CONCURRENCY = 16;
/** Work of a batch between two turns of the event loop, in milliseconds. */
const TURN_MS = 3;
const RETRY_AFTER_SECS = 1;

const TOO_LARGE = refusal(
  frameworkError(
    413,
    `the answers of a batch have at most ${MAX_BATCH_BYTES} bytes: ask for this one alone, or in another batch`,
  ),
);
const TOO_LATE = refusal(
  new ApiError(
    503,
    'internal_error',
    `A batch takes at most ${MAX_BATCH_MS} milliseconds: ask for this one in another batch`,
    { retryAfterSecs: RETRY_AFTER_SECS },
  ),
);
const OVERLOADED = refusal(
  new ApiError(503, 'internal_error', 'The node is overloaded: too many large answers are unsent', {
    retryAfterSecs: RETRY_AFTER_SECS,
  }),
);

function refusal(error: ApiError): BatchAnswer {
  const { status } = error;
  return { status, contentType: errorContentType(error), body: errorBody(error) };
}

interface BatchCall extends ReadCall {
  readonly batchReads: BatchReads;
  readonly format: Format;
}

export class BatchRun {
  readonly #reads: readonly BatchRead[];
  readonly #call: BatchCall;
  readonly #clock: () => number;
  readonly #startedMs: number;
  #turnBeganMs: number;
  #bytesLeft = MAX_BATCH_BYTES;
  /** Counts the bytes so far as unsent until the batch is answered: many batches are answered at the same time. */
  readonly #hold: MemoryHold;
  #nextIndex = 0;
  readonly #answers: BatchAnswer[];

  /** @param clock monotonic, in milliseconds */
  constructor(
    reads: readonly BatchRead[],
    call: BatchCall,
    clock: () => number = () => performance.now(),
  ) {
    this.#reads = reads;
    this.#call = call;
    this.#hold = call.batchReads.held.hold(call.client.req, 0);
    this.#clock = clock;
    this.#startedMs = clock();
    this.#turnBeganMs = this.#startedMs;
    this.#answers = new Array<BatchAnswer>(reads.length);
  }

  /** Resolves to the answers in the order of the reads; none if the client has gone. */
  run(): MaybePromise<readonly BatchAnswer[]> {
    const workers = Array.from({ length: MAX_BATCH_CONCURRENCY }, (_, worker) => () => {
      // Unless the first worker waits, it has answered everything by now.
      const isNeeded = worker === 0 || this.#call.batchReads.isRemote(this.#call);
      return isNeeded ? this.#runWorker() : undefined;
    });
    return andThen(together(workers), () => (this.#hasDisconnected ? [] : this.#answers));
  }

  /** Call it when the answers are sent, or when the client has left. */
  end(): void {
    this.#call.batchReads.held.release(this.#hold);
  }

  get #hasDisconnected(): boolean {
    return hasDisconnected(this.#call.client.req);
  }

  #runWorker(): MaybePromise<void> {
    const index = this.#nextIndex;
    if (index === this.#reads.length || this.#hasDisconnected) return undefined;
    this.#nextIndex += 1;
    return andThen(this.#inTurn(this.#reads[index]!), (answer) => {
      this.#answers[index] = this.#limitSize(answer);
      return this.#runWorker();
    });
  }

  #inTurn(read: BatchRead): MaybePromise<BatchAnswer> {
    const nowMs = this.#clock();
    if (nowMs - this.#turnBeganMs < TURN_MS) return this.#answer(read, nowMs);
    return andThen(nextTurn(), () => {
      this.#turnBeganMs = this.#clock();
      return this.#answer(read, this.#turnBeganMs);
    });
  }

  #answer(read: BatchRead, nowMs: number): MaybePromise<BatchAnswer> {
    if (this.#bytesLeft <= 0) return TOO_LARGE;
    if (nowMs - this.#startedMs >= MAX_BATCH_MS) return TOO_LATE;
    if (this.#hold.bytes >= LARGE_BATCH_BYTES && this.#call.batchReads.held.isFull)
      return OVERLOADED;
    return this.#call.batchReads.answer(read, this.#call);
  }

  /** The answer, or a refusal if it does not fit; then no further read begins. */
  #limitSize(answer: BatchAnswer): BatchAnswer {
    const result = embedded(answer, this.#call.format);
    const bytes = Buffer.byteLength(result.body);
    this.#bytesLeft -= bytes;
    if (this.#bytesLeft < 0) return TOO_LARGE;
    this.#call.batchReads.held.grow(this.#hold, bytes);
    return result;
  }
}
