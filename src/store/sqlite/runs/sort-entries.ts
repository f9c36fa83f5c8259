/** Sorts the entries of a commit: tens of thousands of keys, most of which begin with a hash. */
import { type Entry, PREFIX_BITS } from './block.ts';

const DIGIT_BITS = 10;
const DIGITS = 1 << DIGIT_BITS;
/** Up to this many entries with the same prefix are sorted by insertion. */
const MAX_INSERTED = 16;

/**
 * Sorts entries by key. Entries with the same key stay in their order. First comes a radix sort by the digits of their
 * prefixes, the last digit first. Then entries with the same prefix are sorted by comparison.
 */
export function sortEntries(entries: readonly Entry[]): Entry[] {
  const prefixes = new Uint32Array(entries.length);
  let order = new Uint32Array(entries.length);
  for (let at = 0; at < entries.length; at += 1) {
    prefixes[at] = entries[at]!.prefix;
    order[at] = at;
  }
  let next = new Uint32Array(entries.length);
  for (let shift = 0; shift < PREFIX_BITS; shift += DIGIT_BITS) {
    distribute(prefixes, shift, order, next);
    [order, next] = [next, order];
  }
  const sorted: Entry[] = [];
  for (const at of order) sorted.push(entries[at]!);
  for (let from = 0; from < order.length; ) {
    const prefix = prefixes[order[from]!]!;
    let to = from + 1;
    while (to < order.length && prefixes[order[to]!] === prefix) to += 1;
    if (to > from + 1) sortPart(sorted, from, to);
    from = to;
  }
  return sorted;
}

/** Sorts entries with the same prefix. There are usually few. */
function sortPart(entries: Entry[], from: number, to: number): void {
  if (to - from > MAX_INSERTED) {
    const part = entries.slice(from, to).sort((a, b) => a.compare(b));
    for (const [at, entry] of part.entries()) entries[from + at] = entry;
    return;
  }
  for (let at = from + 1; at < to; at += 1) {
    const entry = entries[at]!;
    let into = at;
    for (; into > from && entries[into - 1]!.compare(entry) > 0; into -= 1) {
      entries[into] = entries[into - 1]!;
    }
    entries[into] = entry;
  }
}

/** Sorts indexes by one digit of their prefixes. The sort is stable. */
function distribute(
  prefixes: Uint32Array,
  shift: number,
  order: Uint32Array,
  into: Uint32Array,
): void {
  const starts = new Uint32Array(DIGITS + 1);
  for (const at of order) starts[digitOf(prefixes[at]!, shift) + 1]! += 1;
  for (let digit = 0; digit < DIGITS; digit += 1) starts[digit + 1]! += starts[digit]!;
  for (const at of order) {
    const digit = digitOf(prefixes[at]!, shift);
    into[starts[digit]!] = at;
    starts[digit]! += 1;
  }
}

function digitOf(prefix: number, shift: number): number {
  return (prefix >>> shift) & (DIGITS - 1);
}
