/** The single cache class: what it keeps, drops and counts. */
import { describe, expect, it } from 'vitest';
import { CACHE_BUDGETS, Cache, copiedBytes } from '../src/cache.ts';
import { sha3 } from '../src/move/crypto/hash.ts';
import { ModuleCache } from '../src/state/module-view.ts';
import { filesBelow } from './repo/source-tree.ts';
import { frameworkBytecodes } from './vm/framework.ts';

const FOR_ONE_REQUEST = ['src/ledger/overrides/overrides.ts', 'src/api/http/request-handler.ts'];
const OF_OTHER_CLASSES: readonly string[] = [
  ...['program', 'asked_keys', 'blocks', 'sqlite_pages', 'walked_records', 'world'],
];

/** Size of one entry with a one-letter key and a value of no bytes. */
function entryBytes(): number {
  const cache = new Cache<number>('layouts');
  cache.set('a', 1, 0);
  return cache.size.bytes;
}

function cacheOf(entries: number): Cache<number> {
  return new Cache('layouts', entries * entryBytes());
}

describe('cache', () => {
  it('drops what nobody asked for since half of the budget was taken twice', () => {
    const cache = cacheOf(4);
    for (const [index, key] of ['a', 'b', 'c', 'd'].entries()) cache.set(key, index, 0);
    expect(cache.size.entries).toBe(4);
    expect(cache.get('a')).toBe(0);
    cache.set('e', 4, 0);
    expect([cache.get('a'), cache.get('e'), cache.get('b')]).toEqual([0, 4, undefined]);
  });

  it('stays within its budget and counts what it holds', () => {
    const cache = cacheOf(10);
    for (let index = 0; index < 100; index += 1) {
      cache.set(String.fromCharCode(33 + index), index, index % 3);
      if (index % 5 === 0) cache.get(String.fromCharCode(33 + index - 3));
      expect(cache.size.bytes).toBeLessThanOrEqual(10 * entryBytes());
    }
    expect(cache.size.entries).toBeGreaterThanOrEqual(5);
    expect(cache.size.bytes).toBeGreaterThanOrEqual(cache.size.entries * entryBytes());
  });

  it.each([
    [-1, 1],
    [0, 1],
    [1, 0],
  ])('an entry of half the budget and %i bytes leaves %i entries', (beyond, entries) => {
    const cache = new Cache<number>('layouts', 2_000);
    cache.set('a', 1, 1_000 - entryBytes() + beyond);
    expect(cache.size.entries).toBe(entries);
  });

  it('counts a replaced entry once, and nothing after clearing', () => {
    const cache = new Cache<number>('layouts');
    cache.set('a', 1, 100);
    const before = cache.size;
    cache.set('a', 2, 100);
    expect(cache.size).toEqual(before);
    expect(cache.get('a')).toBe(2);
    cache.clear();
    expect([cache.size.entries, cache.size.bytes, cache.get('a')]).toEqual([0, 0, undefined]);
  });

  it('has one value for a key, however old the one before is', () => {
    const cache = cacheOf(4);
    for (const [index, key] of ['a', 'b', 'c'].entries()) cache.set(key, index, 0);
    cache.set('a', 7, 0);
    expect(cache.size.entries).toBe(3);
    expect(cache.get('a')).toBe(7);
    cache.delete('a');
    expect([cache.get('a'), cache.size.entries]).toEqual([undefined, 2]);
  });
});

describe('getOrMake', () => {
  it('makes a value once, now or later', async () => {
    const cache = new Cache<number>('layouts');
    expect(
      cache.getOrMake(
        'now',
        () => 1,
        () => 8,
      ),
    ).toBe(1);
    await expect(
      cache.getOrMake(
        'later',
        async () => 2,
        () => 8,
      ),
    ).resolves.toBe(2);
    const never = (): number => {
      throw new Error('made again');
    };
    expect(cache.getOrMake('now', never, () => 8)).toBe(1);
    expect(cache.getOrMake('later', never, () => 8)).toBe(2);
  });

  it('remembers no failure', async () => {
    const cache = new Cache<number>('layouts');
    const failing = cache.getOrMake(
      'a',
      () => Promise.reject(new Error('no')),
      () => 8,
    );
    await expect(failing).rejects.toThrow('no');
    expect(
      cache.getOrMake(
        'a',
        () => 3,
        () => 8,
      ),
    ).toBe(3);
  });
});

describe('bytes to be cached', () => {
  it('have memory of their own', () => {
    const pooled = Buffer.from('a page');
    expect(pooled.buffer.byteLength).toBeGreaterThan(pooled.length);
    const copy = copiedBytes(pooled);
    expect(Buffer.isBuffer(copy)).toBe(true);
    expect(copy).toEqual(pooled);
    expect(copy.buffer.byteLength).toBe(pooled.length);
  });

  it('are not copied where they have', () => {
    const own = new Uint8Array(6);
    expect(copiedBytes(own)).toBe(own);
  });
});

describe('the budgets of all caches', () => {
  it('are at most 128 MiB together', () => {
    const bytes = Object.values(CACHE_BUDGETS).map((budget) => budget.bytes * budget.instances);
    expect(bytes.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(128 * 1024 * 1024);
  });

  it('count all instances of the class', () => {
    const made = new Map<string, number>();
    for (const { path, text } of filesBelow('src', ['.ts'])) {
      // These are created for one request of an overridden fork.
      if (FOR_ONE_REQUEST.includes(path)) continue;
      for (const [, name] of text.matchAll(/(?:new \w*Cache(?:<.*>)?|super)\('(\w+)'/g)) {
        if (name! in CACHE_BUDGETS) made.set(name!, (made.get(name!) ?? 0) + 1);
      }
    }
    const declared = Object.entries(CACHE_BUDGETS)
      .filter(([name]) => !OF_OTHER_CLASSES.includes(name))
      .map(([name, { instances }]) => [name, instances]);
    expect(Object.fromEntries(made)).toEqual(Object.fromEntries(declared));
  });

  it('have room for the framework in the half of the modules that is not dropped', () => {
    const cache = new ModuleCache();
    const modules = frameworkBytecodes().map((bytes) => Buffer.from(bytes));
    for (const bytes of modules) cache.moduleOf(sha3(bytes), { bytes, version: 0n });
    expect(cache.size.entries).toBe(modules.length);
    expect(cache.size.bytes).toBeLessThanOrEqual(CACHE_BUDGETS.modules.bytes / 2);
  });
});
