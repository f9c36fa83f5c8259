/** Long work in steps, between which other requests get their turn. */
import { andThen, type MaybePromise } from './maybe-promise.ts';

/** Work between two turns of the event loop: a few milliseconds. Its unit is a byte of stored BCS made JSON. */
const WORK_PER_TURN = 64 * 1024;

/** The work that waits for a turn, in the order in which it came. */
let waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop. Each turn has one step of all the work of this process: were there one
 * of each page that is being made, a hundred pages would hold everybody else up a hundred times as long.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(runFirst);
  });
}

function runFirst(): void {
  const [first, ...others] = waiting;
  waiting = others;
  // Before the step itself, which may ask for another turn: only one immediate is under way.
  if (others.length > 0) setImmediate(runFirst);
  first?.();
}

/** For how long steps without a known amount of work may take a turn, in milliseconds. */
const TURN_MS = 5;

/** Does all steps, of which each takes little time, and gives others their turn in between. */
export async function doInTurns(
  steps: Iterable<void>,
  giveTurn: () => Promise<void> = nextTurn,
): Promise<void> {
  let endMs = performance.now() + TURN_MS;
  for (const _ of steps) {
    if (performance.now() < endMs) continue;
    await giveTurn();
    endMs = performance.now() + TURN_MS;
  }
}

/** Who waits for the result of long work. All of it throws to end the work. */
export interface Waiter {
  /** Aborted when the work is to end, for what waits for something else than its turn. */
  readonly signal: AbortSignal;
  /** Throws when the client has left, or too many bytes are held. */
  check(): void;
  /** Counts bytes that the work holds from now on, as `check`; a negative number gives bytes back. */
  hold(bytes: number): void;
}

export class YieldBudget {
  #left: number;
  readonly #waiter: Waiter | undefined;
  #newBytes = 0;
  #partBytes = 0;

  /** @param left work of this turn; a page that comes while others wait begins with none, and so behind them */
  constructor(waiter?: Waiter, left = WORK_PER_TURN) {
    this.#waiter = waiter;
    this.#left = left;
  }

  static ofPage(waiter?: Waiter): YieldBudget {
    return new YieldBudget(waiter, waiting.length === 0 ? WORK_PER_TURN : 0);
  }

  /** Counts work that is about to be done; true: not in this turn, enough was done in it. */
  isOver(workBytes: number): boolean {
    this.#left -= workBytes;
    if (this.#left > 0) return false;
    this.#left = WORK_PER_TURN;
    return true;
  }

  /** Does work in this turn, or in another one if enough was done in this. */
  inTurn<T>(workBytes: number, work: () => MaybePromise<T>): MaybePromise<T> {
    return this.isOver(workBytes) ? andThen(this.nextTurn(), work) : work();
  }

  async nextTurn(): Promise<void> {
    this.#count();
    await nextTurn();
    this.#waiter?.check();
  }

  /** That of who waits. */
  get signal(): AbortSignal | undefined {
    this.#count();
    return this.#waiter?.signal;
  }

  /** Notes bytes that the work holds, or gives back. They count from the end of this turn on. */
  hold(bytes: number): void {
    this.#newBytes += bytes;
  }

  /** The same of a part of an item. */
  holdPart(bytes: number): void {
    this.#newBytes += bytes;
    this.#partBytes += bytes;
  }

  /** Holds an item; its parts are garbage now. */
  holdWhole(bytes: number): void {
    this.#newBytes += bytes - this.#partBytes;
    this.#partBytes = 0;
  }

  #count(): void {
    const bytes = this.#newBytes;
    this.#newBytes = 0;
    if (bytes !== 0) this.#waiter?.hold(bytes);
  }
}
