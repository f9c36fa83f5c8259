/** Scripts: their parameters from the given ABI or the code, their arguments (docs/spec/encode.md §A4, "Script"). */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { BcsReader } from '../../move/bcs/bcs-reader.ts';
import type { BcsWriter } from '../../move/bcs/bcs-writer.ts';
import { BinaryFormatError } from '../../move/modules/format.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { readScript } from '../../move/modules/read.ts';
import { TransactionArgument } from '../../move/transactions/transaction-argument.ts';
import { isSignerParameter, type MoveType, moveTypeOfToken } from '../../move/types/move-type.ts';
import type { Layout } from '../../move/values/layout.ts';
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

/** Variants of the arguments, by the kind of their layout (docs/spec/encode.md §A5). */
const ARGUMENT_INDEX: ReadonlyMap<string, number> = new Map(
  TransactionArgument.kinds.map((kind, index) => [kind === 'u8Vector' ? 'bytes' : kind, index]),
);
/** Also the variant of an empty vector of any type. */
const BYTES_INDEX = ARGUMENT_INDEX.get('bytes')!;

/** Finds what a script needs from the ledger. @throws EncodeError of stage `convert`, or rejects with it */
export function prepareScript(
  request: ScriptRequest,
  lookup: ModuleLookup,
): MaybePromise<PreparedScript> {
  const expected = scriptParameters(request)
    .filter((type) => !isSignerParameter(type))
    .map((type) => ({ type, resolved: undefined }));
  checkArgumentCount(expected, request.arguments);
  return andThen(resolveParameters(expected, lookup), (parameters) => ({
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
    // encodeArgumentBytes has already rejected parameters without a layout.
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

/** Accepts scalars, byte vectors and, as the reference does, an empty vector of any type. */
function writeTransactionArgument(layout: Layout, bytes: Buffer, writer: BcsWriter): void {
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
  if (reader.uleb32() > 0) {
    const text = `unexpected value in bytes: ${debugMoveValue(layout.element, reader)}`;
    throw new EncodeError('convert', 'bad_script_argument', text);
  }
  writer.u8(BYTES_INDEX).fixed(bytes);
}
