/**
 * Limits how many runs that allocate much memory proceed at once: each may use all of its allowance, and a hundred of
 * them would need more than a machine has. The others wait with the little memory that they hold.
 */

/** A run that has allocated more bytes than this is large. Runs that may wait count as this many held bytes. */
export const LARGE_RUN_BYTES = 4 * 1024 * 1024;
/** Maximum number of large runs of this process at once. */
export const MAX_LARGE_RUNS = 3;

export class RunSemaphore {
  readonly #limit: number;
  #runCount = 0;
  readonly #waiting = new Set<() => void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves when one more may continue; call `leave` when it is over. Rejects if the signal is aborted first. */
  async enter(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#runCount < this.#limit) {
      this.#runCount += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#waiting.delete(begin);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(begin);
    });
  }

  /** Passes the place of a run that is over to the one that has waited longest. */
  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#runCount -= 1;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}

export const LARGE_RUNS = new RunSemaphore(MAX_LARGE_RUNS);
