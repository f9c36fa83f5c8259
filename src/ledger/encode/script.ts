/** Scripts: their parameters from the given ABI or the code, their arguments (spec/encode.md A4, "Script"). */
import { BcsReader } from '../../move/bcs-reader.ts';
import { BcsWriter } from '../../move/bcs-writer.ts';
import type { EncodeLayout } from '../../move/layout.ts';
import { BinaryFormatError } from '../../move/module/format-error.ts';
import type { ModuleLookup } from '../../move/module/lookup.ts';
import { readScript } from '../../move/module/read.ts';
import type { MoveType } from '../../move/move-type.ts';
import { isSignerParameter } from '../../move/move-type-parameter.ts';
import { moveTypeOfToken } from '../../move/move-type-text.ts';
import { debugMoveValue } from '../../move/move-value-debug.ts';
import type { TypeTag } from '../../move/type-tag.ts';
import { EncodeError } from './encode-error.ts';
import {
  checkArgumentCount,
  encodeArgumentBytes,
  resolveParameter,
  typeArgumentTags,
} from './parameters.ts';
import type { ScriptRequest } from './payload.ts';

/** A script whose arguments are encoded. */
export interface ConvertedScript {
  readonly kind: 'script';
  readonly code: Buffer;
  readonly typeArguments: readonly TypeTag[];
  readonly argumentCount: number;
  /** The transaction arguments one after the other. */
  readonly argumentBytes: Buffer;
}

/** Variant indices of a transaction argument (spec/encode.md A5); other types are none. */
const ARGUMENT_INDEX: ReadonlyMap<EncodeLayout['kind'], number> = new Map([
  ['u8', 0],
  ['u64', 1],
  ['u128', 2],
  ['address', 3],
  ['bool', 5],
  ['u16', 6],
  ['u32', 7],
  ['u256', 8],
  ['i8', 10],
  ['i16', 11],
  ['i32', 12],
  ['i64', 13],
  ['i128', 14],
  ['i256', 15],
]);
const U8_VECTOR_INDEX = 4;

/** Converts a script by the modules that `lookup` gives. @throws EncodeError of stage `convert` */
export async function convertScript(
  request: ScriptRequest,
  lookup: ModuleLookup,
): Promise<ConvertedScript> {
  const types = scriptParameters(request).filter((type) => !isSignerParameter(type));
  checkArgumentCount(types, request.arguments);
  const values: { readonly layout: EncodeLayout; readonly bytes: Buffer }[] = [];
  for (const [index, type] of types.entries()) {
    const parameter = await resolveParameter(type, lookup);
    const bytes = encodeArgumentBytes({ index, type, parameter, json: request.arguments[index]! });
    if (parameter.kind === 'layout') values.push({ layout: parameter.layout, bytes });
  }
  const typeArguments = typeArgumentTags(request.typeArguments);
  const writer = new BcsWriter();
  for (const { layout, bytes } of values) writeTransactionArgument(layout, bytes, writer);
  return {
    kind: 'script',
    code: request.code,
    typeArguments,
    argumentCount: values.length,
    argumentBytes: writer.view(),
  };
}

function scriptParameters(request: ScriptRequest): readonly MoveType[] {
  if (request.abiParameters !== undefined) return request.abiParameters;
  try {
    const script = readScript(request.code);
    return script.signatures[script.parameters]!.map((token) => moveTypeOfToken(script, token));
  } catch (cause) {
    if (!(cause instanceof BinaryFormatError)) throw cause;
    const text = 'invalid transaction script bytecode';
    throw new EncodeError('convert', 'bad_script', text, { cause });
  }
}

/** Scalars and byte vectors are arguments; so is, as the reference has it, an empty vector of anything. */
function writeTransactionArgument(layout: EncodeLayout, bytes: Buffer, writer: BcsWriter): void {
  const index = ARGUMENT_INDEX.get(layout.kind);
  if (index !== undefined) {
    writer.u8(index).fixed(bytes);
    return;
  }
  if (layout.kind !== 'vector') {
    const text = `invalid transaction argument: ${debugMoveValue(layout, new BcsReader(bytes))}`;
    throw new EncodeError('convert', 'bad_script_argument', text);
  }
  const reader = new BcsReader(bytes);
  if (layout.element.kind !== 'u8' && reader.uleb32() > 0) {
    const text = `unexpected value in bytes: ${debugMoveValue(layout.element, reader)}`;
    throw new EncodeError('convert', 'bad_script_argument', text);
  }
  writer.u8(U8_VECTOR_INDEX).fixed(bytes);
}
