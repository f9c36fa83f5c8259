/** Scripts: their parameters from the given ABI or the code, their arguments (docs/spec/encode.md §A4, "Script"). */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { BinaryFormatError } from '../../move/modules/format.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { readScript } from '../../move/modules/read.ts';
import { isSignerParameter, type MoveType, moveTypeOfToken } from '../../move/types/move-type.ts';
import type { EncodeLayout } from '../../move/values/layout.ts';
import { debugMoveValue } from '../../move/values/value-debug.ts';
import { EncodeError } from './encode-error.ts';
import {
  type CallParameter,
  checkArgumentCount,
  encodeArgumentBytes,
  resolveParameters,
  writeTypeArguments,
} from './parameters.ts';
import type { ScriptRequest } from './payload.ts';

/** A script whose parameters and layouts are known: the remaining steps need no lookup. */
export interface PreparedScript {
  readonly kind: 'script';
  readonly request: ScriptRequest;
  readonly parameters: readonly CallParameter[];
}

/** Variant indices of a transaction argument (docs/spec/encode.md §A5); other types are not allowed. */
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

/** Finds what a script needs from the ledger. @throws EncodeError of stage `convert`, or rejects with it */
export function prepareScript(
  request: ScriptRequest,
  lookup: ModuleLookup,
): MaybePromise<PreparedScript> {
  const wanted = scriptParameters(request)
    .filter((type) => !isSignerParameter(type))
    .map((type) => ({ type, resolved: undefined }));
  checkArgumentCount(wanted, request.arguments);
  return andThen(resolveParameters(wanted, lookup), (parameters) => ({
    kind: 'script',
    request,
    parameters,
  }));
}

/** Writes a script: its code, type arguments and transaction arguments. @throws EncodeError of stage `convert` */
export function writeScript(writer: BcsWriter, { request, parameters }: PreparedScript): void {
  const values = parameters.map(({ type, resolved }, index) =>
    encodeArgumentBytes(index, type, resolved, request.arguments[index]!),
  );
  writer.bytes(request.code);
  writeTypeArguments(writer, request.typeArguments);
  writer.length32(values.length);
  for (const [index, bytes] of values.entries()) {
    const { resolved } = parameters[index]!;
    // A parameter without a layout has been rejected with its value.
    if (resolved.kind === 'layout') writeTransactionArgument(resolved.layout, bytes, writer);
  }
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

/** Scalars and byte vectors are arguments; so is an empty vector of any type, as in the reference. */
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
