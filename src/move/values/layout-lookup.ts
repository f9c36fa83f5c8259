/** Finding struct definitions in loaded modules, for both layout resolvers (docs/spec/move.md §4.3, "find struct"). */
import type {
  CompiledModule,
  ModuleId,
  StructDefinition,
  StructHandle,
} from '../modules/compiled.ts';

/** A struct or enum definition with the module it stands in. */
export interface FoundStruct {
  readonly id: ModuleId;
  readonly module: CompiledModule;
  readonly name: string;
  readonly handle: StructHandle;
  readonly definition: StructDefinition;
}

interface StructIndex {
  /** First definition of each name. */
  readonly byName: ReadonlyMap<string, FoundStruct>;
  /** First definition of each struct handle. */
  readonly byHandle: ReadonlyMap<number, FoundStruct>;
}

/** Loaded modules never change, and live as long as whoever cached them wants. */
const indexes = new WeakMap<CompiledModule, StructIndex>();

function structIndex(module: CompiledModule): StructIndex {
  const known = indexes.get(module);
  if (known !== undefined) return known;
  const id = moduleIdAt(module, module.selfHandle);
  const byName = new Map<string, FoundStruct>();
  const byHandle = new Map<number, FoundStruct>();
  for (const definition of module.structDefinitions) {
    const handle = module.structHandles[definition.handle]!;
    const name = module.identifiers[handle.name]!;
    const found: FoundStruct = { id, module, name, handle, definition };
    if (!byName.has(name)) byName.set(name, found);
    if (!byHandle.has(definition.handle)) byHandle.set(definition.handle, found);
  }
  const index = { byName, byHandle };
  indexes.set(module, index);
  return index;
}

/** The id that a module handle names. */
function moduleIdAt(module: CompiledModule, moduleHandle: number): ModuleId {
  const handle = module.moduleHandles[moduleHandle]!;
  return {
    address: module.addresses[handle.address]!,
    name: module.identifiers[handle.name]!,
  };
}

/** The first definition of a name in a module. */
export function findStruct(module: CompiledModule, name: string): FoundStruct | undefined {
  return structIndex(module).byName.get(name);
}

/** The first definition in a module that stands for one of its struct handles. */
export function findStructByHandle(
  module: CompiledModule,
  structHandle: number,
): FoundStruct | undefined {
  return structIndex(module).byHandle.get(structHandle);
}

/** What a struct handle names: the module that declares the struct, and the struct's name. */
export function structNameAt(
  module: CompiledModule,
  structHandle: number,
): { readonly id: ModuleId; readonly name: string } {
  const handle = module.structHandles[structHandle]!;
  return { id: moduleIdAt(module, handle.module), name: module.identifiers[handle.name]! };
}
