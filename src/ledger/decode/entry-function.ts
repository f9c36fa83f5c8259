/** Calls of entry functions as JSON: arguments by the parameters of the function that the ledger holds. */

import { MoveError } from '../../move/errors.ts';
import type { JsonObject, JsonValue } from '../../move/json/json-text.ts';
import type { CompiledModule } from '../../move/modules/compiled.ts';
import type { EntryFunction } from '../../move/transactions/executable.ts';
import { formatAddress } from '../../move/types/address.ts';
import { isIdentifier } from '../../move/types/module-id.ts';
import {
  formatMoveType,
  isSignerParameter,
  substituteTypeParameters,
} from '../../move/types/move-type.ts';
import { debugModuleId } from '../../move/values/layout.ts';
import { decodeArgument } from '../../move/values/value-decode.ts';
import { ValueDecodeError } from '../../move/values/value-error.ts';
import {
  argumentParameters,
  type FunctionPlan,
  functionPlan,
  type PlannedParameter,
  resolveParameters,
} from '../encode/function-plan.ts';
import type { ResolvedParameter } from '../encode/parameters.ts';
import { jsonObject, type Rendering, rawArgument } from './rendering.ts';

/** The payload object of a call; undefined when its names are no identifiers, so that no text can stand for it. */
export async function entryFunctionJson(
  call: EntryFunction,
  rendering: Rendering,
): Promise<JsonObject | undefined> {
  if (!isIdentifier(call.module.name) || !isIdentifier(call.function)) return undefined;
  return jsonObject(
    ['type', 'entry_function_payload'],
    ['function', functionName(call)],
    ['type_arguments', rendering.typeArguments(call.typeArguments)],
    ['arguments', await callArguments(call, rendering)],
  );
}

function functionName({ module, function: name }: EntryFunction): string {
  return `${formatAddress(module.address)}::${module.name}::${name}`;
}

async function callArguments(
  call: EntryFunction,
  rendering: Rendering,
): Promise<readonly JsonValue[]> {
  const parameters = await findParameters(call, rendering);
  if (parameters === undefined) return call.args.map((bytes) => rawArgument(bytes));
  const resolved = await resolveParameters(parameters, rendering.lookup);
  return call.args.map((bytes, index) => callArgument(resolved[index]!, bytes, index, rendering));
}

/** The parameters that the arguments stand for; undefined, with a warning, when that cannot be told. */
async function findParameters(
  call: EntryFunction,
  rendering: Rendering,
): Promise<readonly PlannedParameter[] | undefined> {
  const module = await findModule(call, rendering);
  if (module === undefined) return undefined;
  const plan = functionPlan(module, call.function);
  if (plan === undefined) {
    rendering.warn('function_not_found', `this ledger has no entry function ${functionName(call)}`);
    return undefined;
  }
  const { typeArguments } = call;
  if (plan.typeParameterCount !== typeArguments.length) {
    rendering.warn(
      'type_argument_count',
      `${functionName(call)} takes ${plan.typeParameterCount} type arguments, ` +
        `here are ${typeArguments.length}`,
    );
    return undefined;
  }
  rendering.parameterTypes = declaredTypes(plan, call);
  const parameters = argumentParameters(plan, typeArguments);
  if (parameters.length === call.args.length) return parameters;
  rendering.warn(
    'argument_count',
    `${functionName(call)} takes ${parameters.length} arguments, here are ${call.args.length}`,
  );
  return undefined;
}

/** As declared: with type arguments put in, 255 texts could be as long as the message each. */
function declaredTypes({ parameters }: FunctionPlan, { typeArguments }: EntryFunction): string[] {
  return parameters
    .filter(({ type }) => !isSignerParameter(substituteTypeParameters(type, typeArguments)))
    .map(({ type }) => formatMoveType(type));
}

async function findModule(
  { module: id }: EntryFunction,
  rendering: Rendering,
): Promise<CompiledModule | undefined> {
  try {
    const module = await rendering.lookup(id);
    if (module === undefined) {
      rendering.warn('module_not_found', `this ledger has no ${debugModuleId(id)}`);
    }
    return module;
  } catch (error) {
    if (!(error instanceof MoveError)) throw error;
    rendering.warn('module_not_loadable', `${debugModuleId(id)} does not load: ${error.message}`);
    return undefined;
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
    if (error instanceof ValueDecodeError) return notShown(error.message);
    throw error;
  }
}
