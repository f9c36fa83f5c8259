import { describe, expect, it } from 'vitest';
import { BoundedCache } from '../../src/ledger/bounded-cache.ts';

/** Size of one empty-valued entry with a one-letter key. */
function entryBytes(): number {
  const cache = new BoundedCache<number>(10_000);
  cache.set('a', 1, 0);
  return cache.sizeBytes;
}

describe('bounded cache', () => {
  it('keeps exactly what fits and drops the least recently used', () => {
    const cache = new BoundedCache<number>(3 * entryBytes());
    cache.set('a', 1, 0);
    cache.set('b', 2, 0);
    cache.set('c', 3, 0);
    expect(cache.size).toBe(3);
    expect(cache.get('a')).toBe(1);
    cache.set('d', 4, 0);
    expect([cache.get('a'), cache.get('b'), cache.get('c'), cache.get('d')]).toEqual([
      1,
      undefined,
      3,
      4,
    ]);
  });

  it.each([
    [-1, 1],
    [0, 1],
    [1, 0],
  ])('an entry of the whole size %i bytes beyond leaves %i entries', (beyond, entries) => {
    const cache = new BoundedCache<number>(1000);
    cache.set('a', 1, 1000 - entryBytes() + beyond);
    expect(cache.size).toBe(entries);
  });

  it('counts a replaced entry once, and nothing after clearing', () => {
    const cache = new BoundedCache<number>(1000);
    cache.set('a', 1, 100);
    const before = cache.sizeBytes;
    cache.set('a', 2, 100);
    expect(cache.sizeBytes).toBe(before);
    expect(cache.get('a')).toBe(2);
    cache.clear();
    expect([cache.size, cache.sizeBytes, cache.get('a')]).toEqual([0, 0, undefined]);
  });
});
