/** Long work in steps, between which other requests get their turn. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Work between two turns of the event loop: a few milliseconds. Its unit is a byte of stored BCS made JSON. */
const WORK_PER_TURN = 64 * 1024;

export class Pace {
  #left = WORK_PER_TURN;

  /** Counts work that is about to be done; true: not in this turn, enough was done in it. */
  isOver(workBytes: number): boolean {
    this.#left -= workBytes;
    if (this.#left > 0) return false;
    this.#left = WORK_PER_TURN;
    return true;
  }

  nextTurn(): Promise<void> {
    return nextTurn();
  }
}
