/**
 * Parameters of a called function or script: which take an argument, what each is called in messages, and the layout
 * its JSON is encoded by (spec/encode.md A4 steps 4 to 8).
 */
import { BcsWriter } from '../../move/bcs-writer.ts';
import { debugJsonList } from '../../move/json-text.ts';
import type { JsonValue } from '../../move/json-value.ts';
import { type EncodeLayout, LayoutError } from '../../move/layout.ts';
import { resolveArgumentLayout } from '../../move/layout-encode.ts';
import type { ModuleLookup } from '../../move/module/lookup.ts';
import type { MoveType } from '../../move/move-type.ts';
import { parameterTypeName } from '../../move/move-type-parameter.ts';
import { MoveTypeError, typeTagOf } from '../../move/move-type-tag.ts';
import type { TypeTag } from '../../move/type-tag.ts';
import { encodeValue } from '../../move/value-encode.ts';
import { ValueEncodeError } from '../../move/value-error.ts';
import { EncodeError } from './encode-error.ts';

/** A parameter that takes an argument. Why it cannot is only said when its argument's turn comes. */
export type ResolvedParameter =
  | { readonly kind: 'layout'; readonly layout: EncodeLayout }
  | { readonly kind: 'noType'; readonly cause: MoveTypeError }
  | { readonly kind: 'noLayout'; readonly cause: LayoutError };

/** Finds the layout of a parameter. Failures of the lookup other than a missing module come through. */
export async function resolveParameter(
  type: MoveType,
  lookup: ModuleLookup,
): Promise<ResolvedParameter> {
  try {
    return { kind: 'layout', layout: await resolveArgumentLayout(typeTagOf(type), lookup) };
  } catch (cause) {
    if (cause instanceof MoveTypeError) return { kind: 'noType', cause };
    if (cause instanceof LayoutError) return { kind: 'noLayout', cause };
    throw cause;
  }
}

/** @throws EncodeError `argument_count` */
export function checkArgumentCount(types: readonly MoveType[], args: readonly JsonValue[]): void {
  if (types.length === args.length) return;
  const names = types.map(parameterTypeName).join(', ');
  throw new EncodeError(
    'convert',
    'argument_count',
    `expected ${types.length} arguments [${names}], but got ${args.length} (${debugJsonList(args)})`,
  );
}

/** What one argument is made of. */
export interface Argument {
  readonly index: number;
  readonly type: MoveType;
  readonly parameter: ResolvedParameter;
  readonly json: JsonValue;
}

/** Appends the BCS of one argument. @throws EncodeError `bad_type` or `bad_argument` */
export function encodeArgument(argument: Argument, writer: BcsWriter): void {
  const { parameter } = argument;
  if (parameter.kind === 'noType') throw badType(parameter.cause);
  if (parameter.kind === 'noLayout') {
    throw badArgument(argument, parameter.cause.message, parameter.cause);
  }
  try {
    encodeValue(parameter.layout, argument.json, writer);
  } catch (error) {
    if (error instanceof ValueEncodeError) throw badArgument(argument, error.message, error);
    throw error;
  }
}

/** The BCS of one argument, in a buffer of its own. */
export function encodeArgumentBytes(argument: Argument): Buffer {
  const writer = new BcsWriter();
  encodeArgument(argument, writer);
  return writer.toBytes();
}

function badArgument({ index, type }: Argument, why: string, cause: Error): EncodeError {
  const text = `parse arguments[${index}] failed, expect ${parameterTypeName(type)}`;
  return new EncodeError('convert', 'bad_argument', `${text}, caused by error: ${why}`, { cause });
}

function badType(cause: MoveTypeError): EncodeError {
  return new EncodeError('convert', 'bad_type', cause.message, { cause });
}

/** The tags of type arguments, which are found wanting only after all arguments. @throws EncodeError `bad_type` */
export function typeArgumentTags(types: readonly MoveType[]): TypeTag[] {
  return types.map((type) => {
    try {
      return typeTagOf(type);
    } catch (error) {
      if (error instanceof MoveTypeError) throw badType(error);
      throw error;
    }
  });
}
