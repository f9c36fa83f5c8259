/** What a published module must be besides being verified (docs/spec/verifier.md §6.2, §6.6, §6.7). */
import {
  type AccessSpecifier,
  type CompiledModule,
  type CompiledScript,
  moduleIdOf,
} from '../../move/modules/compiled.ts';
import { ADDRESS_ONE } from '../../move/types/address.ts';
import { VmError } from '../status/vm-error.ts';
import { definedFunctions } from './definitions.ts';

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
 * Whether a module has an `init_module`, which then is private, takes a signer and gives nothing.
 * @throws VmError INVALID_INIT_MODULE
 */
export function hasInitModule(module: CompiledModule): boolean {
  const definition = definedFunctions(module).get(INIT_MODULE);
  if (definition === undefined) return false;
  const handle = module.functionHandles[definition.handle]!;
  const parameters = module.signatures[handle.parameters]!;
  const [parameter] = parameters;
  const type = parameter?.kind === 'reference' && !parameter.mutable ? parameter.to : parameter;
  const isRight =
    definition.visibility === 'private' &&
    module.signatures[handle.return]!.length === 0 &&
    parameters.length === 1 &&
    type?.kind === 'signer' &&
    handle.typeParameters.length === 0;
  if (!isRight) throw new VmError('INVALID_INIT_MODULE');
  return true;
}

/** Functions whose result may be the address of an access specifier. */
const ADDRESS_FUNCTIONS = new Set(['signer::address_of', 'object::owner']);

/** Access specifiers name what exists. @throws VmError ACCESS_CONTROL_INVARIANT_VIOLATION */
export function checkAccessSpecifiers(binary: CompiledModule | CompiledScript): void {
  const specifiers =
    binary.kind === 'script'
      ? binary.accessSpecifiers
      : binary.functionDefinitions.flatMap(
          ({ handle }) => binary.functionHandles[handle]!.accessSpecifiers ?? [],
        );
  for (const specifier of specifiers ?? []) {
    if (
      !isResourceRight(binary, specifier.resource) ||
      !isAddressRight(binary, specifier.address)
    ) {
      throw new VmError('ACCESS_CONTROL_INVARIANT_VIOLATION');
    }
  }
}

function isResourceRight(
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

function isAddressRight(
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
