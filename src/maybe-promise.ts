/**
 * The one way this program waits. An embedded store answers at once, a distributed one answers later, so a read gives
 * a `MaybePromise`. Code that runs once per request or once per row composes reads with `andThen`: on the embedded
 * store nothing of it passes through the microtask queue. All other code simply awaits. Nothing outside this file asks
 * whether a value is a promise (held by test/repo/waiting.test.ts).
 */

/** A value now or later. */
export type MaybePromise<T> = T | Promise<T>;

/** Applies `next` to a value: now when the value is there, later when it is promised. */
export function andThen<T, U>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
