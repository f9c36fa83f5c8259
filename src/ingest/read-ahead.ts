/** Reads files before they are needed. */

/** Number of files that are requested before they are needed. This also bounds the number of files in memory. */
const MAX_FILES_AHEAD = 4;

/** Reads some of the items ahead, in their order. @throws what `read` throws for the item whose turn it is */
export async function* readAhead<T, R>(
  items: Iterable<T>,
  read: (item: T) => Promise<R>,
  maxAhead = MAX_FILES_AHEAD,
): AsyncGenerator<readonly [T, R], void, undefined> {
  const ahead: (readonly [T, Promise<R>])[] = [];
  for (const item of items) {
    const reading = read(item);
    // Awaited in its turn; until then a failure is not "unhandled".
    reading.catch(() => undefined);
    ahead.push([item, reading]);
    if (ahead.length < maxAhead) continue;
    const [next, result] = ahead.shift()!;
    yield [next, await result];
  }
  for (const [next, result] of ahead) yield [next, await result];
}
