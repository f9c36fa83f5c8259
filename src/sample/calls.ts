/** Calls of entry functions with plain values as arguments. */
import { type BcsWriter, encodeBcs } from '../move/bcs/bcs-writer.ts';
import type { EntryFunction } from '../move/transactions/executable.ts';
import { parseStructTag, parseTypeTag } from '../move/types/type-parser.ts';

export type ValueWriter = (writer: BcsWriter) => unknown;

/** An argument of a call. Numbers are u64s; bytes, such as those of an address, are written unchanged. */
export type Argument = number | bigint | string | Uint8Array | ValueWriter;

export type FunctionCall = (...args: readonly Argument[]) => EntryFunction;

/** Makes a builder of calls of an entry function, e.g. `0x1::coin::transfer`. */
export function callsOf(name: string, typeArguments: readonly string[] = []): FunctionCall {
  // Function names have the form of struct tags.
  const { address, module, name: functionName } = parseStructTag(name);
  const target = {
    kind: 'entryFunction',
    module: { address, name: module },
    function: functionName,
    typeArguments: typeArguments.map(parseTypeTag),
  } as const;
  return (...args) => ({ ...target, args: args.map(encodeArgument) });
}

function encodeArgument(argument: Argument): Buffer {
  return encodeBcs((writer) => {
    if (typeof argument === 'function') argument(writer);
    else if (typeof argument === 'string') writer.string(argument);
    else if (typeof argument === 'object') writer.fixed(argument);
    else writer.u64(argument);
  });
}
