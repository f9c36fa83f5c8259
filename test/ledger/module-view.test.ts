/** What a view of modules remembers: requests name modules that do not exist, with names of megabytes. */
import { expect, it } from 'vitest';
import {
  MAX_REMEMBERED_NAME_LENGTH,
  ModuleCache,
  ModuleView,
  TypeCache,
} from '../../src/ledger/modules/module-view.ts';
import type { PruningGuard } from '../../src/ledger/pruning-guard.ts';
import { ADDRESS_ONE } from '../../src/move/types/address.ts';

it.each([
  [MAX_REMEMBERED_NAME_LENGTH - 1, 1],
  [MAX_REMEMBERED_NAME_LENGTH, 1],
  [MAX_REMEMBERED_NAME_LENGTH + 1, 2],
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
