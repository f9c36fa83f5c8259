/**
 * Limits the processor time of event streams. Ten thousand listeners of one stream take a tenth of a second per event.
 * That is too long for one turn of the event loop, and would leave little time for other requests if events come fast.
 * So the work is cut into slices, and streams take at most a fifth of the time while the process has other work. Events
 * that come meanwhile are read together. A process that has nothing else to do gives streams all of its time.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { MaybePromise } from '../../maybe-promise.ts';

/** Longest work before other requests get their turn, in milliseconds. */
export const SLICE_MS = 5;
/** Time for others per time for streams: others get four fifths. */
const REST_FACTOR = 4;
/** How often a resting stream checks whether the process is idle, in milliseconds. */
const IDLE_CHECK_INTERVAL_MS = 1;
/** Up to this utilization of the event loop, the process counts as idle. */
const IDLE_UTILIZATION = 0.5;

export class TimeShare {
  /** When others will have had their share, in the time of `performance.now()`. */
  #restUntilMs = 0;

  /** Counts work, and rests after each slice of it. */
  spend(spentMs: number): MaybePromise<void> {
    const nowMs = performance.now();
    this.#restUntilMs = Math.max(this.#restUntilMs, nowMs) + spentMs * REST_FACTOR;
    return this.#restUntilMs - nowMs >= SLICE_MS * REST_FACTOR ? this.#rest() : undefined;
  }

  async #rest(): Promise<void> {
    while (performance.now() < this.#restUntilMs) {
      const before = performance.eventLoopUtilization();
      await delay(IDLE_CHECK_INTERVAL_MS);
      const { utilization } = performance.eventLoopUtilization(before);
      if (utilization <= IDLE_UTILIZATION) this.#restUntilMs = performance.now();
    }
  }
}
