/** Calls of entry functions and scripts as transactions show them (docs/spec/transactions.md §2.5). */
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { BcsError } from '../../move/bcs/bcs-reader.ts';
import { tryParse } from '../../move/errors.ts';
import { scriptAbiJson } from '../../move/modules/abi.ts';
import { type CompiledScript, functionNameOfHandle } from '../../move/modules/compiled.ts';
import type { ModuleLookup } from '../../move/modules/lookup.ts';
import { readScript } from '../../move/modules/read.ts';
import type { EntryFunction, Script } from '../../move/transactions/executable.ts';
import { TransactionArgument } from '../../move/transactions/transaction-argument.ts';
import { formatAddress } from '../../move/types/address.ts';
import { TypeTag } from '../../move/types/type-tag.ts';
import { LayoutError } from '../../move/values/layout.ts';
import { resolveParameterLayouts } from '../../move/values/layout-resolver.ts';
import { renderValueUtf8 } from '../../move/values/value-json.ts';
import { derive } from '../../state/derived.ts';
import type { ArgumentLayouts, Decoding } from './decoding.ts';
import { listOf, quoted, quotedAddress, quotedHex, typeList } from './json-units.ts';

export function entryFunctionJson(call: EntryFunction, decoding: Decoding): MaybePromise<string> {
  const { module, function: name, typeArguments } = call;
  const head =
    `{"function":${quoted(`${formatAddress(module.address)}::${module.name}::${name}`)},` +
    `"type_arguments":${typeList(typeArguments)},"arguments":`;
  const key = keyOf(call);
  const shown = decoding.argumentsOf(
    key,
    ({ lookup }) => derive(lookup, (noting) => functionLayouts(call, noting)),
    (layouts) => argumentList(layouts, call.args),
  );
  return andThen(
    shown,
    (list) => `${head}${list ?? listOf(call.args, quotedHex)},"type":"entry_function_payload"}`,
  );
}

/** Names are not checked in stored bytes, so lengths tell where each ends. */
function keyOf({ module, function: name, typeArguments }: EntryFunction): string {
  const { address, name: moduleName } = module;
  let key = `${address}${moduleName.length}:${moduleName}${name.length}:${name}`;
  for (const tag of typeArguments) key += TypeTag.encode(tag).toString('latin1');
  return key;
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

/** All arguments by their layouts; `undefined` if one does not fit. */
function argumentList(layouts: ArgumentLayouts, args: readonly Buffer[]): string | undefined {
  if (layouts.length !== args.length) return undefined;
  try {
    let index = -1;
    return listOf(args, (bytes) => {
      index += 1;
      return renderValueUtf8(layouts[index]!, bytes);
    });
  } catch (error) {
    if (error instanceof BcsError) return undefined;
    throw error;
  }
}

export function scriptPayloadJson(script: Script, decoding: Decoding): MaybePromise<string> {
  return andThen(
    scriptMembers(script, decoding),
    (members) => `{${members},"type":"script_payload"}`,
  );
}

function scriptMembers(script: Script, decoding: Decoding): MaybePromise<string> {
  const args = script.args.map(argumentBytes);
  const code = tryParse(() => readScript(script.code));
  // No lookup makes readable what the code itself does not tell.
  const shown =
    code &&
    decoding.firstOf(async ({ lookup }) => {
      const parameters = code.signatures[code.parameters]!;
      const { typeArguments } = script;
      return argumentList(
        await resolveParameterLayouts(code, parameters, typeArguments, lookup),
        args,
      );
    });
  return andThen(shown, (list) => codeMembers(script, code, list ?? listOf(args, quotedHex)));
}

function codeMembers(
  { code: bytecode, typeArguments }: Script,
  code: CompiledScript | undefined,
  args: string,
): string {
  const abi = code && tryParse(() => scriptAbiJson(code));
  return (
    `"code":{"bytecode":${quotedHex(bytecode)},"abi":${abi ?? 'null'}},` +
    `"type_arguments":${typeList(typeArguments)},"arguments":${args}`
  );
}

/** The script of a genesis transaction: its arguments are shown by their own kinds, whatever the code says. */
export function genesisScriptJson(script: Script): string {
  const code = tryParse(() => readScript(script.code));
  return `{${codeMembers(script, code, listOf(script.args, argumentJson))}}`;
}

/** The BCS of an argument as a value of its own kind; a serialized one is that already. */
function argumentBytes(argument: TransactionArgument): Buffer {
  if (argument.kind === 'serialized') return argument.value;
  // The kind comes first, in one byte.
  return TransactionArgument.encode(argument).subarray(1);
}

function argumentJson({ kind, value }: TransactionArgument): string {
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
      return quotedAddress(value as string);
    case 'u8Vector':
    case 'serialized':
      return quotedHex(value as Buffer);
    default:
      return `"${value}"`;
  }
}
