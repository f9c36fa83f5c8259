/** Long work in steps, between which other requests get their turn. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MaybePromise } from '../maybe-promise.ts';

/** Work between two turns of the event loop: a few milliseconds. Its unit is a byte of stored BCS made JSON. */
const WORK_PER_TURN = 192 * 1024;

export class Pace {
  #left = WORK_PER_TURN;

  /** Counts work that was done, and waits for the next turn when enough was done in this one. */
  after(workBytes: number): MaybePromise<void> {
    this.#left -= workBytes;
    if (this.#left > 0) return undefined;
    this.#left = WORK_PER_TURN;
    return nextTurn();
  }
}
