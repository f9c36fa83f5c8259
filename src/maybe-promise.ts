/**
 * The one way this program waits. An embedded store answers at once, a distributed one answers later, so a read returns
 * a `MaybePromise`. Code that runs for every request or every row composes reads with the functions below: on the
 * embedded store they never use the microtask queue, and on any other store they wait once per read. All other code
 * simply awaits. Measured in docs/benchmarks.md, "What was tried".
 *
 * Code outside this file never checks whether a value is a promise (test/repo/waiting.test.ts).
 */

export type MaybePromise<T> = T | Promise<T>;

/** Applies `next` to a value: at once, or when the promise resolves. */
export function andThen<T, U>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * Runs `attempt` and continues with its value or its failure, whether it throws or rejects. An error of `next` itself
 * does not reach `recover`, as with `promise.then(next, recover)`.
 */
export function settle<T, U>(
  attempt: () => MaybePromise<T>,
  next: (value: T) => MaybePromise<U>,
  recover: (failure: unknown) => MaybePromise<U>,
): MaybePromise<U> {
  let value: MaybePromise<T>;
  try {
    value = attempt();
  } catch (failure) {
    return recover(failure);
  }
  return value instanceof Promise ? value.then(next, recover) : next(value);
}

/** Applies `step` to one item after the other and returns the results in order; stops at the first failure. */
export function mapInOrder<T, U>(
  items: readonly T[],
  step: (item: T, index: number) => MaybePromise<U>,
): MaybePromise<U[]> {
  const results: U[] = [];
  const from = (first: number): MaybePromise<U[]> => {
    for (let index = first; index < items.length; index += 1) {
      const result = step(items[index]!, index);
      if (result instanceof Promise) {
        return result.then((value) => {
          results.push(value);
          return from(index + 1);
        });
      }
      results.push(result);
    }
    return results;
  };
  return from(0);
}

/** Applies `step` to one item after the other; stops at the first failure. */
export function eachInOrder<T>(
  items: readonly T[],
  step: (item: T, index: number) => MaybePromise<unknown>,
  first = 0,
): MaybePromise<void> {
  for (let index = first; index < items.length; index += 1) {
    const done = step(items[index]!, index);
    if (done instanceof Promise) return done.then(() => eachInOrder(items, step, index + 1));
  }
  return undefined;
}

/**
 * Starts all reads before waiting for any, and returns their values in order; fails with the first failure. If a read
 * throws, no more are started, and the results of the started ones are ignored.
 */
export function together<T>(reads: readonly (() => MaybePromise<T>)[]): MaybePromise<T[]> {
  const started: MaybePromise<T>[] = [];
  try {
    for (const read of reads) started.push(read());
  } catch (failure) {
    void Promise.allSettled(started);
    throw failure;
  }
  return started.some((value) => value instanceof Promise)
    ? Promise.all(started)
    : (started as T[]);
}

/**
 * A read that may be needed after another one. It starts early if the other one is asynchronous, otherwise when the
 * returned function is called. Its failure is thrown only by that function.
 */
export function prefetch<U>(
  other: MaybePromise<unknown>,
  read: () => MaybePromise<U>,
): () => MaybePromise<U> {
  if (!(other instanceof Promise)) return read;
  const started = settle<U, () => U>(
    read,
    (value) => () => value,
    (failure) => () => {
      throw failure;
    },
  );
  return () => andThen(started, (outcome) => outcome());
}
