/** How layouts and the encoder get at modules, wherever those come from. */
import type { CompiledModule, ModuleId } from './compiled.ts';

/** A value now or later: stores in this process answer at once, distributed ones do not. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Gives the loaded module of an id, `undefined` when there is none.
 * @throws BinaryFormatError (src/move/module/format-error.ts) when its bytes do not load.
 */
export type ModuleLookup = (id: ModuleId) => MaybePromise<CompiledModule | undefined>;
