/**
 * The processor time of event streams. Ten thousand listeners of one stream take a tenth of a second for each event,
 * which no turn of the event loop may take, and which would leave little time for other requests if events came fast.
 * So the work is cut into slices, and streams take at most a fifth of the time while the process has other work; events
 * that come meanwhile are read together. A process that has nothing else to do gives them all of its time.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { MaybePromise } from '../../maybe-promise.ts';

/** Longest work before other requests have their turn, in milliseconds. */
export const SLICE_MS = 5;
/** Time that others have for each time that streams take: four fifths. */
const REST_FACTOR = 4;
/** How often a resting stream looks whether the process is idle, in milliseconds. */
const LOOK_INTERVAL_MS = 1;
/** Up to this utilization of the event loop nobody else needs the time. */
const IDLE_UTILIZATION = 0.5;

export class TimeShare {
  /** When others have had their share, as `performance.now()` gives it. */
  #paidMs = 0;

  /** Counts work; rests after a slice of it. */
  spend(spentMs: number): MaybePromise<void> {
    const nowMs = performance.now();
    this.#paidMs = Math.max(this.#paidMs, nowMs) + spentMs * REST_FACTOR;
    return this.#paidMs - nowMs >= SLICE_MS * REST_FACTOR ? this.#rest() : undefined;
  }

  async #rest(): Promise<void> {
    while (performance.now() < this.#paidMs) {
      const before = performance.eventLoopUtilization();
      await delay(LOOK_INTERVAL_MS);
      const { utilization } = performance.eventLoopUtilization(before);
      if (utilization <= IDLE_UTILIZATION) this.#paidMs = performance.now();
    }
  }
}
