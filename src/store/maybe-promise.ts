/** Working with answers that an embedded store gives at once and a distributed one later. */
import type { MaybePromise } from '../move/module/lookup.ts';

/**
 * Applies `next` to a value, now when the value is there and later when it is promised. An `await`
 * would put every answer of the embedded store behind a turn of the microtask queue; this does not.
 */
export function andThen<T, U>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
