/** Long work in steps, between which other requests get their turn. */

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

export class Pace {
  #left: number;

  /** @param left work of this turn; a page that comes while others wait begins with none, and so behind them */
  constructor(left = WORK_PER_TURN) {
    this.#left = left;
  }

  static ofPage(): Pace {
    return new Pace(waiting.length === 0 ? WORK_PER_TURN : 0);
  }

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
