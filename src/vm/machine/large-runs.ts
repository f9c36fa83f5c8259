/**
 * Runs that make much, of which only a few go on at once: each may use all of its memory, and a hundred of them more
 * than a machine has. The others wait, with the little that they have.
 */

/** A run that has made more than this is large, in bytes. One that needs more than a turn counts as much. */
export const LARGE_RUN_BYTES = 4 * 1024 * 1024;
/** Large runs of this process that go on at once. */
export const MAX_LARGE_RUNS = 3;

export class RunsAtOnce {
  readonly #most: number;
  #running = 0;
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves when one more may go on; `leave` is called when it is over. Rejects when the signal is aborted first. */
  async enter(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#running < this.#most) {
      this.#running += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#waiting.delete(begin);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(begin);
    });
  }

  /** The place of one that is over is that of the one that waited longest. */
  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#running -= 1;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}

export const LARGE_RUNS = new RunsAtOnce(MAX_LARGE_RUNS);
