/** How long to wait before a request to a node is retried. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RemoteError } from './remote-error.ts';

/** Maximum backoff, in milliseconds. */
export const MAX_BACKOFF_MS = 30_000;
/** Longest wait that an upstream may request, in milliseconds. */
export const MAX_RETRY_AFTER_MS = 600_000;
const FIRST_BACKOFF_MS = 250;

/**
 * The wait before attempt `failures + 1`, in milliseconds. It doubles with every failure, and half of it is random, so
 * that many followers of a restarted node do not reconnect at the same time. It is never shorter than the upstream
 * requests, up to MAX_RETRY_AFTER_MS.
 * @param failures number of consecutive failures, 1 or more
 * @param random 0 to 1
 */
export function retryDelayMs(
  failures: number,
  retryAfterMs: number | undefined,
  random: () => number = Math.random,
): number {
  const maxDelayMs = Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 1), MAX_BACKOFF_MS);
  const delayMs = maxDelayMs / 2 + (maxDelayMs / 2) * random();
  return Math.max(delayMs, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
}

/**
 * The wait that a `Retry-After` header requests, in milliseconds: seconds, or a date (RFC 9110 §10.2.3); `undefined`
 * for anything else.
 */
export function parseRetryAfter(value: string | undefined, nowMs = Date.now()): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  // Only dates with month names are accepted: Date.parse also accepts numbers and many other texts.
  if (!/^[A-Z][a-z]{2,8}, /.test(text)) return undefined;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

/** Retries after failures that another attempt may not have. @throws the error of the last attempt */
export async function retried<T>(ask: () => Promise<T>, maxAttempts: number): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof RemoteError) || error.code === 'page_too_large') throw error;
      if (error.remedy === 'stop' || attempt === maxAttempts) throw error;
      await sleep(retryDelayMs(attempt, error.retryAfterMs));
    }
  }
}
