/**
 * Fields of the request: converts JSON values to addresses, integers, bytes, types and lists, with the error messages
 * of the reference (docs/spec/encode.md §A1, A2). Every reader takes a trace: what was being parsed, innermost first.
 */
import { Cache, copiedText } from '../../cache.ts';
import { byteTools } from '../../move/bcs/bytes.ts';
import { parseHex } from '../../move/bcs/hex.ts';
import { MoveError } from '../../move/errors.ts';
import type { JsonObject, JsonValue } from '../../move/json/json-text.ts';
import { describeJsonKind, formatJson } from '../../move/json/json-text-print.ts';
import { exactIntegerOf, parseU64 } from '../../move/json/u64-text.ts';
import { debugString } from '../../move/rust-debug.ts';
import { type Address, HexTextError, parseAddress } from '../../move/types/address.ts';
import { isIdentifier, type ModuleId } from '../../move/types/module-id.ts';
import type { MoveType } from '../../move/types/move-type.ts';
import { readMoveType } from '../../move/types/type-parser.ts';
import { EncodeError } from './encode-error.ts';

/*
 * Limits that the reference does not have. They are far above what a transaction can hold (64 KiB, 1 MiB for
 * governance), and prevent a request of 8 MiB from using hundreds of megabytes.
 */

/** Maximum number of items of a list that is read item by item: signers, types, generic parameters. */
export const MAX_LIST_ITEMS = 65_536;
/** Maximum number of UTF-16 units of all types of one list together. A type takes up to 25 times its text in memory. */
export const MAX_TYPE_TEXTS_LENGTH = 1_048_576;

/** Longest text of a type or a function that is cached with its parsed value, in UTF-16 units. */
export const MAX_CACHED_TEXT_LENGTH = 256;
/** Estimated memory in bytes of a cached value per unit of its text. */
const BYTES_PER_TEXT_UNIT = 50;

/** A member as it is in the input. An absent one is `undefined` and is read as null. */
export type JsonField = JsonValue | undefined;

/** ` (occurred while parsing "A") (occurred while parsing "B")`, innermost first. */
export type Trace = string;

export function within(name: string, outer: Trace): Trace {
  return ` (occurred while parsing "${name}")${outer}`;
}

export function unexpectedType(type: string, found: JsonField, trace: Trace): EncodeError {
  const text = `Expected input type "${type}", found ${formatJson(found ?? null)}.`;
  return new EncodeError('parse', 'bad_field', text + trace);
}

function badText(type: string, why: string, trace: Trace, cause?: unknown): EncodeError {
  const text = `failed to parse "string(${type})": ${why}${trace}`;
  return new EncodeError('parse', 'bad_field', text, { cause });
}

function wrongKind(found: JsonField): string {
  return `invalid type: ${describeJsonKind(found ?? null)}, expected a string`;
}

export function asObject(value: JsonField): JsonObject | undefined {
  return value instanceof Map ? value : undefined;
}

export function asList(value: JsonField): readonly JsonValue[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

export function stringField(value: JsonField, type: string, trace: Trace): string {
  if (typeof value === 'string') return value;
  throw badText(type, wrongKind(value), trace);
}

function parsedField<T>(
  value: JsonField,
  type: string,
  trace: Trace,
  parse: (text: string) => T,
  framed: (reason: string, text: string) => string,
): T {
  const text = stringField(value, type, trace);
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof MoveError)) throw error;
    throw badText(type, framed(error.message, text), trace, error);
  }
}

/** A u64, as a number if that is exact. */
export type U64 = bigint | number;

const readU64 = (text: string): U64 => exactIntegerOf(text) ?? parseU64(text);
const identity = (reason: string): string => reason;
const badAddress = (reason: string): string => `Invalid account address: ${reason}`;

export function u64Field(value: JsonField, trace: Trace): U64 {
  return parsedField(value, 'U64', trace, readU64, identity);
}

export function addressField(value: JsonField, trace: Trace): Address {
  return parsedField(value, 'Address', trace, parseAddress, badAddress);
}

export function bytesField(value: JsonField, trace: Trace): Buffer {
  const framed = (reason: string, text: string) =>
    `decode hex-encoded string(${debugString(text)}) failed, caused by error: ${reason}`;
  return parsedField(value, 'HexEncodedBytes', trace, parseHex, framed);
}

const HASH_DIGITS = /^(?:0x)?([0-9a-fA-F]{64})$/;

/** A 32-byte hash given as 64 hex digits, `0x` optional. */
export function hashField(value: JsonField, trace: Trace): Buffer {
  const text = stringField(value, 'HashValue', trace);
  const digits = HASH_DIGITS.exec(text)?.[1];
  if (digits === undefined) throw badText('HashValue', 'unable to parse HashValue', trace);
  return byteTools.hexBytes(digits);
}

/** The result of `read` for a text; cached if the text is short, because requests repeat the same few texts. */
function readCached<V>(cache: Cache<V>, text: string, read: (text: string) => V): V {
  const known = cache.get(text);
  if (known !== undefined) return known;
  if (text.length > MAX_CACHED_TEXT_LENGTH) return read(text);
  // Parsed from a copy; otherwise the names in the value would keep the request's body in memory.
  const copy = copiedText(text);
  const value = read(copy);
  cache.set(copy, value, copy.length * BYTES_PER_TEXT_UNIT);
  return value;
}

const moveTypes = new Cache<MoveType>('parsed');

/** A type given as text. No text is rejected here; `verifyEncodeRequest` rejects unparsable ones. */
function moveTypeField(value: JsonField, trace: Trace): MoveType {
  if (typeof value === 'string') return readCached(moveTypes, value, readMoveType);
  throw badText('MoveType', `deserialize Move type failed, ${wrongKind(value)}`, trace);
}

export interface FunctionId {
  readonly module: ModuleId;
  readonly name: string;
  /** `functionKey` of the two. */
  readonly key: string;
}

/** The canonical text of a function, used as cache key. */
export function functionKey({ address, name: module }: ModuleId, name: string): string {
  return `${address}::${module}::${name}`;
}

/** `{address}::{module}`, split at the first `::`; undefined if there is none. */
export function parseModuleId(text: string): ModuleId | undefined {
  const at = text.indexOf('::');
  if (at < 0) return undefined;
  const name = text.slice(at + 2);
  if (!isIdentifier(name)) return undefined;
  try {
    return { address: parseAddress(text.slice(0, at)), name };
  } catch (error) {
    if (error instanceof HexTextError) return undefined;
    throw error;
  }
}

const functionIds = new Cache<FunctionId>('parsed');

/** `{address}::{module}::{function}`, split at the last `::`, then at the first. */
export function entryFunctionField(value: JsonField, trace: Trace): FunctionId {
  const text = stringField(value, 'EntryFunctionId', trace);
  return readCached(functionIds, text, (copy) => parseFunctionId(copy, trace));
}

function parseFunctionId(text: string, trace: Trace): FunctionId {
  const at = text.lastIndexOf('::');
  const module = at < 0 ? undefined : parseModuleId(text.slice(0, at));
  const name = text.slice(at + 2);
  if (module === undefined || !isIdentifier(name)) {
    throw badText('EntryFunctionId', `Invalid entry function ID ${text}`, trace);
  }
  return { module, name, key: functionKey(module, name) };
}

export function moduleIdField(value: JsonField, trace: Trace): ModuleId {
  const text = stringField(value, 'MoveModuleId', trace);
  const id = parseModuleId(text);
  if (id === undefined) throw badText('MoveModuleId', `Invalid Move module ID: ${text}`, trace);
  return id;
}

/** A list whose items are named `item`, such as `string(MoveType)`; each is read by `read`. */
export function listField<T>(
  value: JsonField,
  item: string,
  trace: Trace,
  read: (value: JsonValue, trace: Trace) => T,
): T[] {
  const list = asList(value);
  if (list === undefined) throw unexpectedType(`[${item}]`, value, trace);
  if (list.length > MAX_LIST_ITEMS) {
    throw tooLarge(`list of ${list.length} items, at most ${MAX_LIST_ITEMS} are read${trace}`);
  }
  if (list.length === 0) return [];
  const itemTrace = within(`[${item}]`, trace);
  return list.map((entry) => read(entry, itemTrace));
}

function tooLarge(text: string): EncodeError {
  return new EncodeError('parse', 'too_large', text);
}

export function moveTypeListField(value: JsonField, trace: Trace): MoveType[] {
  return listField(value, 'string(MoveType)', trace, moveTypeReader());
}

/** Reads the types of one request. @param maxLength maximum number of UTF-16 units of their texts together */
export function moveTypeReader(
  maxLength = MAX_TYPE_TEXTS_LENGTH,
): (value: JsonField, trace: Trace) => MoveType {
  let unitsLeft = maxLength;
  return (value, trace) => {
    if (typeof value === 'string') unitsLeft -= value.length;
    if (unitsLeft < 0) {
      const text = `types of more than ${maxLength} characters are not read`;
      throw tooLarge(text + trace);
    }
    return moveTypeField(value, trace);
  };
}

/** An optional field named `name`: absent and null are undefined. */
export function optionalField<T>(
  value: JsonField,
  name: string,
  trace: Trace,
  read: (value: JsonValue, trace: Trace) => T,
): T | undefined {
  if (value === undefined || value === null) return undefined;
  return read(value, within(`optional<${name}>`, trace));
}

export function booleanField(value: JsonField, trace: Trace): boolean {
  if (typeof value === 'boolean') return value;
  throw unexpectedType('boolean', value, trace);
}

/** One of the `allowed` texts. Messages name the enumeration `type`. */
export function enumField<T extends string>(
  value: JsonField,
  type: string,
  allowed: readonly T[],
  trace: Trace,
): T {
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw unexpectedType(type, value, trace);
  return found;
}
