/** Structs and functions that a module defines, by name. */
import type {
  CompiledModule,
  FunctionDefinition,
  StructDefinition,
} from '../../move/modules/compiled.ts';

export function definedStructs(module: CompiledModule): ReadonlyMap<string, StructDefinition> {
  return new Map(
    module.structDefinitions.map((definition) => {
      const { name } = module.structHandles[definition.handle]!;
      return [module.identifiers[name]!, definition];
    }),
  );
}

export function definedFunctions(module: CompiledModule): ReadonlyMap<string, FunctionDefinition> {
  return new Map(
    module.functionDefinitions.map((definition) => {
      const { name } = module.functionHandles[definition.handle]!;
      return [module.identifiers[name]!, definition];
    }),
  );
}
