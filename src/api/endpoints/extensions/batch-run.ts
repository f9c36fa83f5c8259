/**
 * Answers the reads of a batch, bounded in bytes and time. If answers come from another process or node, several reads
 * run concurrently. Other requests get their turn in between.
 */

import { andThen, type MaybePromise, together } from '../../../maybe-promise.ts';
import { nextTurn } from '../../../yield-budget.ts';
import { ApiError, errorBody, errorContentType, frameworkError } from '../../error-table.ts';
import type { Held } from '../../load/held-bytes.ts';
import { hasLeft } from '../../load/request-client.ts';
import type { Format } from '../../negotiation.ts';
import type { BatchAnswer, BatchRead, BatchReads, ReadCall } from '../endpoint.ts';
import { embedded } from './batch-answers.ts';

export const MAX_BATCH_BYTES = 16 * 1024 * 1024;
/** A batch that has this many bytes starts no more reads while too many bytes are unsent. */
export const LARGE_BATCH_BYTES = 64 * 1024;
/** How long a batch may take, in milliseconds: reads that have not begun by then are refused. */
export const MAX_BATCH_MS = 10_000;
/** Maximum concurrent reads of a batch. */
export const MAX_BATCH_AWAITED = 16;
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
const TOO_FULL = refusal(
  new ApiError(503, 'internal_error', 'The node is overloaded: too many large answers are unsent', {
    retryAfterSecs: RETRY_AFTER_SECS,
  }),
);

function refusal(error: ApiError): BatchAnswer {
  const { status } = error;
  return { status, contentType: errorContentType(error), body: errorBody(error) };
}

interface BatchCall extends ReadCall {
  readonly others: BatchReads;
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
  readonly #held: Held;
  #begun = 0;
  readonly #answers: BatchAnswer[];

  /** @param clock monotonic, in milliseconds */
  constructor(
    reads: readonly BatchRead[],
    call: BatchCall,
    clock: () => number = () => performance.now(),
  ) {
    this.#reads = reads;
    this.#call = call;
    this.#held = call.others.held.hold(call.client.req, 0);
    this.#clock = clock;
    this.#startedMs = clock();
    this.#turnBeganMs = this.#startedMs;
    this.#answers = new Array<BatchAnswer>(reads.length);
  }

  /** Resolves to the answers in the order of the reads; none if the client has gone. */
  run(): MaybePromise<readonly BatchAnswer[]> {
    const lines = Array.from({ length: MAX_BATCH_AWAITED }, (_, line) => () => {
      // Unless the first line waits, it has answered everything by now.
      const isUseful = line === 0 || this.#call.others.isRemote(this.#call);
      return isUseful ? this.#line() : undefined;
    });
    return andThen(together(lines), () => (this.#hasGone ? [] : this.#answers));
  }

  /** Call it when the answers are sent, or when the client has left. */
  end(): void {
    this.#call.others.held.release(this.#held);
  }

  get #hasGone(): boolean {
    return hasLeft(this.#call.client.req);
  }

  #line(): MaybePromise<void> {
    const index = this.#begun;
    if (index === this.#reads.length || this.#hasGone) return undefined;
    this.#begun += 1;
    return andThen(this.#inTurn(this.#reads[index]!), (answer) => {
      this.#answers[index] = this.#fitting(answer);
      return this.#line();
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
    if (this.#held.bytes >= LARGE_BATCH_BYTES && this.#call.others.held.isFull) return TOO_FULL;
    return this.#call.others.answer(read, this.#call);
  }

  /** The answer, or a refusal if it does not fit; then no further read begins. */
  #fitting(answer: BatchAnswer): BatchAnswer {
    const shown = embedded(answer, this.#call.format);
    const bytes = Buffer.byteLength(shown.body);
    this.#bytesLeft -= bytes;
    if (this.#bytesLeft < 0) return TOO_LARGE;
    this.#call.others.held.grow(this.#held, bytes);
    return shown;
  }
}
