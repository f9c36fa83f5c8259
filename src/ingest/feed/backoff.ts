/** How long to wait before another attempt at an upstream. */

/** Maximum backoff, in milliseconds. */
export const MAX_BACKOFF_MS = 30_000;
/** Longest wait that an upstream may ask for, in milliseconds. */
export const MAX_RETRY_AFTER_MS = 600_000;
const FIRST_BACKOFF_MS = 250;

/**
 * The wait before attempt `failures + 1`: doubled with every failure, half of it random, so that many followers of a
 * restarted node do not reconnect at the same time; never shorter than the upstream requests.
 * @param failures in a row, 1 or more
 * @param random 0 to 1
 */
export function retryDelayMs(
  failures: number,
  retryAfterMs: number | undefined,
  random: () => number = Math.random,
): number {
  const most = Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 1), MAX_BACKOFF_MS);
  const own = most / 2 + (most / 2) * random();
  return Math.max(own, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
}
