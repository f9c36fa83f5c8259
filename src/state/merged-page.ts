/** Merges pages of two sources into one. */

interface PageBounds {
  readonly from?: Uint8Array | undefined;
  readonly limit: number;
  readonly next: Buffer | undefined;
}

interface MergedPage<T> {
  readonly items: readonly T[];
  readonly next: Buffer | undefined;
}

/**
 * Merges `own` into a page: those of its items that are within the page's bounds. If items have the same order, the one
 * in `own` wins.
 * @param own in any order
 */
export function mergedPage<T>(
  page: readonly T[],
  own: readonly T[],
  orderOf: (item: T) => Buffer,
  { from, limit, next }: PageBounds,
): MergedPage<T> {
  const isWithin = (item: T): boolean => {
    const order = orderOf(item);
    const isAfterStart = from === undefined || Buffer.compare(order, from) >= 0;
    return isAfterStart && (next === undefined || Buffer.compare(order, next) < 0);
  };
  const items = [...page, ...own].filter(isWithin);
  const byOrder = new Map(items.map((item) => [orderOf(item).toString('latin1'), item]));
  const all = [...byOrder.values()].sort((a, b) => Buffer.compare(orderOf(a), orderOf(b)));
  const after = all[limit];
  return { items: all.slice(0, limit), next: after === undefined ? next : orderOf(after) };
}
