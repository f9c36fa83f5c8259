/**
 * Parameters of a called function or script: which of them take an argument, how messages name them, and the layouts
 * that encode the JSON of their arguments (docs/spec/encode.md §A4 steps 4 to 8).
 */
import { copiedBytes } from '../../cache.ts';
import { andThen, type MaybePromise, mapInOrder, settle } from '../../maybe-promise.ts';
import { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { PRIMITIVE_BYTES } from '../../move/bcs/integers.ts';
import type { JsonValue } from '../../move/json/json-text.ts';
import { debugJsonList } from '../../move/json/json-text-print.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { type MoveType, parameterTypeName } from '../../move/types/move-type.ts';
import { type ConvertedTypes, MoveTypeError, typeTagOf } from '../../move/types/move-type-tag.ts';
import { TypeTag } from '../../move/types/type-tag.ts';
import { type Layout, LayoutError } from '../../move/values/layout.ts';
import { resolveArgumentLayout } from '../../move/values/layout-resolver.ts';
import { encodeValue, ValueEncodeError } from '../../move/values/value-encode.ts';
import { EncodeError } from './encode-error.ts';

/**
 * A parameter that takes an argument. If its type cannot be encoded, the error is reported only when its argument is
 * reached.
 */
export type ResolvedParameter =
  | {
      readonly kind: 'layout';
      readonly layout: Layout;
      /** Size of every value in bytes; 0 if it depends on the value. */
      readonly fixedBytes: number;
    }
  | { readonly kind: 'noType'; readonly cause: MoveTypeError }
  | { readonly kind: 'noLayout'; readonly cause: LayoutError };

export interface PlannedParameter {
  readonly type: MoveType;
  readonly isGeneric: boolean;
  /** Absent if it depends on type arguments. */
  readonly resolved: ResolvedParameter | undefined;
}

/** A parameter of a call, with type arguments substituted. Signers are left out. */
export interface CallParameter {
  readonly type: MoveType;
  readonly resolved: ResolvedParameter;
}

/**
 * Finds the layout of a parameter. Errors of the lookup propagate, except for missing and unloadable modules.
 * @param done shared by all parameters of a call, which may contain the same large type arguments
 */
export function resolveParameter(
  type: MoveType,
  lookup: ModuleLookup,
  done?: ConvertedTypes,
): MaybePromise<ResolvedParameter> {
  return settle<Layout, ResolvedParameter>(
    () => resolveArgumentLayout(typeTagOf(type, done), lookup),
    (layout) => ({ kind: 'layout', layout, fixedBytes: PRIMITIVE_BYTES.get(layout.kind) ?? 0 }),
    (cause) => {
      if (cause instanceof MoveTypeError) return { kind: 'noType', cause };
      if (cause instanceof LayoutError) return { kind: 'noLayout', cause };
      throw cause;
    },
  );
}

type Resolvable = Pick<PlannedParameter, 'type' | 'resolved'>;

function isResolved(parameter: Resolvable): parameter is CallParameter {
  return parameter.resolved !== undefined;
}

export function resolveParameters(
  parameters: readonly Resolvable[],
  lookup: ModuleLookup,
): MaybePromise<readonly CallParameter[]> {
  if (parameters.every(isResolved)) return parameters;
  const done: ConvertedTypes = new Map();
  return mapInOrder(parameters, (parameter): MaybePromise<CallParameter> => {
    if (isResolved(parameter)) return parameter;
    const { type } = parameter;
    return andThen(resolveParameter(type, lookup, done), (resolved) => ({ type, resolved }));
  });
}

/** @throws EncodeError `argument_count` */
export function checkArgumentCount(
  parameters: readonly { readonly type: MoveType }[],
  args: readonly JsonValue[],
): void {
  if (parameters.length === args.length) return;
  const names = parameters.map(({ type }) => parameterTypeName(type)).join(', ');
  const expected = `expected ${parameters.length} arguments [${names}]`;
  const text = `${expected}, but got ${args.length} (${debugJsonList(args)})`;
  throw new EncodeError('convert', 'argument_count', text);
}

/** Appends the BCS of argument number `index`. @throws EncodeError `bad_type` or `bad_argument` */
function encodeArgument(
  index: number,
  type: MoveType,
  parameter: ResolvedParameter,
  json: JsonValue,
  writer: BcsWriter,
): void {
  if (parameter.kind === 'noType') throw badType(parameter.cause);
  if (parameter.kind === 'noLayout') throw badArgument(index, type, parameter.cause);
  try {
    encodeValue(parameter.layout, json, writer);
  } catch (error) {
    if (error instanceof ValueEncodeError) throw badArgument(index, type, error);
    throw error;
  }
}

/** Appends the BCS of an argument after its length. @throws EncodeError `bad_type` or `bad_argument` */
export function encodeSizedArgument(
  index: number,
  type: MoveType,
  parameter: ResolvedParameter,
  json: JsonValue,
  writer: BcsWriter,
): void {
  if (parameter.kind === 'layout' && parameter.fixedBytes > 0) {
    writer.uleb32(parameter.fixedBytes);
    encodeArgument(index, type, parameter, json, writer);
  } else {
    writer.bytes(encodeArgumentBytes(index, type, parameter, json));
  }
}

/** The BCS of an argument. @throws EncodeError `bad_type` or `bad_argument` */
export function encodeArgumentBytes(
  index: number,
  type: MoveType,
  parameter: ResolvedParameter,
  json: JsonValue,
): Buffer {
  const writer = new BcsWriter();
  encodeArgument(index, type, parameter, json, writer);
  return writer.view();
}

function badArgument(index: number, type: MoveType, cause: Error): EncodeError {
  const name = parameterTypeName(type);
  const text = `parse arguments[${index}] failed, expect ${name}, caused by error: ${cause.message}`;
  return new EncodeError('convert', 'bad_argument', text, { cause });
}

function badType(cause: MoveTypeError): EncodeError {
  return new EncodeError('convert', 'bad_type', cause.message, { cause });
}

/** Cached per type object: types in use are the same objects from one request to the next. */
const tagBytesOfTypes = new WeakMap<MoveType, Buffer>();

/** Appends type arguments as type tags. @throws EncodeError `bad_type` for the first reference, nothing written */
export function writeTypeArguments(writer: BcsWriter, types: readonly MoveType[]): void {
  const tags = types.map(tagBytes);
  writer.length32(tags.length);
  for (const bytes of tags) writer.fixed(bytes);
}

function tagBytes(type: MoveType): Buffer {
  const known = tagBytesOfTypes.get(type);
  if (known !== undefined) return known;
  try {
    const bytes = copiedBytes(TypeTag.encode(typeTagOf(type)));
    tagBytesOfTypes.set(type, bytes);
    return bytes;
  } catch (error) {
    if (error instanceof MoveTypeError) throw badType(error);
    throw error;
  }
}
