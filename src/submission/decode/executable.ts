/**
 * Renders entry function calls and scripts as JSON. The arguments of a call are decoded with the parameter types of the
 * function in the ledger. Those of a script are decoded by their own tags; the parameters declared in its code decide
 * their JSON form. If the code cannot be read or its parameters do not fit, an `abi` built from the tags is added.
 */

import { mapInOrder } from '../../maybe-promise.ts';
import { BcsError } from '../../move/bcs/bcs-reader.ts';
import { formatHex } from '../../move/bcs/hex.ts';
import { JsonNumber, type JsonObject, type JsonValue } from '../../move/json/json-text.ts';
import { BinaryFormatError } from '../../move/modules/format.ts';
import { readScript } from '../../move/modules/read.ts';
import type { EntryFunction, Script } from '../../move/transactions/executable.ts';
import type { TransactionArgument } from '../../move/transactions/transaction-argument.ts';
import { formatAddress } from '../../move/types/address.ts';
import { isIdentifier } from '../../move/types/module-id.ts';
import {
  formatMoveType,
  isSignerParameter,
  type MoveType,
  moveTypeOfToken,
  substituteTypeParameters,
} from '../../move/types/move-type.ts';
import { debugModuleId, type Layout } from '../../move/values/layout.ts';
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
  resolveParameter,
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
  const planned = await findParameters(call, rendering);
  if (planned === undefined) return call.args.map((bytes) => rawArgument(bytes));
  const parameters = await resolveParameters(planned, rendering.lookup);
  return call.args.map((bytes, index) =>
    callArgument(parameters[index]!.resolved, bytes, index, rendering),
  );
}

/** The parameters that the arguments are for; undefined, with a warning, if unknown. */
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

/** Types as declared. With type arguments substituted, each of 255 texts could be as long as the message. */
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
  const asRawBytes = (why: string): JsonValue => {
    const text = `arguments[${index}] is shown as its bytes: ${why}`;
    rendering.warn('argument_not_shown', text);
    return rawArgument(bytes);
  };
  if (parameter.kind !== 'layout') return asRawBytes(parameter.cause.message);
  try {
    return decodeArgument(parameter.layout, bytes, rendering.budget);
  } catch (error) {
    if (error instanceof BcsError) return asRawBytes(error.message);
    throw error;
  }
}

/** Argument kinds whose types a request's `abi` can name (docs/spec/encode.md §A2). */
const ABI_TYPES: ReadonlyMap<TransactionArgument['kind'], string> = new Map([
  ...(['u8', 'u16', 'u32', 'u64', 'u128', 'u256', 'bool', 'address'] as const).map(
    (kind) => [kind, kind] as const,
  ),
  ['u8Vector', 'vector<u8>'],
]);

export async function scriptJson(script: Script, rendering: Rendering): Promise<JsonObject> {
  rendering.warn('script', 'a script may do anything its signers may; its arguments do not tell');
  const parameters = await scriptParameters(script, rendering);
  const jsonArguments = parameters && argumentsForParameters(parameters, script.args, rendering);
  if (parameters !== undefined && jsonArguments === undefined) {
    const text = "the arguments do not fit the parameters of the script's code; its run will fail";
    rendering.warn('script_arguments', text);
  }
  warnOfSerialized(script.args, rendering);
  const bytecode: [string, string] = ['bytecode', formatHex(script.code)];
  const abi = jsonArguments === undefined ? abiOfArguments(script.args) : undefined;
  return jsonObject(
    ['type', 'script_payload'],
    ['code', abi === undefined ? jsonObject(bytecode) : jsonObject(bytecode, ['abi', abi])],
    ['type_arguments', rendering.typeArguments(script.typeArguments)],
    ['arguments', jsonArguments ?? script.args.map(argumentJson)],
  );
}

/** The parameters that take an argument; undefined, with a warning, if the code does not load. */
async function scriptParameters(
  { code }: Script,
  rendering: Rendering,
): Promise<ResolvedParameter[] | undefined> {
  let types: readonly MoveType[];
  try {
    const loaded = readScript(code);
    types = loaded.signatures[loaded.parameters]!.map((token) => moveTypeOfToken(loaded, token));
  } catch (error) {
    if (!(error instanceof BinaryFormatError)) throw error;
    const text = `the code is no script that can be read (${error.message}); its run will fail`;
    rendering.warn('script_not_readable', text);
    return undefined;
  }
  const argumentTypes = types.filter((type) => !isSignerParameter(type));
  rendering.parameterTypes = argumentTypes.map(formatMoveType);
  return mapInOrder(argumentTypes, (type) => resolveParameter(type, rendering.lookup));
}

/** The arguments in the JSON form that the encoder accepts for these parameters; undefined if one does not fit. */
function argumentsForParameters(
  parameters: readonly ResolvedParameter[],
  args: readonly TransactionArgument[],
  rendering: Rendering,
): JsonValue[] | undefined {
  if (parameters.length !== args.length) return undefined;
  const jsonArguments: JsonValue[] = [];
  for (const [index, argument] of args.entries()) {
    const json = argumentForParameter(parameters[index]!, argument, rendering);
    if (json === undefined) return undefined;
    jsonArguments.push(json);
  }
  return jsonArguments;
}

function argumentForParameter(
  parameter: ResolvedParameter,
  argument: TransactionArgument,
  rendering: Rendering,
): JsonValue | undefined {
  if (parameter.kind !== 'layout') return undefined;
  const { layout } = parameter;
  if (argument.kind === 'serialized') return serializedArgument(layout, argument.value, rendering);
  if (argument.kind !== 'u8Vector') {
    return layout.kind === argument.kind ? argumentJson(argument) : undefined;
  }
  if (layout.kind === 'bytes') return argumentJson(argument);
  // An empty vector of anything is written as empty bytes.
  return layout.kind === 'vector' && argument.value.length === 0 ? [] : undefined;
}

/** No request can produce such an argument, so it is shown as raw bytes with its meaning. */
function serializedArgument(
  layout: Layout,
  bytes: Buffer,
  rendering: Rendering,
): JsonValue | undefined {
  try {
    return rawArgument(bytes, decodeArgument(layout, bytes, rendering.budget));
  } catch (error) {
    if (error instanceof BcsError) return undefined;
    throw error;
  }
}

function argumentJson(argument: TransactionArgument): JsonValue {
  switch (argument.kind) {
    case 'u8':
    case 'u16':
    case 'u32':
    case 'i8':
    case 'i16':
    case 'i32':
      return new JsonNumber(String(argument.value));
    case 'bool':
      return argument.value;
    case 'address':
      return formatAddress(argument.value);
    case 'u8Vector':
      return formatHex(argument.value);
    case 'serialized':
      return rawArgument(argument.value);
    default:
      return String(argument.value);
  }
}

function warnOfSerialized(args: readonly TransactionArgument[], rendering: Rendering): void {
  const first = args.findIndex(({ kind }) => kind === 'serialized');
  if (first < 0) return;
  const count = args.filter(({ kind }) => kind === 'serialized').length;
  rendering.warn(
    'argument_not_shown',
    `${count} of the arguments, the first of them arguments[${first}], are values in BCS, which no ` +
      'request can give, and shown as their bytes',
  );
}

/** An ABI whose parameters have the types of the arguments; undefined if one of these types cannot be named. */
function abiOfArguments(args: readonly TransactionArgument[]): JsonObject | undefined {
  const types = args.map(({ kind }) => ABI_TYPES.get(kind));
  if (!types.every((type) => type !== undefined)) return undefined;
  return jsonObject(
    ['name', 'main'],
    ['visibility', 'public'],
    ['is_entry', true],
    ['is_view', false],
    ['generic_type_params', []],
    ['params', types],
    ['return', []],
  );
}
