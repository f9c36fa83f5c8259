/** Requests to call view functions, in JSON and in BCS (docs/spec/transactions.md §9.2). */
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import { BcsError, type BcsReader, decodeBcs } from '../move/bcs/bcs-reader.ts';
import type { JsonValue } from '../move/json/json-text.ts';
import type { ModuleLookup } from '../move/modules/lookup.ts';
import { ModuleId } from '../move/types/module-id.ts';
import type { MoveType } from '../move/types/move-type.ts';
import { MoveTypeError, typeTagOf } from '../move/types/move-type-tag.ts';
import { readTypeTag, type TypeTag } from '../move/types/type-tag.ts';
import { EncodeError } from '../submission/encode/encode-error.ts';
import {
  findFunction,
  functionText,
  missingFunction,
  parametersOf,
} from '../submission/encode/entry-function.ts';
import {
  asObject,
  entryFunctionField,
  type FunctionId,
  moveTypeListField,
  unexpectedType,
  within,
} from '../submission/encode/fields.ts';
import {
  checkArgumentCount,
  encodeArgumentBytes,
  resolveParameters,
} from '../submission/encode/parameters.ts';
import { argumentsField } from '../submission/encode/payload.ts';
import { ViewError } from './view-error.ts';

/** A call in the virtual machine's form. */
export interface ViewCall {
  readonly module: ModuleId;
  readonly name: string;
  readonly typeArguments: readonly TypeTag[];
  /** The BCS of each argument, unchecked. */
  readonly args: readonly Buffer[];
}

/** A request in JSON; the function's parameters decide how its arguments are encoded. */
export interface ViewRequest {
  readonly id: FunctionId;
  readonly typeArguments: readonly MoveType[];
  readonly args: readonly JsonValue[];
}

const TRACE = within('ViewRequest', '');

/** Reads a request from its JSON. @throws EncodeError of stage `parse` */
export function readViewRequest(body: JsonValue): ViewRequest {
  const request = asObject(body);
  if (request === undefined) throw unexpectedType('ViewRequest', body, '');
  return {
    id: entryFunctionField(request.get('function'), TRACE),
    typeArguments: moveTypeListField(request.get('type_arguments'), TRACE),
    args: argumentsField(request.get('arguments'), TRACE),
  };
}

/** The call that a request means. @throws ViewError, or rejects with it */
export function viewCallOf(request: ViewRequest, lookup: ModuleLookup): MaybePromise<ViewCall> {
  const { id, typeArguments, args } = request;
  return andThen(findFunction(id, lookup, 'view'), (plan) => {
    if ('missing' in plan) throw conversionError(missingFunction(plan, id, 'view'));
    if (plan.typeParameterCount !== typeArguments.length) {
      throw new ViewError(
        `expected ${plan.typeParameterCount} type arguments for view function ` +
          `${functionText(id)}, but got ${typeArguments.length}`,
      );
    }
    const parameterTypes = parametersOf(plan, typeArguments);
    asViewError(() => checkArgumentCount(parameterTypes, args));
    return andThen(resolveParameters(parameterTypes, lookup), (parameters) =>
      asViewError(() => ({
        module: id.module,
        name: id.name,
        args: parameters.map(({ type, resolved }, index) =>
          encodeArgumentBytes(index, type, resolved, args[index]!),
        ),
        typeArguments: typeArguments.map((type) => typeTagOf(type)),
      })),
    );
  });
}

/** @throws ViewError for what is refused */
function asViewError<T>(convert: () => T): T {
  try {
    return convert();
  } catch (error) {
    if (error instanceof MoveTypeError)
      throw new ViewError(error.message, undefined, { cause: error });
    if (error instanceof EncodeError) throw conversionError(error);
    throw error;
  }
}

function conversionError(cause: EncodeError): ViewError {
  return new ViewError(cause.detail, undefined, { cause });
}

/**
 * Maximum number of types in the type arguments of one call, since each may need a store read. Far more than the
 * virtual machine loads.
 */
export const MAX_CALL_TYPES = 512;
/** Maximum number of arguments of one call; no function has more than 255 parameters. */
export const MAX_CALL_ARGUMENTS = 1_024;

/** The deepest nesting of structures and enumerations in a call's BCS that the reference reads. */
const MAX_CONTAINER_DEPTH = 8;

/** Reads a call from its BCS. @throws ViewError */
export function readViewCall(bytes: Uint8Array): ViewCall {
  const types = { tagsLeft: MAX_CALL_TYPES };
  try {
    const call = decodeBcs(bytes, (reader) => readCall(reader, types));
    for (const tag of call.typeArguments) checkDepth(tag, MAX_CONTAINER_DEPTH - 1);
    return call;
  } catch (cause) {
    if (!(cause instanceof BcsError)) throw cause;
    if (cause.code === 'length_too_large' && types.tagsLeft === 0) throw tooManyTypes();
    const why = cause.code === 'too_deep' ? tooDeep('TypeTag') : cause.detail;
    throw new ViewError(`${NOT_READ}${why}`, undefined, { cause });
  }
}

export function tooManyTypes(): ViewError {
  return new ViewError(`type arguments of more than ${MAX_CALL_TYPES} types are not loaded`);
}

const NOT_READ = 'Failed to deserialize input into ViewRequest: ';

function tooDeep(container: string): string {
  return `exceeded max container depth while entering: ${container}`;
}

function readCall(reader: BcsReader, types: { tagsLeft: number }): ViewCall {
  const module = ModuleId.read(reader);
  const name = reader.string();
  const typeArguments = reader.vector(1, (inner) => readTypeTag(inner, 0, types));
  const count = reader.length(1);
  if (count > MAX_CALL_ARGUMENTS) {
    throw new ViewError(`calls with more than ${MAX_CALL_ARGUMENTS} arguments are not read`);
  }
  const args = Array.from({ length: count }, () => reader.bytes());
  return { module, name, typeArguments, args };
}

/** @param left how many containers may still be entered */
function checkDepth(tag: TypeTag, left: number): void {
  const enter = (container: string, count: number): void => {
    if (left < count) throw new ViewError(NOT_READ + tooDeep(container));
  };
  enter('TypeTag', 1);
  if (tag.kind === 'vector') checkDepth(tag.element, left - 1);
  else if (tag.kind === 'struct') {
    enter('StructTag', 2);
    // The address and the names are containers too, but are closed again.
    enter('AccountAddress', 3);
    for (const argument of tag.struct.typeArguments) checkDepth(argument, left - 2);
  } else if (tag.kind === 'function') {
    enter('FunctionTag', 2);
    for (const part of [...tag.args, ...tag.results]) {
      enter('FunctionParamOrReturnTag', 3);
      checkDepth(part.kind === 'reference' ? part.to : part, left - 3);
    }
  }
}
