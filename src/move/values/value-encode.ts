/**
 * Converts JSON arguments to BCS; rejects what the reference rejects, with the same messages (docs/spec/encode.md
 * §A4, "Values").
 */
import type { BcsWriter } from '../bcs/bcs-writer.ts';
import { parseHex } from '../bcs/hex.ts';
import {
  INTEGER_SIZES,
  type SmallIntegerKind,
  type WideIntegerKind,
  writeInteger,
} from '../bcs/integers.ts';
import { MoveError } from '../errors.ts';
import { JsonNumber, type JsonObject, type JsonValue } from '../json/json-text.ts';
import { debugJson, describeJsonKind } from '../json/json-text-print.ts';
import { exactIntegerOf, IntegerTextError, parseIntegerText } from '../json/u64-text.ts';
import { debugString } from '../rust-debug.ts';
import { HexTextError, parseAddress } from '../types/address.ts';
import type { EnumLayout, Layout, LayoutField } from './layout.ts';
import { debugLayout } from './value-debug.ts';

/**
 * Why JSON is not a value:
 * - `wrong_json_type`: not the kind of JSON that the type requires;
 * - `bad_number`, `bad_integer_text`, `bad_address`, `bad_hex`: the right kind of JSON with invalid content;
 * - `missing_field`, `unknown_fields`, `unknown_variant`, `not_one_variant`: structs and enums;
 * - `function_value`: no JSON is a function value.
 */
type ValueEncodeErrorCode =
  | 'wrong_json_type'
  | 'bad_number'
  | 'bad_integer_text'
  | 'bad_address'
  | 'bad_hex'
  | 'missing_field'
  | 'unknown_fields'
  | 'unknown_variant'
  | 'not_one_variant'
  | 'function_value';

/** JSON that is not a value of the layout; `message` is the interface's own text (docs/spec/encode.md §A4). */
export class ValueEncodeError extends MoveError<ValueEncodeErrorCode> {}

const INTEGER = /^-?[0-9]+$/;

/**
 * Appends the BCS of a JSON value. After an error the writer holds part of the value.
 * @throws ValueEncodeError
 */
export function encodeValue(layout: Layout, json: JsonValue, writer: BcsWriter): void {
  switch (layout.kind) {
    case 'bool':
      if (typeof json !== 'boolean') throw wrongType(json, 'a boolean');
      writer.bool(json);
      return;
    case 'u8':
    case 'u16':
    case 'u32':
    case 'i8':
    case 'i16':
    case 'i32':
      writeNumber(layout.kind, json, writer);
      return;
    case 'u64':
    case 'u128':
    case 'u256':
    case 'i64':
    case 'i128':
    case 'i256':
      writeTextInteger(layout.kind, json, writer);
      return;
    case 'address':
      writeAddress(json, writer);
      return;
    case 'bytes':
      writeHex(json, writer);
      return;
    case 'vector':
      writeVector(layout.element, json, writer);
      return;
    case 'string':
      if (typeof json !== 'string') {
        throw new ValueEncodeError('wrong_json_type', 'failed to parse string::String.');
      }
      writer.string(json);
      return;
    case 'struct':
      writeFields(layout.fields, jsonObject(json, 'struct'), writer);
      return;
    case 'enum':
      writeEnum(layout, json, writer);
      return;
    case 'function':
    case 'signer':
      throw new ValueEncodeError(
        'function_value',
        `unexpected move type ${debugLayout(layout)} for value ${debugJson(json)}`,
      );
  }
}

function wrongType(json: JsonValue, expected: string): ValueEncodeError {
  return new ValueEncodeError(
    'wrong_json_type',
    `invalid type: ${describeJsonKind(json)}, expected ${expected}`,
  );
}

function writeNumber(kind: SmallIntegerKind, json: JsonValue, writer: BcsWriter): void {
  if (!(json instanceof JsonNumber)) throw wrongType(json, kind);
  const { bits, signed } = INTEGER_SIZES[kind];
  const max = 2 ** (signed ? bits - 1 : bits) - 1;
  const min = signed ? -max - 1 : 0;
  const value = INTEGER.test(json.text) ? Number(json.text) : Number.NaN;
  if (!(value >= min && value <= max)) throw new ValueEncodeError('bad_number', 'invalid number');
  writeInteger(writer, kind, value);
}

function writeTextInteger(kind: WideIntegerKind, json: JsonValue, writer: BcsWriter): void {
  if (typeof json !== 'string') throw wrongType(json, 'a string');
  const exact = kind === 'u64' ? exactIntegerOf(json) : undefined;
  if (exact !== undefined) {
    writer.u64(exact);
    return;
  }
  let value: bigint;
  try {
    value = parseIntegerText(json, kind);
  } catch (error) {
    if (!(error instanceof IntegerTextError)) throw error;
    throw new ValueEncodeError('bad_integer_text', error.message);
  }
  writeInteger(writer, kind, value);
}

function writeAddress(json: JsonValue, writer: BcsWriter): void {
  if (typeof json !== 'string') throw wrongType(json, 'a string');
  if (writer.addressText(json)) return;
  try {
    writer.address(parseAddress(json));
  } catch (error) {
    if (!(error instanceof HexTextError)) throw error;
    throw new ValueEncodeError('bad_address', `Invalid account address: ${error.message}`);
  }
}

function writeHex(json: JsonValue, writer: BcsWriter): void {
  if (typeof json !== 'string') throw wrongType(json, 'a string');
  try {
    writer.bytes(parseHex(json));
  } catch (error) {
    if (!(error instanceof HexTextError)) throw error;
    throw new ValueEncodeError(
      'bad_hex',
      `decode hex-encoded string(${debugString(json)}) failed, caused by error: ${error.message}`,
    );
  }
}

function writeVector(element: Layout, json: JsonValue, writer: BcsWriter): void {
  if (!Array.isArray(json)) {
    throw new ValueEncodeError(
      'wrong_json_type',
      `expected vector<${debugLayout(element)}>, but got: ${debugJson(json)}`,
    );
  }
  const items: readonly JsonValue[] = json;
  writer.length32(items.length);
  for (const item of items) encodeValue(element, item, writer);
}

function writeFields(
  fields: readonly LayoutField[],
  members: JsonObject,
  writer: BcsWriter,
  place = '',
): void {
  for (const { name, layout } of fields) {
    const member = members.get(name);
    if (member === undefined) {
      throw new ValueEncodeError('missing_field', `field ${name} not found${place}.`);
    }
    encodeValue(layout, member, writer);
  }
}

function writeEnum(layout: EnumLayout, json: JsonValue, writer: BcsWriter): void {
  const choice = jsonObject(json, 'enum');
  const [first] = choice;
  if (first === undefined || choice.size !== 1) {
    const text = 'Enum value must have exactly one variant specified.';
    throw new ValueEncodeError('not_one_variant', text);
  }
  const [name, body] = first;
  const index = layout.variants.findIndex((variant) => variant.name === name);
  const variant = layout.variants[index];
  if (variant === undefined) {
    throw new ValueEncodeError('unknown_variant', `Variant ${name} not found.`);
  }
  const members = jsonObject(body, 'variant fields');
  writer.uleb32(index);
  writeFields(variant.fields, members, writer, ` in variant ${name}`);
  if (members.size === variant.fields.length) return;
  const unknown = unknownNames(members, variant.fields).map(debugString).join(', ');
  const text = `Unknown fields [${unknown}] in variant ${name}.`;
  throw new ValueEncodeError('unknown_fields', text);
}

/**
 * The names that are not fields, in the order in which the reference lists them: it removes the fields from the object
 * one by one, each time moving the last member into the gap.
 */
function unknownNames(members: JsonObject, fields: readonly LayoutField[]): string[] {
  const names = [...members.keys()];
  const places = new Map(names.map((name, place) => [name, place]));
  for (const field of fields) {
    const place = places.get(field.name)!;
    const last = names.pop()!;
    if (place === names.length) continue;
    names[place] = last;
    places.set(last, place);
  }
  return names;
}

function jsonObject(json: JsonValue, what: string): JsonObject {
  if (json instanceof Map) return json;
  throw new ValueEncodeError('wrong_json_type', `Expecting a JSON Map for ${what}.`);
}
