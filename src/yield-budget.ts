/** Divides long work into steps, so that other requests get their turn in between. */
import { andThen, type MaybePromise } from './maybe-promise.ts';

/** Work in one turn of the event loop: a few milliseconds. The unit is one byte of stored BCS rendered as JSON. */
const WORK_PER_TURN = 64 * 1024;

/** Work that waits for a turn, in order of arrival. */
let waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop. Each turn runs one step of all long work in this process. With one step
 * for each page in progress, a hundred pages would delay all other requests a hundred times as long.
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
  // Scheduled before the step runs, because the step may request a turn. At most one immediate is pending.
  if (others.length > 0) setImmediate(runFirst);
  first?.();
}

/** Longest turn for steps whose amount of work is unknown, in milliseconds. */
const TURN_MS = 5;

/** Runs all steps, each of which takes little time, and gives other work its turn in between. */
export async function doInTurns(
  steps: Iterable<void>,
  yieldTurn: () => Promise<void> = nextTurn,
): Promise<void> {
  let endMs = performance.now() + TURN_MS;
  for (const _ of steps) {
    if (performance.now() < endMs) continue;
    await yieldTurn();
    endMs = performance.now() + TURN_MS;
  }
}

/** The client that waits for the result of long work. Any member may throw to end the work. */
export interface Waiter {
  /** Aborted when the work must end; for work that waits for something other than its turn. */
  readonly signal: AbortSignal;
  /** Throws when the client has left, or too many bytes are held. */
  check(): void;
  /** Counts bytes that the work holds from now on; a negative number releases bytes. Throws as `check` does. */
  hold(bytes: number): void;
}

export class YieldBudget {
  #left: number;
  readonly #waiter: Waiter | undefined;
  #newBytes = 0;
  #partBytes = 0;

  /** @param left work allowed in this turn; 0 for a page that arrives while others wait, so that it runs after them */
  constructor(waiter?: Waiter, left = WORK_PER_TURN) {
    this.#waiter = waiter;
    this.#left = left;
  }

  static ofPage(waiter?: Waiter): YieldBudget {
    return new YieldBudget(waiter, waiting.length === 0 ? WORK_PER_TURN : 0);
  }

  /** Counts work that is about to be done. @returns whether this turn's budget is used up, so the work must wait */
  mustYield(workBytes: number): boolean {
    this.#left -= workBytes;
    if (this.#left > 0) return false;
    this.#left = WORK_PER_TURN;
    return true;
  }

  /** Does work in this turn, or in a later one if this turn's budget is used up. */
  inTurn<T>(workBytes: number, work: () => MaybePromise<T>): MaybePromise<T> {
    return this.mustYield(workBytes) ? andThen(this.nextTurn(), work) : work();
  }

  async nextTurn(): Promise<void> {
    this.#count();
    await nextTurn();
    this.#waiter?.check();
  }

  /** The waiter's signal. */
  get signal(): AbortSignal | undefined {
    this.#count();
    return this.#waiter?.signal;
  }

  /** Notes bytes that the work holds, or releases if negative. They are counted at the end of this turn. */
  hold(bytes: number): void {
    this.#newBytes += bytes;
  }

  /** The same for a part of an item. */
  holdPart(bytes: number): void {
    this.#newBytes += bytes;
    this.#partBytes += bytes;
  }

  /** Holds an item in place of its parts, which are garbage now. */
  replaceParts(bytes: number): void {
    this.#newBytes += bytes - this.#partBytes;
    this.#partBytes = 0;
  }

  #count(): void {
    const bytes = this.#newBytes;
    this.#newBytes = 0;
    if (bytes !== 0) this.#waiter?.hold(bytes);
  }
}
