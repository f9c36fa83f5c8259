/** Iterators of the engine: one that throws has to be closed, which frees its transaction. */

/** Calls `use` until it returns false. Unlike `for`, closes an iterator that throws, which frees its transaction. */
export function visit<T>(items: Iterable<T>, use: (item: T) => boolean): void {
  const iterator = items[Symbol.iterator]();
  try {
    for (;;) {
      const step = iterator.next();
      if (step.done === true) return;
      if (!use(step.value)) break;
    }
  } catch (error) {
    iterator.return?.();
    throw error;
  }
  iterator.return?.();
}

/** The same items, for `for`: closes an iterator that throws, as `visit` does. */
export function* closing<T>(items: Iterable<T>): Generator<T> {
  const iterator = items[Symbol.iterator]();
  try {
    for (;;) {
      const step = iterator.next();
      if (step.done === true) return;
      yield step.value;
    }
  } finally {
    iterator.return?.();
  }
}

export function listed<T>(items: Iterable<T>, most: number): T[] {
  const list: T[] = [];
  visit(items, (item) => list.push(item) < most);
  return list;
}
