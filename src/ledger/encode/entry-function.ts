/** Entry function calls: the function found, its arguments in BCS (docs/spec/encode.md §A4, "Entry function"). */

import type { MaybePromise } from '../../maybe-promise.ts';
import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { MoveError } from '../../move/errors.ts';
import type { CompiledModule } from '../../move/modules/compiled.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { formatAddress } from '../../move/types/address.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import type { MoveType } from '../../move/types/move-type.ts';
import { debugModuleId } from '../../move/values/layout.ts';
import { EncodeError } from './encode-error.ts';
import {
  argumentParameters,
  type FunctionPlan,
  functionPlan,
  type PlannedParameter,
  resolveParameters,
} from './function-plan.ts';
import {
  checkArgumentCount,
  encodeSizedArgument,
  type ResolvedParameter,
  writeTypeArguments,
} from './parameters.ts';
import type { EntryFunctionRequest } from './payload.ts';

/** A call whose function and layouts are found: all that is left needs no lookup. */
export interface PreparedEntryFunction {
  readonly kind: 'entryFunction';
  readonly request: EntryFunctionRequest;
  readonly plan: FunctionPlan;
  readonly parameters: readonly PlannedParameter[];
  /** One for each of `parameters`. */
  readonly resolved: readonly ResolvedParameter[];
}

/**
 * Finds what a call needs of the ledger; at once when the lookup answers at once and the layouts are kept.
 * @throws EncodeError of stage `convert`, or rejects with it
 */
export function prepareEntryFunction(
  request: EntryFunctionRequest,
  lookup: ModuleLookup,
): MaybePromise<PreparedEntryFunction> {
  const module = findModule(request.module, lookup);
  if (module instanceof Promise) {
    return module.then((found) => prepareCall(request, found, lookup));
  }
  return prepareCall(request, module, lookup);
}

function prepareCall(
  request: EntryFunctionRequest,
  module: CompiledModule | undefined,
  lookup: ModuleLookup,
): MaybePromise<PreparedEntryFunction> {
  if (module === undefined) {
    const text = `Module ${debugModuleId(request.module)} can't be found`;
    throw new EncodeError('convert', 'module_not_found', text);
  }
  const plan = functionPlan(module, request.function);
  if (plan === undefined) {
    throw new EncodeError(
      'convert',
      'function_not_found',
      `could not find entry function by ${formatFunction(request)}`,
    );
  }
  const { typeArguments } = request;
  if (plan.typeParameterCount !== typeArguments.length) {
    throw new EncodeError(
      'convert',
      'type_argument_count',
      `expect ${plan.typeParameterCount} type arguments for entry function ` +
        `${formatFunction(request)}, but got ${typeArguments.length}`,
    );
  }
  const parameters = argumentParameters(plan, typeArguments);
  checkArgumentCount(parameters, request.arguments);
  const resolved = resolveParameters(parameters, lookup);
  if (resolved instanceof Promise) {
    return resolved.then((found) => ({
      kind: 'entryFunction',
      request,
      plan,
      parameters,
      resolved: found,
    }));
  }
  return { kind: 'entryFunction', request, plan, parameters, resolved };
}

/** Writes a call. @throws EncodeError of stage `convert` */
export function writeEntryFunction(writer: BcsWriter, call: PreparedEntryFunction): void {
  const { request, parameters, resolved } = call;
  writer.fixed(call.plan.nameBytes);
  // Bad type arguments stand before the arguments, but bad arguments are reported before them.
  const badType = badTypeArgument(writer, request.typeArguments);
  writer.length32(resolved.length);
  for (let index = 0; index < resolved.length; index += 1) {
    const { type } = parameters[index]!;
    encodeSizedArgument(index, type, resolved[index]!, request.arguments[index]!, writer);
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

function findModule(id: ModuleId, lookup: ModuleLookup): MaybePromise<CompiledModule | undefined> {
  const fail = (cause: unknown): never => {
    if (!(cause instanceof MoveError)) throw cause;
    const text = `Module ${debugModuleId(id)} deserialize with error code ${cause.message}`;
    throw new EncodeError('convert', 'module_not_loadable', text, { cause });
  };
  try {
    const found = lookup(id);
    return found instanceof Promise ? found.catch(fail) : found;
  } catch (cause) {
    return fail(cause);
  }
}

function formatFunction(request: EntryFunctionRequest): string {
  const { module } = request;
  return `${formatAddress(module.address)}::${module.name}::${request.function}`;
}
