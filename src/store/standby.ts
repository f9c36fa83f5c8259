/** Waits for the right to write a store, which one process has at a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isStoreError, isTransient, type StoreError } from './store-error.ts';

/** How often a waiting process tries to get the right, in milliseconds. */
const ATTEMPT_INTERVAL_MS = 250;

export interface Standby {
  /** Called once if another process writes, or the store cannot be reached. */
  readonly onWait: (cause: StoreError) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Attempts to open a store until no other process writes it.
 * @param standby if absent, there is only one attempt
 * @throws the error of the attempt, if waiting cannot help; AbortError when the signal is aborted
 */
export async function standBy<T>(
  attempt: () => Promise<T>,
  standby: Standby | undefined,
): Promise<T> {
  for (let hasWaited = false; ; hasWaited = true) {
    try {
      return await attempt();
    } catch (cause) {
      const mayPass = isStoreError(cause, 'store_locked') || isTransient(cause);
      if (standby === undefined || !mayPass) throw cause;
      if (!hasWaited) standby.onWait(cause as StoreError);
    }
    await sleep(ATTEMPT_INTERVAL_MS, undefined, { signal: standby.signal });
  }
}
