/** Natives that call functions by name: `0x1::function_info` and dispatching modules (docs/spec/vm.md §6.6). */
import { andThen, type MaybePromise, settle } from '../../maybe-promise.ts';
import { byteTools } from '../../move/bcs/bytes.ts';
import type { SignatureToken } from '../../move/modules/compiled.ts';
import type { Address } from '../../move/types/address.ts';
import type { ModuleId } from '../../move/types/module-id.ts';
import { formatMoveType, moveTypeOfToken } from '../../move/types/move-type.ts';
import {
  type Native,
  NativeAbort,
  NativeCall,
  type NativeContext,
  type NativeResult,
} from '../native.ts';
import type { LoadedFunction } from '../program/loaded-module.ts';
import { VmError } from '../status/status.ts';
import type { Value } from '../value.ts';
import { bytesInside, bytesOf, partsOf, referenced, referencedBytes, textOf } from './arguments.ts';

const NOT_AN_IDENTIFIER = 1;
const NO_SUCH_FUNCTION = 2;
const IDENTIFIER = /^(?:[a-zA-Z][a-zA-Z0-9_]*|_[a-zA-Z0-9_]+|<SELF>)$/;

interface FunctionName {
  readonly module: ModuleId;
  readonly name: string;
}

/** Whether bytes are a valid module name (docs/spec/move.md §1). */
function isIdentifier(bytes: Uint8Array): boolean {
  return byteTools.isAscii(bytes) && IDENTIFIER.test(textOf(bytes));
}

/** The function that a `&FunctionInfo` names; undefined for names that are not identifiers. */
function functionNameOf(value: Value): FunctionName | undefined {
  const [address, module, name] = partsOf(referenced(value));
  const texts = [bytesInside(module), bytesInside(name)];
  if (!texts.every(isIdentifier)) return undefined;
  return {
    module: { address: address as Address, name: textOf(texts[0]!) },
    name: textOf(texts[1]!),
  };
}

const isValidName: Native = ({ meter }, [text]) => {
  const bytes = referencedBytes(text);
  meter.chargeBytes(bytes.length);
  return [isIdentifier(bytes)];
};

const loadFunction: Native = ({ program, gas }, [info]) => {
  const functionName = functionNameOf(info);
  if (functionName === undefined) return new NativeAbort(NOT_AN_IDENTIFIER);
  return andThen(program.module(functionName.module), ({ id, compiled, isFree }) => {
    if (!isFree) gas.chargeModule(id, compiled.sizeBytes ?? 0);
    return [];
  });
};

/** The function of that name; undefined if it does not exist. */
function loaded(
  { program }: NativeContext,
  { module, name }: FunctionName,
): MaybePromise<LoadedFunction | undefined> {
  return settle<LoadedFunction, LoadedFunction | undefined>(
    () => program.function(module, name),
    (found) => found,
    (error) => {
      if (error instanceof VmError) return undefined;
      throw error;
    },
  );
}

/** Whether a function can replace another that has one more parameter, the function's name. */
const isCompatible: Native = (context, [expected, candidate]) => {
  const [expectedName, candidateName] = [functionNameOf(expected), functionNameOf(candidate)];
  if (expectedName === undefined || candidateName === undefined)
    return new NativeAbort(NOT_AN_IDENTIFIER);
  return andThen(loaded(context, candidateName), (right) =>
    andThen(loaded(context, expectedName), (left): NativeResult => {
      if (right === undefined || left === undefined || left.parameters.length === 0) {
        return new NativeAbort(NO_SUCH_FUNCTION);
      }
      return [canReplace(left, right)];
    }),
  );
};

function canReplace(left: LoadedFunction, right: LoadedFunction): boolean {
  const [own, other] = [left.module.id, right.module.id];
  return (
    right.visibility === 'public' &&
    !right.isNative &&
    (own.name !== other.name || own.address !== other.address) &&
    String(right.handle.typeParameters) === String(left.handle.typeParameters) &&
    typeTexts(right, right.results) === typeTexts(left, left.results) &&
    typeTexts(right, right.parameters) === typeTexts(left, left.parameters.slice(0, -1))
  );
}

/** Equal for equal types, whatever module they are in. */
function typeTexts({ module }: LoadedFunction, tokens: readonly SignatureToken[]): string {
  return tokens.map((token) => formatMoveType(moveTypeOfToken(module.compiled, token))).join('; ');
}

/** Calls the function that the last argument names, with the other arguments. */
const dispatch: Native = ({ typeArguments }, args) => {
  const named = functionNameOf(args.at(-1));
  if (named === undefined) return new NativeAbort(NOT_AN_IDENTIFIER);
  return new NativeCall(named.module, named.name, typeArguments, args.slice(0, -1));
};

export const DISPATCH_NATIVES: Readonly<Record<string, Native>> = {
  'function_info::check_dispatch_type_compatibility_impl': isCompatible,
  'function_info::is_identifier': isValidName,
  'function_info::load_function_impl': loadFunction,
  'dispatchable_fungible_asset::dispatchable_withdraw': dispatch,
  'dispatchable_fungible_asset::dispatchable_deposit': dispatch,
  'dispatchable_fungible_asset::dispatchable_derived_balance': dispatch,
  'dispatchable_fungible_asset::dispatchable_derived_supply': dispatch,
  'account_abstraction::dispatchable_authenticate': dispatch,
};

const ALREADY_REQUESTED = 0x3_0000;

/** A request of code to publish modules when the transaction is over (docs/spec/vm.md §8.7). */
export interface PublishRequest {
  readonly destination: Address;
  readonly bundle: readonly Uint8Array[];
  readonly expected: ReadonlySet<string>;
  /**
   * Modules that they may name, by address; the empty name stands for all of an address. If absent, any module is
   * allowed.
   */
  readonly allowed: ReadonlyMap<Address, ReadonlySet<string>> | undefined;
}

export class Publishing {
  request: PublishRequest | undefined;
}

function requestOf(args: readonly Value[]): PublishRequest {
  const expected = partsOf(args[1]).map(textInside);
  const bundle = partsOf(args.at(-2)).map(bytesOf);
  const destination = args[0] as Address;
  const request = { destination, bundle, expected: new Set(expected) };
  if (args.length < 5) return { ...request, allowed: undefined };
  const allowed = new Map<Address, Set<string>>();
  const allow = (address: Address, names: Iterable<string>) =>
    allowed.set(address, new Set([...(allowed.get(address) ?? []), ...names]));
  for (const dependency of partsOf(args[2])) {
    const [address, name] = partsOf(dependency);
    allow(address as Address, [textInside(name)]);
  }
  allow(destination, expected);
  return { ...request, allowed };
}

function textInside(text: Value): string {
  return textOf(bytesInside(text));
}

const ADDRESS_BYTES = 32;

/** Bytes that a request is charged for. */
export function requestBytes(args: readonly Value[]): number {
  const { bundle } = requestOf(args);
  let bytes = bundle.reduce((sum, { length }) => sum + length, 0);
  for (const name of partsOf(args[1])) bytes += bytesInside(name).length;
  if (args.length < 5) return bytes;
  const accounts = new Set<Value>();
  for (const dependency of partsOf(args[2])) {
    const [address, name] = partsOf(dependency);
    accounts.add(address);
    bytes += bytesInside(name).length;
  }
  return bytes + accounts.size * ADDRESS_BYTES;
}

const requestPublish: Native = ({ extensions }, args) => {
  const publishing = extensions.of(Publishing);
  if (publishing.request !== undefined) throw new NativeAbort(ALREADY_REQUESTED);
  publishing.request = requestOf(args);
  return [];
};

export const PUBLISHING_NATIVES: Readonly<Record<string, Native>> = {
  'code::request_publish': requestPublish,
  'code::request_publish_with_allowed_deps': requestPublish,
};
