/** Calls of entry functions as JSON: arguments are decoded by the parameters of the function in the ledger. */
import { BcsError } from '../../move/bcs/bcs-reader.ts';
import type { JsonObject, JsonValue } from '../../move/json/json-text.ts';
import type { EntryFunction } from '../../move/transactions/executable.ts';
import { isIdentifier } from '../../move/types/module-id.ts';
import {
  formatMoveType,
  isSignerParameter,
  substituteTypeParameters,
} from '../../move/types/move-type.ts';
import { debugModuleId } from '../../move/values/layout.ts';
import { decodeArgument } from '../../move/values/value-decode.ts';
import {
  type FunctionPlan,
  findFunction,
  functionText,
  type MissingFunction,
  parametersOf,
} from '../encode/entry-function.ts';
import { type FunctionId, functionKey } from '../encode/fields.ts';
import {
  type PlannedParameter,
  type ResolvedParameter,
  resolveParameters,
} from '../encode/parameters.ts';
import { jsonObject, type Rendering, rawArgument } from './rendering.ts';

/** The payload object of a call; undefined if its names are not identifiers and cannot be written as text. */
export async function entryFunctionJson(
  call: EntryFunction,
  rendering: Rendering,
): Promise<JsonObject | undefined> {
  if (!isIdentifier(call.module.name) || !isIdentifier(call.function)) return undefined;
  return jsonObject(
    ['type', 'entry_function_payload'],
    ['function', functionText(idOf(call))],
    ['type_arguments', rendering.typeArguments(call.typeArguments)],
    ['arguments', await callArguments(call, rendering)],
  );
}

function idOf({ module, function: name }: EntryFunction): FunctionId {
  return { module, name, key: functionKey(module, name) };
}

async function callArguments(
  call: EntryFunction,
  rendering: Rendering,
): Promise<readonly JsonValue[]> {
  const wanted = await findParameters(call, rendering);
  if (wanted === undefined) return call.args.map((bytes) => rawArgument(bytes));
  const parameters = await resolveParameters(wanted, rendering.lookup);
  return call.args.map((bytes, index) =>
    callArgument(parameters[index]!.resolved, bytes, index, rendering),
  );
}

/** The parameters of the arguments; undefined, with a warning, if unknown. */
async function findParameters(
  call: EntryFunction,
  rendering: Rendering,
): Promise<readonly PlannedParameter[] | undefined> {
  const plan = await findFunction(idOf(call), rendering.lookup);
  if ('missing' in plan) {
    warnOfMissing(plan, call, rendering);
    return undefined;
  }
  const { typeArguments } = call;
  if (plan.typeParameterCount !== typeArguments.length) {
    rendering.warn(
      'type_argument_count',
      `${functionText(idOf(call))} takes ${plan.typeParameterCount} type arguments, ` +
        `here are ${typeArguments.length}`,
    );
    return undefined;
  }
  rendering.parameterTypes = declaredTypes(plan, call);
  const parameters = parametersOf(plan, typeArguments);
  if (parameters.length === call.args.length) return parameters;
  rendering.warn(
    'argument_count',
    `${functionText(idOf(call))} takes ${parameters.length} arguments, here are ${call.args.length}`,
  );
  return undefined;
}

/** As declared: with type arguments substituted, each of 255 texts could be as long as the message. */
function declaredTypes({ parameters }: FunctionPlan, { typeArguments }: EntryFunction): string[] {
  return parameters
    .filter(({ type }) => !isSignerParameter(substituteTypeParameters(type, typeArguments)))
    .map(({ type }) => formatMoveType(type));
}

function warnOfMissing(found: MissingFunction, call: EntryFunction, rendering: Rendering): void {
  const module = debugModuleId(call.module);
  switch (found.missing) {
    case 'module':
      rendering.warn('module_not_found', `this ledger has no ${module}`);
      return;
    case 'loadableModule':
      rendering.warn('module_not_loadable', `${module} does not load: ${found.cause.message}`);
      return;
    case 'function':
      rendering.warn(
        'function_not_found',
        `this ledger has no entry function ${functionText(idOf(call))}`,
      );
  }
}

function callArgument(
  parameter: ResolvedParameter,
  bytes: Buffer,
  index: number,
  rendering: Rendering,
): JsonValue {
  const notShown = (why: string): JsonValue => {
    const text = `arguments[${index}] is shown as its bytes: ${why}`;
    rendering.warn('argument_not_shown', text);
    return rawArgument(bytes);
  };
  if (parameter.kind !== 'layout') return notShown(parameter.cause.message);
  try {
    return decodeArgument(parameter.layout, bytes, rendering.budget);
  } catch (error) {
    if (error instanceof BcsError) return notShown(error.message);
    throw error;
  }
}
