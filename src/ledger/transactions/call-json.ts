/** Calls of entry functions and scripts as transactions show them (docs/spec/transactions.md §2.5). */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { BcsError, BcsReader } from '../../move/bcs/bcs-reader.ts';
import { tryParse } from '../../move/errors.ts';
import type { JsonWriter } from '../../move/json/json-writer.ts';
import { scriptAbiJson } from '../../move/modules/abi.ts';
import { type CompiledScript, functionNameOfHandle } from '../../move/modules/compiled.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { readScript } from '../../move/modules/read.ts';
import { EntryFunction, type Script } from '../../move/transactions/executable.ts';
import { TransactionArgument } from '../../move/transactions/transaction-argument.ts';
import { ADDRESS_BYTES, formatAddress } from '../../move/types/address.ts';
import { skipTypeTag, TypeTag } from '../../move/types/type-tag.ts';
import { LayoutError } from '../../move/values/layout.ts';
import { resolveParameterLayouts } from '../../move/values/layout-resolver.ts';
import { writeValue } from '../../move/values/value-json.ts';
import { derive } from '../../state/derived.ts';
import type { ArgumentLayouts, Decoding } from './decoding.ts';
import { jsonTo, writeList, writeTypes } from './json-parts.ts';

/** Offsets of an entry function and its arguments in the bytes of their transaction. */
export interface CallPlaces {
  readonly buffer: Buffer;
  /** The address of its module. */
  readonly start: number;
  readonly moduleStart: number;
  readonly moduleEnd: number;
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly typesAt: number;
  readonly typesEnd: number;
  /** Where each argument begins and ends. */
  readonly args: readonly number[];
  readonly end: number;
}

/** @throws BcsError when `EntryFunction.read` does, except that names and types are not decoded */
export function readCall(reader: BcsReader): CallPlaces {
  const start = reader.skip(ADDRESS_BYTES);
  const moduleBytes = reader.length(1);
  const moduleStart = reader.skip(moduleBytes);
  const nameBytes = reader.length(1);
  const nameStart = reader.skip(nameBytes);
  const typesAt = reader.offset;
  for (let left = reader.length(1); left > 0; left -= 1) skipTypeTag(reader);
  const typesEnd = reader.offset;
  const args: number[] = [];
  for (let left = reader.length(1); left > 0; left -= 1) {
    const byteLength = reader.length(1);
    const at = reader.skip(byteLength);
    args.push(at, at + byteLength);
  }
  const [moduleEnd, nameEnd] = [moduleStart + moduleBytes, nameStart + nameBytes];
  const { buffer, offset: end } = reader;
  // biome-ignore format: one line for each part
  return {
    buffer, start, moduleStart, moduleEnd, nameStart, nameEnd, typesAt, typesEnd, args, end,
  };
}

export function writeEntryFunction(
  out: JsonWriter,
  call: EntryFunction,
  decoding: Decoding,
): MaybePromise<void> {
  return writeCall(out, readCall(new BcsReader(EntryFunction.encode(call))), decoding);
}

const FUNCTION = Buffer.from('{"function":"');
const TYPES = Buffer.from('","type_arguments":');
const NO_TYPES = Buffer.from('","type_arguments":[],"arguments":');
const ARGUMENTS = Buffer.from(',"arguments":');
const END = Buffer.from(',"type":"entry_function_payload"}');
const COLONS = Buffer.from('::');
const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

export function writeCall(
  out: JsonWriter,
  call: CallPlaces,
  decoding: Decoding,
): MaybePromise<void> {
  const { buffer, start, typesAt, typesEnd } = call;
  out.part(FUNCTION);
  out.address(buffer, start);
  out.part(COLONS);
  writeName(out, buffer, call.moduleStart, call.moduleEnd);
  out.part(COLONS);
  writeName(out, buffer, call.nameStart, call.nameEnd);
  if (typesEnd === typesAt + 1) out.part(NO_TYPES);
  else {
    out.part(TYPES);
    writeTypes(out, new BcsReader(buffer, typesAt, typesEnd).vector(1, TypeTag.read));
    out.part(ARGUMENTS);
  }
  // The key includes the lengths of names, because names in stored bytes are not checked.
  const key = buffer.toString('latin1', start, typesEnd);
  const known = decoding.cachedArguments(key);
  if (known !== undefined && writeArguments(out, known, buffer, call.args) === true) {
    out.part(END);
    return undefined;
  }
  return writeResolved(out, call, key, decoding);
}

/** @throws BcsError for a name that is not UTF-8 */
function writeName(out: JsonWriter, buffer: Buffer, start: number, end: number): void {
  if (!out.stringPart(buffer, start, end)) throw new BcsError('bad_utf8', 'utf8 error', start);
}

/** Writes arguments whose layouts must be resolved. */
function writeResolved(
  out: JsonWriter,
  { buffer, start, end, args }: CallPlaces,
  key: string,
  decoding: Decoding,
): MaybePromise<void> {
  const call = EntryFunction.decode(buffer.subarray(start, end));
  const written = decoding.withArgumentLayouts(
    key,
    ({ lookup }) => derive(lookup, (recordingLookup) => functionLayouts(call, recordingLookup)),
    (layouts) => writeArguments(out, layouts, buffer, args),
  );
  return andThen(written, (done) => {
    if (done === undefined) writeList(out, call.args, (bytes) => out.hex(bytes));
    out.part(END);
  });
}

/** The layouts of a function's arguments, entry function or not. @throws LayoutError */
async function functionLayouts(
  { module: id, function: name, typeArguments }: EntryFunction,
  lookup: ModuleLookup,
): Promise<ArgumentLayouts> {
  const module = await lookup(id);
  const definition = module?.functionDefinitions.find(
    ({ handle }) => functionNameOfHandle(module, handle) === name,
  );
  if (module === undefined || definition === undefined) {
    throw new LayoutError('module_not_found', `no function ${name} in module ${id.name}`);
  }
  const { parameters } = module.functionHandles[definition.handle]!;
  return resolveParameterLayouts(module, module.signatures[parameters]!, typeArguments, lookup);
}

/** Writes all arguments by their layouts. @returns `undefined` if one does not fit; nothing is written then */
function writeArguments(
  out: JsonWriter,
  layouts: ArgumentLayouts,
  buffer: Buffer,
  args: readonly number[],
): true | undefined {
  if (2 * layouts.length !== args.length) return undefined;
  const before = out.length;
  try {
    out.part(OPEN);
    for (let index = 0; index < layouts.length; index += 1) {
      if (index > 0) out.part(COMMA);
      const reader = new BcsReader(buffer, args[2 * index]!, args[2 * index + 1]!);
      writeValue(out, layouts[index]!, reader);
    }
    out.part(CLOSE);
    return true;
  } catch (error) {
    if (!(error instanceof BcsError)) throw error;
    out.cut(before);
    return undefined;
  }
}

export function writeScriptPayload(
  out: JsonWriter,
  script: Script,
  decoding: Decoding,
): MaybePromise<void> {
  const args = script.args.map(argumentBytes);
  const joined = Buffer.concat(args);
  let end = 0;
  const places = args.flatMap(({ length }) => {
    end += length;
    return [end - length, end];
  });
  const code = tryParse(() => readScript(script.code));
  writeCode(out, script, code);
  // Layouts depend on the script's own code: if that does not decode, no module can help.
  const written =
    code &&
    decoding.decodeWithFallback(async ({ lookup }) => {
      const parameters = code.signatures[code.parameters]!;
      const { typeArguments } = script;
      const layouts = await resolveParameterLayouts(code, parameters, typeArguments, lookup);
      return writeArguments(out, layouts, joined, places);
    });
  return andThen(written, (done) => {
    if (done === undefined) writeList(out, args, (bytes) => out.hex(bytes));
    out.units(',"type":"script_payload"}');
  });
}

/** Writes a script up to its arguments. */
function writeCode(
  out: JsonWriter,
  { code: bytecode, typeArguments }: Script,
  code: CompiledScript | undefined,
): void {
  const abi = code && tryParse(() => scriptAbiJson(code));
  const types = (): void => writeTypes(out, typeArguments);
  jsonTo(out)`{"code":{"bytecode":${bytecode},"abi":${abi}},"type_arguments":${types},"arguments":`;
}

/** Writes the script of a genesis transaction. Its arguments are shown by their own kinds, regardless of the code. */
export function writeGenesisScript(out: JsonWriter, script: Script): void {
  const code = tryParse(() => readScript(script.code));
  writeCode(out, script, code);
  writeList(out, script.args, (argument) => jsonTo(out)`${argumentJson(argument)}`);
  out.units('}');
}

/** The BCS of an argument's value; a serialized argument already contains it. */
function argumentBytes(argument: TransactionArgument): Buffer {
  if (argument.kind === 'serialized') return argument.value;
  // The kind comes first, in one byte.
  return TransactionArgument.encode(argument).subarray(1);
}

function argumentJson({ kind, value }: TransactionArgument): string | Buffer {
  switch (kind) {
    case 'u8':
    case 'u16':
    case 'u32':
    case 'i8':
    case 'i16':
    case 'i32':
    case 'bool':
      return String(value);
    case 'address':
      return `"${formatAddress(value as string)}"`;
    case 'u8Vector':
    case 'serialized':
      return value as Buffer;
    default:
      return `"${value}"`;
  }
}
