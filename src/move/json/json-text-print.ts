/**
 * JSON values as texts: compact JSON as messages quote it, and the debug print of the reference (docs/spec/encode.md
 * §A1, A4). Both are linear in the value at any depth and need little more memory than the resulting text.
 */
import { debugString } from '../rust-debug.ts';
import { JsonNumber, type JsonObject, type JsonValue } from './json-text.ts';

/** Maximum debug print, in UTF-16 units, plus or minus one string; the rest is cut and ends in `…`. */
export const JSON_MAX_DEBUG_LENGTH = 4 * 1024 * 1024;

/** Pieces joined at a time: few enough to be cheap, enough that the joined texts are few. */
const PIECES = 4_096;

/** Appends pieces and joins them in bulk: concatenation costs 32 bytes of bookkeeping per piece. */
class TextBuilder {
  readonly #texts: string[] = [];
  #pieces: string[] = [];
  /** UTF-16 units appended. */
  length = 0;

  append(piece: string): void {
    this.length += piece.length;
    if (this.#pieces.push(piece) < PIECES) return;
    this.#texts.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  toString(): string {
    return this.#texts.join('') + this.#pieces.join('');
  }
}

/** A number for display: `-0` is `0`, exponents have a small `e` and a sign (docs/spec/encode.md §A1). */
function formatNumber(text: string): string {
  if (text === '-0') return '0';
  const at = text.search(/[eE]/);
  if (at < 0) return text;
  const sign = text[at + 1] === '-' || text[at + 1] === '+' ? '' : '+';
  return `${text.slice(0, at)}e${sign}${text.slice(at + 1)}`;
}

/** Compact JSON, names in input order. */
export function formatJson(value: JsonValue): string {
  const builder = new TextBuilder();
  appendJson(builder, value);
  return builder.toString();
}

function appendJson(builder: TextBuilder, value: JsonValue): void {
  if (value === null || typeof value === 'boolean') builder.append(String(value));
  else if (typeof value === 'string') builder.append(JSON.stringify(value));
  else if (value instanceof JsonNumber) builder.append(formatNumber(value.text));
  else if (Array.isArray(value)) {
    builder.append('[');
    for (const [index, item] of (value as readonly JsonValue[]).entries()) {
      if (index > 0) builder.append(',');
      appendJson(builder, item);
    }
    builder.append(']');
  } else {
    let separator = '{';
    for (const [name, member] of value as JsonObject) {
      builder.append(`${separator}${JSON.stringify(name)}:`);
      appendJson(builder, member);
      separator = ',';
    }
    builder.append(separator === '{' ? '{}' : '}');
  }
}

/** Prints values for debugging. Prints are five times as long as JSON, so they are cut off. */
class DebugPrinter {
  readonly #builder = new TextBuilder();
  #isCut = false;

  value(value: JsonValue): void {
    if (value === null) this.#append('Null');
    else if (typeof value === 'boolean') this.#append(`Bool(${value})`);
    else if (typeof value === 'string') this.#append(`String(${debugString(value)})`);
    else if (value instanceof JsonNumber) this.#append(`Number(${formatNumber(value.text)})`);
    else if (Array.isArray(value)) {
      this.#append('Array ');
      this.list(value);
    } else this.#object(value as JsonObject);
  }

  list(values: readonly JsonValue[]): void {
    let separator = '[';
    for (const value of values) {
      if (this.#isCut) return;
      this.#append(separator);
      this.value(value);
      separator = ', ';
    }
    this.#append(separator === '[' ? '[]' : ']');
  }

  toString(): string {
    return this.#builder.toString();
  }

  #object(members: JsonObject): void {
    let separator = 'Object {';
    for (const [name, member] of members) {
      if (this.#isCut) return;
      this.#append(`${separator}${debugString(name)}: `);
      this.value(member);
      separator = ', ';
    }
    this.#append(separator === ', ' ? '}' : 'Object {}');
  }

  #append(text: string): void {
    if (this.#isCut) return;
    this.#builder.append(text);
    if (this.#builder.length <= JSON_MAX_DEBUG_LENGTH) return;
    this.#builder.append('…');
    this.#isCut = true;
  }
}

/** The debug print of the reference: `Array [String("a"), Object {"b": Number(1.5)}, Bool(true), Null]`. */
export function debugJson(value: JsonValue): string {
  const printer = new DebugPrinter();
  printer.value(value);
  return printer.toString();
}

/** The debug print of a list of values: `[Null, Number(1)]`. */
export function debugJsonList(values: readonly JsonValue[]): string {
  const printer = new DebugPrinter();
  printer.list(values);
  return printer.toString();
}

/**
 * The kind of a value in `invalid type: {kind}, expected …` (docs/spec/encode.md §A4): `null`, ``boolean `true` ``,
 * `number`, `string "a"`, `sequence` or `map`.
 */
export function describeJsonKind(value: JsonValue): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return `boolean \`${value}\``;
  if (typeof value === 'string') return `string ${debugString(value)}`;
  if (value instanceof JsonNumber) return 'number';
  return Array.isArray(value) ? 'sequence' : 'map';
}
