/** Values derived from modules: which lookups check them, and when they are computed again. */
import { describe, expect, it } from 'vitest';
import type { CompiledModule } from '../../src/move/modules/compiled.ts';
import type { ModuleLookup } from '../../src/move/modules/lookup.ts';
import { ADDRESS_ONE } from '../../src/move/types/address.ts';
import { DerivedCache } from '../../src/state/derived.ts';

const ID = { address: ADDRESS_ONE, name: 'm' };
const BYTES = 100;

/** Counts its lookups. */
function lookupOf(digest: () => string, isOfOneVersion: boolean) {
  const asked = { count: 0 };
  const lookup: ModuleLookup = () => {
    asked.count += 1;
    return { digest: digest() } as CompiledModule;
  };
  return {
    asked,
    lookup: isOfOneVersion ? Object.assign(lookup, { isOfOneVersion: true as const }) : lookup,
  };
}

function cacheOfDigests() {
  const cache = new DerivedCache<string>('layouts', () => BYTES);
  const made: string[] = [];
  return {
    made,
    get: (lookup: ModuleLookup) =>
      cache.get('key', lookup, async (modules) => {
        const digest = (await modules(ID))!.digest!;
        made.push(digest);
        return digest;
      }),
  };
}

describe('a derived value', () => {
  it('is checked once by the modules of a version', async () => {
    const { made, get } = cacheOfDigests();
    const old = lookupOf(() => 'a', true);
    for (let round = 0; round < 3; round += 1) expect((await get(old.lookup)).value).toBe('a');
    expect([made, old.asked.count]).toEqual([['a'], 2]);
    const same = lookupOf(() => 'a', true);
    for (let round = 0; round < 3; round += 1) expect((await get(same.lookup)).value).toBe('a');
    expect([made, same.asked.count]).toEqual([['a'], 1]);
    // A read of another version comes between.
    await get(old.lookup);
    expect(old.asked.count).toBe(3);
  });

  it('is made again for a version with another module, and back', async () => {
    const { made, get } = cacheOfDigests();
    const [old, newest] = [lookupOf(() => 'a', true), lookupOf(() => 'b', true)];
    for (const { lookup } of [old, newest, old, old, newest, newest]) await get(lookup);
    expect(made).toEqual(['a', 'b', 'a', 'b']);
    expect((await get(newest.lookup)).value).toBe('b');
  });

  it('is checked each time by modules that may change', async () => {
    const { made, get } = cacheOfDigests();
    let digest = 'a';
    const { lookup, asked } = lookupOf(() => digest, false);
    await get(lookup);
    await get(lookup);
    digest = 'b';
    expect((await get(lookup)).value).toBe('b');
    await get(lookup);
    expect([made, asked.count]).toEqual([['a', 'b'], 5]);
    const fixed = lookupOf(() => 'b', true);
    await get(fixed.lookup);
    digest = 'c';
    expect((await get(lookup)).value).toBe('c');
    expect((await get(fixed.lookup)).value).toBe('b');
  });
});
