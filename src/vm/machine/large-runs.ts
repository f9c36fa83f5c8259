/**
 * Runs that make much, of which only a few go on at once: each may use all of its memory, and a hundred of them more
 * than a machine has. The others wait, with the little that they have.
 */

/** A run that has made more than this is large, in bytes. */
export const LARGE_RUN_BYTES = 4 * 1024 * 1024;
/** Large runs of this process that go on at once. */
export const MAX_LARGE_RUNS = 3;

class LargeRuns {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** Resolves when one more may go on; `leave` is called when it is over. */
  async enter(): Promise<void> {
    if (this.#running < MAX_LARGE_RUNS) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The place of one that is over is that of the one that waited longest. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}

export const LARGE_RUNS = new LargeRuns();
