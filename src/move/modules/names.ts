/**
 * Names in a loaded binary: the ids of modules, the paths of structs. All indices are in bounds
 * after loading.
 */
import type { BinaryTables, CompiledModule, ModuleId } from './compiled.ts';

/** The id of a module handle. */
function moduleIdOfHandle(tables: BinaryTables, handle: number): ModuleId {
  const { address, name } = tables.moduleHandles[handle]!;
  return { address: tables.addresses[address]!, name: tables.identifiers[name]! };
}

/** A module's own id. */
export function moduleIdOf(module: CompiledModule): ModuleId {
  return moduleIdOfHandle(module, module.selfHandle);
}

/** The declaring module and the name of a struct handle. */
export function structPathOfHandle(
  tables: BinaryTables,
  handle: number,
): { readonly module: ModuleId; readonly name: string } {
  const { module, name } = tables.structHandles[handle]!;
  return { module: moduleIdOfHandle(tables, module), name: tables.identifiers[name]! };
}

/** The name of a function handle. */
export function functionNameOfHandle(tables: BinaryTables, handle: number): string {
  return tables.identifiers[tables.functionHandles[handle]!.name]!;
}
