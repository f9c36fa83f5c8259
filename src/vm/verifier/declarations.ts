/**
 * Checks the declarations of a module or script: enabled features, limits, duplicates, friends, constants
 * (docs/spec/verifier.md §3.1–3.3, §3.6, §3.7).
 */

import { type BcsReader, decodeBcs } from '../../move/bcs/bcs-reader.ts';
import { INTEGER_SIZES, type IntegerKind } from '../../move/bcs/integers.ts';
import { MoveError } from '../../move/errors.ts';
import type {
  BinaryTables,
  CompiledModule,
  CompiledScript,
  FieldDefinition,
  Instruction,
  SignatureToken,
  StructDefinition,
} from '../../move/modules/compiled.ts';
import { ADDRESS_BYTES } from '../../move/types/address.ts';
import { type StatusName, VmError } from '../status/status.ts';
import { allFields, flagsByOpcode } from './model/instructions.ts';
import { type TypeTable, visitTypes } from './model/type-table.ts';
import type { VerifierConfig } from './model/verifier-config.ts';

type Key = string | number;

/** @throws VmError */
export function checkDuplicates(binary: CompiledModule | CompiledScript, types: TypeTable): void {
  checkShared(binary, types);
  if (binary.kind === 'module') checkModule(binary);
}

function checkShared(tables: BinaryTables, types: TypeTable): void {
  refuseRepeated(tables.identifiers);
  refuseRepeated(tables.addresses);
  const constantKey = ({ type, data }: BinaryTables['constants'][number]) =>
    `${types.of(type).id} ${Buffer.from(data).toString('latin1')}`;
  refuseRepeated(tables.constants.map(constantKey));
  const signatures = tables.signatures.map((_, index) =>
    types
      .signature(index)
      .map(({ id }) => id)
      .join(),
  );
  refuseRepeated(signatures);
  refuseRepeated(tables.moduleHandles.map(({ address, name }) => `${address} ${name}`));
  if ('friends' in tables) {
    const { friends } = tables as CompiledModule;
    refuseRepeated(friends.map(({ address, name }) => `${address} ${name}`));
  }
  refuseRepeated(tables.structHandles.map(({ module, name }) => `${module} ${name}`));
  refuseRepeated(tables.functionHandles.map(({ module, name }) => `${module} ${name}`));
  refuseRepeatedInstantiations(tables.functionInstantiations);
}

function checkModule(module: CompiledModule): void {
  refuseRepeated(module.fieldHandles.map(({ owner, field }) => `${owner} ${field}`));
  refuseRepeatedInstantiations(module.fieldInstantiations);
  refuseRepeated(
    module.variantFieldHandles.map(({ owner, field, variants }) => `${owner} ${field} ${variants}`),
  );
  refuseRepeatedInstantiations(module.variantFieldInstantiations);
  refuseRepeated(module.structVariantHandles.map(({ owner, variant }) => `${owner} ${variant}`));
  refuseRepeatedInstantiations(module.structVariantInstantiations);
  checkFunctionDefinitions(module);
  checkStructDefinitions(module);
  refuseRepeatedInstantiations(module.structInstantiations);
}

function checkFunctionDefinitions(module: CompiledModule): void {
  const handles = module.functionDefinitions.map(({ handle }) => handle);
  refuseRepeated(handles);
  for (const { acquires } of module.functionDefinitions) {
    if (isRepeating(acquires)) throw new VmError('DUPLICATE_ACQUIRES_ANNOTATION');
  }
  checkImplemented(handles, module.functionHandles, module.selfHandle);
}

function checkStructDefinitions(module: CompiledModule): void {
  const handles = module.structDefinitions.map(({ handle }) => handle);
  refuseRepeated(handles);
  for (const definition of module.structDefinitions) checkFields(definition);
  checkImplemented(handles, module.structHandles, module.selfHandle);
}

function checkFields(definition: StructDefinition): void {
  if (definition.kind === 'struct') {
    if (definition.fields.length === 0) throw new VmError('ZERO_SIZED_STRUCT');
    refuseRepeatedNames(definition.fields);
  }
  if (definition.kind !== 'enum') return;
  refuseRepeated(definition.variants.map(({ name }) => name));
  for (const { fields } of definition.variants) refuseRepeatedNames(fields);
}

/** Definitions are of handles of this module, and all handles of this module have one. */
function checkImplemented(
  defined: readonly number[],
  handles: readonly { readonly module: number }[],
  selfHandle: number,
): void {
  if (defined.some((handle) => handles[handle]!.module !== selfHandle)) {
    throw new VmError('INVALID_MODULE_HANDLE');
  }
  const implemented = new Set(defined);
  handles.forEach(({ module }, handle) => {
    if (module === selfHandle && !implemented.has(handle))
      throw new VmError('UNIMPLEMENTED_HANDLE');
  });
}

function refuseRepeatedNames(fields: readonly FieldDefinition[]): void {
  refuseRepeated(fields.map(({ name }) => name));
}

function refuseRepeatedInstantiations(
  instantiations: BinaryTables['functionInstantiations'],
): void {
  refuseRepeated(instantiations.map(({ handle, signature }) => `${handle} ${signature}`));
}

function refuseRepeated(keys: readonly Key[]): void {
  if (isRepeating(keys)) throw new VmError('DUPLICATE_ELEMENT');
}

function isRepeating(keys: readonly Key[]): boolean {
  return new Set(keys).size < keys.length;
}

/** Size of a struct or a type parameter, which stands for types that are not visible here. */
const UNKNOWN_TYPE_NODES = 4;

function refuseAbove(limit: number, count: number, status: StatusName): void {
  if (count > limit) throw new VmError(status);
}

/** @throws VmError */
export function checkLimits(binary: CompiledModule | CompiledScript, config: VerifierConfig): void {
  const { maxGenericInstantiationLength } = config;
  const countOf = (signature: number) => binary.signatures[signature]!.length;
  for (const handle of binary.functionHandles) {
    const { typeParameters } = handle;
    refuseAbove(maxGenericInstantiationLength, typeParameters.length, 'TOO_MANY_TYPE_PARAMETERS');
    refuseAbove(config.maxFunctionParameters, countOf(handle.parameters), 'TOO_MANY_PARAMETERS');
    refuseAbove(config.maxFunctionReturnValues, countOf(handle.return), 'TOO_MANY_PARAMETERS');
  }
  for (const { typeParameters } of binary.structHandles) {
    refuseAbove(maxGenericInstantiationLength, typeParameters.length, 'TOO_MANY_TYPE_PARAMETERS');
  }
  for (const signature of binary.signatures) {
    for (const token of signature) checkType(token, config);
  }
  for (const { type } of binary.constants) checkType(type, config);
  if (binary.kind === 'script') return;
  for (const definition of binary.structDefinitions) {
    for (const { type } of allFields(definition)) checkType(type, config);
  }
  checkDefinitions(binary, config);
}

function checkType(type: SignatureToken, config: VerifierConfig): void {
  let nodes = 0;
  visitTypes(type, (token, depth) => {
    refuseAbove(config.maxTypeDepth, depth, 'TOO_MANY_TYPE_NODES');
    if (token.kind === 'function') {
      refuseAbove(config.maxFunctionParameters, token.args.length, 'TOO_MANY_PARAMETERS');
      refuseAbove(config.maxFunctionReturnValues, token.results.length, 'TOO_MANY_PARAMETERS');
    }
    nodes += token.kind === 'struct' || token.kind === 'typeParameter' ? UNKNOWN_TYPE_NODES : 1;
  });
  refuseAbove(config.maxTypeNodes, nodes, 'TOO_MANY_TYPE_NODES');
}

function checkDefinitions(module: CompiledModule, config: VerifierConfig): void {
  const { functionDefinitions, structDefinitions } = module;
  refuseAbove(
    config.maxFunctionDefinitions,
    functionDefinitions.length,
    'MAX_FUNCTION_DEFINITIONS_REACHED',
  );
  refuseAbove(
    config.maxStructDefinitions,
    structDefinitions.length,
    'MAX_STRUCT_DEFINITIONS_REACHED',
  );
  for (const definition of structDefinitions) {
    if (definition.kind === 'native') continue;
    const parts = definition.kind === 'struct' ? [definition] : definition.variants;
    for (const { fields } of parts) {
      refuseAbove(config.maxFieldsInStruct, fields.length, 'MAX_FIELD_DEFINITIONS_REACHED');
    }
  }
  for (const definition of structDefinitions) {
    if (definition.kind !== 'enum') continue;
    const { variants } = definition;
    refuseAbove(config.maxStructVariants, variants.length, 'MAX_STRUCT_VARIANTS_REACHED');
  }
}

const ON_CLOSURES = flagsByOpcode(['PackClosure', 'PackClosureGeneric', 'CallClosure']);

/** @throws VmError FEATURE_NOT_ENABLED */
export function checkFeatures(
  binary: CompiledModule | CompiledScript,
  config: VerifierConfig,
): void {
  if (!config.enableFunctionValues) {
    for (const token of binary.signatures.flat()) visitTypes(token, refuseFunctionType);
  }
  for (const { accessSpecifiers, attributes } of binary.functionHandles) {
    checkAccessSpecifiers(accessSpecifiers, config);
    if (!config.enableFunctionValues && attributes.length > 0)
      throw new VmError('FEATURE_NOT_ENABLED');
  }
  if (binary.kind === 'script') {
    checkAccessSpecifiers(binary.accessSpecifiers, config);
    checkCode(binary.code.code, config);
    return;
  }
  for (const definition of binary.structDefinitions) {
    if (definition.kind === 'enum' && !config.enableEnumTypes)
      throw new VmError('FEATURE_NOT_ENABLED');
    if (config.enableFunctionValues) continue;
    // Only the field's own type is checked, not its parts.
    for (const { type } of allFields(definition)) refuseFunctionType(type);
  }
  for (const { code } of binary.functionDefinitions) checkCode(code?.code ?? [], config);
}

function checkAccessSpecifiers(specifiers: unknown, config: VerifierConfig): void {
  if (specifiers !== undefined && !config.enableResourceAccessControl) {
    throw new VmError('FEATURE_NOT_ENABLED');
  }
}

function refuseFunctionType({ kind }: SignatureToken): void {
  if (kind === 'function') throw new VmError('FEATURE_NOT_ENABLED');
}

function checkCode(code: readonly Instruction[], config: VerifierConfig): void {
  if (config.enableFunctionValues) return;
  if (code.some(({ opcode }) => ON_CLOSURES[opcode])) {
    throw new VmError('FEATURE_NOT_ENABLED');
  }
}

/** @throws VmError */
export function checkFriends({ friends, addresses, ...module }: CompiledModule): void {
  const self = module.moduleHandles[module.selfHandle]!;
  if (friends.some(({ address, name }) => address === self.address && name === self.name)) {
    throw new VmError('INVALID_FRIEND_DECL_WITH_SELF');
  }
  if (friends.some(({ address }) => addresses[address] !== addresses[self.address])) {
    throw new VmError('INVALID_FRIEND_DECL_WITH_MODULES_OUTSIDE_ACCOUNT_ADDRESS');
  }
}

/** @throws VmError INVALID_CONSTANT_TYPE, MALFORMED_CONSTANT_DATA */
export function checkConstants({ constants }: BinaryTables): void {
  for (const { type, data } of constants) {
    if (!isConstantType(type)) throw new VmError('INVALID_CONSTANT_TYPE');
    try {
      decodeBcs(data, (reader) => skipValue(reader, type));
    } catch (error) {
      if (error instanceof MoveError) throw new VmError('MALFORMED_CONSTANT_DATA');
      throw error;
    }
  }
}

function isConstantType(type: SignatureToken): boolean {
  if (type.kind === 'vector') return isConstantType(type.element);
  return type.kind === 'bool' || type.kind === 'address' || type.kind in INTEGER_SIZES;
}

function skipValue(reader: BcsReader, type: SignatureToken): void {
  if (type.kind === 'vector') {
    for (let left = reader.length(); left > 0; left -= 1) skipValue(reader, type.element);
  } else if (type.kind === 'bool') reader.bool();
  else if (type.kind === 'address') reader.skip(ADDRESS_BYTES);
  else reader.skip(INTEGER_SIZES[type.kind as IntegerKind].bits / 8);
}
