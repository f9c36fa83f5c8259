/**
 * What the virtual machine checks before it runs a view function: the function, its type arguments and the number of
 * its arguments (docs/spec/transactions.md §9.3).
 */
import type { SignatureToken } from '../../move/modules/compiled.ts';
import { isViewFunction } from '../../move/modules/metadata.ts';
import {
  type MoveType,
  moveTypeOfToken,
  substituteTypeParameters,
} from '../../move/types/move-type.ts';
import type { AbilitySet, TypeTag } from '../../move/types/type-tag.ts';
import { checkAbilities } from '../../vm/program/abilities.ts';
import type { LoadedFunction } from '../../vm/program/loaded-module.ts';
import type { Program } from '../../vm/program/program.ts';
import type { VmType } from '../../vm/program/vm-type.ts';
import { VmError } from '../../vm/vm-error.ts';
import { ViewError, vmError } from './view-error.ts';
import { MAX_CALL_TYPES, tooManyTypes, type ViewCall } from './view-request.ts';

/** A view function with its type arguments put in. */
interface LoadedView {
  readonly function: LoadedFunction;
  readonly typeArguments: readonly VmType[];
  readonly parameters: readonly MoveType[];
  readonly results: readonly MoveType[];
}

/** @throws ViewError, VmError, or what the lookup throws */
export async function loadView(call: ViewCall, program: Program): Promise<LoadedView> {
  const { module: id, name, typeArguments } = call;
  const target = await program.function(id, name);
  const types = await loadTypeArguments(target, typeArguments, program);
  const { compiled } = target.module;
  if (!isViewFunction(compiled, name)) {
    throw new ViewError('function not marked as view function', 'INVALID_MAIN_FUNCTION_SIGNATURE');
  }
  if (target.results.length === 0) {
    throw new ViewError('view function must return values', 'INVALID_MAIN_FUNCTION_SIGNATURE');
  }
  if (target.parameters.length !== call.args.length) {
    throw vmError('INVALID_MAIN_FUNCTION_SIGNATURE', id);
  }
  const substituted = (token: SignatureToken): MoveType =>
    substituteTypeParameters(moveTypeOfToken(compiled, token), typeArguments);
  return {
    function: target,
    typeArguments: types,
    parameters: target.parameters.map(substituted),
    results: target.results.map(substituted),
  };
}

/** The type arguments of a call, with the abilities that the function asks for. @throws ViewError, VmError */
export async function loadTypeArguments(
  target: LoadedFunction,
  typeArguments: readonly TypeTag[],
  program: Program,
): Promise<VmType[]> {
  let left = MAX_CALL_TYPES;
  for (const tag of typeArguments) left -= countTypes(tag, left);
  const types = typeArguments.map((tag) => program.type(tag));
  const abilities: AbilitySet[] = [];
  for (const type of types) abilities.push(await program.abilities(type));
  try {
    checkAbilities(target.handle.typeParameters, abilities);
  } catch (error) {
    throw error instanceof VmError ? vmError(error.status, target.module.id) : error;
  }
  return types;
}

/** The types that a type is made of. @throws ViewError for more than are left */
function countTypes(tag: TypeTag, left: number): number {
  if (left === 0) throw tooManyTypes();
  let count = 1;
  for (const part of partsOf(tag)) count += countTypes(part, left - count);
  return count;
}

function partsOf(tag: TypeTag): readonly TypeTag[] {
  switch (tag.kind) {
    case 'vector':
      return [tag.element];
    case 'struct':
      return tag.struct.typeArguments;
    case 'function':
      return [...tag.args, ...tag.results].map((part) =>
        part.kind === 'reference' ? part.to : part,
      );
    default:
      return [];
  }
}
