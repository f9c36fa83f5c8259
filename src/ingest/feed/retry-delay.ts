/** How long to wait before an upstream is asked again. */

/** Longest wait of our own choice, in milliseconds. */
export const MAX_BACKOFF_MS = 30_000;
/** Longest wait that an upstream may ask for, in milliseconds. */
export const MAX_RETRY_AFTER_MS = 600_000;

const FIRST_BACKOFF_MS = 250;
/** Doublings after which the longest wait is reached for certain. */
const MAX_DOUBLINGS = 16;

/**
 * The wait before attempt `failures + 1`: doubled with every failure, half of it by chance, so that many followers of
 * a node that comes back do not come all at once; never shorter than what the upstream asks for.
 * @param failures in a row, 1 or more
 * @param random 0 to 1
 */
export function retryDelayMs(
  failures: number,
  retryAfterMs: number | undefined,
  random: () => number = Math.random,
): number {
  const doubled = FIRST_BACKOFF_MS * 2 ** Math.min(failures - 1, MAX_DOUBLINGS);
  const most = Math.min(doubled, MAX_BACKOFF_MS);
  const own = most / 2 + (most / 2) * random();
  return Math.max(own, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
}

/**
 * The wait that a `Retry-After` header asks for, in milliseconds: seconds, or a date (RFC 9110 §10.2.3); `undefined`
 * for anything else.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  // Only the form with names is a date here: Date.parse takes numbers and much else for dates too.
  if (!/^[A-Z][a-z]{2,8}, /.test(text)) return undefined;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}
