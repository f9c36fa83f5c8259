/**
 * Converts JSON values to and from plain JavaScript values, for users of the library. Any member
 * name is allowed, including `__proto__`.
 */
import { MoveError } from '../errors.ts';
import { JSON_MAX_DEPTH, JsonNumber, type JsonValue } from './json-text.ts';

export type PlainJson =
  | null
  | boolean
  | number
  | string
  | readonly PlainJson[]
  | { readonly [name: string]: PlainJson };

/**
 * Why a value is not JSON: `not_json` for a kind that JSON does not have, `too_deep` above JSON_MAX_DEPTH or for a
 * cycle.
 */
export type PlainJsonErrorCode = 'not_json' | 'too_deep';

/** Maximum number of names shown in a message; a cycle has 127. */
const SHOWN_PATH_NAMES = 8;

/** A plain value that is not JSON; the message says where. */
export class PlainJsonError extends MoveError<PlainJsonErrorCode> {
  /** The error without its position. */
  readonly what: string;
  /** Names and indexes from the outermost value on. */
  readonly path: readonly (string | number)[];

  constructor(code: PlainJsonErrorCode, what: string, path: readonly (string | number)[]) {
    const place = path.slice(0, SHOWN_PATH_NAMES).join('.');
    super(code, place === '' ? what : `${what} at ${place}`);
    this.what = what;
    this.path = path;
  }
}

/**
 * A value of plain JavaScript. Numbers become doubles, which is exact for all values that the API writes as numbers.
 */
export function plainJson(value: JsonValue): PlainJson {
  if (value instanceof JsonNumber) return Number(value.text);
  if (value instanceof Map) {
    return Object.fromEntries(Array.from(value, ([name, member]) => [name, plainJson(member)]));
  }
  if (Array.isArray(value)) return value.map(plainJson);
  return value as null | boolean | string;
}

/**
 * The JSON value of a plain one. As JSON.stringify does, members that are undefined are left out; a bigint becomes
 * its decimal text, which is how the interface takes u64 and larger.
 * @throws PlainJsonError
 */
export function jsonOfPlain(value: unknown): JsonValue {
  return convert(value, 0);
}

const LONE_SURROGATE = /[\ud800-\udfff]/;

function convert(value: unknown, depth: number): JsonValue {
  switch (typeof value) {
    case 'string':
      // The first, faster test also matches pairs.
      if (!LONE_SURROGATE.test(value) || !/\p{Cs}/u.test(value)) return value;
      throw new PlainJsonError('not_json', 'text with half a surrogate pair', []);
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value)) return new JsonNumber(JSON.stringify(value));
      throw new PlainJsonError('not_json', `${value} is not JSON`, []);
    case 'bigint':
      return String(value);
    case 'object':
      if (value === null) return null;
      if (depth >= JSON_MAX_DEPTH) {
        throw new PlainJsonError('too_deep', `more than ${JSON_MAX_DEPTH} levels`, []);
      }
      return Array.isArray(value)
        ? convertList(value, depth + 1)
        : convertObject(value as Readonly<Record<string, unknown>>, depth + 1);
    default:
      throw new PlainJsonError('not_json', `a value of type ${typeof value} is not JSON`, []);
  }
}

function convertList(list: readonly unknown[], depth: number): JsonValue {
  const items: JsonValue[] = [];
  for (let index = 0; index < list.length; index += 1) {
    try {
      items.push(convert(list[index], depth));
    } catch (error) {
      throw withPathElement(error, index);
    }
  }
  return items;
}

function convertObject(object: Readonly<Record<string, unknown>>, depth: number): JsonValue {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) {
    const name = object.constructor?.name ?? 'object without constructor';
    throw new PlainJsonError('not_json', `a ${name} is not JSON`, []);
  }
  const members = new Map<string, JsonValue>();
  for (const name of Object.keys(object)) {
    const member = object[name];
    if (member === undefined) continue;
    try {
      members.set(name, convert(member, depth));
    } catch (error) {
      throw withPathElement(error, name);
    }
  }
  return members;
}

/** The same error with one more path element: the path is built only when there is an error. */
function withPathElement(error: unknown, name: string | number): unknown {
  if (!(error instanceof PlainJsonError)) return error;
  return new PlainJsonError(error.code, error.what, [name, ...error.path]);
}
