/**
 * JSON values to and from the plain values of JavaScript, for those who use the codecs as a library. Members of any
 * name are members (`__proto__` too).
 */
import { MoveError } from './errors.ts';
import { JSON_MAX_DEPTH } from './json-text.ts';
import { JsonNumber, type JsonValue } from './json-value.ts';

/** JSON as JavaScript has it. */
export type PlainJson =
  | null
  | boolean
  | number
  | string
  | readonly PlainJson[]
  | { readonly [name: string]: PlainJson };

/** Why a value is no JSON: `not_json` of a kind that JSON lacks, `too_deep` above JSON_MAX_DEPTH (or in a circle). */
export type PlainJsonErrorCode = 'not_json' | 'too_deep';

/** A plain value that is no JSON; the message says where. */
export class PlainJsonError extends MoveError<PlainJsonErrorCode> {
  /** Names and indexes from the outermost value on. */
  readonly path: readonly (string | number)[];

  constructor(code: PlainJsonErrorCode, what: string, path: readonly (string | number)[]) {
    super(code, `${what}${path.length === 0 ? '' : ` at ${path.join('.')}`}`);
    this.path = path;
  }
}

/** A value of plain JavaScript. Numbers become doubles: those of the interface that are numbers fit. */
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
  return convert(value, []);
}

const LONE_SURROGATE = /\p{Cs}/u;

function convert(value: unknown, path: (string | number)[]): JsonValue {
  switch (typeof value) {
    case 'string':
      if (!LONE_SURROGATE.test(value)) return value;
      throw new PlainJsonError('not_json', 'text with half a surrogate pair', path);
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value)) return new JsonNumber(JSON.stringify(value));
      throw new PlainJsonError('not_json', `${value} is no JSON`, path);
    case 'bigint':
      return String(value);
    case 'object':
      return value === null ? null : convertParts(value, path);
    default:
      throw new PlainJsonError('not_json', `a ${typeof value} is no JSON`, path);
  }
}

function convertParts(value: object, path: (string | number)[]): JsonValue {
  if (path.length >= JSON_MAX_DEPTH) {
    throw new PlainJsonError('too_deep', `more than ${JSON_MAX_DEPTH} levels`, path.slice(0, 3));
  }
  if (Array.isArray(value)) {
    return value.map((item, index) => {
      path.push(index);
      const converted = convert(item, path);
      path.pop();
      return converted;
    });
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    const name = value.constructor?.name ?? 'object without constructor';
    throw new PlainJsonError('not_json', `a ${name} is no JSON`, path);
  }
  const members = new Map<string, JsonValue>();
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    path.push(name);
    members.set(name, convert(member, path));
    path.pop();
  }
  return members;
}
