/**
 * Entry functions (docs/spec/encode.md §A4, "Entry function"): looks them up in the ledger's modules and encodes calls
 * in BCS. The parts that do not depend on type arguments depend only on modules, and are cached as a plan.
 */
import { andThen, type MaybePromise, mapInOrder, settle } from '../../maybe-promise.ts';
import { type BcsWriter, encodeBcs } from '../../move/bcs/bcs-writer.ts';
import { MoveError } from '../../move/errors.ts';
import {
  type CompiledModule,
  functionNameOfHandle,
  moduleIdOf,
} from '../../move/modules/compiled.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { formatAddress } from '../../move/types/address.ts';
import { ModuleId } from '../../move/types/module-id.ts';
import {
  isSignerParameter,
  type MoveType,
  mentionsTypeParameter,
  moveTypeOfToken,
  substituteTypeParameters,
} from '../../move/types/move-type.ts';
import type { ConvertedTypes } from '../../move/types/move-type-tag.ts';
import { debugModuleId } from '../../move/values/layout.ts';
import { DerivedCache } from '../../state/derived.ts';
import { EncodeError } from './encode-error.ts';
import type { FunctionId } from './fields.ts';
import {
  type CallParameter,
  checkArgumentCount,
  encodeSizedArgument,
  type PlannedParameter,
  resolveParameter,
  resolveParameters,
  writeTypeArguments,
} from './parameters.ts';
import type { EntryFunctionRequest } from './payload.ts';

export interface FunctionPlan {
  /** BCS of the module id and the function name, with which a call begins. */
  readonly nameBytes: Buffer;
  readonly typeParameterCount: number;
  readonly parameters: readonly PlannedParameter[];
}

export type MissingFunction =
  | { readonly missing: 'module' | 'function' }
  | { readonly missing: 'loadableModule'; readonly cause: MoveError };

/** Estimated memory in bytes of a plan without its layouts, and of a layout with parts. */
const PLAN_BYTES = 2_048;
const COMPOUND_LAYOUT_BYTES = 8_192;

const plans = new DerivedCache<FunctionPlan | MissingFunction>('layouts', sizeOf);

/** Only complete plans are cached: what failed may succeed at the next version. */
function sizeOf(found: FunctionPlan | MissingFunction): number | undefined {
  if ('missing' in found) return undefined;
  let sizeBytes = PLAN_BYTES;
  for (const { resolved } of found.parameters) {
    if (resolved === undefined) continue;
    if (resolved.kind !== 'layout') return undefined;
    if (resolved.fixedBytes === 0) sizeBytes += COMPOUND_LAYOUT_BYTES;
  }
  return sizeBytes;
}

/** How the function is called. For a view, any function qualifies here. */
type FunctionUse = 'entry' | 'view';

/** The plan of the first function with this name, whatever its visibility. */
export function findFunction(
  { module: id, name, key }: FunctionId,
  lookup: ModuleLookup,
  use: FunctionUse = 'entry',
): MaybePromise<FunctionPlan | MissingFunction> {
  const plan = plans.get(use === 'entry' ? key : `${use} ${key}`, lookup, (modules) =>
    settle<CompiledModule | undefined, FunctionPlan | MissingFunction>(
      () => modules(id),
      (module) =>
        module === undefined ? { missing: 'module' } : planOf(module, name, use, modules),
      (cause) => {
        if (!(cause instanceof MoveError)) throw cause;
        return { missing: 'loadableModule', cause };
      },
    ),
  );
  return andThen(plan, ({ value }) => value);
}

function planOf(
  module: CompiledModule,
  name: string,
  use: FunctionUse,
  lookup: ModuleLookup,
): MaybePromise<FunctionPlan | MissingFunction> {
  const definition = module.functionDefinitions.find(
    (one) => (one.isEntry || use === 'view') && functionNameOfHandle(module, one.handle) === name,
  );
  if (definition === undefined) return { missing: 'function' };
  const handle = module.functionHandles[definition.handle]!;
  const types = module.signatures[handle.parameters]!.map((token) =>
    moveTypeOfToken(module, token),
  ).filter((type) => !isSignerParameter(type));
  const done: ConvertedTypes = new Map();
  const planned = mapInOrder(types, (type): MaybePromise<PlannedParameter> => {
    const isGeneric = mentionsTypeParameter(type);
    // A reference takes no argument. The error of a view shows its type as declared.
    const isRefused = use === 'view' && type.kind === 'reference';
    if (isGeneric && !isRefused) return { type, isGeneric, resolved: undefined };
    return andThen(resolveParameter(type, lookup, done), (resolved) => ({
      type,
      isGeneric,
      resolved,
    }));
  });
  return andThen(planned, (parameters) => ({
    nameBytes: encodeBcs((writer) => {
      ModuleId.write(writer, moduleIdOf(module));
      writer.string(name);
    }),
    typeParameterCount: handle.typeParameters.length,
    parameters,
  }));
}

/**
 * The parameters that take an argument, after substituting type arguments. A type argument may turn one into a signer,
 * which takes none (docs/spec/encode.md §A4 step 5).
 */
export function parametersOf(
  plan: FunctionPlan,
  typeArguments: readonly MoveType[],
): readonly PlannedParameter[] {
  if (!plan.parameters.some(({ isGeneric }) => isGeneric)) return plan.parameters;
  return plan.parameters
    .map((parameter) => {
      if (!parameter.isGeneric) return parameter;
      return { ...parameter, type: substituteTypeParameters(parameter.type, typeArguments) };
    })
    .filter(({ type }) => !isSignerParameter(type));
}

/** A call whose function and layouts are known: the remaining steps need no lookup. */
export interface PreparedEntryFunction {
  readonly kind: 'entryFunction';
  readonly request: EntryFunctionRequest;
  readonly plan: FunctionPlan;
  readonly parameters: readonly CallParameter[];
}

/** Looks up the function and the layouts of a call. @throws EncodeError of stage `convert`, or rejects with it */
export function prepareEntryFunction(
  request: EntryFunctionRequest,
  lookup: ModuleLookup,
): MaybePromise<PreparedEntryFunction> {
  return andThen(findFunction(request.id, lookup), (plan) => {
    if ('missing' in plan) throw missingFunction(plan, request.id);
    const { typeArguments } = request;
    if (plan.typeParameterCount !== typeArguments.length) {
      throw new EncodeError(
        'convert',
        'type_argument_count',
        `expect ${plan.typeParameterCount} type arguments for entry function ` +
          `${functionText(request.id)}, but got ${typeArguments.length}`,
      );
    }
    const planned = parametersOf(plan, typeArguments);
    checkArgumentCount(planned, request.arguments);
    return andThen(
      resolveParameters(planned, lookup),
      (parameters): PreparedEntryFunction => ({ kind: 'entryFunction', request, plan, parameters }),
    );
  });
}

export function missingFunction(
  found: MissingFunction,
  id: FunctionId,
  use: FunctionUse = 'entry',
): EncodeError {
  const module = debugModuleId(id.module);
  switch (found.missing) {
    case 'module':
      return new EncodeError('convert', 'module_not_found', `Module ${module} can't be found`);
    case 'loadableModule': {
      const { cause } = found;
      const text = `Module ${module} deserialize with error code ${cause.message}`;
      return new EncodeError('convert', 'module_not_loadable', text, { cause });
    }
    case 'function': {
      const text = `could not find ${use} function by ${functionText(id)}`;
      return new EncodeError('convert', 'function_not_found', text);
    }
  }
}

/** Writes a call. @throws EncodeError of stage `convert` */
export function writeEntryFunction(writer: BcsWriter, call: PreparedEntryFunction): void {
  const { request, parameters } = call;
  writer.fixed(call.plan.nameBytes);
  // Type arguments are written before the arguments, but bad arguments are reported first.
  const badType = badTypeArgument(writer, request.typeArguments);
  writer.length32(parameters.length);
  for (let index = 0; index < parameters.length; index += 1) {
    const { type, resolved } = parameters[index]!;
    encodeSizedArgument(index, type, resolved, request.arguments[index]!, writer);
  }
  if (badType !== undefined) throw badType;
}

function badTypeArgument(writer: BcsWriter, types: readonly MoveType[]): EncodeError | undefined {
  try {
    writeTypeArguments(writer, types);
    return undefined;
  } catch (error) {
    if (error instanceof EncodeError) return error;
    throw error;
  }
}

export function functionText({ module, name }: Omit<FunctionId, 'key'>): string {
  return `${formatAddress(module.address)}::${module.name}::${name}`;
}
