/** Lookups of modules given by their bytes. */
import { describe, expect, it } from 'vitest';
import { moduleIdOf } from '../../../src/move/modules/compiled.ts';
import { BinaryFormatError } from '../../../src/move/modules/format.ts';
import { DuplicateModuleError, modulesFrom } from '../../../src/move/modules/module-set.ts';
import { loadModule } from '../../../src/move/modules/read.ts';
import { ADDRESS_ONE } from '../../../src/move/types/address.ts';
import type { ModuleId } from '../../../src/move/types/module-id.ts';
import { SMALL_MODULE } from './module-samples.ts';

const id: ModuleId = moduleIdOf(loadModule(SMALL_MODULE));

describe('modulesFrom', () => {
  it('gives the same object for an id, and nothing for others', () => {
    const lookup = modulesFrom([SMALL_MODULE]);
    expect(lookup(id)).toEqual(loadModule(SMALL_MODULE));
    expect(lookup({ ...id })).toBe(lookup(id));
    expect(lookup({ address: ADDRESS_ONE, name: '__proto__' })).toBeUndefined();
    expect(modulesFrom([])(id)).toBeUndefined();
  });

  it('does not change with the bytes it was made from', () => {
    const bytes = Uint8Array.from(SMALL_MODULE);
    const lookup = modulesFrom([bytes]);
    bytes.fill(0);
    expect(lookup(id)).toEqual(loadModule(SMALL_MODULE));
  });

  it('refuses what does not load, and the same module twice', () => {
    expect(() => modulesFrom([Buffer.from('no module')])).toThrow(BinaryFormatError);
    expect(() => modulesFrom([SMALL_MODULE, SMALL_MODULE])).toThrow(DuplicateModuleError);
    expect(() => modulesFrom([SMALL_MODULE], { maxVersion: 4, maxIdentifierBytes: 255 })).toThrow(
      BinaryFormatError,
    );
  });
});
