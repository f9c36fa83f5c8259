/**
 * Converts values of arguments, from literals of a document and JSON of variables, to the values that the compiler
 * needs.
 */
import {
  type ArgumentNode,
  GraphQLBoolean,
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLString,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type ValueNode,
} from 'graphql';
import { JsonNumber, type JsonObject, type JsonValue } from '../../move/json/json-text.ts';
import { formatJson } from '../../move/json/json-text-print.ts';
import { GraphqlFailure } from './failure.ts';
import { SCALARS } from './scalars.ts';

/** An enum name in a document. Unlike a text, it has no quotes. */
class EnumName {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A value as the client gives it. Objects keep the order of their members, which `order_by` needs. */
type RawValue =
  | null
  | boolean
  | string
  | JsonNumber
  | EnumName
  | readonly RawValue[]
  | ReadonlyMap<string, RawValue>;

/** A value checked against its type. Scalars that PostgreSQL parses are texts. */
export type InputValue = boolean | string | number | readonly InputValue[] | InputObject;
export type InputObject = ReadonlyMap<string, InputValue>;

export type Variables = JsonObject;

/** Arguments of a field or directive by their names; those without a value are absent. */
export function readArguments(
  nodes: readonly ArgumentNode[] | undefined,
  types: readonly {
    readonly name: string;
    readonly type: GraphQLInputType;
    readonly defaultValue?: unknown;
  }[],
  variables: Variables,
  path: string,
): Map<string, InputValue> {
  const name = path.slice(path.lastIndexOf('.') + 1);
  for (const node of nodes ?? []) {
    if (!types.some((type) => type.name === node.name.value)) {
      fail(`'${name}' has no argument named '${node.name.value}'`, path);
    }
  }
  const values = new Map<string, InputValue>();
  for (const { name: argument, type, defaultValue } of types) {
    const node = nodes?.find((node) => node.name.value === argument);
    const raw = node === undefined ? undefined : rawValueOf(node.value, variables);
    const value =
      raw === undefined && defaultValue !== undefined
        ? (defaultValue as InputValue)
        : readValue(type, raw, `${path}.args.${argument}`);
    if (value !== undefined) values.set(argument, value);
  }
  return values;
}

/** Undefined for a variable without a value. */
function rawValueOf(node: ValueNode, variables: Variables): RawValue | undefined {
  switch (node.kind) {
    case Kind.VARIABLE:
      return variables.get(node.name.value);
    case Kind.NULL:
      return null;
    case Kind.INT:
    case Kind.FLOAT:
      return new JsonNumber(node.value);
    case Kind.ENUM:
      return new EnumName(node.value);
    case Kind.LIST:
      return node.values.map((value) => rawValueOf(value, variables) ?? null);
    case Kind.OBJECT: {
      const members = new Map<string, RawValue>();
      for (const { name, value } of node.fields) {
        const raw = rawValueOf(value, variables);
        if (raw !== undefined) members.set(name.value, raw);
      }
      return members;
    }
    default:
      return node.value;
  }
}

/** The default value of a variable. */
export function readDefault(node: ValueNode): JsonValue {
  return withoutEnums(rawValueOf(node, new Map()) ?? null);
}

function withoutEnums(raw: RawValue): JsonValue {
  if (raw instanceof EnumName) return raw.name;
  if (raw instanceof Map) {
    return new Map([...raw].map(([name, member]) => [name, withoutEnums(member as RawValue)]));
  }
  return Array.isArray(raw) ? raw.map(withoutEnums) : (raw as JsonValue);
}

/** @returns undefined if there is no value, and for null if the type allows it */
function readValue(
  type: GraphQLInputType,
  raw: RawValue | undefined,
  path: string,
): InputValue | undefined {
  if (isNonNullType(type)) {
    if (raw === undefined || raw === null) return unexpected(type.ofType, raw, path);
    return readValue(type.ofType, raw, path);
  }
  if (raw === undefined || raw === null) return undefined;
  if (isListType(type)) {
    const items = Array.isArray(raw) ? (raw as RawValue[]) : [raw];
    return items.map((item, place) => readValue(type.ofType, item, `${path}[${place}]`)!);
  }
  if (isInputObjectType(type)) return readObject(type, raw, path);
  if (isEnumType(type)) return readEnum(type, raw, path);
  return readScalar(type, raw, path);
}

function readObject(type: GraphQLInputObjectType, raw: RawValue, path: string): InputObject {
  if (!(raw instanceof Map)) return unexpected(type, raw, path);
  const fields = type.getFields();
  const values = new Map<string, InputValue>();
  for (const [name, member] of raw as ReadonlyMap<string, RawValue>) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      return fail(`field '${name}' not found in type: '${type.name}'`, `${path}.${name}`);
    }
    // A comparison with null would be true for every row or for none, so Hasura rejects it.
    if (member === null && isStrict(type)) return unexpected(field.type, null, `${path}.${name}`);
    const value = readValue(field.type, member, `${path}.${name}`);
    if (value !== undefined) values.set(name, value);
  }
  for (const { name, type: fieldType } of Object.values(fields)) {
    if (isNonNullType(fieldType) && !values.has(name)) {
      return fail(`missing required field '${name}'`, path);
    }
  }
  return values;
}

function isStrict({ name }: GraphQLInputObjectType): boolean {
  return name.endsWith('_comparison_exp') || name.includes('_aggregate_bool_exp_');
}

function readEnum(type: GraphQLEnumType, raw: RawValue, path: string): InputValue {
  const name = raw instanceof EnumName ? raw.name : raw;
  if (typeof name !== 'string') return unexpected(type, raw, path);
  if (type.getValue(name) != null) return name;
  const names = type.getValues().map((value) => `'${value.name}'`);
  return fail(
    `expected one of the values [${names.join(', ')}] for type '${type.name}', but found '${name}'`,
    path,
  );
}

function readScalar(type: GraphQLInputType, raw: RawValue, path: string): InputValue {
  switch (type) {
    case GraphQLString:
    case SCALARS.timestamp:
      return typeof raw === 'string' ? raw : unexpected(type, raw, path);
    case GraphQLBoolean:
      return typeof raw === 'boolean' ? raw : unexpected(type, raw, path);
    case GraphQLInt: {
      const value = raw instanceof JsonNumber ? Number(raw.text) : Number.NaN;
      return value === (value | 0) ? value : unexpected(type, raw, path);
    }
    case SCALARS.jsonb:
      return formatJson(withoutEnums(raw));
    default:
      if (raw instanceof JsonNumber) return raw.text;
      return typeof raw === 'string' ? raw : unexpected(type, raw, path);
  }
}

const EXPECTED = new Map<GraphQLInputType, string>([
  [GraphQLString, 'a string'],
  [GraphQLBoolean, 'a boolean'],
  [GraphQLInt, 'a 32-bit integer'],
  [SCALARS.timestamp, 'a string'],
  [SCALARS.bigint, 'a number or a string'],
  [SCALARS.numeric, 'a number or a string'],
]);

function unexpected(type: GraphQLInputType, raw: RawValue | undefined, path: string): never {
  const name = `type '${String(type)}'`;
  if (raw === undefined || raw === null) {
    return fail(
      isListType(type) ? 'expected a list, but found null' : `unexpected null value for ${name}`,
      path,
    );
  }
  const expected = isEnumType(type) ? 'an enum value' : (EXPECTED.get(type) ?? 'an object');
  return fail(`expected ${expected} for ${name}, but found ${kindOf(raw)}`, path);
}

function kindOf(raw: RawValue): string {
  if (raw instanceof JsonNumber) return 'a number';
  if (raw instanceof EnumName) return 'an enum value';
  if (Array.isArray(raw)) return 'a list';
  if (raw instanceof Map) return 'an object';
  return typeof raw === 'string' ? 'a string' : 'a boolean';
}

function fail(message: string, path: string): never {
  throw new GraphqlFailure('validation-failed', message, path);
}
