/**
 * The check that every index has a target, which is part of loading (docs/spec/move.md §1.11). Nothing else is
 * verified: no types on the stack, no duplicate names. Linear in the size of the binary: the highest type parameter of
 * a signature, which code needs repeatedly, is computed once (§6).
 */
import type {
  BinaryTables,
  CodeUnit,
  CompiledModule,
  CompiledScript,
  FieldDefinition,
  FunctionDefinition,
  Instantiation,
  ModuleHandle,
  SignatureToken,
  StructDefinition,
} from './compiled.ts';
import { BinaryFormatError, MAX_LOCAL_INDEX } from './format.ts';
import { OPCODES, type OperandKind } from './opcodes.ts';

const NO_TYPE_PARAMETER = -1;

/** Asserts that every index of a module has a target. @throws BinaryFormatError for the first that has none */
export function checkModuleBounds(module: CompiledModule): void {
  if (module.moduleHandles.length === 0) {
    throw new BinaryFormatError('no_module_handles', 'no module handles');
  }
  const highest = checkSharedTables(module);
  checkFieldHandles(module);
  for (const friend of module.friends) checkModuleHandle(module, friend);
  const structs = module.structDefinitions;
  checkInstantiations(module, 'struct', module.structInstantiations, structs.length);
  checkFunctionInstantiations(module);
  checkInstantiations(module, 'field', module.fieldInstantiations, module.fieldHandles.length);
  for (const definition of structs) checkStructDefinition(module, definition);
  checkVariantHandles(module);
  const { variantFieldHandles, structVariantHandles } = module;
  const { variantFieldInstantiations: ofFields, structVariantInstantiations: ofVariants } = module;
  checkInstantiations(module, 'variant field', ofFields, variantFieldHandles.length);
  checkInstantiations(module, 'struct variant', ofVariants, structVariantHandles.length);
  for (const definition of module.functionDefinitions) {
    checkFunctionDefinition(module, definition, highest);
  }
}

/** Asserts that every index of a script has a target. @throws BinaryFormatError */
export function checkScriptBounds(script: CompiledScript): void {
  const highest = checkSharedTables(script);
  checkFunctionInstantiations(script);
  checkIndex('parameters signature', script.parameters, script.signatures.length);
  const typeParameterCount = script.typeParameters.length;
  checkTypeParameters('script', highest[script.parameters]!, typeParameterCount);
  checkLocals(script, script.code.locals, script.parameters);
  checkCode(script, script.code, {
    highestTypeParameters: highest,
    typeParameterCount,
    parameters: script.parameters,
  });
}

/** Checks what modules and scripts share; returns the highest type parameter of each signature. */
function checkSharedTables(tables: BinaryTables): number[] {
  const highest = tables.signatures.map((signature) => checkTokens(tables, signature));
  for (const constant of tables.constants) checkToken(tables, constant.type);
  for (const handle of tables.moduleHandles) checkModuleHandle(tables, handle);
  if ('selfHandle' in tables) {
    const { selfHandle } = tables as CompiledModule;
    checkIndex('self module handle', selfHandle, tables.moduleHandles.length);
  }
  for (const handle of tables.structHandles) {
    checkIndex('module handle', handle.module, tables.moduleHandles.length);
    checkIndex('struct name', handle.name, tables.identifiers.length);
  }
  for (const handle of tables.functionHandles) {
    checkIndex('module handle', handle.module, tables.moduleHandles.length);
    checkIndex('function name', handle.name, tables.identifiers.length);
    checkIndex('parameters signature', handle.parameters, tables.signatures.length);
    checkIndex('return signature', handle.return, tables.signatures.length);
    const declared = handle.typeParameters.length;
    checkTypeParameters('parameters', highest[handle.parameters]!, declared);
    checkTypeParameters('results', highest[handle.return]!, declared);
  }
  return highest;
}

function checkFunctionInstantiations(tables: BinaryTables): void {
  const { functionInstantiations, functionHandles } = tables;
  checkInstantiations(tables, 'function', functionInstantiations, functionHandles.length);
}

function checkModuleHandle(tables: BinaryTables, handle: ModuleHandle): void {
  checkIndex('address', handle.address, tables.addresses.length);
  checkIndex('module name', handle.name, tables.identifiers.length);
}

function checkInstantiations(
  tables: BinaryTables,
  what: string,
  instantiations: readonly Instantiation[],
  targetCount: number,
): void {
  for (const { handle, signature } of instantiations) {
    checkIndex(what, handle, targetCount);
    checkIndex('type arguments', signature, tables.signatures.length);
  }
}

function checkTokens(tables: BinaryTables, tokens: readonly SignatureToken[]): number {
  let highest = NO_TYPE_PARAMETER;
  for (const token of tokens) highest = Math.max(highest, checkToken(tables, token));
  return highest;
}

/** Checks the structs inside a type; returns its highest type parameter, -1 for none. */
function checkToken(tables: BinaryTables, token: SignatureToken): number {
  switch (token.kind) {
    case 'typeParameter':
      return token.index;
    case 'vector':
      return checkToken(tables, token.element);
    case 'reference':
      return checkToken(tables, token.to);
    case 'function':
      return Math.max(checkTokens(tables, token.args), checkTokens(tables, token.results));
    case 'struct': {
      checkIndex('struct handle', token.handle, tables.structHandles.length);
      const declared = tables.structHandles[token.handle]!.typeParameters.length;
      const actual = token.typeArguments.length;
      if (actual !== declared) {
        const detail = `struct handle ${token.handle} with ${actual} of ${declared} type arguments`;
        throw new BinaryFormatError('bad_arity', detail);
      }
      return checkTokens(tables, token.typeArguments);
    }
    default:
      return NO_TYPE_PARAMETER;
  }
}

function checkStructDefinition(module: CompiledModule, definition: StructDefinition): void {
  checkIndex('struct handle', definition.handle, module.structHandles.length);
  const declared = module.structHandles[definition.handle]!.typeParameters.length;
  if (definition.kind === 'struct') checkFields(module, definition.fields, declared);
  if (definition.kind !== 'enum') return;
  if (definition.variants.length === 0) {
    throw new BinaryFormatError('no_variants', 'enum without variants');
  }
  for (const variant of definition.variants) {
    checkIndex('variant name', variant.name, module.identifiers.length);
    checkFields(module, variant.fields, declared);
  }
}

function checkFields(
  module: CompiledModule,
  fields: readonly FieldDefinition[],
  declared: number,
): void {
  for (const field of fields) {
    checkIndex('field name', field.name, module.identifiers.length);
    checkTypeParameters('field', checkToken(module, field.type), declared);
  }
}

function checkFieldHandles(module: CompiledModule): void {
  const structs = module.structDefinitions;
  for (const { owner, field } of module.fieldHandles) {
    checkIndex('struct definition', owner, structs.length);
    const definition = structs[owner]!;
    checkIndex('field', field, definition.kind === 'struct' ? definition.fields.length : 0);
  }
}

function checkVariantHandles(module: CompiledModule): void {
  const structs = module.structDefinitions;
  for (const { owner, field, variants } of module.variantFieldHandles) {
    checkIndex('struct definition', owner, structs.length);
    if (variants.length === 0) {
      throw new BinaryFormatError('no_variants', 'variant field handle without variants');
    }
    for (const variant of variants) {
      checkIndex('variant field', field, variantOf(structs[owner]!, variant).fields.length);
    }
  }
  for (const { owner, variant } of module.structVariantHandles) {
    checkIndex('struct definition', owner, structs.length);
    variantOf(structs[owner]!, variant);
  }
}

function variantOf(
  definition: StructDefinition,
  variant: number,
): { readonly fields: readonly FieldDefinition[] } {
  const variants = definition.kind === 'enum' ? definition.variants : [];
  checkIndex('variant', variant, variants.length);
  return variants[variant]!;
}

function checkFunctionDefinition(
  module: CompiledModule,
  definition: FunctionDefinition,
  highestTypeParameters: readonly number[],
): void {
  checkIndex('function handle', definition.handle, module.functionHandles.length);
  for (const acquired of definition.acquires) {
    checkIndex('acquired struct', acquired, module.structDefinitions.length);
  }
  if (definition.code === undefined) return;
  const handle = module.functionHandles[definition.handle]!;
  const { parameters } = handle;
  const typeParameterCount = handle.typeParameters.length;
  checkLocals(module, definition.code.locals, parameters);
  checkCode(module, definition.code, { highestTypeParameters, typeParameterCount, parameters });
}

function checkLocals(tables: BinaryTables, locals: number, parameters: number): void {
  checkIndex('locals signature', locals, tables.signatures.length);
  const count = tables.signatures[locals]!.length + tables.signatures[parameters]!.length;
  if (count > MAX_LOCAL_INDEX) {
    throw new BinaryFormatError('too_many_locals', `${count} locals above ${MAX_LOCAL_INDEX}`);
  }
}

/** Asserts that `index` is one of `count` entries. @throws BinaryFormatError */
function checkIndex(what: string, index: number, count: number): void {
  if (index >= count) {
    throw new BinaryFormatError('out_of_bounds', `${what} ${index} of ${count}`);
  }
}

/** Asserts that the type parameters used are among `declared` ones. @throws BinaryFormatError */
function checkTypeParameters(what: string, highest: number, declared: number): void {
  if (highest >= declared) {
    throw new BinaryFormatError('out_of_bounds', `${what}: type parameter ${highest}/${declared}`);
  }
}

interface CodeScope {
  /** Highest type parameter of every signature, -1 for none. */
  readonly highestTypeParameters: readonly number[];
  readonly typeParameterCount: number;
  /** Index of the parameters' signature, which is in bounds. */
  readonly parameters: number;
}

/** What an operand can point at: the number of entries, and their type arguments if they are instantiations. */
interface Target {
  readonly count: number;
  readonly instantiations?: readonly Instantiation[];
}

/**
 * Asserts that locals, branches and table indices of a code unit have targets, and that the generic
 * ones use only type parameters in scope. The locals' signature is in bounds.
 * @throws BinaryFormatError
 */
function checkCode(
  binary: CompiledModule | CompiledScript,
  unit: CodeUnit,
  scope: CodeScope,
): void {
  const { signatures } = binary;
  const { highestTypeParameters, typeParameterCount } = scope;
  checkTypeParameters('locals', highestTypeParameters[unit.locals]!, typeParameterCount);
  const localCount = signatures[unit.locals]!.length + signatures[scope.parameters]!.length;
  const targets = targetsOf(binary, unit.code.length, localCount);
  for (const { opcode, operand } of unit.code) {
    const { name, operand: kind } = OPCODES[opcode]!;
    const target = targets.get(kind);
    // Immediates are values already; operands of scripts that name modules' tables are not checked
    // (§1.11).
    if (target === undefined || typeof operand !== 'number') continue;
    checkIndex(name, operand, target.count);
    const signature = kind === 'signature' ? operand : target.instantiations?.[operand]?.signature;
    if (signature !== undefined) {
      checkTypeParameters(name, highestTypeParameters[signature]!, typeParameterCount);
    }
  }
}

function targetsOf(
  binary: CompiledModule | CompiledScript,
  codeLength: number,
  localCount: number,
): ReadonlyMap<OperandKind, Target> {
  const shared: readonly [OperandKind, Target][] = [
    ['offset', { count: codeLength }],
    ['local', { count: localCount }],
    ['constant', { count: binary.constants.length }],
    ['signature', { count: binary.signatures.length }],
    ['function', { count: binary.functionHandles.length }],
    ['functionInstantiation', instantiated(binary.functionInstantiations)],
  ];
  if (binary.kind === 'script') return new Map(shared);
  return new Map<OperandKind, Target>([
    ...shared,
    ['struct', { count: binary.structDefinitions.length }],
    ['structInstantiation', instantiated(binary.structInstantiations)],
    ['fieldHandle', { count: binary.fieldHandles.length }],
    ['fieldInstantiation', instantiated(binary.fieldInstantiations)],
    ['variantFieldHandle', { count: binary.variantFieldHandles.length }],
    ['variantFieldInstantiation', instantiated(binary.variantFieldInstantiations)],
    ['structVariantHandle', { count: binary.structVariantHandles.length }],
    ['structVariantInstantiation', instantiated(binary.structVariantInstantiations)],
  ]);
}

function instantiated(instantiations: readonly Instantiation[]): Target {
  return { count: instantiations.length, instantiations };
}
