/** Linked modules of a program and their functions. Names in other modules are looked up only once. */
import {
  type CompiledModule,
  type FunctionHandle,
  functionNameOfHandle,
  moduleIdOf,
  type SignatureToken,
  type Visibility,
} from '../../move/modules/compiled.ts';
import { areSameTypes, isSameSignature } from '../../move/modules/type-equality.ts';
import { isReservedAddress } from '../../move/types/address.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import { functionCode } from '../code/function-code.ts';
import type { FunctionCode } from '../code/operation.ts';
import type { CallCosts } from '../gas/instruction-prices.ts';
import { VmError } from '../status/status.ts';
import type { VmType } from './vm-type.ts';

export class LoadedFunction {
  readonly module: LoadedModule;
  readonly name: string;
  /** With type parameters (their constraints) and attributes. */
  readonly handle: FunctionHandle;
  readonly visibility: Visibility;
  readonly isEntry: boolean;
  readonly isNative: boolean;
  /** Tokens refer to the tables of `module.compiled`. */
  readonly parameters: readonly SignatureToken[];
  readonly results: readonly SignatureToken[];
  readonly definition: number;
  #code: FunctionCode | undefined;

  constructor(module: LoadedModule, definition: number) {
    const { compiled } = module;
    const { handle, visibility, isEntry, isNative } = compiled.functionDefinitions[definition]!;
    this.definition = definition;
    this.module = module;
    this.handle = compiled.functionHandles[handle]!;
    this.name = compiled.identifiers[this.handle.name]!;
    this.visibility = visibility;
    this.isEntry = isEntry;
    this.isNative = isNative;
    this.parameters = compiled.signatures[this.handle.parameters]!;
    this.results = compiled.signatures[this.handle.return]!;
  }

  /** Its code, checked. @throws VmError VERIFICATION_ERROR */
  get code(): FunctionCode {
    this.#code ??= functionCode(this.module.compiled, this.definition);
    return this.#code;
  }
}

/** A function to call, with its type arguments; a program has one object for each. */
export class Callee {
  readonly function: LoadedFunction;
  readonly typeArguments: TypeList;
  /** Costs by the schedule that was used last. */
  costs: CallCosts | undefined = undefined;

  constructor(target: LoadedFunction, typeArguments: TypeList) {
    this.function = target;
    this.typeArguments = typeArguments;
  }
}

/** Type arguments; a program has one object for each list, which caches what code needs of them. */
export class TypeList {
  readonly types: readonly VmType[];
  /** By what names them in a module (instantiations, signatures), or by the function itself. */
  readonly callees = new Map<object, Callee>();
  readonly instances = new Map<object, VmType>();

  constructor(types: readonly VmType[]) {
    this.types = types;
  }
}

export class LoadedModule {
  readonly id: ModuleId;
  readonly compiled: CompiledModule;
  /** Whether loading it costs nothing because it is one of the chain's own. */
  readonly isFree: boolean;
  /** By function handle. */
  readonly callees: (Callee | undefined)[] = [];
  /** Types without arguments, by struct definition. */
  readonly structs: (VmType | undefined)[] = [];
  readonly #functions = new Map<string, LoadedFunction>();

  constructor(compiled: CompiledModule) {
    this.id = moduleIdOf(compiled);
    this.compiled = compiled;
    this.isFree = isReservedAddress(this.id.address);
  }

  function(name: string): LoadedFunction | undefined {
    let loaded = this.#functions.get(name);
    if (loaded !== undefined) return loaded;
    const definition = definitionsOf(this.compiled).get(name);
    if (definition === undefined) return undefined;
    loaded = new LoadedFunction(this, definition);
    this.#functions.set(name, loaded);
    return loaded;
  }
}

/** Functions by name; loaded modules never change and live as long as they are cached. */
const indexes = new WeakMap<CompiledModule, ReadonlyMap<string, number>>();

function definitionsOf(module: CompiledModule): ReadonlyMap<string, number> {
  const known = indexes.get(module);
  if (known !== undefined) return known;
  const index = new Map<string, number>();
  module.functionDefinitions.forEach(({ handle }, definition) => {
    const name = functionNameOfHandle(module, handle);
    if (!index.has(name)) index.set(name, definition);
  });
  indexes.set(module, index);
  return index;
}

/** @throws VmError LINKER_ERROR */
export function checkLink(
  from: LoadedModule,
  declared: FunctionHandle,
  target: LoadedFunction,
): void {
  const { module, handle } = target;
  if (from.compiled === module.compiled) {
    if (declared === handle) return;
  } else if (!isVisible(from, target)) {
    throw new VmError('LINKER_ERROR', { text: `${target.name} is not visible` });
  }
  const isSame =
    declared.typeParameters.length === handle.typeParameters.length &&
    isSameSignature(from.compiled, declared.parameters, module.compiled, handle.parameters) &&
    isSameSignature(from.compiled, declared.return, module.compiled, handle.return);
  if (!isSame) throw new VmError('LINKER_ERROR', { text: `${target.name} has another signature` });
}

/** Whether a function can be called instead of a native one whose last parameter only names that function. */
export function sameSignature(native: LoadedFunction, target: LoadedFunction): boolean {
  return (
    target.visibility === 'public' &&
    native.handle.typeParameters.length === target.handle.typeParameters.length &&
    areSameTypes(
      native.module.compiled,
      native.parameters.slice(0, -1),
      target.module.compiled,
      target.parameters,
    ) &&
    areSameTypes(native.module.compiled, native.results, target.module.compiled, target.results)
  );
}

function isVisible(from: LoadedModule, { visibility, module }: LoadedFunction): boolean {
  if (visibility !== 'friend') return visibility === 'public';
  const { friends, addresses, identifiers } = module.compiled;
  return friends.some(
    ({ address, name }) =>
      identifiers[name] === from.id.name && addresses[address] === from.id.address,
  );
}
