/**
 * JSON without loss: numbers keep their digits. A balance goes up to 2^64−1 and `JSON.parse` would
 * round it, so nothing on this page goes through `JSON.parse` as a number. Objects are Maps: no key
 * is special.
 */

/** A number as it was written. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An object, its keys in the order of the text. */
export type JsonObject = ReadonlyMap<string, Json>;

/** Any JSON value. */
export type Json = null | boolean | string | JsonNumber | readonly Json[] | JsonObject;

/** Deepest nesting read; the node itself reads 127 levels (docs/spec/encode.md §A1). */
export const MAX_NESTING_LEVELS = 127;

/** The text is not JSON; `line` and `column` count from 1. */
export class JsonSyntaxError extends Error {
  readonly code = 'invalid_json';
  readonly line: number;
  readonly column: number;

  constructor(problem: string, text: string, offset: number) {
    const before = text.slice(0, offset).split('\n');
    const line = before.length;
    const column = before[line - 1]!.length + 1;
    super(`${problem} at line ${line} column ${column}`);
    this.name = 'JsonSyntaxError';
    this.line = line;
    this.column = column;
  }
}

const BLANKS = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORDS: readonly (readonly [string, null | boolean])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

class ExactJsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Json {
    const value = this.#value(0);
    this.#blanks();
    if (this.#at < this.#text.length) this.#fail('unexpected text after the value');
    return value;
  }

  #value(depth: number): Json {
    this.#blanks();
    const next = this.#text[this.#at];
    if (next === undefined) this.#fail('the text ends where a value should stand');
    if (next === '{' || next === '[') {
      if (depth === MAX_NESTING_LEVELS) this.#fail(`more than ${depth} nested levels`);
      return next === '{' ? this.#object(depth + 1) : this.#array(depth + 1);
    }
    if (next === '"') return this.#string('a string');
    for (const [word, value] of WORDS) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    const number = this.#match(NUMBER);
    if (number === undefined) this.#fail('expected a value');
    return new JsonNumber(number);
  }

  #object(depth: number): JsonObject {
    const fields = new Map<string, Json>();
    this.#at += 1;
    if (this.#accept('}')) return fields;
    for (;;) {
      this.#blanks();
      const key = this.#string('a key in double quotes');
      if (!this.#accept(':')) this.#fail('expected ":"');
      fields.set(key, this.#value(depth));
      if (this.#accept('}')) return fields;
      if (!this.#accept(',')) this.#fail('expected "," or "}"');
    }
  }

  #array(depth: number): Json[] {
    const items: Json[] = [];
    this.#at += 1;
    if (this.#accept(']')) return items;
    for (;;) {
      items.push(this.#value(depth));
      if (this.#accept(']')) return items;
      if (!this.#accept(',')) this.#fail('expected "," or "]"');
    }
  }

  #string(what: string): string {
    const literal = this.#match(STRING);
    if (literal === undefined) this.#fail(`expected ${what}`);
    return JSON.parse(literal) as string;
  }

  #accept(character: string): boolean {
    this.#blanks();
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #blanks(): void {
    this.#match(BLANKS);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #fail(problem: string): never {
    throw new JsonSyntaxError(problem, this.#text, this.#at);
  }
}

/** Reads one JSON value. @throws JsonSyntaxError */
export function parseJson(text: string): Json {
  return new ExactJsonReader(text).document();
}

/**
 * Writes a value; with `indent` spaces per level on several lines, without it on one. Reading it
 * back gives the same value.
 */
export function formatJson(value: Json, indent = 0): string {
  return format(value, indent, '\n');
}

function format(value: Json, indent: number, newline: string): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof JsonNumber) return value.text;
  const inner = indent === 0 ? '' : newline + ' '.repeat(indent);
  const end = indent === 0 ? '' : newline;
  if (value instanceof Map) {
    if (value.size === 0) return '{}';
    const colon = indent === 0 ? ':' : ': ';
    const fields = [...(value as JsonObject)].map(
      ([key, field]) => JSON.stringify(key) + colon + format(field, indent, inner),
    );
    return `{${inner}${fields.join(`,${inner}`)}${end}}`;
  }
  const items = (value as readonly Json[]).map((item) => format(item, indent, inner));
  return items.length === 0 ? '[]' : `[${inner}${items.join(`,${inner}`)}${end}]`;
}

/** The field of an object; undefined when `value` is no object or has no such field. */
export function field(value: Json | undefined, name: string): Json | undefined {
  return value instanceof Map ? (value as JsonObject).get(name) : undefined;
}

/** A field that is a string; undefined otherwise. */
export function textField(value: Json | undefined, name: string): string | undefined {
  const found = field(value, name);
  return typeof found === 'string' ? found : undefined;
}

/** A field that is an array; empty otherwise. */
export function listField(value: Json | undefined, name: string): readonly Json[] {
  const found = field(value, name);
  return isList(found) ? found : [];
}

/** Whether the value is an array. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
