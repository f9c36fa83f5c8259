/**
 * What the virtual machine checks before it runs a view function, without running it: the function, its type arguments
 * and the number of its arguments (docs/spec/transactions.md §9.3).
 */
import {
  type CompiledModule,
  functionNameOfHandle,
  type SignatureToken,
} from '../../move/modules/compiled.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { isViewFunction } from '../../move/modules/metadata.ts';
import { formatAddress } from '../../move/types/address.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import {
  formatStructPath,
  type MoveType,
  moveTypeOfToken,
  substituteTypeParameters,
} from '../../move/types/move-type.ts';
import type { AbilitySet, StructTag, TypeTag } from '../../move/types/type-tag.ts';
import { findStruct } from '../../move/values/layout.ts';
import { ViewError, vmError } from './view-error.ts';
import { MAX_CALL_TYPES, tooManyTypes, type ViewCall } from './view-request.ts';

const COPY = 1;
const DROP = 2;
const STORE = 4;
const KEY = 8;
/** Of primitive types and of vectors, whose elements take away from them. */
const VALUE_ABILITIES: AbilitySet = COPY | DROP | STORE;

/** A view function with its type arguments put in. */
interface LoadedView {
  readonly parameters: readonly MoveType[];
  readonly results: readonly MoveType[];
}

/** @throws ViewError, or what the lookup throws */
export async function loadView(call: ViewCall, lookup: ModuleLookup): Promise<LoadedView> {
  const { module: id, name, typeArguments } = call;
  const module = await linkedModule(id, lookup);
  const definition = module.functionDefinitions.find(
    (one) => functionNameOfHandle(module, one.handle) === name,
  );
  if (definition === undefined) {
    const text = `Function ${formatStructPath(id, name)} does not exist`;
    throw new ViewError(text, 'FUNCTION_RESOLUTION_FAILURE');
  }
  const handle = module.functionHandles[definition.handle]!;
  const loader = new TypeLoader(lookup);
  const abilities: AbilitySet[] = [];
  for (const tag of typeArguments) abilities.push(await loader.load(tag));
  checkAbilities(handle.typeParameters, abilities, id);
  if (!isViewFunction(module, name)) {
    throw new ViewError('function not marked as view function', 'INVALID_MAIN_FUNCTION_SIGNATURE');
  }
  const results = module.signatures[handle.return]!;
  if (results.length === 0) {
    throw new ViewError('view function must return values', 'INVALID_MAIN_FUNCTION_SIGNATURE');
  }
  const parameters = module.signatures[handle.parameters]!;
  if (parameters.length !== call.args.length) {
    throw vmError('INVALID_MAIN_FUNCTION_SIGNATURE', id);
  }
  const substituted = (token: SignatureToken): MoveType =>
    substituteTypeParameters(moveTypeOfToken(module, token), typeArguments);
  return {
    parameters: parameters.map(substituted),
    results: results.map(substituted),
  };
}

async function linkedModule(id: ModuleId, lookup: ModuleLookup): Promise<CompiledModule> {
  const module = await lookup(id);
  if (module !== undefined) return module;
  const text = `Linker Error: Module ${id.address}::${id.name} doesn't exist`;
  throw new ViewError(text, 'LINKER_ERROR');
}

/** @param location of the function whose parameters they are; absent for those of a struct */
function checkAbilities(
  wanted: readonly AbilitySet[],
  given: readonly AbilitySet[],
  location?: ModuleId,
): void {
  if (wanted.length !== given.length) throw vmError('NUMBER_OF_TYPE_ARGUMENTS_MISMATCH', location);
  if (wanted.every((abilities, index) => (given[index]! & abilities) === abilities)) return;
  throw vmError('CONSTRAINT_NOT_SATISFIED', location);
}

/** Checks that types exist, and finds their abilities. */
class TypeLoader {
  readonly #lookup: ModuleLookup;
  #left = MAX_CALL_TYPES;

  constructor(lookup: ModuleLookup) {
    this.#lookup = lookup;
  }

  async load(tag: TypeTag): Promise<AbilitySet> {
    if (this.#left === 0) throw tooManyTypes();
    this.#left -= 1;
    switch (tag.kind) {
      case 'vector':
        return VALUE_ABILITIES & (await this.load(tag.element));
      case 'struct':
        return this.#struct(tag.struct);
      case 'function':
        for (const part of [...tag.args, ...tag.results]) {
          await this.load(part.kind === 'reference' ? part.to : part);
        }
        return tag.abilities;
      default:
        return tag.kind === 'signer' ? DROP : VALUE_ABILITIES;
    }
  }

  async #struct({
    address,
    module: moduleName,
    name,
    typeArguments,
  }: StructTag): Promise<AbilitySet> {
    const module = await linkedModule({ address, name: moduleName }, this.#lookup);
    const found = findStruct(module, name);
    if (found === undefined) {
      const text = `Struct ${formatAddress(address)}::${moduleName}::${name} does not exist`;
      throw new ViewError(text, 'TYPE_RESOLUTION_FAILURE');
    }
    const given: AbilitySet[] = [];
    for (const argument of typeArguments) given.push(await this.load(argument));
    const { abilities, typeParameters } = found.handle;
    checkAbilities(
      typeParameters.map(({ constraints }) => constraints),
      given,
    );
    const held = given.filter((_, index) => !typeParameters[index]!.isPhantom);
    return held.reduce((left, argument) => left & abilitiesAround(argument), abilities);
  }
}

/** What a struct can be that holds a value of some abilities: it has `key` where that has `store`. */
function abilitiesAround(held: AbilitySet): AbilitySet {
  return (held & VALUE_ABILITIES) | ((held & STORE) === 0 ? 0 : KEY);
}
