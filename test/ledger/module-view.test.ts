/** What a view of modules caches: requests name modules that do not exist, with names of megabytes. */
import { expect, it } from 'vitest';
import { ADDRESS_ONE } from '../../src/move/types/address.ts';
import { parseTypeTag } from '../../src/move/types/type-parser.ts';
import { TypeTag } from '../../src/move/types/type-tag.ts';
import {
  MAX_CACHED_NAME_LENGTH,
  ModuleCache,
  ModuleView,
  TypeCache,
} from '../../src/state/module-view.ts';
import type { PruningGuard } from '../../src/state/pruning-guard.ts';
import { moduleLookup } from '../move/values/layout-modules.ts';

it.each([
  [MAX_CACHED_NAME_LENGTH - 1, 1],
  [MAX_CACHED_NAME_LENGTH, 1],
  [MAX_CACHED_NAME_LENGTH + 1, 2],
])('a name of %i characters, asked for twice, is read %i times', (length, reads) => {
  let count = 0;
  const state = () => {
    count += 1;
    return undefined;
  };
  const guard: Pick<PruningGuard, 'state'> = { state };
  const caches = { modules: new ModuleCache(), types: new TypeCache() };
  const view = new ModuleView(caches, guard as PruningGuard, 1n);
  const id = { address: ADDRESS_ONE, name: 'a'.repeat(length) };
  expect([view.lookup(id), view.lookup(id)]).toEqual([undefined, undefined]);
  expect(count).toBe(reads);
});

it('types count by their fields: those of a short name may have thousands', async () => {
  const fields = Array.from({ length: 3_000 }, (_, index) => [`f${index}`, 'u64'] as const);
  const lookup = moduleLookup({ '0x7::m::Wide': { parameters: 2, fields } });
  const types = new TypeCache();
  const some = [
    'u8',
    'u16',
    'u32',
    'u64',
    'u128',
    'u256',
    'bool',
    'address',
    'vector<u8>',
    'vector<u64>',
  ];
  for (const first of some) {
    for (const second of some) {
      const tag = parseTypeTag(`0x7::m::Wide<${first}, ${second}>`);
      await types.resolve(TypeTag.encode(tag), lookup);
    }
  }
  const { entries, bytes } = types.size;
  expect(bytes).toBeGreaterThan(entries * fields.length * 64);
  expect(entries).toBeLessThan(80);
});
