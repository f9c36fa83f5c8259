/**
 * The virtual machine's checks before it runs a view function: the function, its type arguments and the number of
 * its arguments (docs/spec/transactions.md §9.3).
 */
import { copiedBytes } from '../cache.ts';
import { andThen, type MaybePromise, mapInOrder } from '../maybe-promise.ts';
import type { SignatureToken } from '../move/modules/compiled.ts';
import { isViewFunction } from '../move/modules/metadata.ts';
import {
  type MoveType,
  moveTypeOfToken,
  substituteTypeParameters,
} from '../move/types/move-type.ts';
import { typeTagOf } from '../move/types/move-type-tag.ts';
import { TypeTag } from '../move/types/type-tag.ts';
import type { Layout } from '../move/values/layout.ts';
import { checkAbilities } from '../vm/program/abilities.ts';
import type { Callee, LoadedFunction } from '../vm/program/loaded-module.ts';
import type { Program } from '../vm/program/program.ts';
import type { VmType } from '../vm/program/vm-type.ts';
import { VmError } from '../vm/status/status.ts';
import { ViewError, vmError } from './view-error.ts';
import { MAX_CALL_TYPES, tooManyTypes, type ViewCall } from './view-request.ts';

/** A view function with its type arguments substituted. */
export interface LoadedView {
  readonly function: LoadedFunction;
  readonly typeArguments: readonly VmType[];
  readonly parameters: readonly MoveType[];
  readonly results: readonly MoveType[];
  /** Set once a call has got this far. */
  layouts: ViewLayouts | undefined;
}

interface ViewLayouts {
  readonly parameters: readonly Layout[];
  readonly results: readonly Layout[];
  readonly resultTypes: readonly ResultType[];
}

export interface ResultType {
  readonly tag: TypeTag;
  readonly bytes: Buffer;
}

/** Functions that were loaded. The keys live as long as their program. */
const loadedViews = new WeakMap<Callee, LoadedView>();

/** @throws ViewError, VmError, or what the lookup throws; or rejects with it */
export function loadView(call: ViewCall, program: Program): MaybePromise<LoadedView> {
  const { module: id, name, typeArguments } = call;
  return andThen(program.function(id, name), (target) => {
    const types = typesOf(typeArguments, program);
    const callee = program.outerCallee(target, types);
    const known = loadedViews.get(callee);
    const loaded =
      known ??
      andThen(checkTypeArguments(target, types, program), () => {
        const view = newView(call, target, types);
        loadedViews.set(callee, view);
        return view;
      });
    return andThen(loaded, (view) => {
      if (view.parameters.length === call.args.length) return view;
      throw vmError('INVALID_MAIN_FUNCTION_SIGNATURE', id);
    });
  });
}

function newView(
  { name, typeArguments }: ViewCall,
  target: LoadedFunction,
  types: readonly VmType[],
): LoadedView {
  const { compiled } = target.module;
  if (!isViewFunction(compiled, name)) {
    throw new ViewError('function not marked as view function', 'INVALID_MAIN_FUNCTION_SIGNATURE');
  }
  if (target.results.length === 0) {
    throw new ViewError('view function must return values', 'INVALID_MAIN_FUNCTION_SIGNATURE');
  }
  const substituted = (token: SignatureToken): MoveType =>
    substituteTypeParameters(moveTypeOfToken(compiled, token), typeArguments);
  return {
    function: target,
    typeArguments: types,
    parameters: target.parameters.map(substituted),
    results: target.results.map(substituted),
    layouts: undefined,
  };
}

/** @throws VmError; or rejects with it */
export function layoutsOf(view: LoadedView, program: Program): MaybePromise<ViewLayouts> {
  if (view.layouts !== undefined) return view.layouts;
  const resultTags = view.results.map((type) => typeTagOf(type));
  const parameterTags = view.parameters.map((type) => typeTagOf(type));
  const layout = (tag: TypeTag): MaybePromise<Layout> => program.layout(program.type(tag));
  return andThen(mapInOrder(parameterTags, layout), (parameters) =>
    andThen(mapInOrder(resultTags, layout), (results) => {
      const resultTypes = resultTags.map((tag) => ({
        tag,
        bytes: copiedBytes(TypeTag.encode(tag)),
      }));
      view.layouts = { parameters, results, resultTypes };
      return view.layouts;
    }),
  );
}

/** The type arguments of a call, with the abilities that the function requires. @throws ViewError, VmError */
export function loadTypeArguments(
  target: LoadedFunction,
  typeArguments: readonly TypeTag[],
  program: Program,
): MaybePromise<readonly VmType[]> {
  const types = typesOf(typeArguments, program);
  return andThen(checkTypeArguments(target, types, program), () => types);
}

/** @throws ViewError, VmError */
function typesOf(typeArguments: readonly TypeTag[], program: Program): readonly VmType[] {
  let left = MAX_CALL_TYPES;
  for (const tag of typeArguments) left -= countTypes(tag, left);
  return typeArguments.map((tag) => program.type(tag));
}

function checkTypeArguments(
  target: LoadedFunction,
  types: readonly VmType[],
  program: Program,
): MaybePromise<void> {
  const abilities = mapInOrder(types, (type) => program.abilities(type));
  return andThen(abilities, (actual) => {
    try {
      checkAbilities(target.handle.typeParameters, actual);
    } catch (error) {
      throw error instanceof VmError ? vmError(error.status, target.module.id) : error;
    }
  });
}

/** Counts the types inside a type. @throws ViewError for more than are left */
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
