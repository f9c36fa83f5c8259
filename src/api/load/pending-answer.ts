/**
 * An answer while it is made: whether its client is still there, and how much it occupies. One that runs code counts
 * as work of its client besides, and ends when the node stops (docs/metrics.md, Overload).
 */
import type { IncomingMessage } from 'node:http';
import type { Waiter } from '../../ledger/pace.ts';
import { ApiError } from '../http/error-table.ts';
import { hasLeft } from './request-client.ts';
import type { Held, UnsentAnswers } from './unsent-answers.ts';

/** Where answers are counted: `Admission`. */
interface Tally {
  readonly unsent: UnsentAnswers;
  refuse(isRun: boolean): ApiError;
  beginRunTurn(request: IncomingMessage): void;
}

/** After how many seconds a client may ask again, of another node or the next start of this one. */
const RETRY_AFTER_SECS = 1;

/** Ends the work. Nobody gets it. */
const LEFT = new ApiError(499, 'internal_error', 'The client has left');
const STOPPED = new ApiError(503, 'internal_error', 'The node is stopping', {
  retryAfterSecs: RETRY_AFTER_SECS,
});

export class PendingAnswer implements Waiter {
  readonly #request: IncomingMessage;
  readonly #isRun: boolean;
  readonly #tally: Tally;
  #held: Held | undefined;
  #stop: AbortController | undefined;

  constructor(request: IncomingMessage, isRun: boolean, tally: Tally) {
    this.#request = request;
    this.#isRun = isRun;
    this.#tally = tally;
  }

  get signal(): AbortSignal {
    this.#require();
    this.#stop ??= new AbortController();
    return this.#stop.signal;
  }

  check(): void {
    this.#require();
    if (this.#isRun) this.#tally.beginRunTurn(this.#request);
  }

  hold(bytes: number): void {
    this.#held ??= this.#begin();
    this.#tally.unsent.grow(this.#held, bytes);
    this.#require();
  }

  /** The answer is written, and counts as unsent as far as it was not taken; or it has failed. */
  end(): void {
    if (this.#held !== undefined) this.#tally.unsent.release(this.#held);
  }

  #begin(): Held {
    const { unsent } = this.#tally;
    if (!this.#isRun) return unsent.beginPage(this.#request);
    if (unsent.refuses(true, this.#request)) throw this.#tally.refuse(true);
    return unsent.beginPage(this.#request, () => this.#stop?.abort(STOPPED));
  }

  #require(): void {
    if (hasLeft(this.#request)) throw LEFT;
    if (this.#held === undefined) return;
    const { unsent } = this.#tally;
    if (!unsent.isHeld(this.#held)) throw STOPPED;
    if (!unsent.hasRoom(this.#held)) throw this.#tally.refuse(this.#isRun);
  }
}
