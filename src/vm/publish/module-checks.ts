/**
 * Checks of a published module besides verification, and of its links to others (docs/spec/verifier.md §1, §4,
 * §6.2, §6.6, §6.7).
 */
import {
  type AccessSpecifier,
  type BinaryTables,
  type CompiledModule,
  type CompiledScript,
  type FunctionHandle,
  moduleIdOf,
  moduleIdOfHandle,
  type StructHandle,
} from '../../move/modules/compiled.ts';
import type { BinaryFormatErrorCode } from '../../move/modules/format.ts';
import { isSameSignature } from '../../move/modules/type-equality.ts';
import { ADDRESS_ONE } from '../../move/types/address.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import { missingModule } from '../program/program.ts';
import { type StatusName, VmError } from '../status/status.ts';
import { hasAttributes, PERSISTENT } from '../verifier/model/instructions.ts';
import { definedFunctions, definedStructs } from './compatibility.ts';

/** Addresses whose modules may have natives: those below 16. */
const SPECIAL_ADDRESS = /^0{63}[0-9a-f]$/;

/** @throws VmError USER_DEFINED_NATIVE_NOT_ALLOWED */
export function checkUserNatives(module: CompiledModule): void {
  const isSpecial = SPECIAL_ADDRESS.test(moduleIdOf(module).address);
  if (
    module.functionDefinitions.some(({ isNative, isEntry }) => isNative && (isEntry || !isSpecial))
  ) {
    throw new VmError('USER_DEFINED_NATIVE_NOT_ALLOWED');
  }
}

/** The machine has no native structs. @throws VmError MISSING_DEPENDENCY */
export function checkNativeStructs({ structDefinitions }: CompiledModule): void {
  if (structDefinitions.some(({ kind }) => kind === 'native')) {
    throw new VmError('MISSING_DEPENDENCY');
  }
}

export const INIT_MODULE = 'init_module';

/**
 * Whether a module has an `init_module`, which must be private, take a signer and return nothing.
 * @throws VmError INVALID_INIT_MODULE
 */
export function hasInitModule(module: CompiledModule): boolean {
  const definition = definedFunctions(module).get(INIT_MODULE);
  if (definition === undefined) return false;
  const handle = module.functionHandles[definition.handle]!;
  const parameters = module.signatures[handle.parameters]!;
  const [parameter] = parameters;
  const type = parameter?.kind === 'reference' && !parameter.mutable ? parameter.to : parameter;
  const isValid =
    definition.visibility === 'private' &&
    module.signatures[handle.return]!.length === 0 &&
    parameters.length === 1 &&
    type?.kind === 'signer' &&
    handle.typeParameters.length === 0;
  if (!isValid) throw new VmError('INVALID_INIT_MODULE');
  return true;
}

/** Functions whose result may be the address of an access specifier. */
const ADDRESS_FUNCTIONS = new Set(['signer::address_of', 'object::owner']);

/** Access specifiers must name what exists. @throws VmError ACCESS_CONTROL_INVARIANT_VIOLATION */
export function checkAccessSpecifiers(binary: CompiledModule | CompiledScript): void {
  const specifiers =
    binary.kind === 'script'
      ? binary.accessSpecifiers
      : binary.functionDefinitions.flatMap(
          ({ handle }) => binary.functionHandles[handle]!.accessSpecifiers ?? [],
        );
  for (const specifier of specifiers ?? []) {
    if (
      !isValidResource(binary, specifier.resource) ||
      !isValidAddress(binary, specifier.address)
    ) {
      throw new VmError('ACCESS_CONTROL_INVARIANT_VIOLATION');
    }
  }
}

function isValidResource(
  { addresses, moduleHandles, structHandles, signatures }: CompiledModule | CompiledScript,
  resource: AccessSpecifier['resource'],
): boolean {
  switch (resource.kind) {
    case 'any':
      return true;
    case 'address':
      return resource.address < addresses.length;
    case 'module':
      return resource.module < moduleHandles.length;
    case 'struct':
      return resource.struct < structHandles.length;
    case 'structInstantiation':
      return resource.struct < structHandles.length && resource.signature < signatures.length;
  }
}

function isValidAddress(
  binary: CompiledModule | CompiledScript,
  address: AccessSpecifier['address'],
): boolean {
  if (address.kind === 'literal') return address.address < binary.addresses.length;
  if (address.kind === 'any' || address.function === undefined) return true;
  const instantiation = binary.functionInstantiations[address.function];
  if (instantiation === undefined) return false;
  const { module, name } = binary.functionHandles[instantiation.handle]!;
  const handle = binary.moduleHandles[module]!;
  const path = `${binary.identifiers[handle.name]}::${binary.identifiers[name]}`;
  return binary.addresses[handle.address] === ADDRESS_ONE && ADDRESS_FUNCTIONS.has(path);
}

/**
 * @param moduleOf the modules that this one is linked with
 * @throws VmError LINKER_ERROR, LOOKUP_FAILED, TYPE_MISMATCH
 */
export function checkLinks(
  binary: CompiledModule | CompiledScript,
  moduleOf: (id: ModuleId) => CompiledModule | undefined,
): void {
  const self = binary.kind === 'module' ? binary.selfHandle : undefined;
  const imported = binary.moduleHandles.map((handle, index) => {
    if (index === self) return undefined;
    const id = moduleIdOfHandle(binary, handle);
    const module = moduleOf(id);
    if (module === undefined) throw missingModule(id);
    return module;
  });
  for (const handle of binary.structHandles) {
    const module = imported[handle.module];
    if (module !== undefined) checkStruct(binary, handle, module);
  }
  for (const handle of binary.functionHandles) {
    const module = imported[handle.module];
    if (module !== undefined) checkFunction(binary, handle, module);
  }
}

function checkStruct(binary: BinaryTables, handle: StructHandle, module: CompiledModule): void {
  const definition = definedStructs(module).get(binary.identifiers[handle.name]!);
  if (definition === undefined) throw new VmError('LOOKUP_FAILED');
  const defined = module.structHandles[definition.handle]!;
  const { typeParameters } = handle;
  const isValid =
    (handle.abilities & ~defined.abilities) === 0 &&
    typeParameters.length === defined.typeParameters.length &&
    typeParameters.every(({ constraints, isPhantom }, place) => {
      const parameter = defined.typeParameters[place]!;
      return (!isPhantom || parameter.isPhantom) && (parameter.constraints & ~constraints) === 0;
    });
  if (!isValid) throw new VmError('TYPE_MISMATCH');
}

function checkFunction(
  binary: CompiledModule | CompiledScript,
  handle: FunctionHandle,
  module: CompiledModule,
): void {
  const definition = definedFunctions(module).get(binary.identifiers[handle.name]!);
  if (definition === undefined) throw new VmError('LOOKUP_FAILED');
  const { visibility } = definition;
  const isVisible =
    visibility === 'public' || (visibility === 'friend' && isFriend(binary, module));
  if (!isVisible) throw new VmError('LOOKUP_FAILED');
  const defined = module.functionHandles[definition.handle]!;
  const { typeParameters } = handle;
  const isValid =
    typeParameters.length === defined.typeParameters.length &&
    typeParameters.every((abilities, at) => (defined.typeParameters[at]! & ~abilities) === 0) &&
    isSameSignature(binary, handle.parameters, module, defined.parameters) &&
    isSameSignature(binary, handle.return, module, defined.return);
  if (!isValid) throw new VmError('TYPE_MISMATCH');
  let { attributes } = defined;
  // Older compilers do not mark public functions with the attribute for persistence.
  if (attributes.length === 0 && visibility === 'public') attributes = [{ code: PERSISTENT }];
  if (!hasAttributes(attributes, handle.attributes)) throw new VmError('LINKER_ERROR');
}

function isFriend(binary: CompiledModule | CompiledScript, module: CompiledModule): boolean {
  if (binary.kind === 'script') return false;
  const self = binary.moduleHandles[binary.selfHandle]!;
  return module.friends.some(
    ({ address, name }) =>
      module.addresses[address] === binary.addresses[self.address] &&
      module.identifiers[name] === binary.identifiers[self.name],
  );
}

const STATUS_OF_CODE: Partial<Record<BinaryFormatErrorCode, StatusName>> = {
  bad_magic: 'BAD_MAGIC',
  bad_version: 'UNKNOWN_VERSION',
  bad_table: 'BAD_HEADER_TABLE',
  unknown_table: 'UNKNOWN_TABLE_TYPE',
  duplicate_table: 'DUPLICATE_TABLE',
  unknown_type: 'UNKNOWN_SERIALIZED_TYPE',
  unknown_opcode: 'UNKNOWN_OPCODE',
  unknown_struct_flag: 'UNKNOWN_NATIVE_STRUCT_FLAG',
  unknown_ability: 'UNKNOWN_ABILITY',
  bad_flags: 'INVALID_FLAG_BITS',
  out_of_bounds: 'INDEX_OUT_OF_BOUNDS',
  no_module_handles: 'NO_MODULE_HANDLES',
  no_variants: 'ZERO_VARIANTS_ERROR',
  too_many_locals: 'TOO_MANY_LOCALS',
  bad_arity: 'NUMBER_OF_TYPE_ARGUMENTS_MISMATCH',
};

export function loadingStatus(code: BinaryFormatErrorCode): StatusName {
  return STATUS_OF_CODE[code] ?? 'MALFORMED';
}
