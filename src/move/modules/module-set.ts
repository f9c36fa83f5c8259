/** A lookup over modules given as bytes, for use without a ledger. */

import { moduleKey } from '../types/module-id.ts';
import {
  type CompiledModule,
  DEFAULT_LOADER_LIMITS,
  type LoaderLimits,
  moduleIdOf,
} from './compiled.ts';
import type { ModuleLookup } from './lookup.ts';
import { loadModule } from './read.ts';

/** The same module id twice: it is ambiguous which one is meant. */
export class DuplicateModuleError extends TypeError {
  constructor(id: string) {
    super(`module ${id} is given twice`);
    this.name = 'DuplicateModuleError';
  }
}

/**
 * Loads the bytecode of modules and returns the lookup over them.
 * @throws BinaryFormatError for bytes that do not load; DuplicateModuleError
 */
export function modulesFrom(
  bytecodes: Iterable<Uint8Array>,
  limits: LoaderLimits = DEFAULT_LOADER_LIMITS,
): ModuleLookup {
  const modules = new Map<string, CompiledModule>();
  for (const bytes of bytecodes) {
    // A copy: loaded modules hold views on their bytes, which the caller may change.
    const module = loadModule(Uint8Array.from(bytes), limits);
    const key = moduleKey(moduleIdOf(module));
    if (modules.has(key)) throw new DuplicateModuleError(`0x${key}`);
    modules.set(key, module);
  }
  return (id) => modules.get(moduleKey(id));
}
