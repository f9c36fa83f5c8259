/** How layouts and the encoder get at modules, wherever those come from. */
import type { MaybePromise } from '../../maybe-promise.ts';
import type { ModuleId } from '../types/module-id.ts';
import type { CompiledModule } from './compiled.ts';

/**
 * Gives the loaded module of an id, `undefined` when there is none.
 * @throws BinaryFormatError (src/move/modules/format.ts) when its bytes do not load.
 */
export type ModuleLookup = (id: ModuleId) => MaybePromise<CompiledModule | undefined>;

/**
 * The same lookup, quicker for id objects that come again: those of requests in use do. For lookups whose answers never
 * change; absence and failures are asked for every time.
 */
export function rememberingIds(lookup: ModuleLookup): ModuleLookup {
  const known = new WeakMap<ModuleId, CompiledModule>();
  return (id) => {
    const remembered = known.get(id);
    if (remembered !== undefined) return remembered;
    const found = lookup(id);
    if (found !== undefined && !(found instanceof Promise)) known.set(id, found);
    return found;
  };
}
