/** The newest version's program is used for an earlier version only if its modules were the same. */
import { expect, it } from 'vitest';
import { SharedProgram } from '../../src/execution/shared-program.ts';
import { hashedStateKey, moduleStateKey } from '../../src/move/types/state-key.ts';
import { ModuleCache, ModuleView, TypeCache } from '../../src/state/module-view.ts';
import type { PruningGuard } from '../../src/state/pruning-guard.ts';
import { bytecodesOf, CAFE } from '../vm/run-text.ts';

const module = (text: string) => bytecodesOf(`module cafe::${text}`)[0]!;
/** Modules by the version that wrote them. */
const WRITTEN = [
  { name: 'old', version: 0n, bytes: module('old { public fun f() { Ret; } }') },
  { name: 'm', version: 0n, bytes: module('m { public fun f() { Ret; } }') },
  { name: 'm', version: 50n, bytes: module('m { public fun f(): u8 { LdU8 1; Ret; } }') },
];

const state: PruningGuard['state'] = (_, { hash }, version) =>
  WRITTEN.findLast(
    (one) =>
      one.version <= version && hashedStateKey(moduleStateKey(CAFE, one.name)).hash.equals(hash),
  ) as ReturnType<PruningGuard['state']>;

function viewsAt(newestVersion: bigint) {
  const guard: Pick<PruningGuard, 'state'> = { state };
  const caches = { modules: new ModuleCache(), types: new TypeCache() };
  const newest = new ModuleView(caches, guard as PruningGuard, newestVersion);
  const at = (version: bigint) => new ModuleView(caches, guard as PruningGuard, version, newest);
  return { shared: new SharedProgram(newest), newest, at };
}

/** Whether the shared program was used, and how many results the function has. */
async function used({ shared, at }: ReturnType<typeof viewsAt>, name: string, version: bigint) {
  let isShared = false;
  const target = await shared.useAt(at(version), (program) => {
    isShared = program === shared.program;
    return program.function({ address: CAFE, name }, 'f');
  });
  return { isShared, results: target.results.length };
}

it('serves a version as long as all that it has loaded is older', async () => {
  const views = viewsAt(100n);
  expect(await used(views, 'old', 10n)).toEqual({ isShared: true, results: 0 });
  expect(await used(views, 'm', 50n)).toEqual({ isShared: true, results: 1 });
  expect(await used(views, 'm', 49n)).toEqual({ isShared: false, results: 0 });
  expect(await used(views, 'old', 49n)).toEqual({ isShared: false, results: 0 });
  expect(await used(views, 'old', 50n)).toEqual({ isShared: true, results: 0 });
});

it('what turns out to be newer is done again', async () => {
  expect(await used(viewsAt(100n), 'm', 49n)).toEqual({ isShared: false, results: 0 });
  const views = viewsAt(100n);
  await expect(used(views, 'none', 10n)).rejects.toThrow("doesn't exist");
  expect(await used(views, 'old', 10n)).toEqual({ isShared: false, results: 0 });
});
