/** Modules of a program. */
import { type CompiledModule, moduleIdOf } from '../../move/modules/compiled.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import { LoadedFunction } from './loaded-function.ts';

export class LoadedModule {
  readonly id: ModuleId;
  readonly compiled: CompiledModule;
  readonly #functions = new Map<string, LoadedFunction>();

  constructor(compiled: CompiledModule) {
    this.id = moduleIdOf(compiled);
    this.compiled = compiled;
    for (let index = 0; index < compiled.functionDefinitions.length; index += 1) {
      const loaded = new LoadedFunction(this, index);
      this.#functions.set(loaded.name, loaded);
    }
  }

  function(name: string): LoadedFunction | undefined {
    return this.#functions.get(name);
  }
}
